"""Figures of a file of another tool: counts, and statistics of series of times; as JSON and as a table."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TypedDict

from tsnbench import _native
from tsnbench.quantities import UNKNOWN, count, micros
from tsnbench.sheet import Column, Sheet

FORMAT = "tsnbench-foreign/1"
COUNTS = {
    "sent": "sent",
    "received": "received",
    "lost": "lost",
    "duplicate": "duplicate",
    "reordered": "reordered",
}
"""Counts that have a word of their own in tables; others keep the name that their tool has for them."""


class Figure(TypedDict):
    """Statistics of one series in ns; a figure that the file does not contain is null, never zero."""

    name: str
    count: int | None
    missing: int
    """Samples of which a timestamp is missing."""
    min: int | None
    max: int | None
    mean: float | None
    std: float | None
    median: int | None
    p90: int | None
    p99: int | None
    p99_9: int | None


class ForeignStream(TypedDict):
    """One stream, traffic class or thread of the file."""

    stream: str
    counts: dict[str, int | None]
    figures: list[Figure]


class ForeignMeasures(TypedDict):
    """``tsnbench-foreign/1``."""

    format: str
    file: str
    tool: str
    streams: list[ForeignStream]
    warnings: list[str]


def figure(name: str, samples: Sequence[int], missing: int = 0, times: list[int] | None = None) -> Figure:
    """The statistics of a series of times in ns, by the engine that measures captures.

    Args:
        name: the measured quantity. samples: in the order of the file. missing: number of samples without a
        timestamp. times: how often each sample occurred; by default once.
    """
    stat = json.loads(_native.statistics(list(samples), times))
    if stat is None:
        return known(name, samples=0, missing=missing)
    return {
        "name": name,
        "count": stat["count"],
        "missing": missing,
        "min": stat["min"],
        "max": stat["max"],
        "mean": stat["mean"],
        "std": stat["std"],
        "median": stat["median"],
        "p90": stat["p90"],
        "p99": stat["p99"],
        "p99_9": stat["p99_9"],
    }


def known(
    name: str,
    least: int | None = None,
    most: int | None = None,
    mean: float | None = None,
    samples: int | None = None,
    missing: int = 0,
) -> Figure:
    """A figure of a tool that reports only extremes and mean."""
    return {
        "name": name,
        "count": samples,
        "missing": missing,
        "min": least,
        "max": most,
        "mean": mean,
        "std": None,
        "median": None,
        "p90": None,
        "p99": None,
        "p99_9": None,
    }


def foreign_table(measures: ForeignMeasures, most: int | None = None) -> Sheet:
    """One row per stream and figure, times in us; the counts of each stream below.

    Args:
        measures: ``tsnbench-foreign/1``.
        most: greatest number of rows; None: all rows.
    """
    columns = [
        Column("stream", name=True),
        Column("figure", left=True),
        Column("samples"),
        Column("missing", spare=5),
        Column("min us", spare=2),
        Column("mean us"),
        Column("median us", spare=3),
        Column("p99 us", spare=1),
        Column("max us"),
    ]
    sheet = Sheet(measures["tool"], columns, most=most)
    for stream in measures["streams"]:
        for one in stream["figures"]:
            numbers = (one["min"], one["mean"], one["median"], one["p99"], one["max"])
            cells = [stream["stream"], one["name"], count(one["count"]), count(one["missing"])]
            sheet.rows.append([*cells, *map(micros, numbers)])
        counted = ", ".join(
            f"{UNKNOWN if number is None else f'{number:,}'} {COUNTS.get(name, name)}"
            for name, number in stream["counts"].items()
        )
        if counted:
            sheet.captions.append(f"{stream['stream']}: {counted}")
    return sheet
