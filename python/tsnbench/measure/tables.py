"""Measures and verdicts as tables for a terminal, and as plain rows for everything else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table

KINDS = ("delay-step", "delay-step-abs", "deviation", "interval")
"""Jitters that are distributions; spread is a number."""
COUNTS = {
    "never_sent": "never sent",
    "sent": "sent",
    "received": "received",
    "lost": "lost",
    "late": "late",
    "duplicate": "duplicate",
    "reordered": "reordered",
    "unmatched_rx": "only at rx",
    "missing_timestamp": "no stamp",
}
STATS = ("min", "mean", "median", "p90", "p99", "p99_9", "max")
WORDS = {"yes": "YES", "mean-and-median": "YES*", "no": "NO", "no-data": "NO DATA"}
"""EnGINE Table 14."""
_SEVERITY = ("no", "no-data", "mean-and-median", "yes")


def measures_rows(measures: Mapping[str, Any], flows: bool = False) -> list[dict[str, Any]]:
    """One flat row per stream and listener, or per flow: counts, delay and every jitter, in ns.

    EnGINE's result columns are ``delay mean``, ``delay median``, ``delay p99`` and ``delay-step-abs mean``,
    ``… median``, ``… p99``.
    """
    rows = []
    for path in measures["paths" if flows else "groups"]:
        row: dict[str, Any] = {"stream": path["stream"], "listener": path["listener"]}
        row |= {name: path["count"].get(name) for name in COUNTS}
        for kind in ("delay", *KINDS):
            stat = path["delay"] if kind == "delay" else path["jitter"][kind]
            row |= {f"{kind} {name}": stat[name] if stat else None for name in STATS}
            for end in ("min_seq", "max_seq"):
                row[f"{kind} {end}"] = stat[end] if stat else None
        row["spread"] = path["spread"]
        rows.append(row)
    return rows


def measures_table(measures: Mapping[str, Any], flows: bool = False) -> Group:
    """What became of the frames, their delays and their jitters; all times in us."""
    from rich.console import Group

    rows = measures_rows(measures, flows)
    return Group(_frames(rows), _delays(rows), _jitters(rows))


def _frames(rows: Sequence[Mapping[str, Any]]) -> Table:
    shown = [
        name for name in COUNTS if name in ("sent", "received", "lost") or any(row[name] for row in rows)
    ]
    table = _table("frames", [COUNTS[name] for name in shown])
    for row in rows:
        table.add_row(row["stream"], row["listener"], *(_whole(row[name]) for name in shown))
    return table


def _delays(rows: Sequence[Mapping[str, Any]]) -> Table:
    names = [name.replace("_", ".") for name in STATS]
    table = _table("delay, us", [*names, "spread", "frame of min", "frame of max"])
    for row in rows:
        figures = [_micros(row[f"delay {name}"]) for name in STATS]
        frames = [_whole(row["delay min_seq"]), _whole(row["delay max_seq"])]
        table.add_row(row["stream"], row["listener"], *figures, _micros(row["spread"]), *frames)
    return table


def _jitters(rows: Sequence[Mapping[str, Any]]) -> Table:
    names = [name.replace("_", ".") for name in STATS]
    table = _table("jitter, us", [*names, "frame of max"])
    table.columns[1].header = "kind"
    heard = Counter(row["stream"] for row in rows)
    for row in rows:
        stream = f"{row['stream']} to {row['listener']}" if heard[row["stream"]] > 1 else row["stream"]
        for kind in KINDS:
            figures = [_micros(row[f"{kind} {name}"]) for name in STATS]
            table.add_row(stream, kind, *figures, _whole(row[f"{kind} max_seq"]))
    return table


def _table(title: str, columns: Sequence[str]) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left", pad_edge=False)
    table.add_column("stream", overflow="fold")
    table.add_column("listener", overflow="fold")
    for column in columns:
        table.add_column(column, justify="right")
    return table


def verdict_rows(verdict: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One row per stream, listener and requirement: that of the flow which fails most or is next to fail."""
    worst: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in verdict["rows"]:
        key = (row["group"], row["listener"], row["requirement"], row["limit"])
        held = worst.get(key)
        if held is None or _badness(row) < _badness(held):
            worst[key] = {**row, "flows": held["flows"] if held else 0}
        worst[key]["flows"] += 1
    return list(worst.values())


def _badness(row: Mapping[str, Any]) -> tuple[int, float]:
    margin = row["margin"]
    return _SEVERITY.index(row["met"]), float("inf") if margin is None else margin


def verdict_table(verdict: Mapping[str, Any]) -> Table:
    """Like EnGINE's Table 14: YES, YES* where mean and median alone keep the limit, NO."""
    table = _table("verdict", [])
    for column in ("requirement", "met"):
        table.add_column(column)
    for column in ("limit", "found", "margin"):
        table.add_column(column, justify="right")
    table.add_column("worst frame", overflow="fold")
    rows = verdict_rows(verdict)
    for row in rows:
        figures = [_quantity(row[name], row["limit_unit"]) for name in ("limit", "found", "margin")]
        seq = row["worst_seq"]
        frame = "" if seq is None else f"{seq:,}" + (f" of {row['stream']}" if row["flows"] > 1 else "")
        word = WORDS.get(row["met"], row["met"])
        table.add_row(row["group"], row["listener"], row["requirement"], word, *figures, frame)
    if any(row["met"] == "mean-and-median" for row in rows):
        table.caption = "YES*: mean and median keep the limit, the maximum does not; does not count as met"
    if not rows:
        table.caption = "no stream requires anything; write requires: {delay: 1 ms, loss: 0}"
    return table


def _whole(value: int | None) -> str:
    return "\u2013" if value is None else f"{value:,}"


def _micros(ns: float | None) -> str:
    return "\u2013" if ns is None else f"{ns / 1000:,.3f}"


def _quantity(value: float | None, unit: str) -> str:
    if value is None:
        return "\u2013"
    if unit == "ns":
        return f"{_micros(value)} us"
    if unit == "bit/s":
        return f"{value / 1e6:,.3f} Mbit/s"
    if unit == "ppm" and abs(value) >= 10_000:
        return f"{value / 10_000:,.6g} %"
    return f"{value:,.6g} {unit}"
