"""Paths that leave one of them whole whichever of some links and nodes fail, over the fewest links."""
