"""Devices that get every accepted Plan by NETCONF: all of them, or none (:mod:`tsnbench.deploy`)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tsnbench.deploy import Access, Outcome, Target, deploy, take_over
from tsnbench.deploy.cut_over import CutOver
from tsnbench.deploy.sessions import Sessions
from tsnbench.deploy.transaction import RefusedError

if TYPE_CHECKING:
    from tsnbench.plan.types import PlanDocument


FIRST_LEAD_S, LEAST_LEAD_S, LONGEST_LEAD_S = 2.0, 0.2, 60.0
"""From the choice of an instant until it is there: before anything was measured, at least, and at most."""
LEAD = 2
"""The lead is the longest of the last transactions, times this."""
REMEMBERED = 10
ATTEMPTS = 4
"""Instants that are tried, each with twice the lead, if devices are not ready before."""


@dataclass
class NetconfDevices:
    """The devices of some nodes.

    Args:
        where: their addresses. access: user, password and keys. folder: for the record of a deployment that
            failed and could not be taken back; ``tsnbench deploy --restore`` reads it.
        interfaces: the device's name for a port, where it is not ``eth1`` for the first one.
        partial: leave out what a device's modules cannot express.
        lead_s: from the choice of an instant until all devices change; None: measured.
        fence: is called when all devices are locked, and raises if another service leads.
    """

    where: Sequence[Target]
    access: Access
    folder: Path
    interfaces: Mapping[str, str] = field(default_factory=dict)
    partial: bool = False
    lead_s: float | None = None
    fence: Callable[[], None] | None = None
    lists_from_ns: int | None = None
    """The instant (TAI) from which on the gate control lists of all devices are those of the Plan."""
    sessions: Sessions = field(default_factory=Sessions)
    _took_s: deque[float] = field(default_factory=lambda: deque(maxlen=REMEMBERED))

    def put(self, document: PlanDocument, *, together: bool = False, drain_ns: int = 0) -> list[str]:
        """Gives every device its part of a Plan; returns notes about it.

        All devices commit, are read back and keep their commits. The gate control lists that change begin at
        one instant after that, :attr:`lists_from_ns`. If a device is not ready before it, all get their
        earlier configuration, and the next attempt has a later instant.

        Args:
            document: of the Plan. together: streams move, so a device that does not tell that it changes at
                the instant is refused. drain_ns: for how long frames of talkers that have stopped may be
                under way: the instant is later.

        Raises:
            BackendError: a device did not take it; all have their earlier configuration, or the text names
                those that have not, and the record. InputError: a device gives no access.
        """
        cut = CutOver(max(self._lead_ns(), drain_ns), together)
        for attempt in range(ATTEMPTS):
            try:
                done = self._deploy(document, cut)
                break
            except RefusedError as error:
                if error.record is not None:
                    error.record.unlink(missing_ok=True)
                lead_ns = max(drain_ns, min(2 * max(cut.lead_ns, cut.took_ns), round(LONGEST_LEAD_S * 1e9)))
                if not cut.late or attempt + 1 == ATTEMPTS:
                    raise
                cut = CutOver(lead_ns, together)
        if cut.took_ns:
            self._took_s.append(cut.took_ns / 1e9)
        if done.record is not None:
            # The earlier Plan is in the store.
            done.record.unlink(missing_ok=True)
        changed = sum(len(lines) for lines in done.changes.values())
        return [f"{changed} changes on {len(self.where)} devices", *done.warnings, *cut.notes]

    def take_over(self) -> None:
        """Ends what an earlier leader does on the devices; it finds out by its fence, or cannot write.

        Raises:
            BackendError: a device does not answer, or does not end the session. InputError: it gives no
                access.
        """
        take_over(list(self.where), self.access)

    def close(self) -> None:
        """Ends the sessions with the devices."""
        self.sessions.close()

    def _lead_ns(self) -> int:
        measured = LEAD * max(self._took_s) if self._took_s else FIRST_LEAD_S
        return round(min(max(self.lead_s or measured, LEAST_LEAD_S), LONGEST_LEAD_S) * 1e9)

    def differences(self, document: PlanDocument) -> list[str]:
        """What would change on the devices if they got a Plan, in words; nothing is changed.

        Raises:
            BackendError: a device cannot be read. InputError: it gives no access.
        """
        found = self._deploy(document)
        return [f"{node}: {line}" for node, lines in found.changes.items() for line in lines]

    def _deploy(self, document: PlanDocument, cut: CutOver | None = None) -> Outcome:
        """Without ``cut`` nothing is changed."""
        found = deploy(
            document,
            list(self.where),
            self.access,
            self.folder / "deploy.json",
            interfaces=self.interfaces,
            partial=self.partial,
            dry_run=cut is None,
            cut=cut,
            fence=self.fence,
            sessions=self.sessions,
        )
        self.lists_from_ns = found.lists_from_ns
        return found
