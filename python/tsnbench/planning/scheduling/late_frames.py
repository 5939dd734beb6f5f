"""Late frames of scheduled streams, if they are dropped: the longest time in each of their queues.

A frame that is on time waits for less. A frame that misses its window is dropped before the gate of its class
opens again, so that it does not take the window of the frame behind it. IEEE 802.1Q-2022, 6.5.6 and 8.6.7.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import gcd
from typing import TYPE_CHECKING

from tsnbench.plan.delay import BEFORE_STAMP, transmission_ps
from tsnbench.plan.frames import data_units
from tsnbench.plan.sizes import PHY_OVERHEAD
from tsnbench.planning.scheduling.member_streams import expanded
from tsnbench.quantities import time

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tsnbench.planning.draft import Draft, Flow, Gates

MOST_PHASES = 1 << 16
"""So many frames of a cycle are compared with the windows; the proof of the schedule follows all of them."""


@dataclass(frozen=True)
class Wait:
    """The frames of a release that wait in a queue; ps. ``arrives`` and ``starts``: of the one that waits
    longest, in the first period; ``longest``: its wait, with all that may lengthen it."""

    flow: Flow
    period: int
    arrives: int
    starts: int
    longest: int


def drop_late(draft: Draft, flows: Sequence[Flow], written: Mapping[int, Gates]) -> None:
    """Fills ``longest_wait`` of the classes of scheduled flows, if late frames are dropped.

    Longest times that the scenario has stay: the proof tells whether they are long enough.

    Args:
        draft: with planned gates.
        flows: the scheduled ones.
        written: the lists of ports that have one of their own.
    """
    if draft.scenario.schedule.late != "drop":
        return
    queues: dict[tuple[int, int], list[Wait]] = defaultdict(list)
    for flow in flows:
        for number, traffic, wait in _waits(draft, flow):
            queues[number, traffic].append(wait)
    for (number, traffic), waits in sorted(queues.items()):
        port = draft.ports[number]
        if traffic in port.longest_wait:
            continue
        slowest = max(waits, key=lambda wait: wait.longest)
        # A frame that has waited for the longest time is dropped, so it is longer than any wait.
        port.longest_wait[traffic] = longest = slowest.longest // 1_000 + 1
        gates = written.get(number, port.gates)
        assert gates is not None
        for wait in waits:
            until = _next_window(gates, traffic, wait)
            if until is not None and until < longest * 1_000:
                draft.problem(
                    "schedule.late",
                    "a class in which frames wait for less time than passes between two windows",
                    f"{slowest.flow.name} waits for {time(longest)} at {port.name}, and a frame of "
                    f"{wait.flow.name} that misses its window comes to the next one after "
                    f"{time(until // 1_000)}",
                    "give one of them another PCP, or write late: wait",
                )
                return


def _waits(draft: Draft, flow: Flow) -> Iterator[tuple[int, int, Wait]]:
    """Port and class of every hop, with the wait there."""
    assert flow.scheduled is not None
    assert flow.pattern["kind"] == "periodic"
    release = (flow.start_ns + flow.pattern["offset_ns"]) * 1_000
    period, margin = flow.pattern["period_ns"] * 1_000, draft.scenario.schedule.margin * 1_000
    sizes, priorities = data_units(flow.size)[0], draft.priorities(flow)
    copies = expanded(flow)
    planned = [iter(starts) for starts in flow.scheduled["starts_ps"]]
    # By entry of the tree: when its frames are at the other end, and how much earlier they may be.
    ends: list[tuple[list[int], int]] = []
    for hop, entry, tag in zip(copies.tree, copies.entries, copies.more_octets, strict=True):
        port = draft.ports[hop.port]
        ready, early = ([release] * len(sizes), 0) if hop.parent is None else ends[hop.parent]
        if hop.parent is not None:
            ready = [at + draft.nodes[port.node].processing_ns * 1_000 for at in ready]
        free, arrived, waits = release + next(planned[entry]), [], []
        first = free - ready[0]
        for octets, at in zip(sizes, ready, strict=True):
            begin = max(free, at)
            waits.append((begin - at, at, begin))
            free = begin + transmission_ps(octets + tag + PHY_OVERHEAD, port.rate_bps)
            end = begin + transmission_ps(octets + tag + BEFORE_STAMP, port.rate_bps)
            arrived.append(end + port.propagation_ps)
        # Where frames before it are missing, a frame may leave early, and be early at the next port.
        ends.append((arrived, early + first))
        waited, arrives, starts = max(waits)
        # It may arrive early by the margin, and leave late by it.
        most = waited + early + 2 * margin
        yield hop.port, port.pcp_to_class[priorities[entry]], Wait(flow, period, arrives, starts, most)


def _next_window(gates: Gates, traffic: int, wait: Wait) -> int | None:
    """The least time from the arrival of a frame to the first opening of its gate after its own window, ps;
    None: its gate stays open, or the list is too long."""
    cycle = gates.cycle_ns * 1_000
    common = gcd(wait.period, cycle)
    if cycle // common > MOST_PHASES:
        return None
    states = [mask >> traffic & 1 for mask, _ in gates.entries]
    begins = [0]
    for _, interval in gates.entries:
        begins.append(begins[-1] + interval * 1_000)
    changes = zip(begins, pairwise([states[-1], *states]), strict=False)
    opens = [at for at, (before, now) in changes if now > before]
    if not opens:
        return None
    found = []
    for phase in range(0, cycle, common):
        at = (wait.starts - gates.base_time_ns * 1_000 + phase) % cycle
        place = bisect_right(opens, at)
        after = opens[place] if place < len(opens) else opens[0] + cycle
        found.append(after - at)
    return min(found) + wait.starts - wait.arrives
