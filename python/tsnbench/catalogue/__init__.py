"""Classes, patterns and gate lists that papers and standards name, as data files with their sources."""
