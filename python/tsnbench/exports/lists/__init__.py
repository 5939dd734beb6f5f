"""Lists that companies have, as scenarios: communication matrices and drawn networks."""
