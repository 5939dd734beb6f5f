"""Tuning: the smallest or the greatest value of one parameter that meets every requirement."""
