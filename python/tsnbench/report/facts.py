"""What a report is drawn from: plain typed tables, so that figures and pages are pure functions over them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tsnbench.measure.outcome import Outcome
from tsnbench.plan.paths import entries_to

if TYPE_CHECKING:
    from tsnbench.foreign import Json
    from tsnbench.report.parts.planned import Planned


@dataclass(frozen=True)
class Gates:
    """A gate control list: cycle and entries in ns; bit n of a mask is the gate of traffic class n."""

    base_time_ns: int
    cycle_ns: int
    entries: tuple[tuple[int, int], ...]
    """(mask of open gates, ns)."""
    from_ns: int | None = None
    """From when on it is in force, on the clock of the port's node; None: from the beginning."""
    until_ns: int | None = None
    called: str = ""
    """Which of the port's lists it is, where there are several."""


@dataclass(frozen=True)
class Port:
    """One port; ``reserved_bps`` is each class's idle slope, None where it has no credit-based shaper."""

    name: str
    node: int
    peer: int
    rate_bps: int
    propagation_ps: int
    pcp_to_class: tuple[int, ...]
    reserved_bps: tuple[int | None, ...]
    gates: Gates | None
    gates_in_turn: tuple[Gates, ...] = ()
    """Every list that was in force, in order of time, where they changed."""


@dataclass(frozen=True)
class Flow:
    """One talker's sequence of frames, with its tree of egress ports."""

    name: str
    group: str
    talker: int
    pcp: int
    route: tuple[tuple[int, int | None], ...]
    """(port, index of the entry before it)."""
    listeners: tuple[tuple[int, int], ...]
    """(node, last entry of its route)."""

    def path(self, entry: int) -> tuple[int, ...]:
        """The egress ports from the talker to the end of one entry of the route."""
        return tuple(
            self.route[place][0] for place in entries_to([parent for _, parent in self.route], entry)
        )


@dataclass(frozen=True)
class Tap:
    """A place where frames are sighted."""

    name: str
    port: int
    stage: str
    point: str


@dataclass(frozen=True)
class Network:
    """The Plan, as far as a report tells of it."""

    name: str
    variant: Mapping[str, str]
    seed: int
    duration_ns: int
    hash: str
    nodes: tuple[tuple[str, str], ...]
    """(name, kind)."""
    ports: tuple[Port, ...]
    flows: tuple[Flow, ...]
    taps: tuple[Tap, ...]

    @property
    def priorities(self) -> tuple[int, ...]:
        """The priority code points that streams use."""
        return tuple(sorted({flow.pcp for flow in self.flows}))


@dataclass(frozen=True)
class Stat:
    """One measure's statistics in ns, from exact integers; see the measures for each definition."""

    count: int
    min: int
    max: int
    mean: float
    std: float
    median: int
    p90: int
    p99: int
    p99_9: int
    min_seq: int | None = None
    max_seq: int | None = None
    max_stream: str | None = None


@dataclass(frozen=True)
class Bound:
    """The greatest delay that the Plan allows, in ns as its taps stamp; without one, the reason."""

    upper_ns: int | None
    reason: str = ""
    source: str = ""
    """Where it is from, unless from the analysis of the worst case."""


@dataclass(frozen=True)
class Measure:
    """What was measured of one flow, or of a stream's flows pooled, at one listener."""

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
    """From the talker's queue to the first tap, where that was sighted."""
    release_delay: Stat | None = None
    """From there to the last tap."""
    uncertainty: Mapping[str, int] | None = None
    """What its times may be wrong by, where the run's clocks were read."""
    flows: int = 1
    tx: str = ""
    rx: str = ""
    pcp: int | None = None
    hops: int | None = None
    paths: tuple[int, ...] = ()
    """Which rows of the frame table are its own."""
    bound: Bound | None = None
    """What no delay may exceed, where the Plan could be asked."""
    only_listener: bool = True
    """The stream has no other listener, so that its name says enough."""

    @property
    def label(self) -> str:
        """How figures and tables call it."""
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
    """What the worst case of the Plan guarantees, in the limit's unit; None: nothing, or nothing known."""
    worst_case_margin: float | None = None
    note: str = ""
    """Why there is no worst case, or under which condition it holds."""
    uncertainty: float | None = None
    """What was found may be so much more or less."""


@dataclass(frozen=True)
class ClassCount:
    """What one traffic class of a port sent, refused, and held at most."""

    traffic_class: int
    sent_frames: int
    sent_octets: int
    dropped_frames: int
    dropped_octets: int
    most_frames: int
    most_octets: int
    over_max_sdu: int = 0
    """Of the dropped frames, those larger than the class takes."""
    overruns: int = 0
    """Frames that were on the wire still when the gate closed."""
    late: int = 0
    """Frames of a cyclic queue that missed their cycle."""


@dataclass(frozen=True)
class PortCount:
    """One port's classes, and the frames that a fault took there."""

    port: str
    faults: int
    classes: tuple[ClassCount, ...]


@dataclass(frozen=True)
class Policed:
    """What a stream filter, a scheduler group or a cyclic queue did; None is what it does not count."""

    where: str
    what: str
    frames: int | None
    too_long: int | None = None
    gate: int | None = None
    """Frames that a stream gate stopped."""
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
    """What the backend counted by itself."""

    simulated_ns: int
    events: int
    frame_hops: int
    under_way: int
    """Frames still in the network at the end."""
    ports: tuple[PortCount, ...]
    streams: tuple[tuple[str, int, int], ...]
    """(name, dropped at the talker, dropped on the way)."""
    policed: tuple[Policed, ...] = ()


@dataclass(frozen=True)
class FaultSpan:
    """One fault of the Plan."""

    what: str
    where: str
    from_ns: int
    until_ns: int
    frames: int | None
    """Frames and copies that it affected; None where that was not counted."""


@dataclass(frozen=True)
class RunFacts:
    """One run. A part that is not in the folder is empty, and ``absent`` says why."""

    manifest: Json
    network: Network
    flows: tuple[Measure, ...] = ()
    groups: tuple[Measure, ...] = ()
    offset: Mapping[str, Any] | None = None
    judged: tuple[Judged, ...] = ()
    counters: Counted | None = None
    frames: Path | None = None
    observations: Path | None = None
    clock_error: Path | None = None
    """Where nodes have clocks of their own."""
    grandmaster: str = ""
    """The node whose time the others follow; empty where none does."""
    faults: tuple[FaultSpan, ...] = ()
    """What went wrong, in the Plan's order."""
    elected: bool = False
    """Whether an election chose the grandmaster, so that a fault may change it."""
    planned: Planned | None = None
    """The schedule, where streams are scheduled."""
    no_bounds: str = ""
    """Why the Plan has no worst-case bounds at all; empty where it has."""
    absent: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    """What to look at before trusting the measures."""

    @property
    def state(self) -> str:
        """``complete``, ``running``, ``interrupted`` or ``failed``."""
        return str(self.manifest.get("state", "unknown"))

    @property
    def title(self) -> str:
        """What the scenario says of itself in one line; empty where nobody said."""
        return str(self.manifest.get("title") or "")

    @property
    def label(self) -> str:
        """The run among others of a sweep."""
        variant = ", ".join(f"{key} {value}" for key, value in self.network.variant.items())
        return variant or self.network.name
