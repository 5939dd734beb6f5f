"""All passes in their order: from a scenario to a Plan.

A pass that finds problems ends planning with all of them; the next one can rely on what it was given.
"""

from __future__ import annotations

from collections.abc import Callable

from tsnbench.planning.addressing import address_flows, address_nodes, name_flows
from tsnbench.planning.assemble import assemble
from tsnbench.planning.ats import shape_asynchronously
from tsnbench.planning.cqf import queue_cyclically
from tsnbench.planning.document import Plan, check
from tsnbench.planning.draft import Draft
from tsnbench.planning.errors import PlanningErrors, PlanningProblem
from tsnbench.planning.faults import place_faults, place_wrong_schedules
from tsnbench.planning.flooding import flood_flows
from tsnbench.planning.followers import follow_gates
from tsnbench.planning.gates import open_gates
from tsnbench.planning.gathered_credit import gather_credit
from tsnbench.planning.hosts import set_hosts
from tsnbench.planning.identification import identify
from tsnbench.planning.impossible import refuse_impossible
from tsnbench.planning.phases import set_phases
from tsnbench.planning.places import Places
from tsnbench.planning.policing import place_filters, regenerate
from tsnbench.planning.ports import name_ports, shape_ports
from tsnbench.planning.preemption import set_express
from tsnbench.planning.priorities import assign_classes
from tsnbench.planning.replay import replay_flows
from tsnbench.planning.reservations import reserve
from tsnbench.planning.routes import route_flows
from tsnbench.planning.schedule import prove, schedule_flows
from tsnbench.planning.sizes import size_flows
from tsnbench.planning.taps import place_taps
from tsnbench.planning.window_plan import plan_windows
from tsnbench.scenario.model import Scenario

PASSES: tuple[Callable[[Draft], None], ...] = (
    name_ports,
    shape_ports,
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
    place_taps,
)


def draft(scenario: Scenario, earlier: Plan | None = None) -> Draft:
    """Everything that is decided, still typed; an ``earlier`` Plan's schedule is kept where it can be.

    Raises:
        PlanningErrors: with all problems of the first pass that found any.
    """
    result = Draft(scenario, earlier=earlier.document if earlier else None)
    for each in PASSES:
        each(result)
        result.raise_problems()
    return result


def plan(scenario: Scenario, earlier: Plan | None = None) -> Plan:
    """The Plan of a scenario, proven consistent; the same scenario always gives the same bytes.

    Args:
        scenario: what is planned.
        earlier: a Plan whose schedule is kept where it can be
            (:func:`tsnbench.planning.keeping.changes` says what became of it).

    Raises:
        PlanningErrors: what the scenario asks for cannot be planned.
    """
    finished = draft(scenario, earlier)
    document = assemble(finished)
    finished.raise_problems()
    gather_credit(document)
    made = Plan(document, Places(scenario))
    refuse_impossible(finished, document)
    finished.raise_problems()
    try:
        check(made.to_json(), made.document)
    except ValueError as error:
        # What the passes let through and no backend could obey, such as a duration of years.
        path, _, problem = str(error).partition(": ")
        where = scenario.where(path)
        raise PlanningErrors(
            [PlanningProblem(path, "a plan that can be obeyed", problem, where=where)]
        ) from error
    wrong = prove(made.document, made.to_json())
    if wrong:
        raise PlanningErrors(
            [
                PlanningProblem(
                    "schedule", "a schedule that holds", sentence, where=scenario.where("schedule")
                )
                for sentence in wrong
            ]
        )
    return made
