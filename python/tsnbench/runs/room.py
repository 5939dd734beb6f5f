"""An estimate of a run's octets, compared with the free space before the run begins."""

from __future__ import annotations

import os
import resource
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tsnbench.errors import BackendError
from tsnbench.plan.frames import CAPTURED_OCTETS, sizes
from tsnbench.plan.load import flow_rate
from tsnbench.quantities import size as size_of
from tsnbench.runs import clearing

if TYPE_CHECKING:
    from tsnbench.plan.types import PlanDocument, Stream

ROWS = {"alike": (1.0, 1.5), "steady": (4.0, 8.0), "random": (7.0, 13.0)}
"""Octets of one row of observations.parquet and of frames.parquet, by the pattern of frames' times.

Rows are compressed by their differences. In the shipped scenarios, where a run has 10,000 rows or more, they
take up to 0.3 and 0.7 octets where all talkers have one period, up to 2.0 and 6.0 where periods differ or
frames wait behind saturating ones, and up to 5.1 and 11.4 where times are drawn at random.
"""
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

    @property
    def folder(self) -> int:
        """Octets in the run folder."""
        return self.observations + self.frames + self.captures + self.rest


def need(plan: PlanDocument, backend: str, pcap: bool) -> Need:
    """The estimate for a Plan's document."""
    sent = [frames(plan, stream) for stream in plan["streams"]]
    passing = _passing(plan, sent)
    rows = octets = snapped = 0.0
    for tap in plan["taps"]:
        port = plan["ports"][tap["port"]]
        # Frames that arrive at a port have left its peer.
        egress = tap["port"] if tap["stage"] not in ("rx", "kernel-rx", "app-rx") else port["peer"]
        there = passing.get(egress, _NOTHING)
        fits = port["rate_bps"] * (plan["duration_ns"] + plan["drain_ns"]) / 1e9
        share = min(1.0, fits / there.bits) if there.bits else 0.0
        rows += there.frames * share
        octets += 1.1 * there.octets * share
        snapped += there.snapped * share
    pairs = sum(count * len(stream["listeners"]) for count, stream in zip(sent, plan["streams"], strict=True))
    on_kernel = backend != "simulation"
    sighting, frame = ROWS["random" if on_kernel or _is_random(plan) else _steady(plan)]
    return Need(
        observations=round(sighting * rows),
        frames=round(frame * pairs),
        # Kernels make observations from captures, so these always need space for a while.
        captures=round(snapped) if on_kernel else round(octets) if pcap else 0,
        rest=REST + PER_STREAM * len(plan["streams"]) + _clock_rows(plan) * CLOCK_ERROR,
        scratch=round(snapped) if backend == "netns" else 0,
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
    found: dict[int, _Passing] = {}
    for count, stream in zip(sent, plan["streams"], strict=True):
        size = sizes(stream["size"])
        bits = count * float(size.phy_bits / size.frames)
        octets = count * (float(size.frame_bits / size.frames) / 8 + BLOCK)
        snapped = count * (min(size.largest, CAPTURED_OCTETS) + BLOCK)
        for port in {hop["port"] for hop in (*stream["route"], *stream.get("flood", ()))}:
            own = found.setdefault(port, _Passing())
            own.frames += count
            own.bits += bits
            own.octets += octets
            own.snapped += snapped
    return found


def frames(plan: PlanDocument, stream: Stream) -> float:
    """The mean number of frames of a stream's talker."""
    pattern, size = stream["pattern"], sizes(stream["size"])
    span_ns = stream["stop_ns"] - stream["start_ns"]
    rate = flow_rate(pattern, stream["size"])
    if pattern["kind"] == "trace":
        span_ns = min(span_ns, pattern["passes"] * pattern["cycle_ns"])
    bps = plan["ports"][stream["route"][0]["port"]]["rate_bps"] if rate is None else float(rate)
    return float(bps) * float(size.frames / size.phy_bits) * float(span_ns) / 1e9 + float(size.frames)


def refuse_too_large(plan: PlanDocument, folder: Path, scratch: Path, backend: str, pcap: bool) -> None:
    """The check before a run begins; the space of a replaced run counts as free.

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
