"""Measures (``tsnbench-measures/1``) and verdicts (``tsnbench-verdict/1``) as JSON has them.

The measures are those of ``crates/measure``. ``docs/concepts/measures.md`` defines each of them.
Times are in ns.
"""

from typing import NotRequired, TypedDict

from tsnbench.plan.bounds.types import ClockPromise


class SourceFile(TypedDict):
    """One file that was read."""

    path: str
    side: str
    interface: NotRequired[str]
    """The only interface of the file that was read; missing if all were."""
    frames: int


class Ignored(TypedDict):
    """Frames that were read and belong to no path."""

    unreadable_frames: int
    rx_only_streams: int
    rx_only_frames: int


class Identification(TypedDict):
    """Frames of one side of captures that one format identified."""

    side: str
    format: str
    streams: int
    frames: int


class Source(TypedDict):
    """The files that were read."""

    kind: str
    files: list[SourceFile]
    formats: list[str]
    identified: NotRequired[list[Identification]]
    ignored: Ignored
    warnings: list[str]


class Count(TypedDict):
    """The counters of frames."""

    never_sent: int | None
    sent: int
    received: int
    lost: int
    late: int | None
    duplicate: int
    reordered: int
    unmatched_rx: int
    missing_timestamp: int
    duplicate_tx: int
    before_first: int
    in_network_at_end: int
    restarts: int


class Scale(TypedDict):
    """The numbers in frames: number n is ``(n * step + residue) % modulus + first`` (modulus 0: 2^64)."""

    modulus: int
    step: int
    residue: int
    first: int


class Gap(TypedDict):
    """Sequence numbers that are missing after an existing one."""

    after: int
    missing: int


class LostAfter(TypedDict):
    """Frames that were lost behind a tap."""

    after_tap: str
    frames: int


class DelayPercentile(TypedDict):
    """The delay that a share of the frames does not exceed."""

    share_ppm: int
    delay_ns: int


class Rate(TypedDict):
    """bit/s of frames, destination address to FCS."""

    sent_bps: float | None
    received_bps: float | None


class Stat(TypedDict):
    """Statistics of many integers; ``…_seq`` is the number of the frame."""

    count: int
    min: int
    min_seq: int | None
    min_stream: NotRequired[str]
    max: int
    max_seq: int | None
    max_stream: NotRequired[str]
    sum: int
    mean: float
    std: float
    median: int
    p90: int
    p99: int
    p99_9: int


Jitter = TypedDict(
    "Jitter",
    {
        "delay-step": Stat | None,
        "delay-step-abs": Stat | None,
        "deviation": Stat | None,
        "interval": Stat | None,
    },
)
"""Every kind of jitter that is a distribution."""


class Uncertainty(TypedDict):
    """The uncertainty of a path's times, from the readings of both ends' clocks."""

    delay_ns: int
    difference_ns: int
    arrivals_ns: int
    release_delay_ns: NotRequired[int]


class PathReport(TypedDict):
    """Measures of one stream at one listener; in ``groups`` of all flows of a scenario stream."""

    stream: str
    group: str
    listener: str
    tx_tap: str | None
    rx_tap: str | None
    tx_clock: str | None
    rx_clock: str | None
    flows: NotRequired[int]
    count: Count
    numbers: NotRequired[Scale]
    gaps: NotRequired[list[Gap]]
    lost_where: list[LostAfter]
    delay: Stat | None
    delay_percentiles: NotRequired[list[DelayPercentile]]
    jitter: Jitter
    spread: float | None
    period_ns: int | None
    deadline_ns: int | None
    rate: Rate
    send_to_tx: Stat | None
    release_delay: NotRequired[Stat]
    uncertainty: NotRequired[Uncertainty]
    departures: Stat | None
    arrivals: Stat | None
    silence_ns: NotRequired[int]
    age: NotRequired[Stat]
    round_trip: NotRequired[Stat]


class Offset(TypedDict):
    """A whole-second offset between the clocks of both sides."""

    seconds: int
    applied: bool
    text: str


class MeasuredFrom(TypedDict):
    """The time from which on frames count."""

    ns: int | None
    """The time in the run; None if the clocks never settled, so that no frame counted."""
    settled: bool
    """Whether it is the time at which the clocks had settled."""


class Measures(TypedDict):
    """All measures."""

    format: str
    source: Source
    offset: Offset | None
    measured_from: NotRequired[MeasuredFrom]
    paths: list[PathReport]
    groups: list[PathReport]


class LostFrames(TypedDict):
    """A stream with lost frames."""

    stream: str
    listener: str
    lost: int
    sent: int


class Found(TypedDict):
    """A requirement with the measured values."""

    requirement: str
    limit: float
    limit_unit: str
    found: float | None
    margin: float | None
    worst_seq: int | None
    met: str
    uncertainty: NotRequired[float]
    """The uncertainty of the finding, to both sides, if the run's clocks were read."""


class Proof(TypedDict):
    """A requirement against the worst case of the Plan."""

    proof: str
    worst_case: float | None
    worst_case_margin: float | None
    worst_case_reason: str | None
    worst_case_source: str | None
    proof_condition: str | None


class Whose(TypedDict):
    """The flow and the listener of a row."""

    stream: str
    group: str
    listener: str


class VerdictRow(Whose, Found, Proof):
    """One requirement of one flow at one listener."""


class GroupedRow(VerdictRow):
    """The row of the flow that fails most, or is next to fail; ``flows``: how many have this requirement."""

    flows: int


class WorstCaseRow(Whose, Proof):
    """A requirement against the worst case alone, before any run."""

    requirement: str
    limit: float
    limit_unit: str


class ClocksApart(TypedDict):
    """The greatest difference between the clocks of two nodes, and its time."""

    most_ps: int
    at_ns: int
    allowed_ps: NotRequired[int]
    """What the schedule allows, if it has a margin."""


class Refuted(TypedDict):
    """A proved bound that frames refute: a delay beyond the worst case or below the least, a loss."""

    stream: str
    listener: str
    quantity: str
    below: bool
    bound: float
    unit: str
    worst: float
    frames: int | None
    """Number of these frames; None if single frames were not looked at."""
    of: int | None
    first_seq: int | None
    first_ns: int | None
    """When the first of them left its talker."""
    cause: str
    """``defect`` of tsnbench, ``clocks`` beyond the proof's margin, or ``network``: not that of the Plan."""


class Verdict(TypedDict):
    """``tsnbench-verdict/1``: every requirement of every flow at every listener."""

    format: str
    met: bool
    rows: list[VerdictRow]
    lost: list[LostFrames]
    dropped_late: NotRequired[int]
    """Frames that ports dropped because they had waited for the longest time of their queue."""
    refuted: list[Refuted]
    clocks: NotRequired[ClockPromise]
    clocks_apart: NotRequired[ClocksApart]
    """If clocks differed by more than the schedule allows."""


STATS = ("min", "mean", "median", "p90", "p99", "p99_9", "max")
KINDS = ("delay-step", "delay-step-abs", "deviation", "interval")
"""Jitters that are distributions; spread is a number."""


def figures(stat: Stat) -> dict[str, float]:
    """Minimum, mean, median, three percentiles, maximum."""
    return {name: stat[name] for name in STATS}  # type: ignore[literal-required]


def kinds(jitter: Jitter) -> dict[str, Stat | None]:
    """Every kind of jitter that is a distribution."""
    return {kind: jitter[kind] for kind in KINDS}  # type: ignore[literal-required]


def range_of(stat: Stat | None) -> list[int | None]:
    """Minimum, median and maximum; None without samples."""
    return [None] * 3 if stat is None else [stat["min"], stat["median"], stat["max"]]
