"""What a format cannot express: said, never silently dropped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tsnbench.exports.network import Network


@dataclass(frozen=True)
class Note:
    """One thing of the Plan that a format does not carry: which format, what, and why."""

    to: str
    what: str
    why: str
    lost: bool = True
    """False: it is exported, but look before you use it."""

    def __str__(self) -> str:
        if not self.lost:
            return f"{self.to}: {self.what}: {self.why}"
        return f"{self.to}: not exported: {self.what}, because {self.why}"


class Notes:
    """Collects notes of one format; each is there once."""

    def __init__(self, to: str) -> None:
        self.to = to
        self._notes: dict[Note, None] = {}

    def lost(self, what: str, why: str) -> None:
        self._notes[Note(self.to, what, why)] = None

    def warn(self, where: str, text: str) -> None:
        self._notes[Note(self.to, where, text, lost=False)] = None

    def __iter__(self) -> Iterator[Note]:
        return iter(self._notes)

    def parts(self, network: Network, why: str, *keys: str) -> None:
        """Whole parts of a Plan that a format leaves out; only those that the Plan has."""
        words = {
            "faults": "faults",
            "clocks": "clocks and PTP",
            "policing": "filters, meters, ATS and regenerated priorities",
            "hosts": "the software of hosts: stages, sockets, queueing disciplines",
            "streams": "when and what talkers send",
            "taps": "taps",
        }
        has = {key: bool(network.document.get(key)) for key in words}
        has["hosts"] = any(
            key in one
            for key, parts in (("host", network.nodes), ("qdisc", network.ports), ("socket", network.streams))
            for one in parts
        )
        for key in keys:
            if has[key]:
                self.lost(words[key], why)
