"""All passes in their order: from a scenario to a Plan.

A pass that finds problems ends planning with all of them, so the next one gets a correct draft.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tsnbench._native import ReadPlan
from tsnbench.libraries import Lazy
from tsnbench.plan.document import Plan, check
from tsnbench.planning.assemble import assemble
from tsnbench.planning.draft import Draft
from tsnbench.planning.errors import PlanningErrors, PlanningProblem
from tsnbench.planning.impossible import refuse_impossible
from tsnbench.planning.places import ScenarioPlaces
from tsnbench.planning.routing.flooding import flood_flows
from tsnbench.planning.routing.routes import route_flows
from tsnbench.planning.shaping.ats import shape_asynchronously
from tsnbench.planning.shaping.cbs_gathered_credit import gather_credit
from tsnbench.planning.shaping.cbs_reservations import reserve
from tsnbench.planning.shaping.derived_gates import follow_gates
from tsnbench.planning.shaping.gates import open_gates
from tsnbench.planning.shaping.policing import place_filters, regenerate
from tsnbench.planning.shaping.preemption import set_express
from tsnbench.planning.shaping.priorities import assign_classes
from tsnbench.planning.streams.identification import identify
from tsnbench.planning.streams.release_pattern import set_phases
from tsnbench.planning.streams.replay import replay_flows
from tsnbench.planning.streams.sizes import size_flows
from tsnbench.planning.streams.survival import name_failures
from tsnbench.planning.topology.addressing import address_flows, address_nodes, name_flows
from tsnbench.planning.topology.devices import fit_devices
from tsnbench.planning.topology.faults import place_faults, place_wrong_schedules
from tsnbench.planning.topology.hosts import set_hosts
from tsnbench.planning.topology.ports import name_ports, shape_ports
from tsnbench.planning.topology.stages import check_stages
from tsnbench.planning.topology.taps import place_taps
from tsnbench.scenario import model
from tsnbench.scenario.model import Scenario

if TYPE_CHECKING:
    from tsnbench.plan.types import PlanDocument
    from tsnbench.planning.scheduling import schedule
    from tsnbench.planning.shaping import cqf
    from tsnbench.planning.windows import planner
else:
    cqf = Lazy("tsnbench.planning.shaping.cqf")
    planner = Lazy("tsnbench.planning.windows.planner")
    schedule = Lazy("tsnbench.planning.scheduling.schedule")


def schedule_flows(draft: Draft) -> None:
    """Schedules streams; the search is loaded only if there are scheduled streams."""
    if any(flow.stream.scheduled for flow in draft.flows):
        schedule.schedule_flows(draft)


def plan_windows(draft: Draft) -> None:
    """Plans windows per class; the planner is loaded only if a port's gates are to be planned."""
    if any(isinstance(port.shaper.gates, model.Planned) for port in draft.ports):
        planner.plan_windows(draft)


def queue_cyclically(draft: Draft) -> None:
    """Plans cyclic queuing and forwarding; it is loaded only if a port has cyclic queues."""
    if any(port.shaper.cqf is not None for port in draft.ports):
        cqf.queue_cyclically(draft)


def prove(made: Plan, text: str, read: ReadPlan | None = None) -> list[str]:
    """The violations of scheduled streams; empty if there are none.

    Args:
        made: the Plan. text: the Plan as JSON. read: the text as it was read before.

    Raises:
        ValueError: the Plan contradicts itself.
    """
    if not any("scheduled" in stream for stream in made.document["streams"]):
        if read is None:
            check(text, made.document)
        return []
    return schedule.violations(made.document, ReadPlan(text) if read is None else read)


PASSES: tuple[Callable[[Draft], None], ...] = (
    name_ports,
    shape_ports,
    check_stages,
    address_nodes,
    name_flows,
    assign_classes,
    regenerate,
    place_faults,
    route_flows,
    flood_flows,
    address_flows,
    identify,
    replay_flows,
    size_flows,
    set_phases,
    schedule_flows,
    name_failures,
    open_gates,
    plan_windows,
    follow_gates,
    place_filters,
    queue_cyclically,
    place_wrong_schedules,
    shape_asynchronously,
    set_express,
    reserve,
    set_hosts,
    fit_devices,
    place_taps,
)

REVISES: dict[str, frozenset[str]] = {
    # `real-rate` replaces the rate of the link.
    "shape_ports": frozenset({"ports.rate_bps"}),
    # The identification function of the stream replaces the default one.
    "identify": frozenset({"flows.redundancy"}),
    # The PCP of the queue replaces the stream's own, and `ways: free` may choose another path.
    "schedule_flows": frozenset({"flows.stream", "flows.route", "flows.ends"}),
    # A host's latencies move the releases, and its kernel's gates follow its qdisc.
    "set_hosts": frozenset({"flows.pattern", "ports.gates"}),
}
"""The filled values that a pass may change. Every other pass only fills empty parts."""


def _ignored(_: str) -> None:
    """The end of a pass, if times are not requested."""


def draft(scenario: Scenario, earlier: Plan | None = None, done: Callable[[str], None] = _ignored) -> Draft:
    """All decisions, still typed; an ``earlier`` Plan's schedule is kept where possible.

    ``done`` is called with the name of each pass when it ends.

    Raises:
        PlanningErrors: all problems of the first pass that found any.
    """
    result = Draft(scenario, earlier=earlier.document if earlier else None)
    for each in PASSES:
        each(result)
        result.raise_problems()
        done(each.__name__)
    return result


def plan(scenario: Scenario, earlier: Plan | None = None, done: Callable[[str], None] = _ignored) -> Plan:
    """The Plan of a scenario, proven consistent; the same scenario always gives the same bytes.

    The arguments and errors are those of :func:`planned`.
    """
    return planned(scenario, earlier, done).plan


@dataclass(frozen=True)
class Planned:
    """A Plan with its text and hash, which are computed once."""

    plan: Plan
    text: str
    """The canonical content with its hash, as :meth:`Plan.to_json` gives it; empty if the Plan was planned
    beside an earlier one, where nobody needs it at once."""
    hash: str
    """As ``text``; beside an earlier Plan ``read`` has it."""


@dataclass(frozen=True)
class Finished(Planned):
    """A Plan that was planned and proved here, with what that made."""

    draft: Draft = field(repr=False, compare=False)
    """All decisions, typed."""
    read: ReadPlan = field(repr=False, compare=False)
    """The text as the native module read it."""
    is_beside: bool = False
    """Whether ``read`` knows what differs from the earlier Plan."""


@dataclass(frozen=True)
class Beside:
    """An earlier Plan, of whose document another one has most parts as the same objects."""

    document: PlanDocument
    read: ReadPlan


def planned(
    scenario: Scenario, earlier: Plan | None = None, done: Callable[[str], None] = _ignored
) -> Finished:
    """The Plan of a scenario as :func:`plan` makes it, with its text.

    Args:
        scenario: the scenario to plan.
        earlier: a Plan whose schedule is kept where possible
            (:func:`tsnbench.planning.scheduling.incremental.changes` lists the changes).
        done: called with the name of each pass at its end.

    Raises:
        PlanningErrors: the scenario cannot be planned.
    """
    finished = draft(scenario, earlier, done)
    document = assemble(finished)
    finished.raise_problems()
    gather_credit(document, finished.ports)
    made = Plan(document, ScenarioPlaces(scenario, finished.doubts))
    done("assemble")
    refuse_impossible(finished, made.facts)
    finished.raise_problems()
    done("refuse_impossible")
    return proved(finished, made, done)


def proved(
    finished: Draft,
    made: Plan,
    done: Callable[[str], None] = _ignored,
    before: Beside | None = None,
) -> Finished:
    """A Plan with its text, after ``crates/verify`` has proved its schedule.

    Args:
        finished: the draft of the Plan, whose scenario knows the places of mistakes. made: the Plan. done: as
            in :func:`planned`.
        before: what is known of an earlier Plan that differs little.

    Raises:
        PlanningErrors: the Plan contradicts itself, or its schedule is not proved.
    """
    scenario = finished.scenario
    try:
        found = before and before.read.beside(before.document, made.document)
        if found:
            text = content_hash = ""
            read = found
        else:
            text, content_hash = made.written()
            read = ReadPlan(text)
        done("write_text")
        wrong = prove(made, text, read)
    except ValueError as error:
        # A value that the passes accept and no backend supports, such as a duration of years.
        path, _, problem = str(error).partition(": ")
        where = scenario.where(path)
        raise PlanningErrors(
            [PlanningProblem(path, "a plan that can be obeyed", problem, where=where)]
        ) from error
    if wrong:
        raise PlanningErrors(
            [
                PlanningProblem(
                    "schedule", "a schedule that holds", sentence, where=scenario.where("schedule")
                )
                for sentence in wrong
            ]
        )
    done("prove")
    return Finished(made, text, content_hash, finished, read, found is not None)
