"""Figures of a study: curves over its parameters, and numbers of papers among them."""
