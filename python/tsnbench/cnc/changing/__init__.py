"""A network while it changes: streams that move, and the time of a change."""
