"""The reference of keys: for each key its type, unit, default, range, clause, example and first version."""
