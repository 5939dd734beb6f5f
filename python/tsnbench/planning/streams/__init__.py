"""Streams one by one: sizes, release patterns, recordings, identification, requirements."""
