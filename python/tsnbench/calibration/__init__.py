"""Calibration: which description of a device explains what was measured, and what it predicts."""
