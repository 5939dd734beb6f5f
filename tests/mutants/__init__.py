"""Defects that are put into the code one by one, and the list of those that no test detects."""
