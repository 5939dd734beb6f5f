"""Notes about the parts that a format cannot express; none is left out silently."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tsnbench.plan.network import Network

SHOWN = 3
"""Number of places that a terminal shows."""


@dataclass(frozen=True)
class Note:
    """One kind of content that a format does not express: the format, the content, the reason, the places."""

    to: str
    what: str
    why: str
    lost: bool = True
    """False: the content is exported, but needs a check before use."""
    cure: str | None = None
    """The change in the scenario, or the option, that avoids the note."""
    places: tuple[str, ...] = ()
    """Ports, nodes or streams; none if the note concerns the whole Plan."""

    def __str__(self) -> str:
        return self.line()

    @property
    def subject(self) -> str:
        """The content with all places."""
        return f"{self.what}{self._where(None)}"

    def line(self, shown: int | None = None) -> str:
        """One line; with the first ``shown`` places, or with all."""
        what = f"{self.what}{self._where(shown)}"
        text = (
            f"{self.to}: not exported: {what}, because {self.why}"
            if self.lost
            else f"{self.to}: {what}: {self.why}"
        )
        return text if self.cure is None else f"{text}; cure: {self.cure}"

    def _where(self, shown: int | None) -> str:
        if not self.places:
            return ""
        names = self.places if shown is None else self.places[:shown]
        more = len(self.places) - len(names)
        count = f"{len(self.places)}: " if len(self.places) > 1 else ""
        return f" ({count}{', '.join(names)}{f' and {more} more' if more else ''})"


class Notes:
    """Collects the notes of one format, each kind once, with all its places."""

    def __init__(self, to: str) -> None:
        self.to = to
        self._kinds: dict[tuple[str, str, bool, str | None], dict[str, None]] = {}

    def lost(self, what: str, why: str, place: str | None = None, cure: str | None = None) -> None:
        """Adds content that is not exported."""
        self._add((what, why, True, cure), place)

    def warn(self, what: str, why: str, place: str | None = None, cure: str | None = None) -> None:
        """Adds content that is exported, but needs a check before use."""
        self._add((what, why, False, cure), place)

    def _add(self, kind: tuple[str, str, bool, str | None], place: str | None) -> None:
        places = self._kinds.setdefault(kind, {})
        if place is not None:
            places[place] = None

    def __iter__(self) -> Iterator[Note]:
        for (what, why, lost, cure), places in self._kinds.items():
            yield Note(self.to, what, why, lost, cure, tuple(places))

    def parts(self, network: Network, why: str, *keys: str) -> None:
        """Adds whole parts of a Plan that a format leaves out, if the Plan has them."""
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

    def stages(self, network: Network, buffers: str, servers: str, waits: str | None) -> None:
        """Adds the transmit buffers, the servers and the longest times in queues of a Plan's ports, each with
        a reason why a format leaves them out; None: the format has them."""
        for port in network.ports:
            if "transmit_buffer" in port:
                self.lost("transmit buffers", buffers, port["name"])
            if "server" in port:
                self.lost("rate-latency servers", servers, port["name"])
            for number, one in enumerate(port["classes"] if waits else ()):
                if waits and "longest_wait_ns" in one:
                    self.lost("longest times in queues", waits, f"class {number} of {port['name']}")
