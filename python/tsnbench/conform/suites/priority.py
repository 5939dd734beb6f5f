"""Priorities: which class each PCP is in, and whether a higher class goes first.

While two testers send more of one PCP than the port takes, single small frames of all PCPs pass it: those of
a higher class wait for one frame at most, those of a lower class wait until the load ends, and those of the
same class wait for its queue. Only the order of classes is visible, not their numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tsnbench.conform.bench import Unsent
from tsnbench.conform.judge import Number, Result, undecided, verdict_of
from tsnbench.libraries import numpy as np
from tsnbench.quantities import exact
from tsnbench.scenario.model import Periodic, Stream

if TYPE_CHECKING:
    from tsnbench.conform.bench import Bench, Stimulus, Testers
    from tsnbench.conform.judge import Error
    from tsnbench.conform.seen import Seen
    from tsnbench.plan.types import Port

LOAD_OCTETS, PROBE_OCTETS = 1522, 64
PHY = 20
LOAD_FRAMES = 60
"""Times of a large frame in which one PCP loads the port."""
LOADS = (0.85, 0.55)
"""Shares of the port's rate, of the two testers: together 1.4."""
PROBES = 12
"""Of each PCP during the load of one."""
MOST_WAIT = 2.6
"""A frame of a higher class waits for less than so many large frames; one of the same or a lower class waits
for more."""
AFTER = 3
LOST_NS = 10**12
"""The wait of a frame that a full queue dropped."""


def ports(bench: Bench) -> list[Port]:
    """Ports whose frames wait for nothing but other frames."""
    return [port for port in bench.ports if _plain(port)] if bench.network.forwards(bench.node) else []


def _plain(port: Port) -> bool:
    shaped = any("cbs" in one for one in port["classes"])
    return not ({"gates", "server", "preemption", "qdisc"} & port.keys() or shaped)


def stimuli(bench: Bench) -> Iterator[Stimulus | Unsent]:
    """For each port with two testers: every PCP loads it in turn, and probes of all PCPs pass."""
    for port in ports(bench):
        both = overload(bench, port)
        yield both if isinstance(both, Unsent) else _stimulus(bench, port, both)


def overload(bench: Bench, port: Port) -> tuple[Testers, Testers] | Unsent:
    """Two testers that can send :data:`LOADS` through a port, or why there are none."""
    both = bench.two_testers(port["name"])
    if both is None:
        return Unsent(port["name"], "testers behind two other ports of the device are needed to overload it")
    enough = all(one.rate_bps >= part * port["rate_bps"] for one, part in zip(both, LOADS, strict=True))
    return both if enough else Unsent(port["name"], "the testers' links are too slow to overload the port")


@dataclass(frozen=True)
class Turns:
    """When each PCP loads a port, one after the other, and when probes come."""

    frame_ns: int
    """Of a large frame."""

    @classmethod
    def of(cls, port: Port) -> Turns:
        return cls(round((LOAD_OCTETS + PHY) * 8e9 / port["rate_bps"]))

    @property
    def turn_ns(self) -> int:
        return 2 * LOAD_FRAMES * self.frame_ns

    @property
    def gap_ns(self) -> int:
        """Between two probes."""
        return LOAD_FRAMES * self.frame_ns // 2 // (PROBES + 1)

    def probes(self, load: int) -> int:
        """When probes begin: a queue has formed, and the load lasts."""
        return load * self.turn_ns + LOAD_FRAMES * self.frame_ns // 2


def loads(turns: Turns, both: tuple[Testers, Testers], vid: int | None) -> dict[str, Stream]:
    """Every PCP in turn loads the port."""
    frame_ns, streams = turns.frame_ns, {}
    for load in range(8):
        begin = load * turns.turn_ns
        for number, (testers, part) in enumerate(zip(both, LOADS, strict=True)):
            # Without random gaps, so that the queue certainly grows.
            pattern = Periodic(period=round(frame_ns / part))
            streams[f"load-{load}-{number + 1}"] = testers.stream(
                load, vid, pattern, LOAD_OCTETS, start=begin, stop=begin + LOAD_FRAMES * frame_ns
            )
    return streams


def _stimulus(bench: Bench, port: Port, both: tuple[Testers, Testers]) -> Stimulus | Unsent:
    vid, turns = bench.vid(port["name"]), Turns.of(port)
    streams = loads(turns, both, vid)
    for load in range(8):
        first, gap = turns.probes(load), turns.gap_ns
        for pcp in range(8):
            pattern = Periodic(period=gap, offset=pcp * gap // 8)
            streams[f"probe-{load}-{pcp}"] = both[1].stream(
                pcp, vid, pattern, PROBE_OCTETS, start=first, stop=first + PROBES * gap
            )
    about = "every PCP loads the port in turn, and small frames of all PCPs pass it"
    return bench.stimulus("priority", port["name"], streams, 8 * turns.turn_ns, turns.turn_ns, about)


def judged(bench: Bench, stimulus: Stimulus, seen: Seen, error: Error) -> Iterator[Result]:
    """Order of classes, and the wait of the highest one."""
    number = bench.number(stimulus.port)
    port = bench.expected.document["ports"][number]
    frame_ns = (LOAD_OCTETS + PHY) * 8e9 / port["rate_bps"]
    waits = _waits(seen, number)
    if waits is None:
        yield from (undecided(name, stimulus.port, "too-few") for name in ("priority.map", "priority.strict"))
    else:
        yield _map(stimulus.port, port, waits, frame_ns)
        yield _strict(stimulus.port, port, waits, frame_ns, error)


def _waits(seen: Seen, number: int) -> Mapping[tuple[int, int], np.ndarray] | None:
    """By (PCP of the load, PCP of the probes), how much longer probes took than the quickest of all."""
    found = {}
    for load in range(8):
        for pcp in range(8):
            name = f"probe-{load}-{pcp}"
            ingress = seen.ingress(name, number)
            arrived, sent = seen.residence(ingress, number, name), len(seen.entered(ingress, name))
            if sent < PROBES // 2:
                return None
            lost = np.full(sent - len(arrived), LOST_NS)
            found[load, pcp] = np.concatenate([arrived, lost]).astype(float)
    least = min(one.min() for one in found.values())
    return {key: one - least for key, one in found.items()}


def _map(name: str, port: Port, waits: Mapping[tuple[int, int], np.ndarray], frame_ns: float) -> Result:
    classes = port["pcp_to_class"]
    wrong = []
    for (load, pcp), wait in waits.items():
        above = classes[pcp] > classes[load]
        found = float(np.median(wait)) < MOST_WAIT * frame_ns
        if above != found:
            wrong.append(f"PCP {pcp} {'passes' if found else 'does not pass'} PCP {load}")
    return Result(
        "priority.map",
        name,
        "fail" if wrong else "pass",
        f"{', '.join(wrong[:3])}{' and more' if len(wrong) > AFTER else ''}: not as in the map"
        if wrong
        else "",
        found=Number(len(wrong), "pairs", len(wrong), len(wrong)),
        limit=Number(0, "pairs", 0, 0),
        shown=f"{len(wrong)} of {len(waits)} pairs",
        wanted="0",
        estimates=len(waits),
    )


def _strict(
    name: str, port: Port, waits: Mapping[tuple[int, int], np.ndarray], frame_ns: float, error: Error
) -> Result:
    """The greatest wait of the highest class beside the load of the lowest one."""
    classes = port["pcp_to_class"]
    high, low = (pick(range(8), key=lambda pcp: classes[pcp]) for pick in (max, min))
    most = float(waits[low, high].max())
    if classes[high] == classes[low]:
        return undecided("priority.strict", name, "unsupported-dut", "all PCPs are in one class")
    # Small frames of other PCPs may pass before.
    limit = frame_ns + 8 * (PROBE_OCTETS + PHY) * 8e9 / port["rate_bps"]
    over, own = most - limit, float(error.apart_ns)
    verdict = verdict_of(max(over, 0.0), max(over, 0.0), 2 * own, own)
    return Result(
        "priority.strict",
        name,
        verdict,
        "" if verdict == "pass" else f"PCP {high} waits for more than one frame of PCP {low}",
        None if verdict in ("pass", "fail") else "stamps",
        classes[high],
        found=Number(most, "ns", most - own, most + own),
        limit=Number(limit, "ns", 0, limit),
        shown=exact(round(most)),
        wanted=f"<= {exact(round(limit))}",
        estimates=len(waits[low, high]),
    )
