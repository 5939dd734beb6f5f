"""Clocks of hosts: the programs that synchronise them, the checks of their offsets, and the uncertainty of
timestamps."""
