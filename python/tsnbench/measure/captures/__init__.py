"""Captures from any source: of both ends of a path, and of several interfaces."""
