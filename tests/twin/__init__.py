"""Mechanisms on a kernel and in the simulator: cases, closed forms, mutations, the page of results."""
