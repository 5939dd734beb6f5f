"""Why a frame waited: the time of each hop in parts that add up to the delay, to the nanosecond."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, fields
from enum import StrEnum
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from tsnbench.libraries import numpy as np
from tsnbench.libraries import polars as pl
from tsnbench.replay.gates import PortGates, port_gates
from tsnbench.replay.passages import GAP_OCTETS, PREAMBLE_OCTETS, octets_ns, recorded

if TYPE_CHECKING:
    from tsnbench.backends.protocol import Progress
    from tsnbench.foreign import Json
    from tsnbench.plan.types import PlanDocument, Port
    from tsnbench.replay.clocks import NodeClock
    from tsnbench.runs import Run

STAMP_NS = 2
"""Stamps are whole ns: a shorter part of a wait is their rounding, and belongs to the part before it."""


class Reason(StrEnum):
    """The reason for a part of a frame's delay; the words are those of reports."""

    PROCESSING = "processing"
    GATE = "gate closed"
    TURN = "not the turn of its cyclic queue"
    GUARD = "gate closes before the frame would end"
    OTHERS = "other frames"
    OWN_CLASS = "own class ahead"
    CREDIT = "credit"
    SHAPER = "asynchronous shaper"
    BUFFER = "transmit buffer"
    SERVER = "server"
    UNKNOWN = "unknown"
    SOFTWARE = "software of the host"
    QDISC = "queueing discipline"
    LAUNCH = "launch time"
    HEAD = "wire, until the next bridge forwards"
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
    """A frame at one port, in true time; the order of the instants is that of the fields.

    ``came_ns``: the talker handed the frame over, or the node had what it needs to forward it, which is the
    last bit unless it cuts through. The frame reached the queueing discipline of a host at ``qdisc_ns``, the
    driver at ``handed_ns`` and the hardware at ``loaded_ns`` (None without such software); the queue of its
    class at ``queued_ns``, where it could be selected from ``eligible_ns`` on. ``start_ns``: the first bit of
    the preamble; ``end_ns``: the last bit. ``arrived_ns``: the last bit at the next node, None if lost.
    """

    number: int
    port: int
    stream: int
    seq: int
    copy: int
    octets: int
    traffic_class: int
    came_ns: int
    qdisc_ns: int | None
    handed_ns: int | None
    loaded_ns: int | None
    queued_ns: int
    eligible_ns: int
    start_ns: int
    end_ns: int
    arrived_ns: int | None
    before: int | None
    """The number of the passage by which it reached the node; None at the talker."""
    accepted: bool
    """Whether the next node received it: not dropped by a filter, not eliminated."""
    sent_clock_ns: int
    """What the node's clock showed at the timestamp point, behind the preamble."""
    arrived_clock_ns: int | None
    """What the next node's clock showed when the last bit arrived."""


NONE = -1
"""No instant and no number, in columns of numbers."""
COLUMNS = tuple("class" if one.name == "traffic_class" else one.name for one in fields(Passage))
"""The columns of a passage, in the order of its fields."""
OPTIONAL = ("qdisc_ns", "handed_ns", "loaded_ns", "arrived_ns", "before", "arrived_clock_ns")
"""Columns that may have no value."""
BLOCK = 128
MOST_BLOCKS = 1024
"""Rows of a block, and blocks that are kept."""


class Rows:
    """The passages of a table. A run has millions; a block of them becomes objects when one is used."""

    def __init__(self, table: pl.DataFrame) -> None:
        self.columns = {
            name: table[name].fill_null(NONE).to_numpy() if name in OPTIONAL else table[name].to_numpy()
            for name in COLUMNS
        }
        # Frames that wait for each other are near each other in the table.
        self._block = lru_cache(MOST_BLOCKS)(self._made)

    def passages(self, numbers: np.ndarray) -> list[Passage]:
        """The passages in these rows."""
        return [self._block(number // BLOCK)[number % BLOCK] for number in numbers.tolist()]

    def _made(self, block: int) -> list[Passage]:
        rows = slice(block * BLOCK, (block + 1) * BLOCK)
        columns = {name: column[rows].tolist() for name, column in self.columns.items()}
        # A clock may show -1 ns.
        shown = zip(columns["arrived_ns"], columns["arrived_clock_ns"], strict=True)
        clock = [None if time == NONE else at for time, at in shown]
        for name in OPTIONAL:
            columns[name] = [None if value == NONE else value for value in columns[name]]
        columns["arrived_clock_ns"] = clock
        return [Passage(*row) for row in zip(*columns.values(), strict=True)]


class PortHistory:
    """The frames that one port sent, and their times.

    ``numbers``: their rows in the order of their begin; ``cyclic``: the streams and classes whose frames are
    in cyclic queues.
    """

    def __init__(
        self,
        port: Port,
        rows: Rows,
        numbers: np.ndarray,
        gates: PortGates | None,
        cyclic: Set[tuple[int, int]] = frozenset(),
    ) -> None:
        self.port = port
        self.gates = gates
        self._cyclic = cyclic
        self._express = port["preemption"]["express"] if "preemption" in port else None
        self._rows = rows
        self._numbers = numbers
        self._starts = rows.columns["start_ns"][numbers]
        self._gap = octets_ns(GAP_OCTETS, port["rate_bps"])
        self._behind = port.get("transmit_buffer", 1) - 1

    def first_between(self, begin: int, end: int) -> int | None:
        """The stream of the first frame that begins between two instants; None: no frame begins."""
        first, last = self._starts.searchsorted((begin, end))
        return int(self._rows.columns["stream"][self._numbers[first]]) if first < last else None

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
        edges = {begin, end, frame.eligible_ns}
        for one in busy:
            edges |= {one.start_ns, one.end_ns + self._gap}
        needed = self._needed(frame)
        if self.gates is not None:
            for edge in self.gates.edges(frame.traffic_class, begin, end + needed):
                # The frame no longer fits once the gate closes in less than the time that it needs.
                edges |= {edge, edge - needed}
        # The frames that were in the transmit buffer with this one left without a pause before it.
        edges.add(selected := self._selected(busy, end))
        inner = sorted(edge for edge in edges if begin <= edge <= end)
        for left, right in pairwise(inner):
            if left >= selected:
                sent = self._on_wire(left, busy)
                yield left, right, Reason.BUFFER, None if sent is None else sent.stream
                continue
            yield (left, right, *self._reason(frame, left, busy, ahead))

    def _selected(self, busy: list[Passage], end: int) -> int:
        """From when on a frame that starts at ``end`` is in the transmit buffer, if this was always full;
        ``end`` without a buffer."""
        since, number = end, len(busy) - 1
        for _ in range(self._behind):
            if number < 0 or abs(busy[number].end_ns + self._gap - since) > STAMP_NS:
                break
            since, number = busy[number].start_ns, number - 1
        return since

    def _reason(self, frame: Passage, at: int, busy: list[Passage], ahead: int) -> tuple[Reason, int | None]:
        gate = self.gates.shuts(frame.traffic_class, at) if self.gates is not None else None
        if gate is not None and gate <= at:
            in_turn = (frame.stream, frame.traffic_class) in self._cyclic
            return (Reason.TURN if in_turn else Reason.GATE), None
        if (sent := self._on_wire(at, busy)) is not None:
            own = sent.traffic_class == frame.traffic_class
            return (Reason.OWN_CLASS if own else Reason.OTHERS), sent.stream
        if at < frame.eligible_ns:
            return Reason.SHAPER, None
        if "server" in self.port:
            return Reason.SERVER, None
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


class History:
    """A run's frames at all ports.

    ``counted``: the run's counters, which say when gate lists change; ``clocks``: the clocks of nodes, where
    they do not show true time; ``fragments``: the mPackets of interrupted frames, by number of the passage;
    ``expired``: frames that waited for the longest time of a queue.
    """

    @classmethod
    def of(cls, run: Run, progress: Progress | None = None) -> History:
        """The events of a run, which is simulated again.

        Raises:
            ReplayError: the run cannot be replayed.
        """
        found = recorded(run, progress)
        parts = (found.passages, found.counters, found.clocks, found.fragments, found.expired)
        return cls(run.plan.document, *parts)

    def __init__(
        self,
        document: PlanDocument,
        table: pl.DataFrame,
        counted: Json | None = None,
        clocks: Mapping[int, NodeClock] | None = None,
        fragments: Mapping[int, Sequence[tuple[int, int]]] | None = None,
        expired: pl.DataFrame | None = None,
    ) -> None:
        self.document = document
        self.table = table
        self.clocks = clocks or {}
        self._fragments = fragments or {}
        self.expired = expired
        self._rows = Rows(table)
        columns = self._rows.columns
        # The table is in the order of starts, and a stable sort keeps it within each port.
        by_port = np.argsort(columns["port"], kind="stable")
        edges = columns["port"][by_port].searchsorted(np.arange(len(document["ports"]) + 1))
        gates = port_gates(document, counted, self.clocks)
        cyclic = _cyclic_queues(document)
        self.ports = [
            PortHistory(
                port,
                self._rows,
                by_port[edges[number] : edges[number + 1]],
                gates[number],
                cyclic.get(number, set()),
            )
            for number, port in enumerate(document["ports"])
        ]
        # Numbers count from 0, in the order in which the simulator learns of the passages.
        self._rows_of = np.argsort(columns["number"])
        self._by_frame = np.lexsort((columns["seq"], columns["stream"]))
        self._streams = columns["stream"][self._by_frame]
        self._seqs = columns["seq"][self._by_frame]

    def all(self) -> list[Passage]:
        """Every passage of the run, in the order in which frames begin to leave."""
        return self._rows.passages(np.arange(len(self.table)))

    def _of_frame(self, stream: int, seq: int) -> list[Passage]:
        """A frame's passages through all ports, in the order of time."""
        first, last = self._streams.searchsorted((stream, stream + 1))
        of_stream = self._seqs[first:last]
        low, high = of_stream.searchsorted(seq), of_stream.searchsorted(seq, side="right")
        return self._rows.passages(self._by_frame[first + low : first + high])

    def journey(self, stream: int, seq: int, listener: int) -> list[Passage]:
        """The passages at the ports of a frame's path to a listener, the talker's port first.

        Of a replicated frame, the member stream that sequence recovery passed on. Empty for a frame that did
        not arrive.
        """
        ports = self.document["ports"]
        last = [
            one
            for one in self._of_frame(stream, seq)
            if one.accepted and ports[ports[one.port]["peer"]]["node"] == listener
        ]
        if not last:
            return []
        way = [min(last, key=lambda one: one.arrived_ns or 0)]
        while (before := way[0].before) is not None:
            way[:0] = self._rows.passages(self._rows_of[[before]])
        return way

    def hops(self, way: Sequence[Passage]) -> list[tuple[Passage, list[Part]]]:
        """The parts of each hop of a path; each hop ends where the next one begins."""
        ends = [one.came_ns for one in way[1:]] + [None]
        return [(one, self.parts(one, end)) for one, end in zip(way, ends, strict=True)]

    def parts(self, passage: Passage, until: int | None = None) -> list[Part]:
        """The parts of one hop: from a frame's arrival at a node to its arrival at the next one.

        ``until``: the instant at which the next node begins with it, which is before its last bit where that
        node cuts through.
        """
        parts = _before_queue(passage, "host" in self.document["nodes"][self._node(passage)])
        parts += self.ports[passage.port].waits(passage)
        arrived = passage.end_ns if passage.arrived_ns is None else passage.arrived_ns
        until = arrived if until is None else until
        if until < arrived:
            # Behind the head of the frame its rest is still on the wire.
            sent = max(passage.start_ns, passage.end_ns - (arrived - until))
            parts.append(Part(Reason.HEAD, passage.start_ns, sent))
            return [part for part in (*parts, Part(Reason.CABLE, sent, until)) if part.length_ns]
        pieces = self._fragments.get(passage.number, [(passage.start_ns, passage.end_ns)])
        parts.append(Part(Reason.WIRE, *pieces[0]))
        for (_, cut), (begin, end) in pairwise(pieces):
            express = self.ports[passage.port].first_between(cut, begin)
            parts.append(Part(Reason.INTERRUPTED, cut, begin, express))
            parts.append(Part(Reason.WIRE, begin, end))
        parts.append(Part(Reason.CABLE, passage.end_ns, until))
        return [part for part in parts if part.length_ns]

    def clock_of(self, passage: Passage) -> NodeClock | None:
        """The clock of the node that sends; None if it shows true time."""
        return self.clocks.get(self._node(passage))

    def _node(self, passage: Passage) -> int:
        return self.document["ports"][passage.port]["node"]


def names_of_streams(document: PlanDocument) -> list[str]:
    """The names of the streams of passages by number; after the Plan's own, PTP messages."""
    return [*(stream["name"] for stream in document["streams"]), "PTP messages"]


def _before_queue(passage: Passage, in_host: bool) -> list[Part]:
    """The parts between a frame's arrival at a node and its arrival in the queue of its class."""
    marks = [
        (Reason.SOFTWARE if in_host else Reason.PROCESSING, passage.came_ns),
        (Reason.QDISC, passage.qdisc_ns),
        (Reason.SOFTWARE, passage.handed_ns),
        (Reason.LAUNCH, passage.loaded_ns),
    ]
    known = [(reason, at) for reason, at in marks if at is not None]
    ends = [*(at for _, at in known[1:]), passage.queued_ns]
    return [Part(reason, at, end) for (reason, at), end in zip(known, ends, strict=True)]


def _cyclic_queues(document: PlanDocument) -> dict[int, set[tuple[int, int]]]:
    """By port, the streams and traffic classes that stream gates select. IEEE 802.1Q-2022, annex T."""
    everyone = range(len(document["streams"]))
    found: dict[int, set[tuple[int, int]]] = {}
    for own in document.get("policing", ()):
        for one in own.get("filters", ()):
            if "gate" not in one:
                continue
            chosen = {entry["ipv"] for entry in own["gates"][one["gate"]]["entries"] if "ipv" in entry}
            for number, port in enumerate(document["ports"]):
                if port["node"] == own["node"]:
                    classes = {port["pcp_to_class"][ipv] for ipv in chosen}
                    streams = one.get("streams", everyone)
                    found.setdefault(number, set()).update(
                        (stream, traffic_class) for stream in streams for traffic_class in classes
                    )
    return found
