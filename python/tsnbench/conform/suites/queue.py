"""Queues: how many frames a class holds, from the frames that still leave after an overload has ended."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tsnbench.conform.bench import Unsent
from tsnbench.conform.judge import Number, Result, undecided
from tsnbench.conform.suites import priority
from tsnbench.plan.sizes import PHY_OVERHEAD
from tsnbench.scenario.model import Periodic

if TYPE_CHECKING:
    from tsnbench.conform.bench import Bench, Stimulus
    from tsnbench.conform.judge import Error
    from tsnbench.conform.seen import Seen
    from tsnbench.plan.types import Port

OCTETS = 512
MOST_FRAMES = 2_000
"""Longer queues take too long to fill."""
FILLS = 4
"""The overload lasts so many times as long as a full queue takes to leave: at 1.4, 2.5 times fill it."""
SLACK = 3
"""Frames that are in transmission, or between the arrivals at the end."""
ports = priority.ports


def _limit(port: Port) -> int | None:
    own = port["classes"][port["pcp_to_class"][0]]
    limit = own.get("limit_frames")
    return None if limit is None or limit > MOST_FRAMES or "limit_octets" in own else limit


def stimuli(bench: Bench) -> Iterator[Stimulus | Unsent]:
    """Two testers overload the class of PCP 0."""
    for port in ports(bench):
        both, limit = priority.overload(bench, port), _limit(port)
        if isinstance(both, Unsent):
            yield both
            continue
        if limit is None:
            words = f"the class of PCP 0 has no limit in frames of at most {MOST_FRAMES:,}"
            yield Unsent(port["name"], words, "no-limit")
            continue
        frame_ns = (OCTETS + PHY_OVERHEAD) * 8e9 / port["rate_bps"]
        end = round(FILLS * (limit + 20) * frame_ns)
        streams = {
            f"load-{place + 1}": testers.stream(
                0, bench.vid(port["name"]), Periodic(period=round(frame_ns / part)), OCTETS
            )
            for place, (testers, part) in enumerate(zip(both, priority.LOADS, strict=True))
        }
        yield bench.stimulus("queue", port["name"], streams, end, end, "an overload of 1.4 that ends")


def judged(bench: Bench, stimulus: Stimulus, seen: Seen, error: Error) -> Iterator[Result]:
    """Frames that leave after the last one has arrived."""
    number = bench.number(stimulus.port)
    limit = _limit(bench.expected.document["ports"][number]) or 0
    if error.one_ns is None:
        yield undecided("queue.depth", stimulus.port, "clocks")
        return
    sent = [seen.entered(seen.ingress(name, number), name) for name in stimulus.streams]
    left = [seen.left(number, name) for name in stimulus.streams]
    if not all(map(len, sent)) or sum(map(len, sent)) - sum(map(len, left)) < SLACK:
        yield undecided(
            "queue.depth", stimulus.port, "too-few", "no frame was dropped: the queue was not full"
        )
        return
    last = max(int((one["begin"] + one["wire"]).to_numpy().max()) for one in sent)
    held = sum(int((one["begin"] >= last).sum()) for one in left)
    yield Result(
        "queue.depth",
        stimulus.port,
        "pass" if abs(held - limit) <= SLACK else "fail",
        ""
        if abs(held - limit) <= SLACK
        else f"the class of PCP 0 held {held} frames, and should hold {limit}",
        traffic_class=bench.expected.document["ports"][number]["pcp_to_class"][0],
        found=Number(held, "frames", held - SLACK, held + SLACK),
        limit=Number(limit, "frames", limit - SLACK, limit + SLACK),
        shown=f"{held} frames",
        wanted=f"{limit} +-{SLACK}",
        frames=sum(map(len, left)),
        estimates=1,
    )
