"""The data of a report: typed tables, so that figures and pages are pure functions of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tsnbench.measure.outcome import Outcome, badge, worst
from tsnbench.measure.refuted import badge_of

if TYPE_CHECKING:
    from tsnbench.foreign import Json
    from tsnbench.plan.types import PlanDocument
    from tsnbench.report.parts.planned import Planned
    from tsnbench.runs.measures import Refuted, Stat


@dataclass(frozen=True)
class Bound:
    """The greatest possible delay by the Plan, in ns between the timestamps of its taps; if there is none,
    the reason."""

    upper_ns: int | None
    reason: str = ""
    source: str = ""
    """The source of the bound, if it is not the analysis of the worst case."""


@dataclass(frozen=True)
class Measure:
    """The measures of one flow, or of a stream's pooled flows, at one listener."""

    stream: str
    group: str
    listener: str
    counts: Mapping[str, int]
    lost_where: tuple[tuple[str, int], ...]
    delay: Stat | None
    jitter: Mapping[str, Stat | None]
    spread_ns: float | None
    rates: Mapping[str, float]
    send_to_tx: Stat | None = None
    """Delay from the talker's queue to the first tap, if it was observed."""
    release_delay: Stat | None = None
    """Delay from the talker's queue to the last tap."""
    uncertainty: Mapping[str, int] | None = None
    """The uncertainty of its times, if the run's clocks were read."""
    flows: int = 1
    tx: str = ""
    rx: str = ""
    pcp: int | None = None
    hops: int | None = None
    paths: tuple[int, ...] = ()
    """The numbers of its paths in the frame table."""
    bound: Bound | None = None
    """The greatest possible delay, if it could be computed."""
    only_listener: bool = True
    """Whether the stream has no other listener, so that its name alone identifies the measure."""

    @property
    def label(self) -> str:
        """The name in figures and tables."""
        listener = "" if self.only_listener else f" to {self.listener}"
        flows = f" ({self.flows} flows)" if self.flows > 1 else ""
        return f"{self.stream}{listener}{flows}"


@dataclass(frozen=True)
class Judged:
    """One requirement of one flow at one listener, and whether it was met."""

    stream: str
    group: str
    listener: str
    requirement: str
    limit: float | None
    unit: str
    found: float | None
    margin: float | None
    worst_seq: int | None
    outcome: Outcome
    worst_case: float | None = None
    """The value that the worst case guarantees, in the limit's unit; None: no guarantee, or unknown."""
    worst_case_margin: float | None = None
    note: str = ""
    """Why there is no worst case, or its condition."""
    uncertainty: float | None = None
    """The uncertainty of the finding, to both sides."""


@dataclass(frozen=True)
class ClassCount:
    """Sent and dropped frames of one traffic class of a port, and its greatest backlog."""

    traffic_class: int
    sent_frames: int
    sent_octets: int
    dropped_frames: int
    dropped_octets: int
    most_frames: int
    most_octets: int
    over_max_sdu: int = 0
    """Dropped frames that were larger than the class allows."""
    overruns: int = 0
    """Frames that were still on the wire when the gate closed."""
    late: int = 0
    """Frames of a cyclic queue that missed their cycle."""
    delay_exceeded: int = 0
    """Dropped frames that had waited for the longest time of the queue."""


@dataclass(frozen=True)
class PortCount:
    """One port's classes, and the frames lost to faults there."""

    port: str
    faults: int
    classes: tuple[ClassCount, ...]


@dataclass(frozen=True)
class Policed:
    """The counters of a stream filter, a scheduler group or a cyclic queue; None: it has no such counter."""

    where: str
    what: str
    frames: int | None
    too_long: int | None = None
    gate: int | None = None
    """Frames that a stream gate dropped."""
    yellow: int | None = None
    red: int | None = None
    late: int | None = None
    """Frames that would have waited too long, or missed their cycle."""

    @property
    def stopped(self) -> int:
        """Frames that did not pass, or not in time."""
        return sum(number or 0 for number in (self.too_long, self.gate, self.red, self.late))


@dataclass(frozen=True)
class Counted:
    """The counters of the backend."""

    simulated_ns: int
    events: int
    frame_hops: int
    under_way: int
    """Frames still in the network at the end."""
    ports: tuple[PortCount, ...]
    streams: tuple[tuple[str, int, int], ...]
    """(name, dropped at the talker, dropped on the path)."""
    policed: tuple[Policed, ...] = ()


@dataclass(frozen=True)
class FaultSpan:
    """One fault of the Plan."""

    what: str
    where: str
    from_ns: int
    until_ns: int
    frames: int | None
    """Number of affected frames and copies; None if they were not counted."""


@dataclass(frozen=True)
class RunFacts:
    """One run. A part that is missing in the folder is empty, and ``absent`` has the reason."""

    manifest: Json
    plan: PlanDocument
    in_force: Mapping[str, Sequence[Json]] = field(default_factory=dict)
    """By port, when each gate control list came into force, if lists changed."""
    flows: tuple[Measure, ...] = ()
    groups: tuple[Measure, ...] = ()
    offset: Json | None = None
    judged: tuple[Judged, ...] = ()
    refuted: tuple[Refuted, ...] = ()
    """Proofs that frames of the run contradict."""
    counters: Counted | None = None
    frames: Path | None = None
    observations: Path | None = None
    clock_error: Path | None = None
    """The table of clock errors, if nodes have clocks of their own."""
    faults: tuple[FaultSpan, ...] = ()
    """The faults, in the Plan's order."""
    steady: str = ""
    """From when on the run repeats, in words; empty if that was not searched."""
    planned: Planned | None = None
    """The schedule, if streams are scheduled."""
    no_bounds: str = ""
    """Why the Plan has no worst-case bounds at all; empty if it has some."""
    absent: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    """Reasons not to trust the measures before a check."""

    @property
    def state(self) -> str:
        """``complete``, ``running``, ``interrupted`` or ``failed``."""
        return str(self.manifest.get("state", "unknown"))

    @property
    def overall(self) -> Outcome | None:
        """The worst outcome of its requirements and proofs; None if nothing was judged."""
        return Outcome.EXCEEDED if self.refuted else worst(row.outcome for row in self.judged)

    @property
    def badge(self) -> str:
        """The words for :attr:`overall`."""
        return badge_of(self.refuted) if self.refuted else badge(self.overall)

    @property
    def title(self) -> str:
        """The scenario's title; empty if it has none."""
        return str(self.manifest.get("title") or "")

    @property
    def label(self) -> str:
        """The name of the run among others of a sweep."""
        variant = ", ".join(f"{key} {value}" for key, value in self.plan["variant"].items())
        return variant or self.plan["name"]

    @property
    def grandmaster(self) -> str:
        """The node whose time the others follow; empty if there is none."""
        gptp = self.plan.get("clocks", {}).get("gptp")
        return self.plan["nodes"][gptp["grandmaster"]]["name"] if gptp else ""

    @property
    def elected(self) -> bool:
        """Whether an election chose the grandmaster, so that a fault may change it."""
        return "bmca" in (self.plan.get("clocks", {}).get("gptp") or {})

    @property
    def priorities(self) -> tuple[int, ...]:
        """The priority code points that streams use."""
        return tuple(sorted({stream["pcp"] for stream in self.plan["streams"]}))
