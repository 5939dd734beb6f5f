"""The finished Plan, read only: its content, and everything that follows from it alone."""
