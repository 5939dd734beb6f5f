"""``tsnbench plan --bounds``, ``--why`` and ``--tightest``: worst cases, their parts, what runs out first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import typer

from tsnbench.cli.console.output import Exit, data, print_json_runs, print_line, print_table
from tsnbench.cli.parts import bound_parts, headline, measure_tables, tightest, verdict
from tsnbench.plan.bounds import bounds_table
from tsnbench.plan.document import Plan
from tsnbench.quantities import share_of, some
from tsnbench.sheet import Column, Sheet

MOST_USES = 10
"""Rows of what runs out first, unless all are requested."""


def print_tightest(plans: Sequence[Plan], as_json: bool, everything: bool) -> None:
    """Prints the limits of each Plan by the share that is used, the greatest share first."""
    if as_json:
        print_json_runs(
            "tightest",
            [{"variant": one.document["variant"], **asdict(tightest.tightest(one))} for one in plans],
        )
        return
    columns = [
        Column("what", name=True), Column("where", name=True), Column("used"), Column("of"), Column("share")
    ]  # fmt: skip
    for plan in plans:
        found = tightest.tightest(plan)
        label = _label(plan)
        title = f"what runs out first{f': {label}' if label else ''}"
        sheet = Sheet(title, columns, most=None if everything else MOST_USES)
        for use in found.uses:
            sheet.rows.append([str(use.kind), use.where, use.used, use.limit, share_of(use.share)])
        if found.unknown:
            sheet.captions.append(f"No bound is known: {some(found.unknown)}.")
        print_table(sheet)


def print_why(plans: Sequence[Plan], stream: str, as_json: bool, everything: bool) -> None:
    """Prints what the worst case of a stream adds up from: to its slowest listener, or with ``everything`` to
    each.

    Raises:
        InputError: a Plan has no such stream.
    """
    documents = []
    for plan in plans:
        listeners: list[str | None] = [None]
        if everything:
            flows = [flow for flow in plan.bounds()["flows"] if stream in (flow["stream"], flow["group"])]
            listeners = list(dict.fromkeys(flow["listener"] for flow in flows)) or listeners
        found = [bound_parts.parts_of(plan, stream, listener) for listener in listeners]
        documents.append({"variant": plan.document["variant"], "flows": found})
        if as_json:
            continue
        if label := _label(plan):
            data().rule(label)
        for parts in found:
            print_table(bound_parts.parts_table(parts))
    if as_json:
        print_json_runs("bound-parts", documents)


def print_bounds(plans: Sequence[Plan], as_json: bool, judge: bool, everything: bool) -> None:
    """Prints the worst case of every stream, and its verdict on every requirement.

    Raises:
        typer.Exit: it breaks a requirement that is judged by it, or any with ``judge``.
    """
    broken = False
    documents = []
    for one in plans:
        found = one.bounds()
        rows = verdict.worst_cases(one.document, found)
        broken |= any(row["proof"] != "proved" for row in verdict.counting(one.document, rows, every=judge))
        documents.append(found | {"requirements": rows})
        if as_json:
            continue
        if label := _label(one):
            data().rule(label)
        print_table(bounds_table(found))
        if rows:
            print_table(
                measure_tables.worst_cases_table(rows, None if everything else measure_tables.MOST_ROWS)
            )
        print_line(headline.worst_case_line(rows))
    if as_json:
        print_json_runs("bounds", documents)
    if broken:
        raise typer.Exit(Exit.REQUIREMENT_FAILED)


def _label(plan: Plan) -> str:
    """The values of a run of a sweep."""
    return ", ".join(f"{key} {value}" for key, value in plan.document["variant"].items())
