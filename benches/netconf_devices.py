"""Processes of ``netconfd``, as the tests start them, that note when requests come and answers leave."""

from __future__ import annotations

import multiprocessing
import os
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from support.netconf_server import PASSWORD, USER, NetconfServer
from support.netconf_server import missing as missing_for

MODULES = Path(os.environ.get("TSNBENCH_YANG", Path(__file__).resolve().parents[2] / "shared/yang"))
"""The modules of IEEE and IETF, beside the repository."""
__all__ = ["PASSWORD", "USER", "Device", "devices", "missing"]


def missing() -> str | None:
    """Why no device can be started here, or none."""
    return missing_for(MODULES)


class _Noted:
    """A channel that notes when pieces come and leave."""

    def __init__(self, channel: Any, times: list[tuple[float, bool]]) -> None:
        self._channel, self._times = channel, times

    def recv(self, most: int) -> bytes:
        piece: bytes = self._channel.recv(most)
        self._times.append((time.monotonic(), True))
        return piece

    def sendall(self, piece: bytes) -> None:
        self._channel.sendall(piece)
        self._times.append((time.monotonic(), False))

    def close(self) -> None:
        self._channel.close()


class _Server(NetconfServer):
    def open_subsystem(self, channel: Any) -> None:
        super().open_subsystem(_Noted(channel, self.times))  # type: ignore[arg-type]

    times: list[tuple[float, bool]]
    """When a piece came (True) or left."""


def _serve(folder: Path, line: Connection) -> None:
    """The process of one device: answers with what it noted."""
    server = _Server(folder, MODULES)
    server.times = []
    with server:
        line.send((server.port, server.known_hosts.read_text()))
        while line.recv():
            line.send(list(server.times))


@dataclass(frozen=True)
class Device:
    """A device in a process of its own."""

    line: Connection
    port: int
    known_host: str

    def busy_ms(self, begin: float, end: float) -> float:
        """For how long the device had a request without its answer between two instants, ms."""
        self.line.send(True)
        busy, since, until = 0.0, None, 0.0
        for at, comes in sorted(self.line.recv()):
            if not begin <= at <= end:
                continue
            if comes and until:
                busy, since, until = busy + until - (since or until), None, 0.0
            if comes:
                since = at if since is None else since
            elif since is not None:
                until = at
        return (busy + (until - since if since is not None and until else 0.0)) * 1e3


@contextmanager
def devices(number: int, folder: Path) -> Iterator[list[Device]]:
    """So many devices, each in a process with a folder of its own."""
    context = multiprocessing.get_context("spawn")
    with ExitStack() as stack:
        lines = []
        for place in range(number):
            own, other = context.Pipe()
            process = context.Process(target=_serve, args=(folder / f"device{place}", other))
            process.start()
            stack.callback(process.join)
            stack.callback(own.send, False)
            lines.append(own)
        yield [Device(own, *own.recv()) for own in lines]
