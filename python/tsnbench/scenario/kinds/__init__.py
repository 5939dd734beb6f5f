"""What a value in a scenario file can be: a quantity, a count, a word; a list or a mapping of them."""
