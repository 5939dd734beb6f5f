"""A processor core for every guest, which no other guest of this machine uses.

A guest's time is a count of instructions: its results do not depend on the core, but its speed does.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def core() -> Iterator[int | None]:
    """The highest allowed free core, reserved until the end; None if each has a guest already."""
    held, taken = None, None
    for number in sorted(os.sched_getaffinity(0), reverse=True):
        if (held := _hold(number)) is not None:
            taken = number
            break
    try:
        yield taken
    finally:
        if held is not None:
            held.close()


def _hold(number: int) -> socket.socket | None:
    """A socket name without a file: it leaves nothing behind, and is gone with its process, however that
    ends."""
    name = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        name.bind(f"\0tsnbench-guest-core-{number}")
    except OSError:
        name.close()
        return None
    return name
