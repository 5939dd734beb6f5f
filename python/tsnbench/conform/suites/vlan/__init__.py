"""Tests of VLANs: those that a port has, and those that it does not have."""
