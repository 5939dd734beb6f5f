"""A Plan on veth interfaces, which any kernel has: HTB takes the part of the MAC, netem that of the wire."""

from tsnbench.backends.kernel.veth.device import VETH

__all__ = ["VETH"]
