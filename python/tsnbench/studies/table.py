"""The tables of a study: one row for each run, stream and listener, and one row for each run.

``results`` has only what the study itself decides, so it is the same byte for byte however many workers made
it and however often they were killed. How runs were made (wall time, worker, earlier results) is in ``runs``.
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from tsnbench.quantities import UNKNOWN, count, micros
from tsnbench.runs import lock
from tsnbench.runs.errors import writing
from tsnbench.sheet import Column, Sheet, csv_text
from tsnbench.studies.design import Request
from tsnbench.studies.store import Content, Store

RESULTS, RESULTS_CSV, RUNS_CSV = "results.parquet", "results.csv", "runs.csv"
MOST_ROWS = 40
_TAKEN = {
    "run",
    "seed",
    "stream",
    "listener",
    "met",
    "state",
    "reused",
    "worker",
    "plan",
    "digest",
    "problem",
}
"""Columns that a parameter of the same name must not replace."""
Row = dict[str, Any]


def values_of(run: Request) -> dict[str, str]:
    """What tells a run from others, apart from its seed."""
    every = run.values | run.variant
    return {f"parameters.{name}" if name in _TAKEN else name: text for name, text in every.items()}


def label(run: Request) -> str:
    """The values of a run in words; empty for a study that varies nothing."""
    return ", ".join(f"{key} {value}" for key, value in values_of(run).items())


@dataclass
class Tables:
    """What a study has found so far."""

    results: list[Row] = field(default_factory=list)
    runs: list[Row] = field(default_factory=list)
    missing: int = 0
    """Runs that are not made yet."""


def tables(store: Store, content: Content) -> Tables:
    """The tables of all runs that are made, in the order of the list."""
    found = Tables()
    named = list(dict.fromkeys(name for run in content.runs for name in values_of(run)))
    for run in content.runs:
        made = store.result(run)
        if made is None:
            found.missing += 1
            continue
        own = {"run": run.id, **{name: values_of(run).get(name) for name in named}, "seed": run.seed}
        found.results += [own | row for row in made.get("rows", [])]
        state = "no plan" if made.get("problem") else "met" if made["met"] else "failed"
        about = {
            key: made.get(key) for key in ("reused", "wall_seconds", "worker", "plan", "digest", "problem")
        }
        found.runs.append({**own, "state": state, **about})
    return found


def write(store: Store, found: Tables) -> None:
    """Writes the tables into the study's folder.

    Raises:
        BackendError: the disk is full, or another process writes for long.
    """
    import polars as pl

    with writing(store.folder), lock.held(store.folder, patience_s=10):
        out = io.BytesIO()
        columns = _columns(found.results)
        frame = pl.DataFrame(
            {name: [row.get(name) for row in found.results] for name in columns}, strict=False
        )
        frame.write_parquet(out, compression="zstd")
        store.write(RESULTS, out.getvalue())
        for name, rows in ((RESULTS_CSV, found.results), (RUNS_CSV, found.runs)):
            header = _columns(rows)
            store.write(name, csv_text(header, ([row.get(key) for key in header] for row in rows)))


def _columns(rows: Iterable[Row]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))


def summary(content: Content, found: Tables, most: int | None = MOST_ROWS) -> Sheet:
    """One row for each combination of values: how many runs met all, losses, and the greatest delay."""
    by_id: dict[str, list[Row]] = {}
    for row in found.results:
        by_id.setdefault(row["run"], []).append(row)
    states = {row["run"]: row["state"] for row in found.runs}
    points: dict[str, list[Request]] = {}
    for run in content.runs:
        points.setdefault(label(run) or content.name, []).append(run)
    columns = [
        Column("values", name=True),
        Column("runs"),
        Column("met"),
        Column("lost"),
        Column("mean delay", spare=1),
        Column("greatest delay"),
        Column("of", name=True, spare=2),
    ]
    sheet = Sheet(f"{content.name}: delays in us, over all streams", columns, most=most)
    for words, runs in points.items():
        rows = [row for run in runs for row in by_id.get(run.id, [])]
        made = [states[run.id] for run in runs if run.id in states]
        delays = [row for row in rows if row["delay max"] is not None]
        worst = max(delays, key=lambda row: row["delay max"], default=None)
        means = [row["delay mean"] for row in delays if row["stream"] == (worst or row)["stream"]]
        sheet.rows.append(
            [
                words,
                f"{len(made)}" if len(made) == len(runs) else f"{len(made)} of {len(runs)}",
                f"{made.count('met')} of {len(made)}" if made else UNKNOWN,
                count(sum(row["lost"] or 0 for row in rows)) if rows else UNKNOWN,
                micros(sum(means) / len(means)) if means else UNKNOWN,
                micros(worst["delay max"]) if worst else UNKNOWN,
                str(worst["stream"]) if worst else UNKNOWN,
            ]
        )
    if any(row["state"] == "no plan" for row in found.runs):
        sheet.captions.append("Runs without a plan have not met their requirements; runs.csv says why.")
    return sheet


def headline(content: Content, found: Tables) -> str:
    """The last line: how many runs, and how many of them met all requirements."""
    total, made = len(content.runs), len(found.runs)
    met = sum(row["state"] == "met" for row in found.runs)
    reused = sum(bool(row["reused"]) for row in found.runs)
    said = f"{content.name}: {met} of {made} runs met all requirements"
    said += f"; {reused} of them used an earlier result" if reused else ""
    return said + (f"; {total - made} of {total} runs are not made yet" if made < total else "")
