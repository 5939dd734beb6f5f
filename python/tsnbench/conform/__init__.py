"""Conformance of one device: stimuli from its neighbours, estimates from frames, a verdict for each test."""
