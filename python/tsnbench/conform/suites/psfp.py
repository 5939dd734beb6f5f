"""Filters for arriving frames: flow meters, longest service data units, stream gates, one stream at a time.

The stream that a filter names is sent with its own addresses, VLAN and priority, and with another pattern.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from tsnbench.conform.judge import Number, Result, undecided
from tsnbench.libraries import numpy as np
from tsnbench.plan.sizes import PHY_OVERHEAD
from tsnbench.scenario.model import Filter, FixedSize, Periodic, UnitSizes

if TYPE_CHECKING:
    from tsnbench.conform.bench import Bench, Stimulus
    from tsnbench.conform.judge import Error
    from tsnbench.conform.seen import Seen
    from tsnbench.plan.types import Port
    from tsnbench.scenario.model import Stream

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


def stimuli(bench: Bench) -> Iterator[Stimulus]:
    """One stimulus for each filter and port; the first stream of a port is sent."""
    done: set[str] = set()
    for one in filtered(bench):
        if one.port in done:
            continue
        made = _stimulus(bench, one)
        if made is not None:
            done.add(one.port)
            yield made


def _stimulus(bench: Bench, one: Filtered) -> Stimulus | None:
    """The stream with the pattern that its filter needs: for a meter, a size, or a gate."""
    number = bench.number(one.port)
    slowest = min(bench.expected.document["ports"][number]["rate_bps"], 10**9)
    own = one.filter
    streams: dict[str, Stream] = {}
    if own.meter is not None:
        octets = 500
        period = round(octets * 8 * 10**9 / (RATE * own.meter.cir))
        if period < (octets + PHY_OVERHEAD) * 8e9 / slowest:
            return None
        streams[one.name] = replaced(
            one.stream, Periodic(period=period), FixedSize(octets=octets), FRAMES * period
        )
        about = f"{FRAMES} frames at {RATE} times the committed rate"
    elif own.gate is not None:
        cycle = sum(entry.duration for entry in own.gate.entries)
        step = cycle // PHASES
        period = max(1, -(-round(84 * 8e9 / slowest) * 2 // cycle)) * cycle + step
        size = FixedSize(octets=64)
        streams[one.name] = replaced(one.stream, Periodic(period=period), size, PHASES * period)
        about = f"{PHASES} frames that walk through the cycle of the stream gate"
    elif own.max_sdu is not None:
        sizes = [own.max_sdu + SDU_OVERHEAD + more for more in (-1, 0, 1)]
        if sizes[0] < 64 or sizes[-1] > 1522:
            return None
        units = UnitSizes(octets=tuple(size - 50 for size in sizes), most_per_frame=1472)
        period = round(4 * 1542 * 8e9 / slowest)
        streams[one.name] = replaced(one.stream, Periodic(period=period), units, 3 * EACH * period)
        about = "frames of the longest service data unit, and of one octet less and more"
    else:
        return None
    end = max(stream.stop or 0 for stream in streams.values())
    return bench.stimulus("psfp", one.port, streams, end, 20_000_000, about, filters=True)


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
    for test in judge:
        if kinds[test] is None:
            yield Result(test, one.port, "not-offered", f"the filter of {name} has none")
        elif test != chosen:
            yield undecided(test, one.port, "no-stimulus", f"the frames of {name} test its {chosen} here")
        else:
            yield replace(
                judge[test](one, seen, (ingress, number), error), frames=len(seen.left(number, name))
            )


def _meter(one: Filtered, seen: Seen, ports: tuple[int, int], error: Error) -> Result:
    """Octets that pass, against the committed rate and burst."""
    sent, left = seen.entered(ports[0], one.name), seen.left(ports[1], one.name)
    meter = one.filter.meter
    assert meter is not None
    if meter.eir or len(sent) < FRAMES // 2:
        return undecided("psfp.meter", one.port, "too-few" if not meter.eir else "no-stimulus")
    octets = int(sent["octets"].to_numpy()[0])
    span = float(sent["begin"].to_numpy()[-1] - sent["begin"].to_numpy()[0])
    wanted = min(meter.cir * span / 8e9 + meter.cbs, float(octets * len(sent)))
    found = float(left["octets"].sum())
    slack = octets + SHARE * wanted
    good = abs(found - wanted) <= slack
    return Result(
        "psfp.meter",
        one.port,
        "pass" if good else "fail",
        "" if good else f"{one.name}: {found:,.0f} octets passed, and {wanted:,.0f} may pass",
        found=Number(found, "octets", found, found),
        limit=Number(wanted, "octets", wanted - slack, wanted + slack),
        shown=f"{found:,.0f} B",
        wanted=f"{wanted:,.0f} +-{slack:,.0f} B",
        estimates=len(sent),
    )


def _sdu(one: Filtered, seen: Seen, ports: tuple[int, int], error: Error) -> Result:
    """Which sizes pass."""
    sent, left = seen.entered(ports[0], one.name), seen.left(ports[1], one.name)
    most = (one.filter.max_sdu or 0) + SDU_OVERHEAD
    through = set(left["seq"].to_list())
    small = sent.filter(sent["octets"] <= most)["seq"].to_list()
    large = sent.filter(sent["octets"] > most)["seq"].to_list()
    if not small or not large:
        return undecided("psfp.sdu", one.port, "too-few")
    if one.filter.block_oversize:
        first = min(large)
        small, large = [seq for seq in small if seq < first], [*large, *(seq for seq in small if seq > first)]
    wrong = sum(seq not in through for seq in small) + sum(seq in through for seq in large)
    return _exact("psfp.sdu", one, wrong, len(sent), f"of {len(sent)} frames passed or were dropped wrongly")


def _gate(one: Filtered, seen: Seen, ports: tuple[int, int], error: Error) -> Result:
    """Frames that passed at a closed gate, or were dropped at an open one."""
    if error.own_ns is None:
        return undecided("psfp.gate", one.port, "clocks")
    sent, left = seen.entered(ports[0], one.name), seen.left(ports[1], one.name)
    gate = one.filter.gate
    if gate is None or not len(sent):
        return undecided("psfp.gate", one.port, "too-few")
    cable = seen.plan["ports"][ports[0]]["propagation_ps"] / 1000
    arrived = sent["begin"].to_numpy() + sent["wire"].to_numpy() + cable
    passed = np.isin(sent["seq"].to_numpy(), left["seq"].to_numpy())
    cycle = sum(entry.duration for entry in gate.entries)
    edges = [0, *accumulate(entry.duration for entry in gate.entries)]
    phase = (arrived - gate.base_time) % cycle
    is_open = np.zeros(len(phase), dtype=bool)
    for (begin, end), entry in zip(pairwise(edges), gate.entries, strict=True):
        is_open |= entry.open & (phase >= begin) & (phase < end)
    near = np.min([np.abs(phase - edge) for edge in edges], axis=0) <= error.own_ns
    wrong = int(((passed != is_open) & ~near).sum())
    words = f"of {len(sent)} frames passed a closed gate, or were dropped at an open one"
    return _exact("psfp.gate", one, wrong, len(sent), words)


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
