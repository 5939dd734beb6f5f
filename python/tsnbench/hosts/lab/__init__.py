"""A lab on this machine for learning and tests: hosts with an ssh server each, and wires between them."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from tsnbench.hosts.lab import access, cells, guest, guests, record
from tsnbench.hosts.lab.inventory import inventory
from tsnbench.hosts.lab.record import Lab, Made, down
from tsnbench.plan.network import Network

if TYPE_CHECKING:
    from tsnbench.plan.types import PlanDocument

__all__ = ["Kind", "Lab", "down", "missing", "up"]

LASTS_S = 8 * 3600
"""Guests end themselves after this time."""


class Kind(StrEnum):
    """The kind of a lab's hosts."""

    CELLS = "cells"
    """Namespaces of this machine."""
    GUEST = "guest"
    """Namespaces of one guest, with network cards that have clocks, gates and timestamps of their own."""
    GUESTS = "guests"
    """A guest for each host."""


class _Kind(Protocol):
    def make(
        self, plan: PlanDocument, network: Network, folder: Path, sshd: Path | None, lasts_s: int
    ) -> Made: ...

    def missing(self, sshd: Path | None = None) -> str: ...


_KINDS: dict[Kind, _Kind] = {Kind.CELLS: cells, Kind.GUEST: guest, Kind.GUESTS: guests}


def up(
    plan: PlanDocument,
    folder: Path,
    sshd: Path | None = None,
    kind: Kind = Kind.CELLS,
    lasts_s: int = LASTS_S,
) -> Lab:
    """Makes a host for each node of a Plan, a wire for each link, and the lab's ``lab.yaml``.

    Args:
        plan: the Plan whose network the lab has; any Plan of the same network will do. A guest also has its
            clocks.
        folder: where the lab keeps its keys and its record; it is made.
        sshd: the ssh server, if it is not installed; its libraries are searched beside it.
        kind: the kind of hosts.
        lasts_s: the time after which guests end themselves.

    Raises:
        InputError: the folder has a lab, or other files.
        BackendError: this machine cannot have such a lab.
    """
    folder = record.begun(folder, missing(sshd, kind))
    network = Network(plan)
    record.note(folder, [node["name"] for node in network.nodes], [], [])
    try:
        made = _KINDS[kind].make(plan, network, folder, access.server(sshd), lasts_s)
    except BaseException:
        down(folder)
        raise
    text = inventory(network, made.words, made.sync, made.clock)
    (folder / "lab.yaml").write_text(text, encoding="utf-8")
    return Lab(folder, made.ssh)


def missing(sshd: Path | None = None, kind: Kind = Kind.CELLS) -> str:
    """Why such a lab is not possible here; empty if it is."""
    return _KINDS[kind].missing(sshd)
