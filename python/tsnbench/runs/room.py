"""An estimate of a run's octets, compared with the free space before the run begins."""

from __future__ import annotations

import os
import resource
import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from tsnbench.errors import BackendError
from tsnbench.plan.frames import CAPTURED_OCTETS, Sizes, sizes
from tsnbench.plan.load import flow_rate
from tsnbench.quantities import size as size_of
from tsnbench.runs import clearing

if TYPE_CHECKING:
    from tsnbench.plan.types import PlanDocument, Size, Stream

ROWS = {"alike": (1.0, 1.5), "steady": (4.0, 8.0), "random": (7.0, 13.0)}
"""Octets of one row of observations.parquet and of frames.parquet, by the pattern of frames' times.

Rows are compressed by their differences. In the shipped scenarios, where a run has 10,000 rows or more, they
take up to 0.3 and 0.7 octets where all talkers have one period, up to 2.0 and 6.0 where periods differ or
frames wait behind saturating ones, and up to 5.1 and 11.4 where times are drawn at random.
"""
PASSAGE = 24
"""Octets of one row of the passages of a replay: at most 18 in the benchmarks."""
CLOCK_ERROR = 16
"""Octets of one row of clock_error.parquet."""
BLOCK = 40
"""Octets of a capture for a frame in addition to the frame's own."""
REST = 4_000_000
PER_STREAM = 5_000
"""Octets of Plan, counters, measures and report: of a small run, and for each stream."""
ALWAYS = 50_000_000
"""Runs below this size are not checked: only seconds could be lost."""


@dataclass(frozen=True)
class Need:
    """An upper estimate of a run's octets."""

    observations: int
    frames: int
    captures: int
    rest: int
    scratch: int
    """Temporary octets outside of the run folder."""
    frame_hops: float
    """Frames over links, each link counted."""

    @property
    def folder(self) -> int:
        """Octets in the run folder."""
        return self.observations + self.frames + self.captures + self.rest


def need(plan: PlanDocument, backend: str, pcap: bool) -> Need:
    """The estimate for a Plan's document."""
    sent = [frames(plan, stream) for stream in plan["streams"]]
    passing = _passing(plan, sent)
    span_s = (plan["duration_ns"] + plan["drain_ns"]) / 1e9
    hops = 0.0
    for number, own in passing.items():
        hops += own.frames * min(1.0, plan["ports"][number]["rate_bps"] * span_s / own.bits)
    rows = octets = snapped = 0.0
    for tap in plan["taps"]:
        port = plan["ports"][tap["port"]]
        # Frames that arrive at a port have left its peer.
        egress = tap["port"] if tap["stage"] not in ("rx", "kernel-rx", "app-rx") else port["peer"]
        there = passing.get(egress, _NOTHING)
        fits = port["rate_bps"] * span_s
        share = min(1.0, fits / there.bits) if there.bits else 0.0
        rows += there.frames * share
        octets += 1.1 * there.octets * share
        snapped += there.snapped * share
    pairs = sum(count * len(stream["listeners"]) for count, stream in zip(sent, plan["streams"], strict=True))
    on_kernel = backend not in ("simulation", "replay")
    passages = PASSAGE * hops if backend == "replay" else 0
    sighting, frame = ROWS["random" if on_kernel or _is_random(plan) else _steady(plan)]
    return Need(
        observations=round(sighting * rows + passages),
        frames=round(frame * pairs),
        # Kernels make observations from captures, so these always need space for a while.
        captures=round(snapped) if on_kernel else round(octets) if pcap else 0,
        rest=REST + PER_STREAM * len(plan["streams"]) + _clock_rows(plan) * CLOCK_ERROR,
        scratch=round(snapped) if backend == "netns" else 0,
        frame_hops=hops,
    )


@dataclass
class _Passing:
    """Sums over the streams that leave by one port."""

    frames: float = 0.0
    bits: float = 0.0
    octets: float = 0.0
    """Octets of captures with whole frames."""
    snapped: float = 0.0
    """Octets of captures on kernels."""


_NOTHING = _Passing()


def _passing(plan: PlanDocument, sent: Sequence[float]) -> dict[int, _Passing]:
    """By port, the sums over its streams; linear in streams and hops."""
    # Large Plans have many streams of few kinds: each kind counts its streams at each port.
    kinds: dict[tuple[float, float, float, float], Counter[int]] = {}
    for count, stream in zip(sent, plan["streams"], strict=True):
        bits, octets, snapped = _of_one_frame(stream["size"])
        kind = (count, count * bits, count * octets, count * snapped)
        ports = {hop["port"] for hop in stream["route"]}
        ports.update([hop["port"] for hop in stream.get("flood", ())])
        kinds.setdefault(kind, Counter()).update(ports)
    found: dict[int, _Passing] = {}
    for (count, bits, octets, snapped), streams in kinds.items():
        for port, number in streams.items():
            own = found.setdefault(port, _Passing())
            own.frames += number * count
            own.bits += number * bits
            own.octets += number * octets
            own.snapped += number * snapped
    return found


def _of_one_frame(size: Size) -> tuple[float, float, float]:
    """The mean bits on the wire of a stream's frames, and the octets of one in captures: whole, and cut."""
    return _of_fixed(size["octets"]) if size["kind"] == "frame" else _of_sizes(sizes(size))


@lru_cache(maxsize=4096)
def _of_fixed(octets: int) -> tuple[float, float, float]:
    return _of_sizes(sizes({"kind": "frame", "octets": octets}))


def _of_sizes(size: Sizes) -> tuple[float, float, float]:
    return (
        float(size.phy_bits / size.frames),
        float(size.frame_bits / size.frames) / 8 + BLOCK,
        min(size.largest, CAPTURED_OCTETS) + BLOCK,
    )


def frames(plan: PlanDocument, stream: Stream) -> float:
    """The mean number of frames of a stream's talker."""
    pattern = stream["pattern"]
    span_ns = stream["stop_ns"] - stream["start_ns"]
    if pattern["kind"] == "periodic" and stream["size"]["kind"] == "frame":
        # Almost all streams of large Plans: one frame a period.
        return span_ns / pattern["period_ns"] + 1.0
    size = sizes(stream["size"])
    rate = flow_rate(pattern, stream["size"])
    if pattern["kind"] == "trace":
        span_ns = min(span_ns, pattern["passes"] * pattern["cycle_ns"])
    bps = plan["ports"][stream["route"][0]["port"]]["rate_bps"] if rate is None else float(rate)
    if pattern["kind"] == "token-bucket":
        span_ns += pattern["burst_octets"] * 8 * 10**9 // pattern["rate_bps"]
    return float(bps) * float(size.frames / size.phy_bits) * float(span_ns) / 1e9 + float(size.frames)


def refuse_too_large(plan: PlanDocument, folder: Path, scratch: Path, backend: str, pcap: bool) -> None:
    """The check before a run begins; the space of a replaced run counts as free.

    ``backend``: its name, or ``replay``.

    Raises:
        BackendError: the disk has too little space, or files may not be so large.
    """
    wanted = need(plan, backend, pcap)
    if wanted.folder + wanted.scratch < ALWAYS:
        return
    largest = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    if largest != resource.RLIM_INFINITY and wanted.observations > largest:
        raise BackendError(
            f"{folder}: this run writes a file of about {size_of(wanted.observations)}, and files may have "
            f"{size_of(largest)}\n"
            "hint: ulimit -f raises this limit; a shorter --duration or fewer taps need less"
        )
    places: dict[int, tuple[Path, int]] = {}
    for path, octets in ((folder, wanted.folder), (scratch, wanted.scratch)):
        there = _existing(path)
        device = os.stat(there).st_dev
        before = places.get(device, (there, 0))
        places[device] = (before[0], before[1] + octets)
    replaced = clearing.size(folder)
    for path, octets in places.values():
        free = shutil.disk_usage(path).free + (replaced if path == _existing(folder) else 0)
        if octets > free:
            raise BackendError(
                f"{folder}: this run writes about {size_of(octets)}, and the disk of {path} has "
                f"{size_of(free)} left\nhint: {_less(pcap)}--into names a folder on another disk"
            )


def _less(pcap: bool) -> str:
    return "a shorter --duration, fewer taps" + (" or no --pcap" if pcap else "") + " need less; "


def _is_random(plan: PlanDocument) -> bool:
    """Whether times of frames are random, or recorded."""
    patterns = [stream["pattern"] for stream in plan["streams"]]
    return (
        bool(plan.get("clocks"))
        or bool(plan.get("faults"))
        or any(one["kind"] in ("poisson", "trace") or one.get("jitter_ns") for one in patterns)
        or any(one["size"]["kind"] != "frame" for one in plan["streams"])
        or any("host" in node or "further" in node for node in plan["nodes"])
    )


def _steady(plan: PlanDocument) -> str:
    periods = {stream["pattern"].get("period_ns") for stream in plan["streams"]}
    return "alike" if len(periods) == 1 and None not in periods else "steady"


def _clock_rows(plan: PlanDocument) -> int:
    clocks = plan.get("clocks")
    if not clocks or not clocks.get("record_ns"):
        return 0
    moments = int(plan["duration_ns"] + plan["drain_ns"]) // int(clocks["record_ns"])
    return len(plan["nodes"]) * moments


def _existing(path: Path) -> Path:
    path = path.absolute()
    while not path.exists() and path != path.parent:
        path = path.parent
    return path
