"""Lists that companies have, as scenarios: communication matrices, AUTOSAR files and drawn networks."""
