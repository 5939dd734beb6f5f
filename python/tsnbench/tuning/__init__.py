"""Tuning: the smallest or the greatest value of one parameter that keeps every requirement."""
