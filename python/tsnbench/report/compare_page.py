"""The page of ``tsnbench compare``: the page of several runs, and their agreement frame by frame."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tsnbench.compare.agreement import Agreement
from tsnbench.compare.comparison import Comparison, letter
from tsnbench.libraries import polars as pl
from tsnbench.report import formatting
from tsnbench.report.data import gather, gather_captured
from tsnbench.report.facts import RunFacts
from tsnbench.report.figures.clocks import clock_errors_beside
from tsnbench.report.figures.differences import Apart, differences
from tsnbench.report.figures.style import Drawing
from tsnbench.report.files import write_page
from tsnbench.report.parts.clocks import against, clock_rows
from tsnbench.report.parts.curves import ecdf
from tsnbench.report.parts.sweep import MOST_STREAMS
from tsnbench.report.runs_page import drawings, render
from tsnbench.runs import file_names

if TYPE_CHECKING:
    from tsnbench.compare.runs import Side


def write_comparison(found: Comparison, into: Path, figures: Sequence[str] = ()) -> Path:
    """Write ``compare.html`` into a folder, and figure files for papers beside it."""
    facts = _facts(found.sides)
    drawn = _drawings(found, facts)
    text = render(facts, drawn, template="side_by_side.html", **parts(found))
    return write_page(into / file_names.COMPARISON, text, drawn, figures)


def comparison_drawings(found: Comparison) -> list[Drawing]:
    """Every figure for which the runs have data."""
    return _drawings(found, _facts(found.sides))


def _drawings(found: Comparison, facts: Sequence[RunFacts]) -> list[Drawing]:
    return [*drawings(facts), *_apart(found), *_clocks(found, facts)]


def parts(found: Comparison) -> dict[str, Any]:
    """The parts of the page that a page of several runs does not have."""
    agree = sum(one.agrees for one in found.agreements)
    many = len(found.agreements)
    others = "the other run" if len(found.sides) == 2 else "the other runs"
    labels = [side.label for side in found.sides]
    return {
        "kind": f"tsnbench comparison of {len(found.sides)} runs",
        "outcome": f"Against {labels[0]}, {formatting.count(agree)} of {formatting.count(many)} quantities "
        f"of {others} agree within their tolerance.",
        "overall": None,
        "found": found,
        "labels": labels,
        "in_words": in_words,
        "reasons": [(letter(place), reason) for place, reason in enumerate(found.reasons)],
        "numbers": numbers,
        "signed": _signed,
        "exceeded": [
            f"{row.stream}: {labels[row.side]} was later than the bound by up to {formatting.span(over)}"
            for row, over in found.beyond
        ],
    }


def in_words(one: Agreement) -> str:
    """Whether the runs agree, with the difference and the tolerance."""
    if one.unit == "ns":
        value = _signed(one.difference)
        limits = f"{formatting.MINUS}{formatting.span(one.below)} to +{formatting.span(one.above)}"
    else:
        value = f"{one.difference:+,.0f} {one.unit}".replace("-", formatting.MINUS)
        limits = f"±{one.above:,.0f} {one.unit}"
    return f"{'agrees within' if one.agrees else 'differs by'} {value}, tolerance {limits}"


def numbers(listed: tuple[int, Sequence[int]]) -> str:
    """Number of frames, and the first of their sequence numbers."""
    many, first = listed
    if not many:
        return "0"
    return f"{formatting.count(many)} ({', '.join(map(str, first))}{', …' if many > len(first) else ''})"


def _signed(ns: float) -> str:
    return ("+" if ns > 0 else "") + formatting.span(ns)


def _facts(sides: Sequence[Side]) -> list[RunFacts]:
    gathered = [None if side.folder is None else gather(side.folder) for side in sides]
    planned = next(run for run in gathered if run is not None)
    return [
        run
        if run is not None
        else gather_captured(side.measures, side.table, planned)
        if side.table is not None
        else planned
        for run, side in zip(gathered, sides, strict=True)
    ]


def _clocks(found: Comparison, facts: Sequence[RunFacts]) -> list[Drawing]:
    """Errors of clocks, if at least two runs recorded them."""
    timed = [
        (side.label, rows)
        for side, run in zip(found.sides, facts, strict=True)
        if side.folder is not None and (rows := clock_rows(run))
    ]
    return [clock_errors_beside(timed, against(facts[0]))] if len(timed) > 1 else []


def _apart(found: Comparison) -> list[Drawing]:
    """The streams with the greatest differences."""
    keys = ["stream", "listener", "seq"]
    first = found.sides[0].frames.select(*keys, "delay_ns", "octets")
    by_stream: dict[str, list[tuple[str, Any]]] = {}
    for side in found.sides[1:]:
        both = first.join(side.frames.select(*keys, "delay_ns", "octets"), on=keys, suffix="_2").filter(
            pl.col("octets") == pl.col("octets_2")
        )
        table = both.select("stream", apart=pl.col("delay_ns_2") - pl.col("delay_ns")).drop_nulls()
        for (stream,), part in table.partition_by("stream", as_dict=True, maintain_order=True).items():
            by_stream.setdefault(str(stream), []).append((side.label, part["apart"].sort()))
    if not by_stream:
        return []
    widest = sorted(by_stream, key=lambda name: -max(abs(s[-1]) + abs(s[0]) for _, s in by_stream[name]))
    kept = set(widest[:MOST_STREAMS])
    shown = [
        Apart(name, tuple((label, ecdf(values)) for label, values in curves))
        for name, curves in by_stream.items()
        if name in kept
    ]
    return [differences(shown, found.sides[0].label, len(by_stream) - len(shown))]
