"""A lab on this machine to learn and to test in: hosts with an ssh server each, and wires between them."""

from __future__ import annotations

from tsnbench.hosts.lab.cells import Lab, down, up

__all__ = ["Lab", "down", "up"]
