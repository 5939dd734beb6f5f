"""The tables of a search and of a sensitivity analysis."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tsnbench.quantities import UNKNOWN, count, micros
from tsnbench.sheet import Column, Sheet
from tsnbench.studies.design import Design
from tsnbench.studies.exploring.evaluation import front, measured
from tsnbench.studies.exploring.questions import Goal, Search, Sensitivity
from tsnbench.studies.exploring.rounds import evaluated, results
from tsnbench.studies.exploring.sensitivity import indices, points
from tsnbench.studies.store import Row, Store
from tsnbench.studies.study_file import Study

ON_FRONT = "best"
"""The column that says whether a combination is an answer."""


def search_rows(
    study: Study, search: Search, wanted: Design, store: Store, named: Callable[[str], str]
) -> list[Row]:
    """One row for each combination that is made, in the order in which the search chose them.

    Goals have the unit of their quantity: ns for delays, the base unit for values. ``best`` is ``yes`` where
    no other allowed combination is equal or better in all goals and better in one.
    """
    made = results(wanted, store)
    found = {point: evaluated(study, search.goals, point, made[point], search.requirements) for point in made}
    best = front(search.goals, found)
    return [
        {
            **{named(axis.path): text for axis, text in zip(study.lists, point, strict=True)},
            "runs": len(made[point]),
            "runs met": sum(bool(one.get("met")) for one in made[point]),
            **{goal.words: value for goal, value in zip(search.goals, one.values, strict=True)},
            ON_FRONT: "yes" if point in best else "no",
        }
        for point, one in found.items()
    ]


def search_sheet(
    study: Study, search: Search, rows: Sequence[Row], named: Callable[[str], str], most: int | None
) -> Sheet:
    """The combinations that are answers."""
    best = [row for row in rows if row[ON_FRONT] == "yes"]
    columns = [Column(named(axis.path), name=True) for axis in study.lists]
    # The value of a path is a column already.
    shown = [goal for goal in search.goals if goal.quantity]
    columns += [Column(heading(goal)) for goal in shown]
    sheet = Sheet(f"{study.name}: {_title(search, len(best), len(rows))}", columns, most=most)
    first = search.goals[0]
    for row in sorted(best, key=lambda row: -row[first.words] if first.great else row[first.words]):
        values = [str(row[named(axis.path)]) for axis in study.lists]
        sheet.rows.append([*values, *(in_words(goal, row[goal.words]) for goal in shown)])
    sheet.captions.append("search.csv has all combinations, in the order in which they were chosen.")
    return sheet


def _title(search: Search, best: int, tried: int) -> str:
    if len(search.goals) == 1:
        return f"the best of {count(tried)} combinations"
    return f"Pareto front, {count(best)} of {count(tried)} combinations"


def search_headline(study: Study, search: Search, rows: Sequence[Row]) -> str:
    """The last line: how many combinations were tried, and which are answers."""
    best = sum(row[ON_FRONT] == "yes" for row in rows)
    allowed = sum(row["runs met"] == row["runs"] for row in rows)
    said = f"{study.name}: {count(len(rows))} combinations tried"
    if search.requirements:
        said += f", {count(allowed)} met all requirements"
    return f"{said}; {count(best)} best" if best else f"{said}; NO ANSWER"


def heading(goal: Goal) -> str:
    """The goal with its unit."""
    return f"{goal.words} (us)" if goal.quantity.startswith("delay") else goal.words


def in_words(goal: Goal, value: float | None) -> str:
    """A goal's value in the unit of :func:`heading`."""
    if value is None:
        return UNKNOWN
    return micros(value) if goal.quantity.startswith("delay") else f"{value:g}"


def sensitivity_rows(study: Study, asked: Sensitivity, wanted: Design, store: Store) -> list[Row]:
    """One row for each quantity and varied path; a reason in place of indices if a sample has no value."""
    axes = {one.path: one.texts for one in study.lists}
    made = results(wanted, store)
    design = points(asked, axes)
    rows: list[Row] = []
    for goal in asked.of:
        known = {point: measured(goal, one) for point, one in made.items()}
        values = [known.get(point) for point in design]
        there = [value for value in values if value is not None]
        about = {"of": goal.words, "method": asked.method, "samples": len(design)}
        if len(there) == len(values):
            found = indices(asked, axes, there)
            rows += [{**about, **row, "reason": ""} for row in found]
            continue
        missing = len(values) - len(there)
        why = f"{count(missing)} of {count(len(values))} samples have no value (no Plan, or no frame)"
        rows += [{**about, "parameter": name, "reason": why} for name in axes]
    return rows


def sensitivity_sheet(study: Study, asked: Sensitivity, rows: Sequence[Row], most: int | None) -> Sheet:
    """The indices of all quantities; the parameter that matters most is first."""
    shown = ("mu star", "mu star ±", "sigma") if asked.method == "morris" else ("first", "total", "total ±")
    sheet = Sheet(
        f"{study.name}: what matters ({asked.method})",
        [Column("of", name=True), Column("parameter", name=True), *(Column(name) for name in shown)],
        most=most,
    )
    delays = {goal.words for goal in asked.of if goal.quantity.startswith("delay")}
    for row in sorted(rows, key=lambda row: (_order(asked, row), -(row.get(shown[0]) or 0))):
        scale = 1e-3 if asked.method == "morris" and row["of"] in delays else 1.0
        numbers = [row.get(name) for name in shown]
        words = [UNKNOWN if one is None else f"{one * scale:.3g}" for one in numbers]
        sheet.rows.append([row["of"], row["parameter"], *words])
    if asked.method == "morris":
        sheet.captions.append("mu star: the mean effect of one value, delays in us; sigma: how it varies.")
    else:
        sheet.captions.append("first: share of the variance by this value alone; total: with all others.")
    for why in dict.fromkeys(f"{row['of']}: {row['reason']}." for row in rows if row["reason"]):
        sheet.captions.append(why)
    return sheet


def _order(asked: Sensitivity, row: Mapping[str, object]) -> int:
    return [goal.words for goal in asked.of].index(str(row["of"]))


def sensitivity_headline(study: Study, rows: Sequence[Row]) -> str:
    """The last line."""
    explained = list(dict.fromkeys(row["of"] for row in rows if not row["reason"]))
    every = list(dict.fromkeys(row["of"] for row in rows))
    parameters = len(study.lists)
    return f"{study.name}: {len(explained)} of {len(every)} quantities explained by {parameters} parameters"
