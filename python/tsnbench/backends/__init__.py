"""The backends that run Plans: one protocol (prepare, run, collect, restore), one backend per file."""
