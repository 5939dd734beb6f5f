"""Find out whether a time-sensitive network is on time.

>>> from tsnbench import Simulation, load
>>> scenario = load("first.yaml")                               # each value records its line and column
>>> plan = scenario.plan()                                      # fully resolved, in integer nanoseconds
>>> run = plan.run(on=Simulation(), into="runs/new")            # a run folder
>>> run.delay("loop").ccdf().columns                            # a table; .plot() draws it
['delay_ns', 'later']
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tsnbench import steps
from tsnbench.version import __version__

if TYPE_CHECKING:
    from pathlib import Path

    from tsnbench.backends.simulation import Simulation
    from tsnbench.measure import measure_captures, measure_trdp
    from tsnbench.notebook.frames import to_pandas
    from tsnbench.plan.document import Plan
    from tsnbench.runs import Run
    from tsnbench.runs.measures import Measures, Verdict
    from tsnbench.scenario import Scenario, load, load_variants

_HOMES = {
    "Plan": "tsnbench.plan.document",
    "Run": "tsnbench.runs",
    "Scenario": "tsnbench.scenario",
    "Simulation": "tsnbench.backends.simulation",
    "load": "tsnbench.scenario",
    "load_variants": "tsnbench.scenario",
    "measure_captures": "tsnbench.measure",
    "measure_trdp": "tsnbench.measure",
    "to_pandas": "tsnbench.notebook.frames",
}

__all__ = [
    "Plan",
    "Run",
    "Scenario",
    "Simulation",
    "__version__",
    "load",
    "load_variants",
    "measure_captures",
    "measure_trdp",
    "to_pandas",
]


def __getattr__(name: str) -> Any:
    """Imports a name when it is first used, because tables and figures load slowly."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'tsnbench' has no attribute {name!r}")


def _vary(scenario: Scenario, values: Mapping[str, object]) -> list[Scenario]:
    from tsnbench.scenario.selection import varied_by

    return varied_by(scenario, values)


def _plan(scenario: Scenario) -> Plan:
    from tsnbench.planning import plan

    return plan(scenario)


def _measure(folder: Path) -> Measures:
    from tsnbench.measure import measure_run

    return measure_run(folder)


def _judge(run: Run) -> Verdict:
    from tsnbench.measure.verdict import verdict_of

    return verdict_of(run, run.measures())


def _html(kind: str, shown: object) -> str:
    from tsnbench.notebook import tables

    return str(getattr(tables, kind)(shown))


steps.vary, steps.plan, steps.measure, steps.judge, steps.html = _vary, _plan, _measure, _judge, _html


def __dir__() -> list[str]:
    return __all__
