"""Figures of papers from runs of their scenarios, for the README files."""
