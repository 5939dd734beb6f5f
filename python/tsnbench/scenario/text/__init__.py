"""The text of a scenario file: the YAML tree with its places, and one pass over it with its sweeps."""
