"""A run in which a network changes: its Plans one after the other, as one Plan for the simulator.

A scheduled talker that leaves has stopped before its windows go, and one that joins starts when its
windows are there: that is what the guide of the CNC asks of clients. Others stop and start at the change, and
release then: at drawn phases frames would hardly meet.
Bridges get their lists before the instant of a change, with base times from it on, as the service writes them
(IEEE 802.1Q-2022, 8.6.9.3).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from tsnbench.cnc.network import Network
from tsnbench.deploy.cut_over import starting
from tsnbench.plan.document import Plan
from tsnbench.plan.streams import release_ns

LEAD_NS = 3_800_000
"""How long before the instant of a change a bridge gets its list.

Not while talkers release: the nodes of a guest share one processor.
"""


def run_of(
    networks: Sequence[tuple[int, Network]],
    duration_ns: int,
    pause_ns: int,
    later: Callable[[int, int], int] = lambda *_: 0,
) -> Plan:
    """The Plan of a run.

    Args:
        networks: from when on each of them is in force, in ns; the first one from 0 on.
        duration_ns: of the run.
        pause_ns: how long before a change a leaving scheduled talker has stopped, and how long after it a
            joining one starts.
        later: by how many ns a node changes later than that, by the number of the node and the time of the
            change.
    """
    document: Any = copy.deepcopy(networks[0][1].plan.document)
    document["duration_ns"] = duration_ns
    streams: dict[str, Any] = {}
    for at, network in networks:
        there = {one["name"]: one for one in network.plan.document["streams"]}
        for name, one in streams.items():
            if name not in there and one["stop_ns"] == duration_ns:
                one["stop_ns"] = at - pause_ns * ("scheduled" in one)
        for name, one in there.items():
            if name not in streams:
                pause = pause_ns * ("scheduled" in one and at > 0)
                streams[name] = _starting(one, at + pause, duration_ns)
    document["streams"] = list(streams.values())
    # Where frames are seen depends on the streams.
    taps = {tap["name"]: tap for _, network in networks for tap in network.plan.document["taps"]}
    document["taps"] = list(taps.values())
    for number, port in enumerate(document["ports"]):
        lists = []
        for at, network in networks:
            own_at = at and at + later(port["node"], at)
            lists.append((own_at, starting(network.plan.document, own_at)["ports"][number]))
        _gates(port, lists)
    return Plan(document)


def _starting(stream: Any, start_ns: int, stop_ns: int) -> Any:
    made = copy.deepcopy(stream)
    made.pop("any_phase", None)
    if made["pattern"]["kind"] == "periodic" and "scheduled" in made:
        made["pattern"]["offset_ns"] = (release_ns(stream) - start_ns) % made["pattern"]["period_ns"]
    made["start_ns"], made["stop_ns"] = start_ns, stop_ns
    return made


def _gates(port: Any, ports: Sequence[tuple[int, Any]]) -> None:
    lists = [(at, one.get("gates")) for at, one in ports]
    if not any(found for _, found in lists):
        return
    every = (1 << len(port["classes"])) - 1
    period = next(found["cycle_ns"] for _, found in lists if found)
    is_open = {"cycle_ns": period, "entries": [{"open": every, "interval_ns": period}]}
    made = [(at, copy.deepcopy(found or {"base_time_ns": at, **is_open})) for at, found in lists]
    port["gates"] = made[0][1]
    changes = []
    for (_, before), (at, after) in pairwise(made):
        if _schedule(after) != _schedule(before):
            changes.append({"at_ns": at - LEAD_NS, **after})
    if changes:
        port["gates"]["changes"] = changes


def _schedule(gates: Any) -> Any:
    """What a list does, whenever it began."""
    return {**gates, "base_time_ns": gates["base_time_ns"] % gates["cycle_ns"]}
