"""A lab on this machine for learning and tests: hosts with an ssh server each, and wires between them."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from tsnbench.hosts.lab import cells, guest, guests
from tsnbench.hosts.lab.record import Lab, down

if TYPE_CHECKING:
    from tsnbench.plan.types import PlanDocument

__all__ = ["Kind", "Lab", "down", "missing", "up"]


class Kind(StrEnum):
    """The kind of a lab's hosts."""

    CELLS = "cells"
    """Namespaces of this machine."""
    GUEST = "guest"
    """Namespaces of one guest, with network cards that have clocks, gates and timestamps of their own."""
    GUESTS = "guests"
    """A guest for each host."""


class _Kind(Protocol):
    def up(self, plan: PlanDocument, folder: Path, sshd: Path | None = None) -> Lab: ...

    def missing(self, sshd: Path | None = None) -> str: ...


_KINDS: dict[Kind, _Kind] = {Kind.CELLS: cells, Kind.GUEST: guest, Kind.GUESTS: guests}


def up(plan: PlanDocument, folder: Path, sshd: Path | None = None, kind: Kind = Kind.CELLS) -> Lab:
    """Makes a host for each node of a Plan, a wire for each link, and the lab's ``lab.yaml``.

    Args:
        plan: the Plan whose network the lab has; any Plan of the same network will do.
        folder: where the lab keeps its keys and its record; it is made.
        sshd: the ssh server, if it is not installed; its libraries are searched beside it.
        kind: the kind of hosts.

    Raises:
        InputError: the folder has a lab, or other files.
        BackendError: this machine cannot have such a lab.
    """
    return _KINDS[kind].up(plan, folder, sshd)


def missing(sshd: Path | None = None, kind: Kind = Kind.CELLS) -> str:
    """Why such a lab is not possible here; empty if it is."""
    return _KINDS[kind].missing(sshd)
