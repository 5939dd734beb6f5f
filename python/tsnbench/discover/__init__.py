"""Running networks: what is there, and whether it is as a Plan says."""
