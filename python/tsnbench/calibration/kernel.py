"""The software of a kernel that runs all nodes on one processor: keys of ``hosts`` and ``shapers``.

Each time is read from frames that nothing else can have delayed: when the first of those leaves that are due
together, how far the next ones are behind it, with and without frames between them that wait for credit, how
long one is in a node, and how late the second frame of a pair leaves a shaper. The shaper's own time is that
of ``net/sched/sch_cbs.c``. Nothing is fitted to delays of busy networks (decision 0073), and what no frame
shows stays unknown.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from tsnbench.calibration.calibrate import sighted
from tsnbench.calibration.errors import CalibrationError
from tsnbench.calibration.sections import Left, Sighted
from tsnbench.libraries import numpy as np
from tsnbench.libraries import polars as pl
from tsnbench.plan.delay import BEFORE_STAMP
from tsnbench.plan.sizes import INTER_FRAME_GAP
from tsnbench.quantities import some

if TYPE_CHECKING:
    from tsnbench.foreign import Json
    from tsnbench.plan.types import PlanDocument, Port
    from tsnbench.runs import Run

LEAST_SAMPLES = 20
"""Fewer do not show a spread."""
SHOWN = 10
"""Values of a distribution that is written."""
MOST_OVERHEAD = 64
CHECK_SEQUENCE = 4
LEAST_GROUPS = 5
LEAST_WAITING = 3
"""Of fewer frames between two others, the time of one that waits is known too badly."""
LEAST_OCTET_NS = 8_000
"""Of the guest's time: where credit grows by an octet so slowly, no lateness is taken for an octet."""
TIMERS = 2
"""A frame that waits for credit is woken twice: when the one before has left, and when credit is there."""


@dataclass
class Software:
    """What runs show of the software; times in ns of the Plan."""

    first: list[float] = field(default_factory=list)
    """From the instant at which frames are due together until the first of them leaves, which was ready."""
    prepare: list[float] = field(default_factory=list)
    """How much longer a talker needs for a frame that waits for credit, which does not come to the driver."""
    leaves: list[float] = field(default_factory=list)
    """How much longer it needs for a frame that leaves at once."""
    turn: list[float] = field(default_factory=list)
    """How much longer it is between frames of different nodes, whose programs take turns."""
    hop: list[float] = field(default_factory=list)
    """In a node that forwards."""
    late: list[float] = field(default_factory=list)
    """Of two timers together, by pairs of frames."""
    overhead: set[int] = field(default_factory=set)
    """Octets that the shaper counts for a frame besides those from address to data."""
    sources: list[str] = field(default_factory=list)
    reasons: dict[str, str] = field(default_factory=dict)
    """By key that is not known, why not."""

    @property
    def driver(self) -> float:
        """Half of what a frame costs more if it leaves: the other half comes after its first bit."""
        return max(_middle(self.leaves), 0.0) / 2

    @property
    def qdisc(self) -> float:
        """Half of the rest of the least time of a frame in a node, or until a talker's frame leaves."""
        least = [min(samples) for samples in (self.first, self.hop) if samples]
        return max(min(least, default=0.0) - self.driver, 0.0) / 2

    @property
    def timer(self) -> tuple[float, float]:
        """The uniform lateness of one timer whose double has the mean and the variance that were seen."""
        mean = float(np.mean(self.late)) / TIMERS
        half = float(np.sqrt(3 * np.var(self.late) / TIMERS))
        return max(mean - half, 0.0), mean + half


def software(runs: Sequence[Run]) -> Software:
    """What runs of a guest show of its kernel.

    Raises:
        CalibrationError: the runs are not of one processor, of several dilations, or show nothing.
        FolderError: a folder is no complete run.
    """
    found, slower = Software(), {int(run.manifest.get("dilate", 1)) for run in runs}
    if len(slower) > 1:
        raise CalibrationError(f"expected runs of one --dilate, found {some(list(map(str, slower)))}")
    for run in runs:
        plan = run.plan.document
        if not _one_processor(run):
            raise CalibrationError(
                f"{run.folder}: expected a run on one processor, found one of {run.manifest['backend']}",
                "tsnbench run FILE --on vm --dilate 10",
            )
        seen = sighted(run, None, software=True)
        found.hop += _hops(seen, plan)
        sent = _sent(seen)
        gaps = list(_gaps(seen, sent))
        alone, turns = ([gap for same, gap in gaps if same is one_node] for one_node in (True, False))
        firsts, send = list(_firsts(seen, sent)), _middle(alone)
        waits = list(_waits(plan, sent, send))
        # Frames of another length take longer, so all these differences are those of one run.
        found.first += firsts
        found.prepare += [wait - _middle(firsts) for wait in waits]
        found.leaves += [gap - _middle(waits) for gap in alone if waits]
        found.turn += [gap - send for gap in turns]
        found.sources.append(_source(run))
        for overhead, late in _pairs(sent, run, min(slower), max(alone, default=math.inf)):
            found.overhead.add(overhead)
            found.late += late
    found.hop, found.late = _undisturbed(found.hop), _undisturbed(found.late)
    _explain(found)
    if len(found.reasons) == len(_NEEDS):
        raise CalibrationError(
            "expected frames that show the kernel's times, found none",
            f"measure: {'; '.join(found.reasons.values())} (the guide of the guest has a scenario)",
        )
    return found


def _undisturbed(times: Sequence[float]) -> list[float]:
    """Those within 1.5 interquartile ranges of the quartiles (Tukey's fences).

    Others met work of the processor that no tap shows, such as a timer of a shaper at another port.
    """
    if not times:
        return []
    low, high = np.quantile(times, (0.25, 0.75))
    fence = 1.5 * (high - low) + 2  # stamps are whole ns
    return [one for one in times if low - fence <= one <= high + fence]


def _one_processor(run: Run) -> bool:
    """Whether all talkers of a run share one processor: those of a guest, or of hosts that name one."""
    if run.manifest["backend"] == "vm":
        return True
    plan = run.plan.document
    talkers = {stream["talker"] for stream in plan["streams"]}
    named = {plan["nodes"][talker].get("host", {}).get("processor") for talker in talkers}
    return len(named) == 1 and None not in named


def _source(run: Run) -> str:
    guest = run.manifest.get("guest", {})
    own = [f"Plan {run.plan.hash[:12]}", *([f"Linux {guest['kernel']}"] if guest else [])]
    if "dilate" in run.manifest:
        own.append(f"--dilate {run.manifest['dilate']}")
    return f"{run.folder.name} ({', '.join(own)})"


def _hops(seen: Sighted, plan: PlanDocument) -> list[float]:
    """Time of frames in each node that forwards, alone there."""
    forward = [place for place, node in enumerate(plan["nodes"]) if node["kind"] != "station"]
    return [
        float(one)
        for section in seen.sections(forward, Left())
        for one in section.residence / section.crossed
    ]


def _sent(seen: Sighted) -> pl.DataFrame:
    """Frames of periodic talkers at their first link, in the order of time.

    ``stream``, ``port``, ``due``, ``octets``; ``t``: the begin on the link, ns; ``free``: since when the link
    was free, ns.
    """
    parts = []
    for number, stream in enumerate(seen.plan["streams"]):
        port, pattern = stream["route"][0]["port"], stream["pattern"]
        table = seen.first(number)
        if table is None or pattern["kind"] != "periodic" or pattern["jitter_ns"] or "any_phase" in stream:
            return pl.DataFrame()
        due = stream["start_ns"] + pattern["offset_ns"] + pl.col("seq").cast(pl.Int64) * pattern["period_ns"]
        octet_ns = 8e9 / seen.plan["ports"][port]["rate_bps"]
        whole = (pl.col("octets").cast(pl.Int64) + BEFORE_STAMP + INTER_FRAME_GAP) * octet_ns
        parts.append(
            table.select(
                pl.lit(number).alias("stream"),
                pl.lit(port).alias("port"),
                due.alias("due"),
                pl.col("octets").cast(pl.Int64),
                "t",
                (pl.col("t") + whole).alias("end"),
            )
        )
    every = pl.concat(parts).sort("t")
    before = pl.col("end").shift(1).over("port").fill_null(float("-inf"))
    return every.with_columns(before.alias("free"))


def _gaps(seen: Sighted, sent: pl.DataFrame) -> Iterator[tuple[bool, float]]:
    """Between frames that are due together and that neither a link nor a queue held; and whether one node
    sends both."""
    if sent.is_empty():
        return
    plan = seen.plan
    held = [number for number, stream in enumerate(plan["streams"]) if _held(plan, number, stream["pcp"])]
    last = float("-inf")
    for group in sent.sort("due", "t").partition_by("due", maintain_order=True):
        begins, due = group["t"].to_numpy(), group["due"][0]
        waited = (group["free"] + 1 >= group["t"]).any() or group["stream"].is_in(held).any()
        if last < due and not waited:
            talkers = [plan["streams"][stream]["talker"] for stream in group["stream"]]
            for (one, other), gap in zip(pairwise(talkers), np.diff(begins), strict=True):
                yield one == other, float(gap)
        last = float(begins[-1])


def _firsts(seen: Sighted, sent: pl.DataFrame) -> Iterator[float]:
    """From the instant at which several frames are due until the first of them leaves, if no earlier frame
    waits."""
    if sent.is_empty():
        return
    plan, last = seen.plan, float("-inf")
    for group in sent.sort("due", "t").partition_by("due", maintain_order=True):
        stream, due, begin, free = group.select("stream", "due", "t", "free").row(0)
        if (
            len(group) > 1
            and last < due
            and free + 1 < begin
            and not _held(plan, stream, plan["streams"][stream]["pcp"])
        ):
            yield float(begin - due)
        last = max(group["t"])


def _waits(plan: PlanDocument, sent: pl.DataFrame, send_ns: float) -> Iterator[float]:
    """A talker's time for one of several frames that wait for credit: between two others of its node that are
    due with them, so close that the first one is still on its link and interrupts nothing."""
    if sent.is_empty():
        return
    for group in sent.sort("due", "t").partition_by("due", maintain_order=True):
        rows = group.to_dicts()
        talkers = {plan["streams"][row["stream"]]["talker"] for row in rows}
        held = [row for row in rows if _held(plan, row["stream"], plan["streams"][row["stream"]]["pcp"])]
        others = sorted((row for row in rows if row not in held), key=lambda row: row["t"])
        order = sorted(row["stream"] for row in rows)
        if len(talkers) > 1 or len(others) != 2 or len(held) < LEAST_WAITING:
            continue
        ends = [order[0], order[-1]]
        span = others[1]["t"] - others[0]["t"]
        idle = all(row["free"] + 1 < row["t"] for row in others)
        if idle and [row["stream"] for row in others] == ends and span < others[0]["end"] - others[0]["t"]:
            # The first of them finds credit, and leaves as the frames around them do.
            yield float(span - 2 * send_ns) / (len(held) - 1)


def _held(plan: PlanDocument, number: int, pcp: int) -> bool:
    """Whether more than a queue is at the first port of a stream."""
    port = plan["ports"][plan["streams"][number]["route"][0]["port"]]
    return "gates" in port or _shaper(port, pcp) is not None


def _shaper(port: Port, pcp: int, in_guest: bool = True) -> tuple[int, int] | None:
    """Idle slope and send slope of the class, bit/s, as ``tc`` has them.

    ``in_guest``: the Plan's shapers are those of a kernel.
    """
    own = port["pcp_to_class"][pcp]
    if in_guest and "cbs" in port["classes"][own]:
        linux = port["classes"][own]["cbs"]["linux"]
        return linux["idleslope"] * 1_000, linux["sendslope"] * 1_000
    child = port["qdisc"]["children"][own] if "qdisc" in port else None
    if child is not None and child["kind"] == "cbs":
        return child["idleslope"] * 1_000, child["sendslope"] * 1_000
    return None


def _pairs(sent: pl.DataFrame, run: Run, dilate: int, send_ns: float) -> Iterator[tuple[int, list[float]]]:
    """For each port with a slow shaper: octets that it counts besides, and lateness of two timers by pair.

    ``send_ns``: a talker's greatest time for a frame; a pair whose second frame comes later than the first
    one has left needs one timer only.
    """
    if sent.is_empty():
        return
    plan = run.plan.document
    for (number,), frames in sent.partition_by("port", as_dict=True, maintain_order=True).items():
        port = plan["ports"][int(str(number))]
        pcps = {plan["streams"][one]["pcp"] for one in frames["stream"].unique()}
        slopes = _shaper(port, min(pcps), run.manifest["backend"] == "vm")
        if slopes is None or len(pcps) > 1 or "gates" in port or 8e9 / slopes[0] * dilate < LEAST_OCTET_NS:
            continue
        pairs = [
            (int(first["octets"]), later["t"] - first["t"])
            for first, later in _alone_in_pairs(frames.to_dicts())
            if (first["octets"] - CHECK_SEQUENCE) * 8e9 / port["rate_bps"] > send_ns
        ]
        if not pairs:
            continue
        octets, spans = np.array(pairs).T
        for overhead in range(MOST_OVERHEAD, -1, -1):
            late = spans - _span(octets - CHECK_SEQUENCE + overhead, port["rate_bps"], slopes)
            if late.min() >= -2:
                yield overhead, late.tolist()
                break


def _alone_in_pairs(frames: Sequence[Json]) -> Iterator[tuple[Json, Json]]:
    """Two frames that are due together, where credit was whole again before them."""
    for place in range(len(frames) - 1):
        first, later = frames[place : place + 2]
        others = [frames[near]["due"] for near in (place - 1, place + 2) if 0 <= near < len(frames)]
        if first["due"] != later["due"] or first["due"] in others:
            continue
        span = later["t"] - first["t"]
        before = frames[place - 1] if place else {"t": -math.inf, "octets": 0}
        # The credit of the frame before, which was not larger, is whole again after as long a span.
        if before["octets"] <= first["octets"] and first["t"] - before["t"] > 1.1 * span:
            yield first, later


def _span(octets: np.ndarray, rate_bps: int, slopes: tuple[int, int]) -> np.ndarray:
    """From a frame that a shaper sends at credit 0 to the next one, ns: ``cbs_dequeue_soft``, on time."""
    idle, send = slopes
    debt = np.floor(octets * -send / rate_bps)
    span: np.ndarray = octets * 8e9 / rate_bps + debt * 8e9 / idle
    return span


_NEEDS = {
    "send": "groups of frames of one node that are due together and wait for no link",
    "prepare": "such groups with three or more frames between two others that wait for credit",
    "kernel-rx": "frames that meet no other one in a node that forwards, without shapers",
    "timer": "pairs of frames that are due together, alone behind a cbs of 1 Mbit/s",
}


def _explain(found: Software) -> None:
    """Why times are not known."""
    every = {"send": found.first, "prepare": found.prepare, "kernel-rx": found.hop, "timer": found.late}
    for key, samples in every.items():
        least = LEAST_GROUPS if key == "prepare" else LEAST_SAMPLES
        if len(samples) < least:
            found.reasons[key] = f"{len(samples)} of {least} {_NEEDS[key]}"
    if "timer" not in found.reasons and len(found.overhead) > 1:
        octets = some([f"{one} B" for one in sorted(found.overhead)])
        found.reasons["timer"] = f"shapers count {octets} besides a frame's own"


def lines_of(found: Software) -> list[str]:
    """The keys, each with the number of frames that show it.

    Frames do not show how much of ``send`` and ``kernel-rx`` is ``qdisc`` and ``driver``: these are halves of
    what they can be at most.
    """
    own = [f"# from {some(found.sources)}; times are those of the Plan", "hosts:", "  default:"]
    behind = found.qdisc + found.driver
    for key, needs, samples, less, what in (
        ("send", "send", found.first, behind, "groups of frames that were ready when they were due"),
        ("prepare", "prepare", found.prepare, -found.driver, "groups of frames that wait for credit"),
        ("finish", "prepare", found.leaves, found.driver, "gaps between frames of one node that leave"),
        ("turn", "send", found.turn, 0.0, "gaps between frames of different nodes"),
        ("kernel-rx", "kernel-rx", found.hop, behind, "frames in a node that forwards"),
    ):
        if needs in found.reasons:
            own.append(f"    # {key}: not known: found {found.reasons[needs]}")
        elif samples:
            times = [sample - less for sample in samples]
            own.append(f"    {key}: {_latency(times)}  # {len(samples)} {what}")
    if "send" not in found.reasons and "kernel-rx" not in found.reasons:
        for key, half in (("qdisc", found.qdisc), ("driver", found.driver)):
            own.append(f"    {key}: {round(half)} ns  # half of what it can be: frames do not show it alone")
    if "timer" in found.reasons:
        own.append(f"    # timer: not known: found {found.reasons['timer']}")
    else:
        low, high = (f"{round(end)} ns" for end in found.timer)
        own.append(f"    timer: {{from: {low}, to: {high}}}  # {len(found.late)} pairs of frames at a shaper")
    own.append("    processor: guest")
    if "timer" in found.reasons:
        return [*own, "# qdisc of shapers: not known, as timer"]
    counted = f"overhead: {min(found.overhead)} B"
    return [*own, "shapers:", f"  all: {{qdisc: {{cbs: software, {counted}}}}}"]


def _middle(samples: Sequence[float]) -> float:
    return float(np.median(samples)) if samples else 0.0


def _latency(samples: Sequence[float]) -> str:
    """A latency in the language: one value, or equal shares at their medians."""
    middles = np.quantile(samples, (np.arange(SHOWN) + 0.5) / SHOWN)
    values, counts = np.unique(np.maximum(np.round(middles), 0).astype(np.int64), return_counts=True)
    if len(values) == 1:
        return f"{values[0]} ns"
    every = ", ".join(f"{value} ns" for value in values)
    return f"{{values: [{every}], counts: [{', '.join(map(str, counts))}]}}"
