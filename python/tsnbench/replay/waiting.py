"""Why a frame waited: the time of each hop in parts that add up to the delay, to the nanosecond."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Set
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

from tsnbench.libraries import numpy as np
from tsnbench.libraries import polars as pl
from tsnbench.replay.gates import PortGates, port_gates
from tsnbench.replay.passages import GAP_OCTETS, PREAMBLE_OCTETS, octets_ns

if TYPE_CHECKING:
    from tsnbench.foreign import Json
    from tsnbench.plan.types import PlanDocument, Port

STAMP_NS = 2
"""Stamps are whole ns: a shorter part of a wait is their rounding, and belongs to the part before it."""


class Reason(StrEnum):
    """The reason for a part of a frame's delay; the words are those of reports."""

    PROCESSING = "processing"
    GATE = "gate shut"
    GUARD = "gate shuts before the frame would end"
    OTHERS = "other frames"
    OWN_CLASS = "own class ahead"
    CREDIT = "credit"
    SHAPER = "asynchronous shaper"
    UNKNOWN = "unknown"
    WIRE = "wire"
    INTERRUPTED = "pre-empted"
    CABLE = "cable"


@dataclass(frozen=True)
class Part:
    """A part of a hop's time, in ns; ``stream``: the stream whose frame the port sent, where one did."""

    reason: Reason
    begin_ns: int
    end_ns: int
    stream: int | None = None

    @property
    def length_ns(self) -> int:
        return self.end_ns - self.begin_ns


@dataclass(frozen=True)
class Passage:
    """A frame at one port: a row of :func:`tsnbench.replay.passages.passages`."""

    port: int
    stream: int
    seq: int
    copy: int
    octets: int
    traffic_class: int
    came_ns: int
    queued_ns: int
    start_ns: int
    end_ns: int
    arrived_ns: int | None


NONE = -1
"""No arrival, in columns of numbers."""
COLUMNS = (
    "port", "stream", "seq", "copy", "octets", "class",
    "came_ns", "queued_ns", "start_ns", "end_ns", "arrived_ns",
)  # fmt: skip
"""The columns of a passage, in the order of its fields."""


class Rows:
    """The passages of a table. A run has millions; each becomes an object only when somebody looks at it."""

    def __init__(self, table: pl.DataFrame) -> None:
        self.columns = {name: table[name].fill_null(NONE).to_numpy() for name in COLUMNS}

    def passages(self, numbers: np.ndarray) -> list[Passage]:
        """The passages in these rows."""
        columns = [self.columns[name][numbers].tolist() for name in COLUMNS]
        arrived = [None if time == NONE else time for time in columns.pop()]
        return [Passage(*row) for row in zip(*columns, arrived, strict=True)]


class PortHistory:
    """The frames that one port sent, and their times.

    ``numbers``: their rows in the order of their begin; ``shaped``: the streams whose frames have an
    eligibility time of an asynchronous shaper at this port's node.
    """

    def __init__(
        self,
        port: Port,
        rows: Rows,
        numbers: np.ndarray,
        gates: PortGates | None,
        shaped: Set[int] = frozenset(),
    ) -> None:
        self.port = port
        self.gates = gates
        self._shaped = shaped
        self._express = port["preemption"]["express"] if "preemption" in port else None
        self._rows = rows
        self._numbers = numbers
        self._starts = rows.columns["start_ns"][numbers]
        self._gap = octets_ns(GAP_OCTETS, port["rate_bps"])

    def waits(self, frame: Passage) -> list[Part]:
        """The parts between a frame's arrival in the queue and its first bit, without gaps between them."""
        parts: list[Part] = []
        for begin, end, reason, stream in self._pieces(frame):
            last = parts[-1] if parts else None
            if last and ((last.reason, last.stream) == (reason, stream) or end - begin <= STAMP_NS):
                parts[-1] = Part(last.reason, last.begin_ns, end, last.stream)
            else:
                parts.append(Part(reason, begin, end, stream))
        return parts

    def _pieces(self, frame: Passage) -> Iterator[tuple[int, int, Reason, int | None]]:
        begin, end = frame.queued_ns, frame.start_ns
        if begin >= end:
            return
        first, last = self._starts.searchsorted((begin, end))
        # Frames end in the order in which they begin, so at most the previous frame is still on the wire; or
        # the frame that express frames have interrupted.
        busy = self._interrupted(first) + self._rows.passages(self._numbers[max(0, first - 1) : last])
        ahead = max(
            (one.start_ns for one in busy if one.traffic_class == frame.traffic_class), default=begin - 1
        )
        edges = {begin, end}
        for one in busy:
            edges |= {one.start_ns, one.end_ns + self._gap}
        needed = self._needed(frame)
        for edge in self._gate_edges(frame.traffic_class, begin, end + needed):
            # The frame no longer fits once the gate closes in less than the time that it needs.
            edges |= {edge, edge - needed}
        inner = sorted(edge for edge in edges if begin <= edge <= end)
        for left, right in pairwise(inner):
            yield (left, right, *self._reason(frame, left, busy, ahead))

    def _reason(self, frame: Passage, at: int, busy: list[Passage], ahead: int) -> tuple[Reason, int | None]:
        gate = self._gate(frame.traffic_class, at)
        if gate is not None and gate <= at:
            return Reason.GATE, None
        if (sent := self._on_wire(at, busy)) is not None:
            own = sent.traffic_class == frame.traffic_class
            return (Reason.OWN_CLASS if own else Reason.OTHERS), sent.stream
        if frame.stream in self._shaped:
            # The port sends nothing, so this frame is not eligible; or it would not fit, and nothing shows
            # whether it is.
            guarded = gate is not None and gate - at < self._needed(frame) + STAMP_NS
            return (Reason.GUARD if guarded else Reason.SHAPER), None
        if at < ahead:
            return Reason.OWN_CLASS, None
        if "cbs" in self.port["classes"][frame.traffic_class]:
            return Reason.CREDIT, None
        if gate is not None and gate - at < self._needed(frame) + STAMP_NS:
            return Reason.GUARD, None
        return Reason.UNKNOWN, None

    def _interrupted(self, first: int) -> list[Passage]:
        """The last preemptable frame that begins before the frame before ``first``: it may be interrupted."""
        if self._express is None:
            return []
        number = self._last_preemptable[first - 2] if first >= 2 else -1
        return self._rows.passages(self._numbers[number : number + 1]) if number >= 0 else []

    @cached_property
    def _last_preemptable(self) -> np.ndarray:
        """Of each frame, the number of the last preemptable one up to it; -1 if there is none."""
        assert self._express is not None
        classes = self._rows.columns["class"][self._numbers]
        numbers = np.arange(len(classes))
        return np.maximum.accumulate(np.where(self._express >> classes & 1, -1, numbers))

    def _on_wire(self, at: int, busy: list[Passage]) -> Passage | None:
        """The frame that the port sends, or has sent if the gap lasts; an express frame comes first."""
        number = bisect_right(busy, at, key=lambda one: one.start_ns)
        # Without pre-emption only the last one can be on the wire.
        begun = busy[:number] if self._express is not None else busy[max(0, number - 1) : number]
        return next((one for one in reversed(begun) if at < one.end_ns + self._gap), None)

    def _needed(self, frame: Passage) -> int:
        """The time for which the gate must still be open so that a frame may begin."""
        return octets_ns(PREAMBLE_OCTETS + frame.octets, self.port["rate_bps"])

    def _gate(self, traffic_class: int, at: int) -> int | None:
        """The instant at which the open gate shuts; ``at`` if it is shut; None without known gates."""
        lists = self.gates.known(at) if self.gates is not None else None
        return lists.shuts(traffic_class, at) if lists is not None else None

    def _gate_edges(self, traffic_class: int, begin: int, end: int) -> Iterator[int]:
        if self.gates is not None:
            yield from self.gates.edges(traffic_class, begin, end)


class History:
    """A run's frames at all ports; ``counted``: the run's counters, which say when gate lists change."""

    def __init__(self, document: PlanDocument, table: pl.DataFrame, counted: Json | None = None) -> None:

        self.document = document
        self._rows = Rows(table)
        columns = self._rows.columns
        # The table is in the order of starts, and a stable sort keeps it within each port.
        by_port = np.argsort(columns["port"], kind="stable")
        edges = columns["port"][by_port].searchsorted(np.arange(len(document["ports"]) + 1))
        gates = port_gates(document, counted)
        shaped: dict[int, set[int]] = {}
        for own in document.get("policing", ()):
            everyone = range(len(document["streams"]))
            streams = [one.get("streams", everyone) for one in own["filters"] if "scheduler" in one]
            shaped[own["node"]] = {stream for them in streams for stream in them}
        self.ports = [
            PortHistory(
                port,
                self._rows,
                by_port[edges[number] : edges[number + 1]],
                gates[number],
                shaped.get(port["node"], set()),
            )
            for number, port in enumerate(document["ports"])
        ]
        self._by_frame = np.lexsort((columns["seq"], columns["stream"]))
        self._streams = columns["stream"][self._by_frame]
        self._seqs = columns["seq"][self._by_frame]

    def _of_frame(self, stream: int, seq: int) -> list[Passage]:
        """A frame's passages through all ports, in the order of time."""
        first, last = self._streams.searchsorted((stream, stream + 1))
        of_stream = self._seqs[first:last]
        low, high = of_stream.searchsorted(seq), of_stream.searchsorted(seq, side="right")
        return self._rows.passages(self._by_frame[first + low : first + high])

    def journey(self, stream: int, seq: int, listener: int) -> list[Passage]:
        """The passages at the ports of a frame's path to a listener, the talker's port first.

        The copy of a replicated frame that came first counts. Empty for a frame that did not arrive.
        """
        ports = self.document["ports"]
        passed = self._of_frame(stream, seq)
        last = [
            one
            for one in passed
            if one.arrived_ns is not None and ports[ports[one.port]["peer"]]["node"] == listener
        ]
        if not last:
            return []
        way = [min(last, key=lambda one: one.arrived_ns or 0)]
        talker = self.document["streams"][stream]["talker"]
        while (node := ports[way[0].port]["node"]) != talker:
            way.insert(
                0,
                next(
                    one
                    for one in passed
                    if one.arrived_ns == way[0].came_ns and ports[ports[one.port]["peer"]]["node"] == node
                ),
            )
        return way

    def parts(self, passage: Passage) -> list[Part]:
        """The parts of one hop: from a frame's arrival at a node to its arrival at the next one."""
        parts = [Part(Reason.PROCESSING, passage.came_ns, passage.queued_ns)]
        parts += self.ports[passage.port].waits(passage)
        port = self.document["ports"][passage.port]
        octets = PREAMBLE_OCTETS + passage.octets
        uninterrupted = passage.start_ns + octets_ns(octets, port["rate_bps"])
        if passage.end_ns - uninterrupted <= STAMP_NS:
            parts.append(Part(Reason.WIRE, passage.start_ns, passage.end_ns))
        else:
            parts.append(Part(Reason.WIRE, passage.start_ns, uninterrupted))
            parts.append(Part(Reason.INTERRUPTED, uninterrupted, passage.end_ns))
        if passage.arrived_ns is not None:
            parts.append(Part(Reason.CABLE, passage.end_ns, passage.arrived_ns))
        return [part for part in parts if part.length_ns]
