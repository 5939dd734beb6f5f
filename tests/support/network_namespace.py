"""A network namespace for the calling thread, and for all processes and threads that it starts."""

from __future__ import annotations

import ctypes
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

CLONE_NEWNET = 0x40000000
ROUTE_TO_NOWHERE = (
    "link add outside type veth peer name nowhere",
    "addr add 203.0.113.1/24 dev outside",
    "link set outside up",
    "link set nowhere up",
    "neigh add 203.0.113.2 lladdr 02:00:00:00:00:02 dev outside",
    "route add default via 203.0.113.2",
)
"""Words of ``ip`` for a namespace without a route to other networks: without a route no packet would be sent,
and a capture could not show a program that contacts another address."""


def _call(name: str, *words: int) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    if getattr(library, name)(*words):
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))


@contextmanager
def private_network() -> Iterator[None]:
    """The thread has the loopback interface, and a route to nowhere."""
    before = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    try:
        _call("unshare", CLONE_NEWNET)
        try:
            for words in ("link set lo up", *ROUTE_TO_NOWHERE):
                subprocess.run(["ip", *words.split()], check=True, timeout=30)
            yield
        finally:
            _call("setns", before, CLONE_NEWNET)
    finally:
        os.close(before)
