"""Figures of a file of another tool: counts, and statistics of series of times; as JSON and as a table."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypedDict, cast

from tsnbench import _native
from tsnbench.errors import ContentError
from tsnbench.quantities import UNKNOWN, count, micros
from tsnbench.sheet import Column, Sheet

FORMAT = "tsnbench-foreign/1"


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


@dataclass
class ForeignFile:
    """A file of another tool, with the streams and the warnings that its reader finds."""

    name: str
    """Its path, for messages."""
    content: bytes
    streams: list[ForeignStream] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The content; octets that are not UTF-8 are replaced."""
        return self.content.decode("utf-8", errors="replace")

    def add(self, stream: str, figures: list[Figure], counts: Mapping[str, int | None] | None = None) -> None:
        """Adds a stream, traffic class or thread."""
        self.streams.append({"stream": stream, "counts": dict(counts or {}), "figures": figures})

    def wrong(self, expected: str, found: object = "none", line: int | None = None) -> ContentError:
        """The error of a damaged file: the expected content, and the content found instead."""
        place = "" if line is None else f"line {line}: "
        return ContentError(f"{self.name}: {place}expected {expected}, found {found}")

    def measures(self, tool: str, parts: str, found: str = "none") -> ForeignMeasures:
        """All streams and figures of the file.

        Args:
            tool: the tool that wrote the file.
            parts: the parts of streams, for the message about a file that has no stream.
            found: what such a file has instead.

        Raises:
            InputError: the file has no stream.
        """
        if not self.streams:
            raise self.wrong(parts, found)
        return {
            "format": FORMAT,
            "file": self.name,
            "tool": tool,
            "streams": self.streams,
            "warnings": self.warnings,
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


def figure(name: str, samples: Sequence[int], missing: int = 0, times: list[int] | None = None) -> Figure:
    """The statistics of a series of times in ns, by the engine that measures captures.

    Args:
        name: the measured quantity. samples: in the order of the file. missing: number of samples without a
        timestamp. times: how often each sample occurred; by default once.
    """
    made = known(name, samples=0, missing=missing)
    stat = json.loads(_native.statistics(list(samples), times))
    return made if stat is None else cast("Figure", {key: stat.get(key, own) for key, own in made.items()})


def distances(name: str, pairs: Sequence[tuple[int | None, int | None]], more: int = 0) -> Figure:
    """The statistics of times from a first to a second stamp; a pair without a stamp counts as missing.

    Args:
        name: the measured quantity.
        pairs: first and second stamp in ns; None where there is none.
        more: ns that are added to each time.
    """
    samples = [last - first + more for first, last in pairs if first is not None and last is not None]
    return figure(name, samples, len(pairs) - len(samples))


def intervals(name: str, stamps: Sequence[int | None]) -> Figure:
    """The statistics of times from one stamp to the next one."""
    return distances(name, list(pairwise(stamps)))


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
            f"{UNKNOWN if number is None else f'{number:,}'} {name}"
            for name, number in stream["counts"].items()
        )
        if counted:
            sheet.captions.append(f"{stream['stream']}: {counted}")
    return sheet
