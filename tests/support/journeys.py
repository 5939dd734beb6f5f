"""What holds of every replayed run: the parts of a frame's path are its delay, to the nanosecond."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from tsnbench.replay.waiting import History, Reason
from tsnbench.replay.window import Journey, slowest
from tsnbench.runs import Run

MOST = 60
"""Frames of each stream and listener that are looked at, evenly over the run."""


def disagreements(run: Run, history: History) -> Iterator[str]:
    """Where the replay contradicts itself, or what was measured; and waits without a reason."""
    document = history.document
    numbers = {node["name"]: number for number, node in enumerate(document["nodes"])}
    streams = {stream["name"]: number for number, stream in enumerate(document["streams"])}
    looked: set[tuple[int, int, int]] = set()
    for place, path in enumerate(run.measures()["paths"]):
        frames = run.frames().filter(path=place).drop_nulls("delay_ns")
        stream, listener = streams[path["stream"]], numbers[path["listener"]]
        for seq, delay in frames.gather_every(max(1, len(frames) // MOST)).select("seq", "delay_ns").rows():
            way = history.journey(stream, seq, listener)
            looked.add((stream, seq, listener))
            name = f"{path['stream']}/{seq} to {path['listener']}"
            if not way:
                yield f"{name}: no path, measured {delay} ns"
                continue
            one = Journey(stream, seq, listener, way)
            if one.delay_ns != delay:
                yield f"{name}: replayed {one.delay_ns} ns, measured {delay} ns"
            yield from (f"{name}: {text}" for text in _parts(history, one))
    for one in slowest(history):
        if (one.stream, one.seq, one.listener) not in looked:
            yield from (f"{one.stream}/{one.seq}: {text}" for text in _parts(history, one))


def _parts(history: History, one: Journey) -> Iterator[str]:
    ports, talker = history.document["ports"], history.document["streams"][one.stream]["talker"]
    if ports[one.passages[0].port]["node"] != talker:
        yield "the path does not begin at the talker"
    if any(ports[ports[a.port]["peer"]]["node"] != ports[b.port]["node"] for a, b in pairwise(one.passages)):
        yield "the path has a gap"
    own = [part for _, parts in history.hops(one.passages) for part in parts]
    ends = [one.handed_ns, *(part.end_ns for part in own)]
    if any(part.begin_ns != end for part, end in zip(own, ends, strict=False)) or ends[-1] != one.arrived_ns:
        yield f"parts from {one.handed_ns} to {one.arrived_ns} ns do not follow each other: {own}"
    if any(part.length_ns <= 0 for part in own):
        yield f"a part without length: {own}"
    if unknown := [part for part in own if part.reason is Reason.UNKNOWN]:
        yield f"a wait without a reason: {unknown[0]}"
