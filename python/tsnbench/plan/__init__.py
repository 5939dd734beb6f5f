"""The finished Plan, read only: what it says, and what follows from it alone."""
