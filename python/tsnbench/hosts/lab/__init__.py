"""A lab on this machine to learn and to test in: hosts with an ssh server each, and wires between them."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from tsnbench.hosts.lab import cells, guest
from tsnbench.hosts.lab.record import Lab, down

if TYPE_CHECKING:
    from tsnbench.plan.types import PlanDocument

__all__ = ["Kind", "Lab", "down", "missing", "up"]


class Kind(StrEnum):
    """What the hosts of a lab are."""

    CELLS = "cells"
    """Namespaces of this machine."""
    GUEST = "guest"
    """Namespaces of one guest, with network cards that have clocks, gates and stamps of their own."""


def up(plan: PlanDocument, folder: Path, sshd: Path | None = None, kind: Kind = Kind.CELLS) -> Lab:
    """A host for each node of a Plan, a wire for each link, and ``lab.yaml`` about them.

    Args:
        plan: whose network the lab has; it may be any of the same network.
        folder: where the lab keeps its keys and says what is up; it is made.
        sshd: the ssh server, where it is not installed; its libraries are looked for beside it.
        kind: what the hosts are.

    Raises:
        InputError: the folder has a lab, or other files.
        BackendError: this machine cannot have such a lab.
    """
    return guest.up(plan, folder, sshd) if kind is Kind.GUEST else cells.up(plan, folder, sshd)


def missing(sshd: Path | None = None, kind: Kind = Kind.CELLS) -> str:
    """Why there can be no such lab here; empty where there can."""
    return guest.missing(sshd) if kind is Kind.GUEST else cells.missing(sshd)
