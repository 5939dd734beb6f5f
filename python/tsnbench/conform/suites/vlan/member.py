"""Tags: whether frames of each VLAN pass, and with which PCP frames of each priority leave.

A few small frames with little load, so that ports with gates and shapers can be tested, too: one stream of
the scenario in each of its VLANs, and then every PCP from behind every other port of the device.
IEEE 802.1Q-2022, 6.9.4 and 8.6.2.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tsnbench.conform.bench import ALONE, Unsent
from tsnbench.conform.judge import Number, Result, undecided
from tsnbench.plan.gates import open_ns
from tsnbench.plan.sizes import PHY_OVERHEAD
from tsnbench.scenario.model import Filter, FixedSize, Periodic, Stream

if TYPE_CHECKING:
    from tsnbench.conform.bench import Bench, Stimulus
    from tsnbench.conform.judge import Error
    from tsnbench.conform.seen import Seen
    from tsnbench.plan.types import Port

OCTETS = 64
EACH = 10
"""Frames of each stream."""
SPACING = 4
"""Mean time between frames, in times of a frame on the slowest link."""


def ports(bench: Bench) -> list[Port]:
    """All ports of a device that forwards."""
    return bench.ports if bench.network.forwards(bench.node) else []


def stimuli(bench: Bench) -> Iterator[Stimulus | Unsent]:
    """First frames of each VLAN, then frames of every PCP."""
    for port in ports(bench):
        sources = bench.sources(bench.number(port["name"]))
        testers = bench.testers(port["name"])
        if testers is None:
            yield Unsent(port["name"], ALONE)
            continue
        slowest = min(port["rate_bps"], *(rate for _, rate in sources))
        cycle = port["gates"]["cycle_ns"] if "gates" in port else 0
        gap = max(SPACING * round((OCTETS + PHY_OVERHEAD) * 8e9 / slowest), cycle)
        tags = {
            f"tag-{place + 1}-{pcp}": small_frames(talker, testers.listener, pcp, bench.vid(port["name"]))
            for place, (talker, _) in enumerate(sources)
            for pcp in _open(bench, port)
        }
        streams, at = {}, 0
        for own in (members(bench, port), tags):
            period = len(own) * gap
            for place, (name, stream) in enumerate(own.items()):
                pattern = Periodic(period=period, offset=place * gap)
                times = {"pattern": pattern, "start": at, "stop": at + EACH * period}
                streams[name] = stream.model_copy(update=times)
            at += EACH * period
        about = "small frames of each VLAN, and of every PCP from every side"
        yield bench.stimulus("vlan", port["name"], streams, at, at, about, filters=True)


def members(bench: Bench, port: Port) -> dict[str, Stream]:
    """By name, one stream for each VLAN of the scenario's streams through a port, without those that are
    filtered."""
    number, pcp = bench.number(port["name"]), bench.usual_pcp(port)
    found: dict[int, tuple[str, Stream]] = {}
    for planned in bench.expected.document["streams"]:
        own = bench.lab.streams.get(planned["name"])
        through = any(hop["port"] == number for hop in planned["route"])
        if own is None or own.vid is None or own.count != 1 or "redundancy" in planned or not through:
            continue
        listeners = [one for one in own.listeners if one in bench.behind(number)]
        if listeners and own.talker != bench.name and not _filtered(bench, planned["name"]):
            found.setdefault(own.vid, (planned["name"], small_frames(own.talker, listeners[0], pcp, own.vid)))
    return dict(found.values())


def _filtered(bench: Bench, name: str) -> bool:
    """Whether a filter of the scenario may drop frames of a stream."""
    filters = [one for one in bench.lab.policing if isinstance(one, Filter)]
    return any(not one.streams or name in one.streams for one in filters)


def _open(bench: Bench, port: Port) -> list[int]:
    """PCPs whose gate opens; of a list that is replaced, only the usual one."""
    gates = port.get("gates")
    if gates is None:
        return list(range(8))
    if "changes" in gates:
        return [bench.usual_pcp(port)]
    return [pcp for pcp in range(8) if open_ns(gates, port["pcp_to_class"][pcp])]


def small_frames(talker: str, listener: str, pcp: int, vid: int | None) -> Stream:
    return Stream(
        talker=talker,
        listeners=(listener,),
        pcp=pcp,
        vid=vid,
        pattern=Periodic(period=OCTETS),
        size=FixedSize(octets=OCTETS),
    )


def judged(bench: Bench, stimulus: Stimulus, seen: Seen, error: Error) -> Iterator[Result]:
    """VLANs whose frames do not leave, and tags that are not as the scenario says."""
    own = members(bench, bench.expected.document["ports"][bench.number(stimulus.port)])
    yield _member(bench, stimulus, seen, own)
    yield _tags(bench, stimulus, seen)


def _member(bench: Bench, stimulus: Stimulus, seen: Seen, own: dict[str, Stream]) -> Result:
    test, number = "vlan.member", bench.number(stimulus.port)
    if not own:
        return Result(test, stimulus.port, "not-offered", "no stream of the scenario has a VLAN here")
    sent = {name: len(seen.entered(seen.ingress(name, number), name)) for name in own}
    if not all(sent.values()):
        return undecided(test, stimulus.port, "too-few")
    # Single losses have a test of their own.
    missing = [one.vid for name, one in own.items() if 2 * len(seen.left(number, name)) < sent[name]]
    return Result(
        test,
        stimulus.port,
        "fail" if missing else "pass",
        f"frames of VLAN {', '.join(map(str, missing))} do not leave by this port" if missing else "",
        found=Number(len(missing), "VLANs", len(missing), len(missing)),
        limit=Number(0, "VLANs", 0, 0),
        shown=f"{len(missing)} of {len(own)} missing",
        wanted="0",
        frames=sum(sent.values()),
        estimates=len(own),
    )


def _tags(bench: Bench, stimulus: Stimulus, seen: Seen) -> Result:
    """PCP and VLAN of frames that leave, against the regeneration of the Plan."""
    number, wrong, frames, words = bench.number(stimulus.port), 0, 0, ""
    for name, stream in stimulus.streams.items():
        left = seen.left(number, name)
        pcp = bench.regenerated(seen.ingress(name, number), stream.pcp)
        bad = left.filter((left["pcp"].fill_null(0) != pcp) | (left["vid"].fill_null(0) != (stream.vid or 0)))
        frames += len(left)
        wrong += len(bad)
        if len(bad) and not words:
            row = bad.row(0, named=True)
            left_as = f"leave with PCP {row['pcp']} in VLAN {row['vid']}"
            words = f"frames of PCP {stream.pcp} from {stream.talker} {left_as}"
    return Result(
        "priority.tag",
        stimulus.port,
        "fail" if wrong else "pass" if frames else "not-decidable",
        words,
        None if frames else "too-few",
        found=Number(wrong, "frames", wrong, wrong),
        limit=Number(0, "frames", 0, 0),
        shown=f"{wrong} of {frames:,} wrong",
        wanted="0",
        frames=frames,
    )
