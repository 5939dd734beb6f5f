"""What notebooks show of scenarios, Plans, runs, comparisons and studies; tables for pandas."""
