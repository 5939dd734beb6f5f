"""Arguments and printing; no logic."""
