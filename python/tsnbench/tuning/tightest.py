"""The limits of a Plan that are reached first: deadlines in the worst case, links, gates and reservations.

Shares of different kinds are in one list, because each is a share of its own limit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from tsnbench import quantities
from tsnbench.measure.verdict import worst_cases
from tsnbench.plan.document import Plan
from tsnbench.plan.gates import open_share
from tsnbench.plan.load import ClassLoad, class_loads, passed, total
from tsnbench.plan.summary import load_text
from tsnbench.plan.types import PlanDocument, Port


class Kind(StrEnum):
    """The kinds of limits."""

    REQUIREMENT = "requirement"
    """A limit of a stream; its share is the worst case of the limit."""
    LINK = "link"
    """The load of a port of its rate."""
    GATE = "gate"
    """The load of a class of what its gate lets through: the port's rate in its share of a cycle."""
    RESERVATION = "reservation"
    """The idle slopes of a port of its rate, or the load of a class of its idle slope."""


@dataclass(frozen=True)
class Use:
    """The used share of one limit."""

    kind: Kind
    where: str
    used: str
    limit: str
    share: float | None
    """1: nothing is left; beyond 1: broken. None: nothing may be used, and something is."""


@dataclass(frozen=True)
class Tightest:
    """Every limit of a Plan with the share that is used, the greatest share first."""

    uses: list[Use]
    unknown: list[str]
    """Requirements that have no bound, and why: nothing says how near they are."""


def tightest(plan: Plan) -> Tightest:
    """The limits of a Plan by used share; of a stream's flows, the one with the greatest share counts."""
    unknown: dict[str, str] = {}
    most: dict[tuple[str, str, str, float], Use] = {}
    for row in worst_cases(plan.document, plan.bounds()):
        used, limit, unit = row["worst_case"], row["limit"], row["limit_unit"]
        what = f"{row['stream']} at {row['listener']}: {row['requirement']}"
        if used is None:
            group = f"{row['group']} at {row['listener']}: {row['requirement']}"
            unknown.setdefault(group, row["worst_case_reason"] or "")
            continue
        own = (row["group"], row["listener"], row["requirement"], limit)
        share = used / limit if limit else None if used else 0.0
        use = Use(
            Kind.REQUIREMENT, what, quantities.quantity(used, unit), quantities.quantity(limit, unit), share
        )
        if own not in most or _rank(use) < _rank(most[own]):
            most[own] = use
    # A share of 0 is left out: nothing of this limit is used.
    uses = [use for use in (*most.values(), *_ports(plan.document)) if use.share != 0]
    return Tightest(sorted(uses, key=_rank), [f"{who}: {why}" for who, why in unknown.items()])


def _rank(use: Use) -> tuple[float, int, str]:
    share = float("inf") if use.share is None else use.share
    return -share, list(Kind).index(use.kind), use.where


def _ports(document: PlanDocument) -> Iterator[Use]:
    planned, assigned = _planned_windows(document), _assigning(document)
    for place, (port, loads) in enumerate(zip(document["ports"], class_loads(document), strict=True)):
        name, rate = port["name"], Fraction(port["rate_bps"])
        if asked := total(loads):
            yield _use(Kind.LINK, name, asked, rate, any(load.saturating for load in loads))
        slopes = [one["cbs"]["idle_slope_bps"] for one in port["classes"] if "cbs" in one]
        if slopes:
            yield _use(Kind.RESERVATION, name, Fraction(sum(slopes)), rate, False)
        if port["node"] in assigned:
            continue
        for number, load in enumerate(loads):
            yield from _class(port, number, load, planned=(place, number) in planned)


def _planned_windows(document: PlanDocument) -> set[tuple[int, int]]:
    """Ports and classes whose windows follow from the schedule: they are as long as their frames."""
    return {
        (hop["port"], document["ports"][hop["port"]]["pcp_to_class"][stream["pcp"]])
        for stream in document["streams"]
        if "scheduled" in stream
        for hop in stream["route"]
    }


def _assigning(document: PlanDocument) -> set[int]:
    """Nodes whose stream gates assign priorities: the load of a class there changes within a cycle.

    IEEE 802.1Q-2022, 8.6.5.4.
    """
    return {
        own["node"]
        for own in document.get("policing", ())
        if any("ipv" in entry for gate in own.get("gates", ()) for entry in gate["entries"])
    }


def _class(port: Port, number: int, load: ClassLoad, *, planned: bool) -> Iterator[Use]:
    asked = load.rate_bps
    if not asked:
        return
    where = f"{port['name']}, class {number}"
    share = open_share(port, number)
    cbs = port["classes"][number].get("cbs")
    # If the slope is equal to the load, the planner computed it from the load: it grows with the load.
    if cbs is not None and asked != (slope := passed(cbs, port["rate_bps"]) * share):
        yield _use(Kind.RESERVATION, where, asked, slope, bool(load.saturating))
    if share < 1 and not planned:
        yield _use(Kind.GATE, where, asked, port["rate_bps"] * share, bool(load.saturating))


def _use(kind: Kind, where: str, used: Fraction, limit: Fraction, saturating: bool) -> Use:
    share = float(used / limit) if limit else None
    return Use(kind, where, load_text(used, saturating), quantities.rate(limit), share)
