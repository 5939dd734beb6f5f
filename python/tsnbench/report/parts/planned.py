"""A Plan's scheduled streams: each planned frame at each port, and each stream's path in time.

IEEE 802.1Q-2022, 8.6.8.4. The Plan alone is read, before any run. Times are in ns, with a fraction if a
frame's time is not a whole number.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import lcm
from typing import TYPE_CHECKING, Any

from tsnbench.plan.frames import R_TAG, data_units, sizes
from tsnbench.plan.gates import clock_spans
from tsnbench.plan.streams import periodic, release_ns

if TYPE_CHECKING:
    from tsnbench.plan.types import GateCycle, PlanDocument, Port, Stream

PREAMBLE, GAP = 8, 12
"""Octets on the wire before a frame, and the least number between two. IEEE 802.3-2022, 4.2.3."""
MOST_TURNS = 1 << 14
"""Frames of one port beyond this are not drawn one by one."""


@dataclass(frozen=True)
class Slot:
    """One planned frame on one link, in the port's cycle."""

    number: int
    """The stream's number in the report."""
    begin: float
    length: float
    margin: float
    """Greatest deviation of its time, to both sides."""


@dataclass(frozen=True)
class Lane:
    """Classes of a port whose gates always have equal states."""

    classes: tuple[int, ...]
    scheduled: bool
    open: tuple[tuple[float, float], ...]
    """(begin, length) of the windows in the cycle."""
    guard: float
    """Time before the gate's closing in which its largest frame cannot begin; 0 without a guard."""


@dataclass(frozen=True)
class PlannedPort:
    """One port with scheduled frames."""

    name: str
    cycle: int
    lanes: tuple[Lane, ...]
    """The lanes, scheduled ones first."""
    slots: tuple[Slot, ...]
    left_out: int = 0
    """Frames of a cycle that are not listed."""


@dataclass(frozen=True)
class Stage:
    """One link of a path: when the frames leave its first node, counted from the release."""

    begins_at: str
    ends_at: str
    parent: int | None
    """The previous stage."""
    frames: tuple[tuple[float, float], ...]
    """First bit out and last bit out of each frame."""
    propagation: float


@dataclass(frozen=True)
class PlannedStream:
    """The flows of one scheduled stream with equal times, whatever their releases are."""

    number: int
    group: str
    names: tuple[str, ...]
    releases: tuple[int, ...]
    """Release of each flow, ns in the period."""
    period: int
    stages: tuple[Stage, ...]
    listeners: tuple[str, ...]
    delay: float
    """Delay from the release to the last bit at the last listener, on its slowest path."""
    margin: float
    limit: int | None

    @property
    def label(self) -> str:
        """The name in figures and tables."""
        return self.names[0] if len(self.names) == 1 else f"{self.group} ({len(self.names)} flows)"

    @property
    def slack(self) -> float:
        """The rest of the limit; without a limit, of the period."""
        return (self.period if self.limit is None else self.limit) - self.delay - self.margin

    @property
    def path(self) -> str:
        """The nodes of the path, branch by branch."""
        parts: list[str] = []
        for place, stage in enumerate(self.stages):
            if not parts or stage.parent is None or stage.parent != place - 1:
                parts.append(f"{', ' if parts else ''}{stage.begins_at}")
            parts.append(f" \N{RIGHTWARDS ARROW} {stage.ends_at}")
        return "".join(parts)


@dataclass(frozen=True)
class Planned:
    """The schedule of a Plan."""

    streams: tuple[PlannedStream, ...]
    ports: tuple[PlannedPort, ...]
    """Ports, those with the most frames first."""


def planned(document: PlanDocument) -> Planned | None:
    """The schedule; None where no stream is scheduled."""
    flows = [stream for stream in document["streams"] if "scheduled" in stream]
    if not flows:
        return None
    walks = [_stages(document, flow) for flow in flows]
    alike: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for place, (flow, stages) in enumerate(zip(flows, walks, strict=True)):
        limit = flow.get("requirements", {}).get("delay_ns")
        alike[flow["group"], stages, periodic(flow)["period_ns"], limit].append(place)
    streams: list[PlannedStream] = []
    numbers: dict[int, int] = {}
    for number, ((group, stages, period, limit), places) in enumerate(alike.items(), 1):
        numbers |= dict.fromkeys(places, number)
        own = [flows[place] for place in places]
        names = [document["nodes"][listener["node"]]["name"] for listener in own[0]["listeners"]]
        merges = own[0].get("redundancy", {}).get("merges", ())
        meeting = {merge["from"][0]: merge["from"] for merge in merges}
        ends = {end for at in own[0]["listeners"] for end in meeting.get(at["route"], [at["route"]])}
        streams.append(
            PlannedStream(
                number=number,
                group=group,
                names=tuple(flow["name"] for flow in own),
                releases=tuple(release_ns(flow) for flow in own),
                period=period,
                stages=stages,
                listeners=tuple(names),
                delay=max(stages[end].frames[-1][1] + stages[end].propagation for end in ends),
                margin=own[0]["scheduled"].get("margin_ps", 0) / 1e3,
                limit=limit,
            )
        )
    ports = _ports(document, flows, walks, numbers)
    return Planned(tuple(streams), tuple(sorted(ports, key=lambda port: -len(port.slots) - port.left_out)))


def planned_port(document: PlanDocument, number: int) -> PlannedPort | None:
    """One port's cycle, also of a port that has gates and no scheduled frame; None if it has neither.

    The numbers of its frames are those of the Plan's streams.
    """
    own = [
        place
        for place, flow in enumerate(document["streams"])
        if "scheduled" in flow and any(hop["port"] == number for hop in flow["route"])
    ]
    flows = [document["streams"][place] for place in own]
    if not flows and "gates" not in document["ports"][number]:
        return None
    walks = [_stages(document, flow) for flow in flows]
    return _ports(document, flows, walks, dict(enumerate(own)), [number])[0]


def _stages(document: PlanDocument, flow: Stream) -> tuple[Stage, ...]:
    """Link by link from the talker; after a merge point, with the earliest member stream."""
    redundancy = flow.get("redundancy", {})
    tags = [R_TAG if copy else 0 for copy in redundancy.get("copies", [0] * len(flow["route"]))]
    meeting = {merge["from"][0]: merge["from"] for merge in redundancy.get("merges", ())}
    octets = data_units(flow["size"])[0]
    stages: list[Stage] = []
    for hop, starts, tag in zip(flow["route"], flow["scheduled"]["starts_ps"], tags, strict=True):
        port = document["ports"][hop["port"]]
        bit = 1e9 / port["rate_bps"]
        ready = [0.0] * len(octets)
        parent = hop.get("parent")
        if parent is not None and parent < len(stages):
            processing = document["nodes"][port["node"]]["processing_ns"]
            come = [stages[one] for one in meeting.get(parent, [parent]) if one < len(stages)]
            first = min(come, key=lambda one: one.frames[0][1] + one.propagation)
            ready = [end + first.propagation + processing for _, end in first.frames]
        frames: list[tuple[float, float]] = []
        free = min(starts) / 1e3
        for size, at in zip(octets, ready, strict=True):
            begin = max(free, at)
            end = begin + (size + tag + PREAMBLE) * 8 * bit
            free = end + GAP * 8 * bit
            frames.append((round(begin, 3), round(end, 3)))
        names = [document["nodes"][node]["name"] for node in (port["node"], _far(document, port))]
        stages.append(Stage(names[0], names[1], parent, tuple(frames), port["propagation_ps"] / 1e3))
    return tuple(stages)


def _far(document: PlanDocument, port: Port) -> int:
    return int(document["ports"][port["peer"]]["node"])


def _ports(
    document: PlanDocument,
    flows: Sequence[Stream],
    walks: Sequence[Sequence[Stage]],
    numbers: Mapping[int, int],
    only: Sequence[int] = (),
) -> list[PlannedPort]:
    """``only``: these ports, also without a frame; empty: those with a frame."""
    passing: dict[int, list[tuple[int, int]]] = defaultdict(list, {port: [] for port in only})
    for place, flow in enumerate(flows):
        for entry, hop in enumerate(flow["route"]):
            if not only or hop["port"] in only:
                passing[hop["port"]].append((place, entry))
    largest = _largest(document)
    found = []
    for number, entries in sorted(passing.items()):
        port = document["ports"][number]
        gates = port.get("gates")
        periods = [periodic(flows[place])["period_ns"] for place, _ in entries]
        cycle = gates["cycle_ns"] if gates else lcm(*periods)
        slots: list[Slot] = []
        left_out = 0
        for place, entry in entries:
            flow, stage = flows[place], walks[place][entry]
            period = periodic(flow)["period_ns"]
            turns = max(1, cycle // period)
            if len(slots) + turns * len(stage.frames) > MOST_TURNS:
                left_out += turns * len(stage.frames)
                continue
            margin = flow["scheduled"].get("margin_ps", 0) / 1e3
            for turn in range(turns):
                release = release_ns(flow) + turn * period
                slots += [
                    Slot(numbers[place], (release + begin) % cycle, end - begin, margin)
                    for begin, end in stage.frames
                ]
        slots.sort(key=lambda slot: (slot.begin, slot.number))
        scheduled = {port["pcp_to_class"][flows[place]["pcp"]] for place, _ in entries}
        lanes = _lanes(port, scheduled, largest[number])
        found.append(PlannedPort(port["name"], cycle, lanes, tuple(slots), left_out))
    return found


def _lanes(port: Port, scheduled: set[int], largest: Mapping[int, int]) -> tuple[Lane, ...]:
    """``largest``: octets of the largest frame, by traffic class."""
    gates = port.get("gates")
    classes = [n for n in range(len(port["classes"])) if n in port["pcp_to_class"]]
    alike: dict[tuple[bool, tuple[tuple[float, float], ...]], list[int]] = defaultdict(list)
    for own in classes:
        windows = _windows(gates, own) if gates else ((0.0, float("inf")),)
        alike[own in scheduled, windows].append(own)
    lanes = []
    for (mine, windows), members in alike.items():
        octets = max(largest.get(own, 0) for own in members)
        guarded = gates and not gates.get("unguarded") and not mine and octets
        guard = (octets + PREAMBLE) * 8e9 / port["rate_bps"] if guarded else 0.0
        lanes.append(Lane(tuple(reversed(members)), mine, windows, guard))
    return tuple(sorted(lanes, key=lambda lane: (not lane.scheduled, -lane.classes[0])))


def _largest(document: PlanDocument) -> dict[int, dict[int, int]]:
    """Octets of the largest frame that any stream sends, by port and traffic class."""
    found: dict[int, dict[int, int]] = defaultdict(dict)
    for stream in document["streams"]:
        octets = sizes(stream["size"]).largest
        for hop in stream["route"]:
            own = document["ports"][hop["port"]]["pcp_to_class"][stream["pcp"]]
            found[hop["port"]][own] = max(found[hop["port"]].get(own, 0), octets)
    return found


def _windows(gates: GateCycle, own: int) -> tuple[tuple[float, float], ...]:
    """(begin, length) in ns of a cycle that begins at 0."""
    return tuple((begin, end - begin) for begin, end in clock_spans(gates, own))
