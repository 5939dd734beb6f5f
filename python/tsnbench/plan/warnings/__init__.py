"""What to look at before trusting a result, found in the Plan alone: one file per kind."""
