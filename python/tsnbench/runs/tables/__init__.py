"""Tables of a run: one row per frame, or per sighting."""
