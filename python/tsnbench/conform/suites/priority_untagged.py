"""Untagged frames: with which priority the device queues them.

Its default priority is not in the frames. As for PCPs, the loads show it that untagged frames pass.
IEEE 802.1Q-2022, 6.8.1 and 6.9.4.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tsnbench.conform.bench import Unsent
from tsnbench.conform.judge import Number, Result, undecided
from tsnbench.conform.suites import priority
from tsnbench.conform.suites.priority import LOST_NS, MOST_WAIT, PROBES, Turns, loads, overload
from tsnbench.libraries import numpy as np
from tsnbench.scenario.model import FixedSize, Periodic, Stream

if TYPE_CHECKING:
    from tsnbench.conform.bench import Bench, Stimulus
    from tsnbench.conform.judge import Error
    from tsnbench.conform.seen import Seen
    from tsnbench.plan.types import Port

TEST = "priority.untagged"


def _untagged(bench: Bench, port: Port) -> tuple[str, Stream] | None:
    """The first stream of the scenario without a tag that leaves by a port."""
    number = bench.number(port["name"])
    for planned in bench.expected.document["streams"]:
        own = bench.lab.streams.get(planned["name"])
        if own is None or own.vid is not None or own.count != 1 or own.talker == bench.name:
            continue
        listeners = [one for one in own.listeners if one in bench.behind(number)]
        if listeners and any(hop["port"] == number for hop in planned["route"]):
            probes = Stream(
                talker=own.talker,
                listeners=(listeners[0],),
                pcp=0,
                vid=None,
                pattern=Periodic(period=Turns.of(port).gap_ns),
                size=FixedSize(octets=priority.PROBE_OCTETS),
            )
            return planned["name"], probes
    return None


def ports(bench: Bench) -> list[Port]:
    """Ports without gates and shapers by which untagged streams of the scenario leave."""
    return [port for port in priority.ports(bench) if _untagged(bench, port) is not None]


def stimuli(bench: Bench) -> Iterator[Stimulus | Unsent]:
    """Small untagged frames pass while every PCP loads the port in turn."""
    for port in ports(bench):
        both, probes = overload(bench, port), _untagged(bench, port)
        if isinstance(both, Unsent):
            yield both
        elif probes is not None:
            turns = Turns.of(port)
            streams = loads(turns, both, bench.vid(port["name"])) | dict([probes])
            end, about = 8 * turns.turn_ns, "every PCP loads the port in turn, and untagged frames pass it"
            yield bench.stimulus(
                "priority-untagged", port["name"], streams, end, turns.turn_ns, about, filters=True
            )


def judged(bench: Bench, stimulus: Stimulus, seen: Seen, error: Error) -> Iterator[Result]:
    """The loads that untagged frames pass, against those that their class should pass."""
    number = bench.number(stimulus.port)
    port = bench.expected.document["ports"][number]
    name = next(name for name, stream in stimulus.streams.items() if stream.vid is None)
    passed = _passed(seen, (seen.ingress(name, number), number), name, Turns.of(port), bench.settled_ns)
    if passed is None:
        yield undecided(TEST, stimulus.port, "too-few")
        return
    classes = port["pcp_to_class"]
    own = classes[bench.regenerated(seen.ingress(name, number), 0)]
    like = [pcp for pcp in range(8) if passed == [classes[pcp] > classes[load] for load in range(8)]]
    wrong = sum(found != (own > classes[load]) for load, found in enumerate(passed))
    words = f"untagged frames are queued like PCP {like[0]}" if like else "untagged frames have no one class"
    yield Result(
        TEST,
        stimulus.port,
        "fail" if wrong else "pass",
        words if wrong else "",
        traffic_class=own,
        found=Number(wrong, "loads", wrong, wrong),
        limit=Number(0, "loads", 0, 0),
        shown=f"{wrong} of {len(passed)} loads",
        wanted="0",
        estimates=len(passed),
    )


def _passed(seen: Seen, ports: tuple[int, int], name: str, turns: Turns, later_ns: int) -> list[bool] | None:
    """By PCP of the load, whether untagged frames passed it; None without enough frames."""
    sent, left = seen.entered(ports[0], name), seen.left(ports[1], name)
    both = sent.join(left.unique("seq", keep="first"), on="seq", how="left")
    begin = both["begin"].to_numpy() - later_ns
    waits = (both["begin_right"] - both["begin"]).fill_null(LOST_NS).to_numpy()
    least, found = float(waits.min()) if len(waits) else 0.0, []
    for load in range(8):
        first = turns.probes(load)
        own = waits[(begin >= first) & (begin < first + PROBES * turns.gap_ns)]
        if len(own) < PROBES // 2:
            return None
        found.append(bool(np.median(own) - least < MOST_WAIT * turns.frame_ns))
    return found
