"""Clocks of hosts: programs that keep them together, whether they do, and what stamps are worth."""
