"""Estimates over the repetitions of a study: intervals of each combination, and differences between them."""
