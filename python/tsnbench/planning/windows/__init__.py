"""Windows per class, from what streams require."""
