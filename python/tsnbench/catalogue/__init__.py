"""What papers and standards name, as data files with their sources: classes, patterns, gate lists."""
