"""Paths of which at least one stays intact when any of some links and nodes fail, over the fewest links."""
