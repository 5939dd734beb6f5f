"""A network while it changes: changes that wait, streams that move, and the time of a change."""
