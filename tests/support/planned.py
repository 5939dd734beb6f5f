"""Drafts, Plans and refusals of scenarios that a test writes as text or makes in Python."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tsnbench.backends.simulation import Simulation
from tsnbench.planning import Plan, PlanningErrors, plan
from tsnbench.planning.draft import Draft
from tsnbench.planning.errors import PlanningProblem
from tsnbench.planning.passes import PASSES
from tsnbench.runs import Run
from tsnbench.scenario import read_scenario
from tsnbench.scenario.model import Scenario


def plan_of(text: str) -> Plan:
    """The Plan of a scenario without sweeps."""
    (made,) = read_scenario(text)
    return plan(made)


def document_of(text: str) -> Any:
    """The document of a scenario's Plan."""
    return plan_of(text).document


def run_of(made: Plan, folder: Path) -> Run:
    """The Plan's run in the simulator, in ``run`` of a folder."""
    return made.run(on=Simulation(), into=folder / "run")


def port_of(document: Any, name: str) -> Any:
    (found,) = (port for port in document["ports"] if port["name"] == name)
    return found


def drafted(made: str | Scenario, until: str = "schedule_flows", **parts: Any) -> Draft:
    """The draft of a scenario before the pass of this name."""
    draft = Draft(read_scenario(made)[0] if isinstance(made, str) else made, **parts)
    for each in PASSES:
        if each.__name__ == until:
            return draft
        each(draft)
        draft.raise_problems()
    raise ValueError(f"no pass {until}")


def problems_of(made: str | Scenario | Callable[..., Any], *about: Any, **more: Any) -> list[PlanningProblem]:
    """The problems of a scenario that cannot be planned, or of a call that plans one."""
    return list(_errors(made, *about, **more).problems)


def refusal_text(made: str | Scenario | Callable[..., Any], *about: Any, **more: Any) -> str:
    """What a person reads of these problems."""
    return str(_errors(made, *about, **more))


def _errors(made: Any, *about: Any, **more: Any) -> PlanningErrors:
    if not callable(made):
        made, about = plan, (read_scenario(made)[0] if isinstance(made, str) else made,)
    with pytest.raises(PlanningErrors) as raised:
        made(*about, **more)
    return raised.value


def frames_of(run: Run) -> pl.DataFrame:
    """``stream``, ``seq``, ``tx``, ``rx`` and ``delay`` of each frame in ns, first stamp to last."""
    seen = run.observations()
    tx = seen.filter(pl.col("stage") == "tx").group_by("stream", "seq").agg(tx=pl.col("t_ns").min())
    rx = seen.filter(pl.col("stage") == "rx").group_by("stream", "seq").agg(rx=pl.col("t_ns").max())
    both = tx.join(rx, on=["stream", "seq"]).with_columns(delay=pl.col("rx") - pl.col("tx"))
    return both.sort("stream", "seq")
