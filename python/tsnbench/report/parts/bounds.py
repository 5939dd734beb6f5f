"""Worst-case bounds and measured delays: the greatest possible delays follow from the Plan alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tsnbench.plan.bounds import BoundsError
from tsnbench.report.facts import Bound, Measure, RunFacts
from tsnbench.report.formatting import THIN, micros
from tsnbench.runs.bounds import bounds_of_run

if TYPE_CHECKING:
    from tsnbench.plan.document import Plan
    from tsnbench.plan.types import Stream
    from tsnbench.runs.measures import Refuted

NEAR = 3.0
"""A bound is drawn up to this multiple of the greatest delay; a greater one would compress the curves."""


@dataclass(frozen=True)
class Row:
    """One stream's line of the table."""

    label: str
    bound: str
    measured: str
    ratio: str
    reason: str
    """Why there is no bound, or its source."""
    met: str
    """``yes`` or ``no``; empty without a bound or a delay."""


def read_bounds(folder: Path) -> tuple[dict[tuple[str, str], Bound], str]:
    """A run's bounds by flow and listener, in ns between the timestamps of its taps; and the reason if there
    are none."""
    try:
        flows = bounds_of_run(folder)["flows"]
    except BoundsError as error:
        return {}, f"the Plan contradicts itself ({error})"
    return {
        (f["stream"], f["listener"]): Bound(f["upper_ns"], f["reason"] or "", f.get("source", ""))
        for f in flows
    }, ""


@dataclass(frozen=True)
class PlannedRow:
    """One line of the table of a Plan: flows of one stream with equal bounds."""

    stream: str
    listener: str
    lower_ns: int
    upper_ns: int | None
    limit_ns: int | None
    """The limit of its delay."""
    reason: str


def planned_rows(plan: Plan) -> list[PlannedRow]:
    """The bounds of a Plan before a run."""
    rows: dict[tuple[Any, ...], int] = {}
    limits = {one["name"]: one["requirements"].get("delay_ns") for one in plan.document["streams"]}
    for flow in plan.bounds()["flows"]:
        why = flow["reason"] or (f"from the {flow['source']}" if "source" in flow else "")
        limit = limits.get(flow["stream"])
        row = (flow["group"], flow["listener"], flow["lower_ns"], flow["upper_ns"], limit, why)
        rows[row] = rows.get(row, 0) + 1
    return [
        PlannedRow(group if flows == 1 else f"{group} ({flows} flows)", *rest)
        for (group, *rest), flows in rows.items()
    ]


def members_of(flows: Sequence[Stream]) -> dict[str, list[str]]:
    """The flows of each stream, and each flow as the only one of its own name."""
    found: dict[str, list[str]] = {}
    for flow in flows:
        for name in dict.fromkeys((flow["name"], flow["group"])):
            found.setdefault(name, []).append(flow["name"])
    return found


def bound_of(
    bounds: dict[tuple[str, str], Bound], members: Mapping[str, Sequence[str]], measure: Measure
) -> Bound | None:
    """The bound of a flow, or the greatest bound of a stream's flows; without one, the first reason.

    ``members``: the result of :func:`members_of`.
    """
    names = members.get(measure.stream, ())
    own = [bounds[name, measure.listener] for name in names if (name, measure.listener) in bounds]
    lacking = [bound for bound in own if bound.upper_ns is None]
    return lacking[0] if lacking else max(own, key=lambda bound: bound.upper_ns or 0, default=None)


def bound_rows(run: RunFacts) -> list[Row]:
    """Every stream with a delay, in the order of the tables."""
    late = {(one["stream"], one["listener"]) for one in run.refuted if _later(one)}
    broken = {(flow.group, flow.listener) for flow in run.flows if (flow.stream, flow.listener) in late}
    return [
        _row(group, group.bound, (group.group, group.listener) not in broken)
        for group in run.groups
        if group.bound is not None
    ]


def _later(one: Refuted) -> bool:
    return one["quantity"] == "delay" and not one["below"]


def _row(measure: Measure, bound: Bound, kept: bool) -> Row:
    most = measure.delay["max"] if measure.delay else None
    measured = "no sample" if most is None else micros(most)
    if bound.upper_ns is None:
        return Row(measure.label, "no bound", measured, "", f"no bound: {bound.reason}", "")
    if most is None:
        return Row(measure.label, micros(bound.upper_ns), measured, "", _source(bound), "")
    ratio = f"{bound.upper_ns / most:.3f}" if most > 0 else ""
    met = "yes" if kept else "no"
    return Row(measure.label, micros(bound.upper_ns), measured, ratio, _source(bound), met)


def _source(bound: Bound) -> str:
    return f"from the {bound.source}" if bound.source else ""


def in_words(bound: Bound | None) -> str:
    """The text about the bound in a figure's key, after the stream's name."""
    if bound is None:
        return ""
    return ", no bound" if bound.upper_ns is None else f", bound {micros(bound.upper_ns)}{THIN}µs"


def drawn(bound: Bound | None, highest: float) -> float | None:
    """The position of its line, in µs; none without a bound, or if it is too far from the measured delays."""
    if bound is None or bound.upper_ns is None or bound.upper_ns / 1e3 > NEAR * highest:
        return None
    return bound.upper_ns / 1e3
