"""Requirements in two views: streams with their worst flow, and one table per priority as EnGINE Table 14."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tsnbench.measure.outcome import WORST_FIRST, Outcome, tightness, worst
from tsnbench.quantities import some
from tsnbench.report.facts import Judged, Measure, RunFacts
from tsnbench.report.formatting import count, plus_minus, quantity
from tsnbench.report.parts.bars import Bar, bar

SR_LIMITS = {(2_000_000, 125_000): "SR class A", (10_000_000, 1_000_000): "SR class B"}
"""EnGINE Table 1: (delay, jitter) in ns over seven hops; the limits identify the classes."""


Rank = tuple[int, float, float]


@dataclass(frozen=True)
class Row:
    """One line of the verdict table, in words."""

    stream: str
    listener: str
    requirement: str
    limit: str
    found: str
    margin: str
    worst_case: str
    beyond: str
    """The rest of the limit in the worst case; negative if the worst case exceeds it."""
    note: str
    worst: str
    outcome: Outcome
    flows: int
    rank: Rank
    """As of :func:`rank`."""
    bar: Bar


def rows(judged: Sequence[Judged]) -> list[Row]:
    """One row per stream, listener and requirement: the flow that is closest to failing, or fails most.

    Failed requirements come first, then those with the smallest margin relative to their limit.
    """
    grouped: dict[tuple[str, str, str, float | None], list[Judged]] = {}
    for row in judged:
        grouped.setdefault((row.group, row.listener, row.requirement, row.limit), []).append(row)
    found = []
    for (group, *_), members in grouped.items():
        found.append(row_of(min(members, key=rank), group, len(members)))
    return sorted(found, key=lambda row: row.rank)


def rank(row: Judged) -> Rank:
    """Failed rows first, then by the rest of the limit as a share of the limit, also in the worst case."""
    margins = [one for one in (row.margin, row.worst_case_margin) if one is not None]
    own = tightness(row.outcome, row.limit, row.margin, row.worst_case_margin)
    return *own, min(margins, default=float("inf"))


def tightest_first(measures: Sequence[Measure], judged: Sequence[Judged]) -> tuple[Measure, ...]:
    """Measures by the tightest requirement of their flow or stream; those without requirements come last."""
    tightest: dict[tuple[str, str], Rank] = {}
    for row in judged:
        for name in (row.stream, row.group):
            own = tightest.setdefault((name, row.listener), rank(row))
            tightest[name, row.listener] = min(own, rank(row))
    last = (len(WORST_FIRST), 0.0, 0.0)
    return tuple(sorted(measures, key=lambda one: tightest.get((one.stream, one.listener), last)))


def notes(found: Sequence[Row]) -> list[str]:
    """Why requirements have no worst case, or its condition: each reason with its streams."""
    whose: dict[str, list[str]] = {}
    for row in found:
        if row.note:
            whose.setdefault(row.note, []).append(f"{row.stream} ({row.requirement})")
    return [f"Worst case of {some(names)}: {note}." for note, names in whose.items()]


def every_flow(judged: Sequence[Judged]) -> list[Row]:
    """One row per flow and requirement."""
    return [row_of(row, row.stream, 1) for row in judged]


def row_of(row: Judged, name: str, flows: int) -> Row:
    """One line of the verdict table."""
    frame = "" if row.worst_seq is None else f"frame {count(row.worst_seq)}"
    if frame and row.stream != name:
        frame += f" of {row.stream}"
    return Row(
        stream=name,
        listener=row.listener,
        requirement=row.requirement,
        limit=quantity(row.limit, row.unit),
        found=quantity(row.found, row.unit) + plus_minus(row.uncertainty, row.unit),
        margin=quantity(row.margin, row.unit),
        worst_case=quantity(row.worst_case, row.unit),
        beyond=quantity(row.worst_case_margin, row.unit),
        note=row.note,
        worst=frame,
        outcome=row.outcome,
        flows=flows,
        rank=rank(row),
        bar=bar(row.requirement, row.limit, row.found, row.worst_case, row.uncertainty),
    )


@dataclass(frozen=True)
class Summary:
    """One priority's verdict by kind of requirement."""

    priority: str
    streams: int
    cells: tuple[Outcome | None, ...]
    """Per kind of :data:`KINDS` the worst outcome; None without a requirement."""


KINDS = ("delay", "jitter", "loss", "rate")


def summary(run: RunFacts) -> list[Summary]:
    """EnGINE Table 14, for each priority that has requirements."""
    pcp_of = {flow["name"]: flow["pcp"] for flow in run.plan["streams"]}
    by_pcp: dict[int | None, list[Judged]] = {}
    for row in run.judged:
        by_pcp.setdefault(pcp_of.get(row.stream), []).append(row)
    found = []
    for pcp in sorted(by_pcp, key=lambda p: -1 if p is None else -p):
        members = by_pcp[pcp]
        cells = []
        for kind in KINDS:
            cells.append(worst(row.outcome for row in members if row.requirement.split(" ")[0] == kind))
        title = "Unknown priority" if pcp is None else f"Priority {pcp}"
        if name := _sr_class(members):
            title += f" ({name})"
        found.append(Summary(title, len({row.group for row in members}), tuple(cells)))
    return found


def _sr_class(members: Sequence[Judged]) -> str | None:
    """The SR class whose limits all these requirements have."""

    def only(kind: str) -> float | None:
        limits = {row.limit for row in members if row.requirement.split(" ")[0] == kind}
        return limits.pop() if len(limits) == 1 else None

    delay, jitter = only("delay"), only("jitter")
    return SR_LIMITS.get((int(delay), int(jitter))) if delay is not None and jitter is not None else None
