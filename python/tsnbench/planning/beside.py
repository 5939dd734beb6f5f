"""Streams that join and leave beside those in place: only what they touch is planned.

A stream touches the gates of its ports, the taps at its ends, and nothing else, as long as no pass reserves,
shapes or filters by all streams together (:func:`is_separable`). Then the Plan of the whole scenario is the
earlier Plan with these parts replaced, value by value. ``crates/schedule`` places a stream by those that
share a link with it, so these alone are searched again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from tsnbench._native import ReadPlan
from tsnbench.plan.document import Plan
from tsnbench.plan.streams.facts import Facts
from tsnbench.planning.assemble import gates_document, stream_document, tap_document
from tsnbench.planning.draft import Draft, Flow, Port
from tsnbench.planning.errors import PlanningErrors
from tsnbench.planning.impossible import broken_limits
from tsnbench.planning.passes import Beside, Finished, proved, schedule_flows
from tsnbench.planning.places import ScenarioPlaces
from tsnbench.planning.routing.routes import route_flows
from tsnbench.planning.scheduling.schedule import schedule_beside
from tsnbench.planning.streams.release_pattern import set_phases
from tsnbench.planning.streams.sizes import size_each
from tsnbench.planning.streams.survival import name_failures
from tsnbench.planning.streams.telegrams import Replies
from tsnbench.planning.topology.addressing import address_flows, name_flows
from tsnbench.planning.topology.taps import TapChange, place_taps_beside
from tsnbench.scenario import model
from tsnbench.scenario.model.scenario import SETTLED

if TYPE_CHECKING:
    from tsnbench.plan.types import PlanDocument, Tap
    from tsnbench.plan.types import Port as PortDocument

FLOW_PASSES = (name_flows, route_flows, address_flows, size_each, set_phases, name_failures)
"""The passes that fill a flow without looking at other flows; the others have nothing to do in a separable
network."""
_DOCUMENT = {
    *("format", "name", "variant", "seed", "duration_ns", "drain_ns", "measure_from"),
    *("nodes", "ports", "streams", "taps"),
}
_NODE = frozenset(("name", "kind", "processing_ns", "cut_through_octets", "ipv4"))
_PORT = frozenset(
    ("name", "node", "peer", "mac", "rate_bps", "propagation_ps", "pcp_to_class", "classes", "gates")
)
_CLASS = frozenset(("limit_frames", "limit_octets"))
"""The keys of a Plan's parts in which streams meet in queues and windows alone."""


def is_separable(draft: Draft, document: PlanDocument) -> bool:
    """Whether a stream of this network touches only the gates of its ports and the taps at its ends.

    Args:
        draft: finished. document: its Plan.
    """
    schedule = draft.scenario.schedule
    usual = model.Schedule(
        margin=schedule.margin,
        granularity=schedule.granularity,
        shortest_interval=schedule.shortest_interval,
        most_entries=schedule.most_entries,
        longest_cycle=schedule.longest_cycle,
        time=schedule.time,
    )
    return (
        document.keys() <= _DOCUMENT
        and draft.scenario.measure_from != SETTLED
        and not draft.scenario.taps.stages
        and schedule == usual
        and not any(node.device for node in draft.scenario.network.nodes.values())
        and all(node.keys() <= _NODE for node in document["nodes"])
        and all(
            port.keys() <= _PORT and all(one.keys() <= _CLASS for one in port["classes"])
            for port in document["ports"]
        )
        and all(
            own is None
            for port in draft.ports
            for own in (port.shaper.gates, port.shaper.cbs, port.shaper.ats, port.shaper.cqf)
        )
        and all(_is_plain(flow) for flow in draft.flows)
    )


def _is_plain(flow: Flow) -> bool:
    return not (flow.redundancy or flow.flood or flow.socket or flow.stream.frer or flow.stream.failover)


class Before(NamedTuple):
    """A Plan of a separable network with its decisions; all stay as they are."""

    plan: Plan
    read: ReadPlan
    """The Plan as the native module read it."""
    draft: Draft
    bare: Sequence[Port]
    """The ports :func:`without_gates`, which every Plan of the network shares."""


def beside(
    before: Before, scenario: model.Scenario, left: Collection[str], joined: Sequence[str]
) -> Finished | None:
    """The Plan of a scenario in which streams left and joined, planned beside an earlier one.

    Args:
        before: the earlier Plan.
        scenario: the scenario after the change: the streams of the earlier one without those in ``left``, in
            their order, then those in ``joined``. left, joined: names of streams; a replaced one is in both.

    Returns:
        The Plan that :func:`~tsnbench.planning.passes.planned` makes of the scenario beside the earlier Plan.
        None if only planning everything can tell: a stream is wrong, or another one would move.

    Raises:
        PlanningErrors: the streams have no place beside those that share a port with them.
    """
    earlier, draft = before.plan, before.draft
    part = _of_streams(draft, scenario, joined)
    for each in FLOW_PASSES:
        each(part)
        if part.problems:
            return None
    if not all(_is_plain(flow) for flow in part.flows):
        return None
    places = [place for place, flow in enumerate(draft.flows) if flow.group in left] if left else []
    gone = [draft.flows[place] for place in places]
    leaving = [flow for flow in gone if flow.stream.scheduled]
    touched = {hop.port for flow in (*leaving, *part.flows) for hop in flow.route}
    # One of many that are alike tells what a port needs.
    near = [draft.flows[place] for place in before.read.streams_at(touched, {*places}, True)]
    ports = list(draft.ports)
    if leaving or any(flow.stream.scheduled for flow in (*near, *part.flows)):
        again = _placed(before, part, near, touched, {*places})
        if again is None:
            again = _scheduled(before, part, touched, {*places})
        if again is None:
            return None
        for number in touched:
            ports[number] = again[number]
    whole = draft.alike(scenario, ports, _replaced(draft.flows, places, part.flows))
    ends = {hop.port for flow in gone for hop in flow.route}
    staying = [draft.flows[place] for place in before.read.streams_at(ends, {*places})] if gone else []
    taps = place_taps_beside(whole, draft.taps, gone, staying, part.flows)
    replies = Replies.of(part.scenario)
    added = [stream_document(flow, replies) for flow in part.flows]
    document: PlanDocument = {
        **earlier.document,
        "ports": _ports(earlier.document, ports, touched),
        "streams": _replaced(earlier.document["streams"], places, added),
        "taps": _taps(earlier.document, taps),
    }
    if any(broken_limits(Facts({**document, "streams": added}))):
        return None
    try:
        made = Plan(document, ScenarioPlaces(scenario, draft.doubts))
        return proved(whole, made, before=Beside(earlier.document, before.read))
    except PlanningErrors:
        return None


def _of_streams(draft: Draft, scenario: model.Scenario, names: Sequence[str]) -> Draft:
    """A draft of the same network, without flows, of these streams alone."""
    streams = {name: scenario.streams[name] for name in names}
    return draft.alike(scenario.model_copy(update={"streams": streams}), draft.ports, [])


def _placed(
    before: Before,
    part: Draft,
    near: Sequence[Flow],
    touched: AbstractSet[int],
    left: AbstractSet[int],
) -> list[Port] | None:
    """The ports after the scheduled flows of ``part`` were placed beside those of the earlier Plan, which
    stay.

    None if that is not so simple; then nothing was changed.

    Args:
        before: the earlier Plan. part: the draft of the new flows.
        near: of all flows that pass a touched port, one of those that are alike there.
        touched: ports that get gates. left: places of earlier flows that left.
    """
    ports = [*before.bare]
    for number in touched:
        ports[number] = without_gates(ports[number])
    again = before.draft.alike(part.scenario, ports, [*near, *part.flows])
    again.reopened = touched
    return ports if schedule_beside(again, part.flows, before.read, left) else None


def _scheduled(
    before: Before, part: Draft, touched: AbstractSet[int], left: AbstractSet[int]
) -> list[Port] | None:
    """The ports after the scheduled flows of ``part`` were placed beside all flows of the ports that a change
    touches, so that their gates are complete; other ports get none. None if there is no schedule, or if an
    earlier flow would move.
    """
    plan, draft = before.plan, before.draft
    earlier = [draft.flows[place] for place in before.read.streams_at(touched, left)]
    flows = [*map(_again, earlier), *part.flows]
    passed = {hop.port for flow in flows for hop in flow.route}
    ports = [*before.bare]
    for number in passed:
        ports[number] = without_gates(ports[number])
    again = draft.alike(part.scenario, ports, flows)
    # The flows themselves know their places.
    again.earlier, again.reopened = {**plan.document, "streams": []}, touched
    schedule_flows(again)
    if again.problems:
        return None
    moved = any(
        (flow.pattern, flow.scheduled, flow.stream) != (was.pattern, was.scheduled, was.stream)
        for flow, was in zip(flows, earlier, strict=False)
    )
    return None if moved else ports


def without_gates(port: Port) -> Port:
    """A copy of a port, whose gates are not planned yet."""
    return _copied(port, gates=None)


def _again(flow: Flow) -> Flow:
    """A flow to be placed again: the earlier one stays as it is."""
    return _copied(flow, pattern=flow.pattern.copy())


def _replaced(parts: Sequence[Any], places: Sequence[int], joined: Sequence[Any]) -> list[Any]:
    """The parts that are not at these places, which ascend, then those that joined."""
    found = list(parts)
    for place in reversed(places):
        del found[place]
    found += joined
    return found


Part = TypeVar("Part", Flow, Port)


def _copied(part: Part, **other: object) -> Part:
    """A copy with other values. There may be thousands: ``copy`` takes several times as long."""
    made = object.__new__(type(part))
    made.__dict__.update(part.__dict__, **other)
    return made


def _ports(document: PlanDocument, ports: Sequence[Port], touched: Iterable[int]) -> list[PortDocument]:
    """The ports, of which these have the gates that were planned now."""
    found = list(document["ports"])
    for number in touched:
        own = found[number].copy()
        if (gates := gates_document(ports[number])) is not None:
            own["gates"] = gates
        else:
            own.pop("gates", None)
        found[number] = own
    return found


def _taps(document: PlanDocument, changes: Sequence[TapChange]) -> list[Tap]:
    """The taps after these changes, those of the earlier Plan as the same objects."""
    if not changes:
        return document["taps"]
    found = list(document["taps"])
    for place, tap in changes:
        if tap is None:
            del found[place]
        else:
            found.insert(place, tap_document(tap))
    return found
