"""``tsnbench run``: from scenario to verdict."""
