"""Hosts that a controller works with: how they are reached, and what their agents are told."""
