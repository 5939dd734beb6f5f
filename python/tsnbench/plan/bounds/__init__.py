"""Worst-case bounds of a Plan: delays and backlogs that no frame exceeds, computed from the Plan alone.

``crates/bounds`` computes network calculus in integers; ``docs/concepts/bounds.md`` derives it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple, Protocol

from tsnbench import quantities
from tsnbench._native import BoundsMemory, ReadPlan
from tsnbench.errors import InputError
from tsnbench.plan.bounds.promise import promised
from tsnbench.plan.streams.facts import Facts
from tsnbench.sheet import Column, Sheet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tsnbench.plan.bounds.types import Bounds, FlowBounds, Passing, Proven, ProvenDelays, Windows
    from tsnbench.plan.types import PlanDocument


class BoundsError(InputError):
    """The Plan cannot be used.

    Example:
        >>> from tsnbench.plan.bounds import bounds_of
        >>> bounds_of("{}")
        Traceback (most recent call last):
        ...
        tsnbench.plan.bounds.BoundsError: the plan cannot be read: missing field `format` at line 1 column 2
    """


class HasText(Protocol):
    """A Plan."""

    def to_json(self) -> str: ...


class Known(NamedTuple):
    """A Plan that was read before."""

    document: PlanDocument
    read: ReadPlan
    delays: str | None = None
    """Its :meth:`ReadPlan.proven_delays`, if another proof than that of ``read`` counts."""


def bounds(plan: HasText) -> Bounds:
    """The bounds of a Plan, ready for JSON: ``Plan.bounds``."""
    return bounds_of(plan.to_json())


def bounds_of(text: str, hops: bool = True) -> Bounds:
    """The bounds of a Plan's JSON text, ready for JSON.

    ``flows`` has one entry per flow and listener: ``upper_ns`` (null without a bound, then ``reason`` says
    why) and ``lower_ns`` hold between the stamps of the Plan's taps, as these show them;
    ``release_upper_ps`` and ``release_lower_ps`` from the release, with the wait in the talker's own port
    (of a host with software: at most from the timer of the program, at least from its call of ``send``);
    ``program_ps`` is how much later the program of a listener with software has the frame at most.
    ``hops`` has each port's part, from its queue to the last bit at the other end. ``ports`` has
    ``backlog_octets`` and ``backlog_frames`` of every queue that flows use, and of one with a shaper
    ``credit_bits``, the most credit that can gather. ``loss_reason`` says why a frame may be lost on its
    path; null where every queue has room for it whatever happens. ``drop_reason`` says why it may be lost
    however few frames wait (a fault, a filter, its length). Of streams with several paths,
    ``most_arrivals`` is how often a frame may arrive; of those that have to survive failures, ``survives``
    says by its ``reason`` which failure loses frames, null if none does. ``jitter_ns`` is how far two delays
    of the flow are apart at most, as stamped; null without a bound. ``release_tick_ns``: of stamps at the
    release the tick, where that is longer than 1 ns.

    Scheduled streams have the delays that the proof of their schedule says, with its margin; their ``source``
    is ``schedule's proof``, or ``schedule's proof, if clocks differ by no more than its margin``;
    ``undrained`` is the first port where one disturbed frame delays all later ones, because no window is
    spare. Streams that pass windows of their class have what the proof of these says (``windows' proof``),
    where that is less. ``clocks_within_ns``: the promise of the scenario that other bounds rely on; their
    ``source`` names it.

    Args:
        text: the Plan.
        hops: with each port's part of every flow.

    Raises:
        BoundsError: the Plan contradicts itself.

    Example:
        >>> from tsnbench import load
        >>> from tsnbench.plan.bounds import bounds_of
        >>> found = bounds_of(load("first.yaml").plan().to_json())
        >>> [(hop["port"], hop["upper_ps"]) for hop in found["flows"][0]["hops"]]
        [('controller -> switch', 1289000), ('switch -> robot', 13625000)]
    """
    try:
        return bounds_of_read(Known(json.loads(text), ReadPlan(text)), hops)
    except ValueError as error:
        raise BoundsError(str(error)) from error


def bounds_of_read(plan: Known, hops: bool = True, memory: BoundsMemory | None = None) -> Bounds:
    """The bounds of a Plan that was read before, as :func:`bounds_of` gives them.

    Args:
        plan: the Plan. hops: with each port's part of every flow.
        memory: what is known from Plans that differ little from this one, and is kept for further ones; the
            bounds are the same without it.
    """
    found: Bounds = json.loads(plan.read.bounds(hops, memory))
    found = with_windows(with_proof(found, plan), plan)
    _name_promise(found)
    tick = Facts(plan.document).release_tick
    for flow in found["flows"]:
        finish(flow, tick)
    return found


def finish(flow: FlowBounds, tick: int) -> None:
    """Fills what follows from the other bounds of a flow; ``tick``: :attr:`Facts.release_tick`."""
    apart = [] if flow["upper_ns"] is None else [flow["upper_ns"] - flow["lower_ns"]]
    varies = flow.get("jitter_ns")
    apart += [] if varies is None else [varies]
    flow["jitter_ns"] = min(apart, default=None)
    if tick > 1:
        flow["release_tick_ns"] = tick


WINDOWS = "windows' proof"
"""The source of the bounds of streams that pass windows of their class."""
PROOF = "schedule's proof"
"""The source of the bounds of scheduled streams."""
CLOCKS_APART = "clocks differ by no more than its margin"
"""The condition of a schedule's proof where only a servo keeps clocks together."""


FULL = "more frames may arrive than its queue has room for"


def _name_promise(found: Bounds) -> None:
    """Names the promise as the condition of bounds that the analysis gave."""
    within = found.get("clocks_within_ns")
    for flow in found["flows"]:
        bounded = flow["upper_ns"] is not None or flow["release_upper_ps"] is not None
        if within is not None and bounded and "source" not in flow:
            flow["source"] = f"analysis, if {promised(within)}"


def with_proof(found: Bounds, plan: Known) -> Bounds:
    """Bounds in which those of scheduled streams come from the proof of their schedule, if it is tighter.

    Args:
        found: the result of ``crates/bounds``. plan: the Plan.
    """
    document = plan.document
    if not any("scheduled" in stream for stream in document["streams"]):
        return found
    return lowered(found, json.loads(plan.delays or plan.read.proven_delays()), document)


def lowered(found: Bounds, proved: ProvenDelays, document: PlanDocument) -> Bounds:
    """The bounds of :func:`with_proof`, from the delays that were proved for these flows."""
    condition = f", if {CLOCKS_APART}" if proved["margins_assumed"] else ""
    if "clocks_within_ns" in found:
        condition = f", if {promised(found['clocks_within_ns'])}"
    source = PROOF + condition
    streams, nodes = document["streams"], document["nodes"]
    delays = {(streams[one["stream"]]["name"], nodes[one["node"]]["name"]): one for one in proved["delays"]}
    for flow in found["flows"]:
        own = delays.get((flow["stream"], flow["listener"]))
        if own is None:
            continue
        clocks = "clocks" in document
        # If nodes have clocks, a bound that assumes one common time does not hold between their timestamps.
        flow["lower_ns"] = own["lower_ns"] if clocks else max(flow["lower_ns"], own["lower_ns"])
        flow["lower_ps"] = own["lower_ps"] if clocks else max(flow["lower_ps"], own["lower_ps"])
        least = own["release_lower_ps"]
        flow["release_lower_ps"] = least if clocks else max(flow["release_lower_ps"], least)
        _lower(flow, own, source)
        if own["undrained"] is not None:
            flow["undrained"] = document["ports"][own["undrained"]]["name"]
        if own["drops_late"]:
            flow["drops_late"] = True
        # A proof that assumes something holds for the loss if its delay names the assumption.
        if flow.get("source") == source or not proved["margins_assumed"]:
            full = own["full"]
            crowded = None if full is None else f"at {document['ports'][full]['name']}: {FULL}"
            flow["loss_reason"] = flow["drop_reason"] or crowded
    return found


def with_windows(found: Bounds, plan: Known) -> Bounds:
    """Bounds in which those of streams with windows of their class come from the proof of windows, if it is
    tighter.

    Args:
        found: the bounds so far. plan: the Plan.
    """
    document = plan.document
    if not any("gates" in port for port in document["ports"]):
        return found
    windows: Windows = json.loads(plan.read.proven_windows())
    return by_windows(found, windows["flows"], document)


def by_windows(found: Bounds, passing: Sequence[Passing], document: PlanDocument) -> Bounds:
    """The bounds of :func:`with_windows`, from the bounds that were proved for these flows."""
    streams, nodes = document["streams"], document["nodes"]
    tick = max((tap["granularity_ns"] for tap in document["taps"]), default=1)
    proved = {(streams[one["stream"]]["name"], nodes[one["node"]]["name"]): one for one in passing}
    for flow in found["flows"]:
        own = proved.get((flow["stream"], flow["listener"]))
        if own is None:
            continue
        # Each timestamp of each frame is rounded down to its tick.
        flow["jitter_ns"] = -(-own["varies_ps"] // 1_000) + 2 * tick - 1
        _lower(flow, own, WINDOWS)
        # The proof follows frames only through queues with room for all of them.
        flow["loss_reason"] = None if own["lossless"] else flow["drop_reason"]
        for survival in flow.get("survives", ()) if own["lossless"] else ():
            if not survival["carried"]:
                # Every path that is left loses nothing.
                survival["reason"] = None
    return found


def _lower(flow: FlowBounds, own: Proven | Passing, source: str) -> None:
    """Replaces upper bounds by those of a proof, if they are lower, or equal without a condition."""
    spare = 0 if ", if " in source else 1
    if flow["upper_ns"] is None or own["upper_ns"] < flow["upper_ns"] + spare:
        flow["upper_ns"], flow["upper_ps"] = own["upper_ns"], own["upper_ps"]
        flow["reason"], flow["source"] = None, source
    if flow["release_upper_ps"] is None or own["release_upper_ps"] < flow["release_upper_ps"] + spare:
        flow["release_upper_ps"] = own["release_upper_ps"]
        flow["release_reason"], flow["source"] = None, source


def bounds_table(found: Bounds) -> Sheet:
    """A table of bounds per stream and listener, from the talker's stamp and from the release.

    Flows of one stream with equal bounds share a row.

    Args:
        found: the result of :func:`bounds_of`.
    """
    sheet = Sheet(
        "worst case",
        [
            Column("stream", name=True),
            Column("to", name=True, spare=2),
            Column("at least", spare=1),
            Column("at most"),
            Column("from release", spare=3),
            Column("why no bound, or its source", wraps=True),
        ],
    )
    for row, flows in _rows(found).items():
        group, *cells = row
        sheet.rows.append([group if flows == 1 else f"{group} x{flows}", *cells])
    return sheet


def _source(flow: FlowBounds) -> list[str]:
    """Where a bound comes from, and what its schedule does not survive."""
    source = [f"from the {flow['source']}"] if "source" in flow else []
    if "undrained" in flow:
        source.append(f"one disturbed frame delays all later ones at {flow['undrained']}")
    elif flow.get("drops_late"):
        source.append("frames that are late are dropped")
    return source


def _rows(found: Bounds) -> dict[tuple[str, ...], int]:
    """The cells of every row, and the number of flows that share the row."""
    rows: dict[tuple[str, ...], int] = {}
    for flow in found["flows"]:
        released = flow["release_upper_ps"]
        reasons = [reason for reason in (flow["reason"], flow["release_reason"]) if reason]
        if len(reasons) == 2 and reasons[1].endswith(reasons[0]):
            # The same reason, with its port.
            del reasons[0]
        row = (
            flow["group"],
            flow["listener"],
            quantities.time(flow["lower_ns"]),
            "none" if flow["upper_ns"] is None else quantities.time(flow["upper_ns"]),
            "none" if released is None else quantities.time(-(-released // 1_000)),
            "; ".join(reasons or _source(flow)),
        )
        rows[row] = rows.get(row, 0) + 1
    return rows
