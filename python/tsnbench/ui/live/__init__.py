"""What the page shows while a scenario is typed: numbers, which a process of its own makes."""
