"""The state of a host: read before a run, changed for the run, restored after it."""
