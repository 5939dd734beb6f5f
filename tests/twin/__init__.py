"""Mechanisms on a kernel beside the simulator: cases, closed forms, mutations, the page of results."""
