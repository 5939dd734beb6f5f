"""Find out whether a time-sensitive network is on time.

>>> from tsnbench import Simulation, load
>>> scenario = load("ring.yaml")                                # every value knows its place in the file
>>> plan = scenario.plan()                                      # nothing left to decide, integers
>>> run = plan.run(on=Simulation(), into="runs/ring-1")         # a run folder
>>> run.delay("camera-front").ccdf()                            # a table; .plot() draws it
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from tsnbench.backends.simulation import Simulation
    from tsnbench.measure import measure_captures, measure_trdp
    from tsnbench.plan.document import Plan
    from tsnbench.runs import Run
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
]


def __getattr__(name: str) -> Any:
    """Imports a name when it is first used, because tables and figures load slowly."""
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'tsnbench' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
