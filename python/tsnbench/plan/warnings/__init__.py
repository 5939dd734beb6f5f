"""Warnings to check before a result is trusted, from the Plan alone: one file per kind."""
