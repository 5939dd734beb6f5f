"""Find out whether a time-sensitive network is on time."""
