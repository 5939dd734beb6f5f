"""Names in a scenario."""

from __future__ import annotations

Name = str
"""A letter, then letters, digits, ``_ . + -``; at most 64 characters."""
Pcp = int
"""A priority code point: 0 to 7."""
PortSelector = str
"""``zgw1 -> zgw2``, ``zgw1 -> *``, ``* -> zgw2``, ``*``; ``node4 -> dut #2`` names one of parallel links.

Parallel links count from 1 in the order of ``Network.links``, whichever end is named first there. In a loaded
scenario every selector meets at least one port, and a selector of two nodes exactly one."""
