"""Figures: each function takes typed tables and gives a drawing; none reads a file."""
