"""Where Plans run: one protocol (prepare, run, collect, restore), one backend per file."""
