"""Commands from a scenario to its Plan."""
