"""Tidying: streams get other places in a network that joins and leaves have fragmented.

A schedule is fragmented if the time that is left on links is in many small parts: then a stream with a long
frame, or a tight limit, finds no place, although planning all streams from nothing would leave one.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from tsnbench.cnc.admission import Parts, Rules, bounds_of, broken, during, expect, harmed
from tsnbench.cnc.changes import Change, Kind, NotAcceptedError
from tsnbench.cnc.network import Base, Network
from tsnbench.cnc.policy import Moves
from tsnbench.plan.document import Plan
from tsnbench.planning.errors import PlanningErrors, PlanningProblem
from tsnbench.planning.passes import planned
from tsnbench.quantities import some

if TYPE_CHECKING:
    from tsnbench.plan.types import Gates, PlanDocument


def tidied(base: Base, now: Network, change: Change, rules: Rules, parts: Parts | None = None) -> Network:
    """The network after the streams in ``change.tidy`` were planned again beside all others; ``now`` if that
    leaves the time on links in no larger parts.

    All of them move, or none. Three checks are those of any change: the streams that may not move are as they
    were, the schedule of the whole is proved, and every limit that was kept is kept.

    Raises:
        NotAcceptedError: the policy, or the owner of a stream, does not allow it, or there is no such Plan.
    """
    parts = parts or Parts()
    expect(now, change)
    movable = _movable(now, change, rules)
    kept = [one for one in now.plan.document["streams"] if one["group"] not in movable]
    earlier: PlanDocument = {**now.plan.document, "streams": kept}
    try:
        made = planned(base.with_streams(now.requested), Plan(earlier))
    except PlanningErrors as error:
        raise NotAcceptedError(Kind.REFUSED, error.problems) from error
    parts.done("plan and prove")
    if harm := harmed(now.plan.document, made.plan.document, movable):
        found = f"{some(harm)} would have to move"
        raise NotAcceptedError(
            Kind.REFUSED, [PlanningProblem("streams", "streams that may not move as they are", found)]
        )
    if fragmentation(made.plan.document) >= fragmentation(now.plan.document):
        return now
    bounds = bounds_of(base, made, now)
    after = Network(now.number + 1, now.requested, made.plan, bounds.bounds, made.read, made.draft)
    parts.done("bounds")
    if problems := list(broken(base, now, after, {}, bounds)):
        raise NotAcceptedError(Kind.REFUSED, problems)
    parts.done("judge")
    during(base, now, after, movable, "")
    parts.done("transition")
    return after


def _movable(now: Network, change: Change, rules: Rules) -> set[str]:
    if rules.moves is Moves.NEVER:
        hint = "start the service with --moves if-silent or --moves in-maintenance"
        raise NotAcceptedError(
            Kind.REFUSED, [PlanningProblem("policy.moves", "a policy that lets streams move", "never", hint)]
        )
    for name in change.tidy:
        if name not in now.requested:
            problem = PlanningProblem("streams", "a stream that was requested", "none of this name")
            raise NotAcceptedError(Kind.UNKNOWN, [problem])
        if not rules.may_change(change.client, now.requested[name].client):
            problem = PlanningProblem(
                f"streams.{name}", "a stream of this client", "a stream of another client"
            )
            raise NotAcceptedError(Kind.FOREIGN, [problem])
    return {*change.tidy}


def fragmentation(document: PlanDocument) -> float:
    """The share of the time without windows of scheduled streams that is not in the longest part of its link.

    0: on each link this time is in one part. Links without scheduled streams do not count.
    """
    classes: dict[int, set[int]] = {}
    for stream in document["streams"]:
        for hop in stream["route"] if "scheduled" in stream else ():
            port = document["ports"][hop["port"]]
            classes.setdefault(hop["port"], set()).add(port["pcp_to_class"][stream["pcp"]])
    left = whole = 0
    for number, own in classes.items():
        gates = document["ports"][number].get("gates")
        free = _free(gates, own) if gates else []
        left += sum(free) - max(free, default=0)
        whole += sum(free)
    return left / whole if whole else 0.0


def _free(gates: Gates, classes: Collection[int]) -> list[int]:
    """The lengths of the parts of a cycle in which none of these classes is open, ns."""
    scheduled = sum(1 << number for number in classes)
    found = [0]
    for entry in gates["entries"]:
        if entry["open"] & scheduled:
            found.append(0)
        else:
            found[-1] += entry["interval_ns"]
    if len(found) > 1:
        # The last part goes on at the begin of the next cycle.
        found[0] += found.pop()
    return [length for length in found if length]
