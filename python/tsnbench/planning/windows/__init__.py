"""Windows per class, from the requirements of streams."""
