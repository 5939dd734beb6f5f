"""The matrix: every pair of mechanisms as a scenario that is planned, bounded, run and judged."""
