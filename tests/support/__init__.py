"""Helpers for the tests of several rooms."""
