"""Every shipped scenario with requirements can be planned, and the simulator meets the requirements.

The configured shapers are removed. The test tries windows first, then a schedule, then credit-based and
asynchronous shapers with the bandwidth that the streams need. Scenarios that are left out have a reason.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support.shipped import MS, ROOT, SCENARIOS, variants
from tsnbench.backends.simulation import Simulation
from tsnbench.measure import judge, measure_run
from tsnbench.plan.bounds import bounds
from tsnbench.plan.document import Plan
from tsnbench.planning import PlanningErrors, plan
from tsnbench.scenario import model

VARIES = "software of hosts varies by more than the jitter that is required"
LEFT_OUT = {
    ("tutorial/2-gates", "no-priority"): "shows one queue for all: nothing tells the loop from the files",
    **{("papers/engine/ex-tm", host): VARIES for host in ("zgw6", "zgw7", "zgw8")},
}
"""Keys are a scenario and a part of its variant."""
NOTHING = model.Requirements()


def _left_out(name: str, variant: str) -> bool:
    return any(name == of and (not part or part in variant.split()) for of, part in LEFT_OUT)


def _longest(scenario: model.Scenario) -> int:
    patterns = [stream.pattern for stream in scenario.streams.values()]
    return max((pattern.period for pattern in patterns if isinstance(pattern, model.Periodic)), default=0)


def bare(scenario: model.Scenario, **planned: object) -> model.Scenario:
    """The scenario without its configured shapers, and with ``planned`` in their place."""
    none = dict.fromkeys(("gates", "cbs", "preemption", "ats", "cqf", "qdisc"))
    shapers = {port: shaper.model_copy(update=none) for port, shaper in scenario.shapers.items()}
    everywhere = shapers.pop("*", model.Shaper()).model_copy(update=planned)
    duration = min(scenario.duration, max(20 * MS, 3 * _longest(scenario), 50 * MS * bool(scenario.faults)))
    return scenario.model_copy(update={"shapers": {"*": everywhere, **shapers}, "duration": duration})


def with_windows(scenario: model.Scenario) -> model.Scenario:
    return bare(scenario, gates=model.Planned())


def with_a_schedule(scenario: model.Scenario) -> model.Scenario:
    pcps = {stream.pcp for stream in scenario.streams.values() if stream.requires != NOTHING}
    streams = {
        name: stream.model_copy(update={"scheduled": stream.pcp in pcps})
        for name, stream in scenario.streams.items()
    }
    return bare(scenario).model_copy(update={"streams": streams})


def with_shapers(scenario: model.Scenario) -> model.Scenario:
    pcps = {stream.pcp for stream in scenario.streams.values() if stream.requires != NOTHING}
    return bare(scenario, cbs=tuple(model.CbsClass(pcp=pcp) for pcp in sorted(pcps, reverse=True)))


def with_ats(scenario: model.Scenario) -> model.Scenario:
    """Asynchronous shaping with rates and bursts from the streams."""
    pcps = {stream.pcp for stream in scenario.streams.values() if stream.requires != NOTHING}
    made = bare(scenario)
    own = {port: model.Shaper(ats=model.Ats(pcps=tuple(pcps))) for port in scenario.shapers}
    return made.model_copy(update={"shapers": own})


WAYS: tuple[Callable[[model.Scenario], model.Scenario], ...] = (
    with_windows,
    with_a_schedule,
    with_shapers,
    with_ats,
)


def _plans(scenario: model.Scenario) -> Iterator[Plan]:
    for path in WAYS:
        try:
            yield plan(path(scenario))
        except PlanningErrors:
            continue


def _met(made: Plan) -> bool:
    """The simulator meets the requirements, and no delay exceeds its bound, where a bound exists."""
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        Simulation().execute(made, run)
        measures = measure_run(run)
    proved = bounds(made)
    upper = {(flow["stream"], flow["listener"]): flow["upper_ns"] for flow in proved["flows"]}
    for path in measures["paths"]:
        bound = upper[path["stream"], path["listener"]]
        if bound is not None and path.get("delay"):
            assert path["delay"]["max"] <= bound, path["stream"]
    return bool(judge(made.document, measures, proved)["met"])


def _demanding() -> list[str]:
    """Twins are planned as their originals are: only software is added."""
    paths = [path for path in SCENARIOS if path.parent.name != "twins"]
    names = [str(path.relative_to(ROOT / "scenarios").with_suffix("")) for path in paths]
    return [
        name
        for name in names
        if any(
            stream.requires != NOTHING for each in variants(name).values() for stream in each.streams.values()
        )
    ]


@pytest.mark.parametrize("name", _demanding())
def test_a_scenario_can_be_planned_and_meets_its_requirements(name: str) -> None:
    seen: set[str] = set()
    for variant, scenario in variants(name).items():
        if _left_out(name, variant):
            continue
        bared = bare(scenario).model_copy(update={"variant": {}}).model_dump()
        key = json.dumps(bared, sort_keys=True)
        if key in seen:
            continue  # only the removed shapers differed
        seen.add(key)
        assert any(_met(made) for made in _plans(scenario)), variant


def test_scenarios_that_are_left_out_exist_and_fail() -> None:
    for name, part in LEFT_OUT:
        found = {
            variant: each for variant, each in variants(name).items() if not part or part in variant.split()
        }
        assert found, (name, part)
        scenario = next(iter(found.values()))
        assert not any(_met(made) for made in _plans(scenario)), (name, part)
