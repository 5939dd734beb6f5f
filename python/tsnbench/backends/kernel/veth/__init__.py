"""A Plan on veth interfaces, which any kernel has: HTB stands for the MAC, netem for the wire."""

from tsnbench.backends.kernel.veth.device import VETH

__all__ = ["VETH"]
