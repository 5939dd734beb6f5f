"""Defects put into the code one by one, and which of them no test sees."""
