"""The page of a Plan, before a run: its schedule, its guaranteed delays, and its network."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tsnbench import quantities as plan_words
from tsnbench.plan.summary import cbs_rows, gate_rows
from tsnbench.report import formatting
from tsnbench.report.facts import RunFacts
from tsnbench.report.figures.gates import gantt
from tsnbench.report.figures.schedule import schedule
from tsnbench.report.figures.style import Drawing
from tsnbench.report.figures.topology import topology
from tsnbench.report.files import destination, write_page
from tsnbench.report.layout import MOST_NODES
from tsnbench.report.page import charts, environment
from tsnbench.report.parts import shown
from tsnbench.report.parts.bounds import planned_rows
from tsnbench.report.parts.planned import Planned, planned
from tsnbench.report.parts.schedule import folded

if TYPE_CHECKING:
    from tsnbench.plan.document import Plan
    from tsnbench.plan.types import PlanDocument


def write_plan(plan: Plan, into: Path, title: str = "", figures: tuple[str, ...] = ()) -> Path:
    """Writes ``report.html`` for a Plan, and figure files beside it.

    Args:
        plan: the Plan.
        into: a folder, or the HTML file itself.
        title: the scenario's title.
        figures: kinds of figure files: ``svg``, ``pdf``, ``png``.

    Returns:
        The HTML file.
    """
    found = planned(plan.document)
    drawn = drawings(plan, found)
    return write_page(destination([], into), render(plan, found, drawn, title), drawn, figures)


def drawings(plan: Plan, found: Planned | None) -> list[Drawing]:
    """The schedule; gates of ports without planned frames; the network."""
    run = RunFacts({}, plan.document)
    drawn = schedule(found) if found else []
    seen = {port.name for port in found.ports} if found else set()
    if gated := [one for one in folded(run) if one.port["name"] not in seen]:
        drawn.append(gantt(gated, run.priorities))
    if 1 < len(run.plan["nodes"]) <= MOST_NODES:
        drawn.append(topology(run.plan, ()))
    return drawn


def render(plan: Plan, found: Planned | None, figures: list[Drawing], title: str) -> str:
    """The whole HTML file."""
    document = plan.document
    scheduled = sum("scheduled" in stream for stream in document["streams"])
    facts = [
        ("nodes", formatting.count(len(document["nodes"]))),
        ("links", formatting.count(len(document["ports"]) // 2)),
        ("flows", formatting.count(len(document["streams"]))),
        ("scheduled", formatting.count(scheduled)),
        ("duration", formatting.span(document["duration_ns"])),
    ]
    variant = ", ".join(f"{name} {value}" for name, value in document["variant"].items())
    rows = planned_rows(plan)
    return (
        environment()
        .get_template("plan.html")
        .render(
            title=document["name"],
            kind="tsnbench plan" + (f": {variant}" if variant else ""),
            about=title,
            outcome=_outcome(found),
            facts=facts,
            planned=shown.scheduled(found.streams if found else ()),
            charts=charts(figures),
            bounds=shown.planned_bounds(rows),
            lists=_lists(document),
            shapers=cbs_rows(document),
            warnings=[f"{warning.where}: {warning.text}" for warning in plan.warnings],
            hash=plan.hash,
        )
    )


def _lists(document: PlanDocument) -> list[tuple[str, str, list[tuple[str, str, str]]]]:
    """Every gate control list, exactly: its ports, its cycle and base time, and its entries."""
    lists = []
    for rows in gate_rows(document)[0]:
        cycle, base = rows[-1].begin_ns + rows[-1].length_ns, rows[0].base_ns
        times = f"cycle {plan_words.exact(cycle)}, base time {plan_words.exact(base)}"
        if rows[0].asked_ns is not None:
            times += f", requested at {plan_words.exact(rows[0].asked_ns)}"
        entries = [
            (
                plan_words.exact(row.begin_ns),
                plan_words.exact(row.length_ns),
                (", ".join(map(str, row.classes)) or "none") + (f"; {row.mac}" if row.mac else ""),
            )
            for row in rows
        ]
        lists.append((", ".join(rows[0].ports), times, entries))
    return lists


def _outcome(found: Planned | None) -> str:
    if found is None:
        return "No run has been made. No stream is scheduled."
    least = min(found.streams, key=lambda one: one.slack)
    limit = "its period" if least.limit is None else "its limit"
    return (
        "No run has been made. The schedule is proved: scheduled frames never meet on a link, never find a "
        f"closed gate, and meet their limits. {least.label} is closest to {limit}: "
        f"{formatting.span(least.slack)} is left."
    )
