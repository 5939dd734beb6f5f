"""Answers to an editor about a scenario's text: problems, completions at a place, meanings of keys."""
