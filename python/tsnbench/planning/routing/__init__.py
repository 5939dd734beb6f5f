"""The path of every stream: shortest, given, disjoint, redundant, flooded."""
