"""Figures of papers from runs of their scenarios, as the README files show them."""
