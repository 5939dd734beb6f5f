"""Two NETCONF servers, for tests of what several devices get together."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.netconf_server import PASSWORD, USER, NetconfServer, missing
from tsnbench.cnc.devices import NetconfDevices
from tsnbench.deploy import Access, Target

MODULES = Path(os.environ.get("TSNBENCH_YANG", Path(__file__).resolve().parents[3] / "shared/yang"))
"""The modules of IEEE and IETF, beside the repository."""
needs_servers = pytest.mark.skipif(missing(MODULES) is not None, reason=str(missing(MODULES)))
Two = tuple[NetconfServer, NetconfServer]


@contextmanager
def two_servers(folder: Path) -> Iterator[Two]:
    """Both, each with a folder of its own."""
    with NetconfServer(folder / "1", MODULES) as left, NetconfServer(folder / "2", MODULES) as right:
        yield left, right


def devices_of(two: Two, folder: Path) -> NetconfDevices:
    """Both as the devices ``sw1`` and ``sw2`` of a CNC, with its files in a folder."""
    known = folder / "known_hosts"
    known.write_text("".join(one.known_hosts.read_text() for one in two))
    where = [Target(f"sw{n + 1}", "127.0.0.1", one.port) for n, one in enumerate(two)]
    return NetconfDevices(where, Access(USER, PASSWORD, known_hosts=known, timeout_s=60), folder)
