"""Member streams that merge in the device: each number leaves once, and none is missing.

The streams of the scenario are sent as they are: their paths and the times between them are the stimulus.
IEEE 802.1CB-2017, 7.4.3.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tsnbench.conform.bench import Unsent
from tsnbench.conform.judge import Number, Result, undecided
from tsnbench.scenario.model import Periodic

if TYPE_CHECKING:
    from tsnbench.conform.bench import Bench, Stimulus
    from tsnbench.conform.judge import Error
    from tsnbench.conform.seen import Seen
    from tsnbench.plan.types import Port

FRAMES = 300
NOT_THERE = "the scenario of --device has no stream of this name"


def merging(bench: Bench) -> dict[str, list[str]]:
    """By egress port of the device, the names of periodic streams that merge in it and leave by it."""
    found: dict[str, list[str]] = {}
    ports = bench.expected.document["ports"]
    for one in bench.expected.document["streams"]:
        route = one["route"]
        at = {
            ports[ports[route[merge["from"][0]]["port"]]["peer"]]["node"]
            for merge in one.get("redundancy", {}).get("merges", ())
        }
        own = bench.lab.streams.get(one["name"])
        if bench.node not in at or own is None or not isinstance(own.pattern, Periodic):
            continue
        for hop in route:
            if ports[hop["port"]]["node"] == bench.node:
                found.setdefault(ports[hop["port"]]["name"], []).append(one["name"])
    return found


def ports(bench: Bench) -> list[Port]:
    """Ports by which merged streams leave."""
    names = merging(bench)
    return [port for port in bench.ports if port["name"] in names]


def stimuli(bench: Bench) -> Iterator[Stimulus | Unsent]:
    """The merged streams of a port, as the device's scenario has them."""
    for port in ports(bench):
        streams = {
            name: bench.scenario.streams[name].model_copy(
                update={"stop": bench.lab.streams[name].start + FRAMES * _period(bench, name)}
            )
            for name in merging(bench)[port["name"]]
            if name in bench.scenario.streams
        }
        if not streams:
            yield Unsent(port["name"], NOT_THERE)
            continue
        end = max(stream.stop or 0 for stream in streams.values())
        about = f"{FRAMES} frames of each stream that merges"
        yield bench.stimulus("frer", port["name"], streams, end, 100_000_000, about, filters=True)


def _period(bench: Bench, name: str) -> int:
    pattern = bench.lab.streams[name].pattern
    assert isinstance(pattern, Periodic)
    return pattern.period


def judged(bench: Bench, stimulus: Stimulus, seen: Seen, error: Error) -> Iterator[Result]:
    """Numbers that left twice, and numbers that did not leave."""
    number = bench.number(stimulus.port)
    twice, missing, frames = 0, 0, 0
    for name in stimulus.streams:
        left = seen.left(number, name)
        first = next(one["route"][0]["port"] for one in seen.plan["streams"] if one["name"] == name)
        sent = seen.entered(first, name)["seq"].n_unique()
        frames += len(left)
        twice += len(left) - left["seq"].n_unique()
        missing += sent - left["seq"].n_unique()
    for test, found, words in (
        ("frer.eliminate", twice, "frames left a second time"),
        ("frer.complete", missing, "numbers did not leave"),
    ):
        if not frames:
            yield undecided(test, stimulus.port, "too-few")
            continue
        yield Result(
            test,
            stimulus.port,
            "fail" if found else "pass",
            f"{found} {words}" if found else "",
            found=Number(found, "frames", found, found),
            limit=Number(0, "frames", 0, 0),
            shown=f"{found} of {frames}",
            wanted="0",
            frames=frames,
            estimates=frames,
        )
