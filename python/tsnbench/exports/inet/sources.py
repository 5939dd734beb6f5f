"""The times and lengths of a stream's packets.

A source of INET makes packets of one length with one interval, so a stream may need several sources: one for
each frame of a data unit (they leave in the order of the applications), for each size of a list, or for each
release of a recording.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import lcm
from typing import TYPE_CHECKING

from tsnbench.plan.frames import data_units, sizes
from tsnbench.plan.network import Network
from tsnbench.plan.notes import Notes

if TYPE_CHECKING:
    from tsnbench.plan.types import (
        PeriodicPattern,
        PoissonPattern,
        SaturatingPattern,
        Stream,
        TokenBucketPattern,
        TracePattern,
    )

UDP_OCTETS = 28
ETHERNET_OCTETS = 18
TAG_OCTETS = 4
MOST = 300
"""Most applications for one stream; above it, the mean of a recording is written."""


@dataclass(frozen=True)
class Source:
    """Parameters of a packet source."""

    octets: int
    """Of the frame, from destination address to FCS, without the tag."""
    interval: str
    offset: str

    def lines(self, source: str) -> list[str]:
        return [
            f"{source}.packetLength = {self.octets - UDP_OCTETS - ETHERNET_OCTETS}B",
            f"{source}.productionInterval = {self.interval}",
            f"{source}.initialProductionOffset = {self.offset}",
        ]


def sources(network: Network, stream: Stream, notes: Notes) -> list[Source]:
    """All sources of a stream, in the order in which their packets leave."""
    tag = TAG_OCTETS if "vid" in stream else 0
    pattern = stream["pattern"]
    if "answers" in stream:
        notes.lost(
            "answers to other streams",
            "a source has a timetable of its own; not written",
            stream["name"],
        )
        return []
    if stream.get("any_phase"):
        notes.lost("a phase that each run draws", "written: that of its pattern", stream["name"])
    if pattern["kind"] == "periodic":
        made = _periodic(network, stream, pattern, notes)
    elif pattern["kind"] == "token-bucket":
        made = _conforming(network, stream, pattern, notes)
    elif pattern["kind"] == "trace":
        made = _recorded(network, stream, pattern, notes)
    else:
        made = _unending(network, stream, pattern, notes)
    return [Source(one.octets - tag, one.interval, one.offset) for one in made]


def _never(network: Network) -> int:
    """An interval that ends after the run."""
    document = network.document
    return int(document["duration_ns"] + document["drain_ns"]) * 2


def _until(network: Network, last_ns: int, interval: str) -> str:
    """An interval that lasts until the last release; INET evaluates the parameter for every packet."""
    return f"simTime() < {last_ns - 1}.5ns ? {interval} : {_never(network)}ns"


def _repeated(network: Network, octets: int, begin: int, every: int, stop: int) -> Iterator[Source]:
    """A release at ``begin`` and then every ``every`` ns, before ``stop``."""
    if begin < stop:
        again = begin + every < stop
        interval = _until(network, stop - every, f"{every}ns") if again else f"{_never(network)}ns"
        yield Source(octets, interval, f"{begin}ns")


def _turns(stream: Stream, notes: Notes) -> list[list[int]]:
    """The frames of each release, in the order of the releases."""
    size = stream["size"]
    if size["kind"] == "units" and len(set(size["octets"])) > 1:
        notes.warn("data units of several sizes", "written: their sizes in turn, not drawn", stream["name"])
    return data_units(size)


def _largest(stream: Stream, notes: Notes) -> int:
    if stream["size"]["kind"] != "frame":
        notes.lost("smaller frames", "a source has one size; written: the largest", stream["name"])
    return sizes(stream["size"]).largest


def _periodic(network: Network, stream: Stream, pattern: PeriodicPattern, notes: Notes) -> list[Source]:
    begin, period = stream["start_ns"] + pattern["offset_ns"], pattern["period_ns"]
    turns = _turns(stream, notes)
    if sum(map(len, turns)) > MOST:
        turns = [[_largest(stream, notes)]]
    jitter = pattern["jitter_ns"]
    if jitter and jitter < period and len(turns) == 1:
        late = f"uniform(0s, {jitter}ns)"
        next_one = f"(floor((simTime() - {begin}ns) / {period}ns + 1e-9) + 1) * {period}ns + {begin}ns"
        # The last release before the stop; all earlier ones are late by less than a period.
        last = begin + max(0, -(-(stream["stop_ns"] - begin) // period) - 1) * period
        interval = _until(network, last, f"{next_one} + {late} - simTime()")
        return [Source(octets, interval, f"{begin}ns + {late}") for octets in turns[0]]
    if jitter:
        notes.lost("late releases", "INET draws them for one size and below the period", stream["name"])
    return [
        one
        for turn, frames in enumerate(turns)
        for octets in frames
        for one in _repeated(network, octets, begin + turn * period, len(turns) * period, stream["stop_ns"])
    ]


def _recorded(network: Network, stream: Stream, pattern: TracePattern, notes: Notes) -> list[Source]:
    cycle, gaps = pattern["cycle_ns"], pattern["gaps_ns"]
    turns = _turns(stream, notes)
    # Gaps and sizes repeat independently: the whole sequence repeats when both lists begin again together.
    releases = lcm(len(gaps), len(turns)) if gaps else 0
    rounds = releases // len(gaps) if gaps else 0
    frames = sum(len(turns[number % len(turns)]) for number in range(min(releases, MOST + 1)))
    if not gaps or releases > MOST or frames > MOST:
        notes.lost("recorded times", "there are too many; written: the mean interval", stream["name"])
        every = cycle // max(1, len(gaps))
        octets = _largest(stream, notes)
        return list(_repeated(network, octets, stream["start_ns"], max(1, every), stream["stop_ns"]))
    found: list[Source] = []
    at = 0
    for number in range(releases):
        turn = number // len(gaps)
        if number % len(gaps) == 0:
            at = turn * cycle
        at += gaps[number % len(gaps)]
        begin, every = stream["start_ns"] + at, rounds * cycle
        times = -(-(pattern["passes"] - turn) // rounds)
        if times < 1:
            continue
        stop = min(stream["stop_ns"], begin + times * every)
        for octets in turns[number % len(turns)]:
            found += _repeated(network, octets, begin, every, stop)
    return found


def _conforming(network: Network, stream: Stream, pattern: TokenBucketPattern, notes: Notes) -> list[Source]:
    """The burst of a token bucket at once, each frame from a source of its own, and then one frame as often
    as the bucket fills."""
    begin, stop, octets = stream["start_ns"], stream["stop_ns"], _largest(stream, notes)
    bits, rate = 8 * sizes(stream["size"]).largest_phy, pattern["rate_bps"]
    at_once, rest = divmod(8 * pattern["burst_octets"], bits)
    if at_once > MOST:
        notes.lost("a burst", f"it has {at_once} frames; written: {MOST} of them", stream["name"])
        at_once = MOST
    found = [one for _ in range(at_once) for one in _repeated(network, octets, begin, stop, stop)]
    first = begin + -(-(bits - rest) * 10**9 // rate)
    if first < stop:
        last = first + (stop - 1 - first) * rate // (bits * 10**9) * (bits * 10**9) // rate
        every = bits * 10**12 // rate
        interval = _until(network, last, f"{every}ps" if every % 1_000 else f"{every // 1_000}ns")
        found.append(Source(octets, interval, f"{first}ns"))
    return found


def _unending(
    network: Network, stream: Stream, pattern: PoissonPattern | SaturatingPattern, notes: Notes
) -> list[Source]:
    """Poisson and saturating sources: the interval is random, or the time of a frame."""
    begin = stream["start_ns"]
    octets = _largest(stream, notes)
    if pattern["kind"] == "poisson":
        interval = f"exponential({pattern['mean_interval_ps']}ps)"
        offset = f"{begin}ns + {interval}"
    else:
        rate = network.ports[stream["route"][0]["port"]]["rate_bps"]
        interval, offset = f"{(octets + 20) * 8 * 1_000_000_000_000 // rate}ps", f"{begin}ns"
        notes.warn(
            "saturating streams",
            "a source does not see its queue; written: one frame per frame time; compare arrivals alone",
            stream["name"],
        )
    return [Source(octets, _until(network, stream["stop_ns"], interval), offset)]
