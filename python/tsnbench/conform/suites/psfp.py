"""Filters for arriving frames: flow meters, longest service data units, stream gates, one stream at a time.

The stream that a filter names is sent with its own addresses, VLAN and priority, and with another pattern.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from tsnbench.conform.bench import Unsent
from tsnbench.conform.judge import Number, Result, undecided
from tsnbench.libraries import numpy as np
from tsnbench.plan.sizes import PHY_OVERHEAD
from tsnbench.scenario.model import Filter, FixedSize, Periodic, UnitSizes

if TYPE_CHECKING:
    from tsnbench.conform.bench import Bench, Stimulus
    from tsnbench.conform.judge import Error, Verdict
    from tsnbench.conform.seen import Seen
    from tsnbench.plan.types import Port
    from tsnbench.scenario.model import Stream
    from tsnbench.scenario.model.policing import StreamGate

SDU_OVERHEAD = 22
"""Octets of a tagged frame that are not its service data unit: addresses, tag, type and FCS."""
FRAMES = 400
PHASES = 500
"""Frames that walk through the cycle of a stream gate."""
EACH = 40
"""Frames of each size around the longest service data unit."""
RATE = 2
"""Times the committed rate."""
SHARE = 0.001
"""Error of the octets that a meter lets pass, as a share."""


@dataclass(frozen=True)
class Filtered:
    """One stream of the scenario that a filter of the device names."""

    name: str
    stream: Stream
    filter: Filter
    port: str
    """The device's egress port of the stream."""


def filtered(bench: Bench) -> list[Filtered]:
    """Streams of single frames that filters name by themselves, with one egress port that is tested."""
    found = []
    for name, stream in bench.lab.streams.items():
        own = [one for one in bench.lab.policing if isinstance(one, Filter) and one.streams == (name,)]
        egress = [port["name"] for port in bench.ports if bench.number(port["name"]) in _route(bench, name)]
        if own and len(egress) == 1 and stream.vid is not None and stream.count == 1:
            found.append(Filtered(name, stream, own[0], egress[0]))
    return found


def _route(bench: Bench, name: str) -> set[int]:
    """The ports of a stream with one path."""
    streams = [one for one in bench.expected.document["streams"] if one["name"] == name]
    return {hop["port"] for one in streams if not one.get("redundancy") for hop in one["route"]}


def ports(bench: Bench) -> list[Port]:
    """Egress ports of streams that filters name."""
    names = {one.port for one in filtered(bench)}
    return [port for port in bench.ports if port["name"] in names]


def stimuli(bench: Bench) -> Iterator[Stimulus | Unsent]:
    """One stimulus for each filter and port; the first stream of a port is sent."""
    for port in ports(bench):
        tried = [_stimulus(bench, one) for one in filtered(bench) if one.port == port["name"]]
        yield next((made for made in tried if not isinstance(made, Unsent)), tried[0])


def _stimulus(bench: Bench, one: Filtered) -> Stimulus | Unsent:
    """The stream with the pattern that its filter needs: for a meter, a size, or a gate."""
    number = bench.number(one.port)
    slowest = min(bench.expected.document["ports"][number]["rate_bps"], 10**9)
    own = one.filter
    streams: dict[str, Stream] = {}
    if own.meter is not None:
        octets = 500
        period = round(octets * 8 * 10**9 / (RATE * own.meter.cir))
        if period < (octets + PHY_OVERHEAD) * 8e9 / slowest:
            return Unsent(one.port, f"the links are too slow for {RATE} times the committed rate")
        streams[one.name] = replaced(
            one.stream, Periodic(period=period), FixedSize(octets=octets), FRAMES * period
        )
        about = f"{FRAMES} frames at {RATE} times the committed rate"
    elif own.gate is not None:
        if any(entry.octets is not None for entry in own.gate.entries):
            return Unsent(one.port, "stream gates with octets are not tested")
        cycle = sum(entry.duration for entry in own.gate.entries)
        step = cycle // PHASES
        period = max(1, -(-round(84 * 8e9 / slowest) * 2 // cycle)) * cycle + step
        size = FixedSize(octets=64)
        pattern = Periodic(period=period, offset=(_first_open(own.gate) - bench.settled_ns) % cycle)
        streams[one.name] = replaced(one.stream, pattern, size, PHASES * period)
        about = f"{PHASES} frames that walk through the cycle of the stream gate"
    elif own.max_sdu is not None:
        sizes = [own.max_sdu + SDU_OVERHEAD + more for more in (-1, 0, 1)]
        if sizes[0] < 64 or sizes[-1] > 1522:
            return Unsent(one.port, "no frames are one octet shorter or longer than max-sdu")
        units = UnitSizes(octets=tuple(size - 50 for size in sizes), most_per_frame=1472)
        period = round(4 * 1542 * 8e9 / slowest)
        streams[one.name] = replaced(one.stream, Periodic(period=period), units, 3 * EACH * period)
        about = "frames of the longest service data unit, and of one octet less and more"
    else:
        return Unsent(one.port, f"the filter of {one.name} has no meter, gate or max-sdu")
    end = max(stream.stop or 0 for stream in streams.values())
    return bench.stimulus("psfp", one.port, streams, end, 20_000_000, about, filters=True)


def _first_open(gate: StreamGate) -> int:
    """When the list opens behind its base time: the first frame passes, also where another closes it for
    good."""
    begins = [0, *accumulate(entry.duration for entry in gate.entries)]
    return gate.base_time + next((at for at, one in zip(begins, gate.entries, strict=False) if one.open), 0)


def replaced(stream: Stream, pattern: Periodic, size: FixedSize | UnitSizes, stop: int) -> Stream:
    """The stream with another pattern and no requirements."""
    return stream.model_copy(
        update={
            "pattern": pattern,
            "size": size,
            "start": 0,
            "stop": stop,
            "requires": type(stream.requires)(),
        }
    )


def judged(bench: Bench, stimulus: Stimulus, seen: Seen, error: Error) -> Iterator[Result]:
    """The result of the test that the stream's filter has; the others are not offered at this port."""
    (name,) = stimulus.streams
    (one,) = [own for own in filtered(bench) if own.name == name]
    number, ingress = bench.number(one.port), seen.ingress(name, bench.number(one.port))
    kinds = {"psfp.meter": one.filter.meter, "psfp.gate": one.filter.gate, "psfp.sdu": one.filter.max_sdu}
    judge = {"psfp.meter": _meter, "psfp.gate": _gate, "psfp.sdu": _sdu}
    chosen = next(test for test in ("psfp.meter", "psfp.gate", "psfp.sdu") if kinds[test] is not None)
    yield replace(_block(one, chosen, seen, (ingress, number), error), frames=len(seen.left(number, name)))
    for test in judge:
        if kinds[test] is None:
            yield Result(test, one.port, "not-offered", f"the filter of {name} has none")
        elif test != chosen:
            yield undecided(test, one.port, "no-stimulus", f"the frames of {name} test its {chosen} here")
        else:
            yield replace(
                judge[test](one, seen, (ingress, number), error), frames=len(seen.left(number, name))
            )


@dataclass(frozen=True)
class Arrived:
    """The frames of a filter's stream as they arrived, in this order."""

    octets: np.ndarray
    at_ns: np.ndarray
    """When the last bit arrived, by the testers' clock."""
    passed: np.ndarray
    """bool: which of them left."""

    @classmethod
    def of(cls, one: Filtered, seen: Seen, ports: tuple[int, int]) -> Arrived:
        sent, left = seen.entered(ports[0], one.name), seen.left(ports[1], one.name)
        cable = seen.plan["ports"][ports[0]]["propagation_ps"] / 1000
        at = sent["begin"].to_numpy() + sent["wire"].to_numpy() + cable
        return cls(sent["octets"].to_numpy(), at, np.isin(sent["seq"].to_numpy(), left["seq"].to_numpy()))

    def __len__(self) -> int:
        return len(self.octets)

    def until(self, place: int | None) -> Arrived:
        """The first frames of them; all without a place."""
        return Arrived(self.octets[:place], self.at_ns[:place], self.passed[:place])


def _blocking(one: Filtered, chosen: str, frames: Arrived, error: Error) -> int | None:
    """The place of the frame behind which all are blocked; None if the filter does not block, or no frame
    was one that blocks.

    Of a meter that marks all frames red, it is the first frame that did not pass: :func:`_meter` judges
    whether that is the right one.
    """
    own, gate = one.filter, one.filter.gate
    if chosen == "psfp.sdu" and own.block_oversize:
        blocks = frames.octets > (own.max_sdu or 0) + SDU_OVERHEAD
    elif chosen == "psfp.gate" and gate is not None and gate.close_on_invalid:
        is_open, near = _states(gate, frames.at_ns, error.own_ns or 0)
        blocks = ~is_open & ~near
    elif chosen == "psfp.meter" and own.meter is not None and own.meter.mark_all_red:
        blocks = ~frames.passed
    else:
        return None
    return int(blocks.argmax()) if blocks.any() else None


def _block(one: Filtered, chosen: str, seen: Seen, ports: tuple[int, int], error: Error) -> Result:
    """Frames that pass behind the one that blocks."""
    own, gate, meter = one.filter, one.filter.gate, one.filter.meter
    if not (own.block_oversize or (gate and gate.close_on_invalid) or (meter and meter.mark_all_red)):
        return Result("psfp.block", one.port, "not-offered", f"the filter of {one.name} blocks nothing")
    frames = Arrived.of(one, seen, ports)
    place = _blocking(one, chosen, frames, error)
    if place is None:
        return undecided("psfp.block", one.port, "too-few", f"no frame of {one.name} is one that blocks")
    wrong = int(frames.passed[place + 1 :].sum())
    words = f"frames passed behind frame {place + 1}, which blocks all behind it; of {len(frames)}"
    return _exact("psfp.block", one, wrong, len(frames), words)


def _meter(one: Filtered, seen: Seen, ports: tuple[int, int], error: Error) -> Result:
    """Octets that pass, against the committed rate and burst."""
    every = Arrived.of(one, seen, ports)
    meter = one.filter.meter
    assert meter is not None
    if meter.eir:
        words = "meters with an excess rate are not tested"
        return undecided("psfp.meter", one.port, "no-stimulus", words)
    if len(every) < FRAMES // 2:
        return undecided("psfp.meter", one.port, "too-few")
    place = _blocking(one, "psfp.meter", every, error)
    frames = every.until(None if place is None else place + 1)
    octets = int(every.octets[0])
    span = float(frames.at_ns[-1] - frames.at_ns[0])
    wanted = min(meter.cir * span / 8e9 + meter.cbs, float(octets * len(every)))
    found = float(frames.octets[frames.passed].sum())
    slack = octets + SHARE * wanted
    verdict: Verdict
    verdict = "pass" if abs(found - wanted) <= slack else "fail"
    words = "" if verdict == "pass" else f"{one.name}: {found:,.0f} octets passed, and {wanted:,.0f} may pass"
    if verdict == "fail" and abs(found * (1 - SDU_OVERHEAD / octets) - wanted) <= slack:
        words += f": the meter counts {SDU_OVERHEAD} octets less of each frame"
        verdict = "not-decidable" if error.kernel else "fail"
    return Result(
        "psfp.meter",
        one.port,
        verdict,
        words,
        "kernel" if verdict == "not-decidable" else None,
        found=Number(found, "octets", found, found),
        limit=Number(wanted, "octets", wanted - slack, wanted + slack),
        shown=f"{found:,.0f} B",
        wanted=f"{wanted:,.0f} +-{slack:,.0f} B",
        estimates=len(frames),
    )


def _sdu(one: Filtered, seen: Seen, ports: tuple[int, int], error: Error) -> Result:
    """Which sizes pass, up to the first frame that blocks the others."""
    every = Arrived.of(one, seen, ports)
    place = _blocking(one, "psfp.sdu", every, error)
    frames = every.until(None if place is None else place + 1)
    small = frames.octets <= (one.filter.max_sdu or 0) + SDU_OVERHEAD
    if place is None and (small.all() or not small.any()):
        return undecided("psfp.sdu", one.port, "too-few")
    wrong = int((frames.passed != small).sum())
    return _exact(
        "psfp.sdu", one, wrong, len(frames), f"of {len(frames)} frames passed or were dropped wrongly"
    )


def _states(gate: StreamGate, at_ns: np.ndarray, error_ns: float) -> tuple[np.ndarray, np.ndarray]:
    """By time, whether a stream gate's list is open, and whether it is too near to an edge to tell."""
    edges = [0, *accumulate(entry.duration for entry in gate.entries)]
    phase = (at_ns - gate.base_time) % edges[-1]
    is_open = np.zeros(len(phase), dtype=bool)
    for (begin, end), entry in zip(pairwise(edges), gate.entries, strict=True):
        is_open |= entry.open & (phase >= begin) & (phase < end)
    return is_open, np.min([np.abs(phase - edge) for edge in edges], axis=0) <= error_ns


def _gate(one: Filtered, seen: Seen, ports: tuple[int, int], error: Error) -> Result:
    """Frames that passed a closed gate or were dropped at an open one, up to one that closes it for good."""
    every = Arrived.of(one, seen, ports)
    gate = one.filter.gate
    if error.own_ns is None:
        return undecided("psfp.gate", one.port, "clocks")
    if gate is None or not len(every):
        return undecided("psfp.gate", one.port, "too-few")
    place = _blocking(one, "psfp.gate", every, error)
    frames = every.until(None if place is None else place + 1)
    is_open, near = _states(gate, frames.at_ns, error.own_ns)
    wrong = int(((frames.passed != is_open) & ~near).sum())
    words = f"of {len(frames)} frames passed a closed gate, or were dropped at an open one"
    return _exact("psfp.gate", one, wrong, len(frames), words)


def _exact(test: str, one: Filtered, wrong: int, frames: int, words: str) -> Result:
    return Result(
        test,
        one.port,
        "fail" if wrong else "pass",
        f"{one.name}: {wrong} {words}" if wrong else "",
        found=Number(wrong, "frames", wrong, wrong),
        limit=Number(0, "frames", 0, 0),
        shown=f"{wrong} of {frames}",
        wanted="0",
        estimates=frames,
    )
