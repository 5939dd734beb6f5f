"""Devices that get every accepted Plan by NETCONF: all of them, or none (:mod:`tsnbench.deploy`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tsnbench.deploy import Access, Outcome, Target, deploy

if TYPE_CHECKING:
    from tsnbench.plan.types import PlanDocument


@dataclass(frozen=True)
class NetconfDevices:
    """The devices of some nodes.

    Args:
        where: their addresses. access: user, password and keys. folder: for the record of a deployment that
            failed and could not be taken back; ``tsnbench deploy --restore`` reads it.
        interfaces: the device's name for a port, where it is not ``eth1`` for the first one.
        partial: leave out what a device's modules cannot express.
    """

    where: Sequence[Target]
    access: Access
    folder: Path
    interfaces: Mapping[str, str] = field(default_factory=dict)
    partial: bool = False

    def put(self, document: PlanDocument) -> list[str]:
        """Gives every device its part of a Plan; returns notes about it.

        Raises:
            BackendError: a device did not take it; all have their earlier configuration, or the text names
                those that have not, and the record. InputError: a device gives no access.
        """
        done = self._deploy(document)
        if done.record is not None:
            # The earlier Plan is in the store.
            done.record.unlink(missing_ok=True)
        changed = sum(len(lines) for lines in done.changes.values())
        return [f"{changed} changes on {len(self.where)} devices", *done.warnings]

    def differences(self, document: PlanDocument) -> list[str]:
        """What would change on the devices if they got a Plan, in words; nothing is changed.

        Raises:
            BackendError: a device cannot be read. InputError: it gives no access.
        """
        found = self._deploy(document, dry_run=True)
        return [f"{node}: {line}" for node, lines in found.changes.items() for line in lines]

    def _deploy(self, document: PlanDocument, *, dry_run: bool = False) -> Outcome:
        return deploy(
            document,
            list(self.where),
            self.access,
            self.folder / "deploy.json",
            interfaces=self.interfaces,
            partial=self.partial,
            dry_run=dry_run,
        )
