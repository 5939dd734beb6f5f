"""The time of a change: frames and gate control lists of the networks before and after it, together.

Scheduled frames in place meet the same open gates in both lists: the proof of each Plan has found them open
at the times of the frame. Other frames wait by the list before and then by the one after, beside frames of
streams that leave and of streams that join.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, cast

from tsnbench._native import BoundsMemory, ReadPlan
from tsnbench.cnc.changes import Kind, NotAcceptedError
from tsnbench.cnc.network import Network, of_groups
from tsnbench.plan.bounds import finish
from tsnbench.plan.document import Plan
from tsnbench.planning.errors import PlanningProblem
from tsnbench.quantities import quantity

if TYPE_CHECKING:
    from tsnbench.cnc.changes import Change
    from tsnbench.plan.bounds.types import Bounds
    from tsnbench.plan.types import GateEntry, Gates, PlanDocument, Port, Stream

LONGEST_NS = 10**9
"""The longest common cycle of two lists of a port that is followed."""


def leaving(now: Network, after: Network, change: Change) -> set[str]:
    """The streams before a change that are not there after it, or not as they were."""
    names = {*change.remove, *change.add} & now.requested.keys()
    left = {name for name in names if after.requested.get(name) is not now.requested[name]}
    return left | {name for name in change.tidy if now.flows(name) != after.flows(name)}


def drain_ns(now: Network, left: Collection[str]) -> int | None:
    """How long after its talker has stopped the last frame of any leaving stream is gone at most.

    That is the largest worst case from the release on; None without a bound.
    """
    bounds = [flow["release_upper_ps"] for flow in of_groups(now.bounds["flows"], left)]
    known = [-(-bound // 1_000) for bound in bounds if bound is not None]
    return max(known, default=0) if len(known) == len(bounds) else None


def together(
    now: Network, after: Network, left: Collection[str], memory: BoundsMemory | None = None
) -> Network | None:
    """The network around a change: the streams of both networks, and ports with either list.

    Whenever a port changes from one list to the other, gates of classes without scheduled streams are open
    for at least the times at which both lists open them, but for one frame that began by the other list.
    Those of scheduled classes are open where either list opens them, as their frames take time from others.
    Streams in place and those that join have their names; one that leaves has another. None if all streams
    are scheduled. If no list differs, and streams only join or only leave, it is the network after or before
    the change.

    Its bounds are those of streams that are not scheduled. They are those of the analysis, for talkers that
    release at any time: what follows from the times of releases holds for one list, and not across a change.

    Args:
        now, after: the networks before and after the change. left: the streams that leave or move.
        memory: what the bounds around one change know for those around the next one.

    Raises:
        NotAcceptedError: the lists of a port have no common cycle within :data:`LONGEST_NS`, or streams of
            both networks cannot be told apart.
    """
    streams = after.plan.document["streams"]
    # Without an analysed port, the proof of the schedule has given all bounds.
    if not after.bounds["ports"] or all("scheduled" in one for one in streams):
        return None
    ports = [*zip(now.plan.document["ports"], after.plan.document["ports"], strict=True)]
    if all(before is port or before.get("gates") == port.get("gates") for before, port in ports):
        if not left:
            return after
        if after.requested.keys() == now.requested.keys() - set(left):
            return now
    old = [_renamed(one) for one in of_groups(now.plan.document["streams"], left)]
    pcps = {one["pcp"] for one in (*streams, *old) if "scheduled" in one}
    document: PlanDocument = {
        **after.plan.document,
        "streams": [_at_any_phase(one) for one in (*streams, *old)],
        "ports": [port if before is port else _both(before, port, pcps) for before, port in ports],
    }
    plan = Plan(document)
    try:
        read = after.read.beside(after.plan.document, document) or ReadPlan(plan.to_json())
    except ValueError as error:
        problem = PlanningProblem("streams", "streams that can be there before others have left", str(error))
        raise NotAcceptedError(Kind.REFUSED, [problem]) from error
    found: Bounds = json.loads(read.bounds(False, memory))
    for flow in found["flows"]:
        finish(flow, after.plan.facts.release_tick)
    return replace(after, plan=plan, bounds=found, read=read, draft=None)


def _at_any_phase(stream: Stream) -> Stream:
    """A stream of which no phase is known: when its frames meet which gates depends on the list in force."""
    if "scheduled" in stream or "any_phase" in stream or stream["pattern"]["kind"] != "periodic":
        return stream
    return {**stream, "any_phase": True}


def _renamed(stream: Stream) -> Stream:
    return {**stream, "name": f"{stream['name']} before", "group": f"{stream['group']} before"}


def told(drain: int | None, in_force_ns: int | None) -> dict[str, int | None]:
    """:attr:`Decision.transition`."""
    until = None if drain is None or in_force_ns is None else in_force_ns + drain
    return {"drain_ns": drain, "until_ns": until}


def _both(before: Port, after: Port, pcps: Collection[int]) -> Port:
    """A port whose gates are open where both lists open them; those of scheduled PCPs where either does."""
    old, new = before.get("gates"), after.get("gates")
    if old == new:
        return after
    scheduled = sum({1 << after["pcp_to_class"][pcp] for pcp in pcps})
    # Each other frame may meet one that began by the other list.
    replaced = ((1 << len(after["classes"])) - 1) & ~scheduled
    if old is None or new is None:
        return {**after, "gates": {**cast("Gates", old or new), "replaced": replaced}}
    cycle_ns = math.lcm(old["cycle_ns"], new["cycle_ns"])
    if cycle_ns > LONGEST_NS:
        expected = f"gate control lists with a common cycle of at most {quantity(LONGEST_NS, 'ns')}"
        problem = PlanningProblem("streams", expected, f"{quantity(cycle_ns, 'ns')} at {after['name']}")
        raise NotAcceptedError(Kind.REFUSED, [problem])
    open_at = dict(_states(old, cycle_ns)), dict(_states(new, cycle_ns))
    masks = [_last(one) for one in open_at]
    entries: list[GateEntry] = []
    begins = sorted({0, *open_at[0], *open_at[1]})
    for begin, end in pairwise([*begins, cycle_ns]):
        masks = [one.get(begin, mask) for one, mask in zip(open_at, masks, strict=True)]
        entries.append(
            {"open": masks[0] & masks[1] | (masks[0] | masks[1]) & scheduled, "interval_ns": end - begin}
        )
    gates: Gates = {**new, "base_time_ns": 0, "cycle_ns": cycle_ns, "entries": entries, "replaced": replaced}
    return {**after, "gates": gates}


def _states(gates: Gates, cycle_ns: int) -> Iterator[tuple[int, int]]:
    """When in a cycle of so many ns, which begins at 0, gates change to which states."""
    at = gates["base_time_ns"]
    for _ in range(cycle_ns // gates["cycle_ns"]):
        for entry in gates["entries"]:
            yield at % cycle_ns, entry["open"]
            at += entry["interval_ns"]


def _last(states: Mapping[int, int]) -> int:
    return states[max(states)]
