"""Kinds of values in a scenario file: quantities, counts, words, and lists and mappings of them."""
