"""Studies: a scenario with varied values and repetitions, as many runs on many workers, and one table."""
