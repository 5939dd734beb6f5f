"""One table as HTML that stands alone: its styles are in its elements, for every notebook.

Text has the colour of the notebook's theme, light or dark; the sign of an outcome is white on a dark ground.
An outcome is a sign and words; the colour only repeats them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from tsnbench.measure.outcome import Outcome
from tsnbench.sheet import Sheet

MOST_ROWS = 12
"""Rows of a table in a notebook."""
_GREEN, _AMBER, _RED, _GREY = "#0a6b3d", "#8a5a00", "#b3261e", "#57606a"
_SIGNS = {
    Outcome.PROVED: ("\u2713", _GREEN),
    Outcome.IN_RUN: ("\u2713", _GREEN),
    Outcome.BEYOND: ("!", _AMBER),
    Outcome.NOT_PROVED: ("!", _RED),
    Outcome.UNCERTAIN: ("?", _AMBER),
    Outcome.MEAN_AND_MEDIAN: ("\u2248", _RED),
    Outcome.NO_DATA: ("?", _GREY),
    Outcome.FAILED: ("\u2715", _RED),
    Outcome.EXCEEDED: ("\u2715", _RED),
}
"""The sign of each outcome, and its ground."""
_SIGN = (
    "display:inline-block;width:1.35em;margin-right:.4em;text-align:center;font-weight:700;"
    "color:#fff;background:{ground};border-radius:{radius}"
)
_TABLE = "color:inherit;border-collapse:collapse;font-variant-numeric:tabular-nums"
_CELL = "padding:.15em .6em;text-align:{side};white-space:{space};vertical-align:top"


def table(
    title: str,
    about: str,
    sheet: Sheet,
    marks: Sequence[Outcome | None] = (),
    head: Outcome | None = None,
) -> str:
    """A sheet with a title above it.

    Args:
        title: in bold. about: after the title.
        sheet: its texts are escaped.
        marks: the outcome of each row; its sign stands in the second cell, which is seen on narrow pages.
        head: the outcome of all rows; its sign stands before the title.
    """
    rows = sheet.shown()
    lines = [f"<div>{mark(head)}<strong>{escape(title)}</strong> {escape(about)}</div>"]
    if rows:
        sides = ["left" if column.at_left else "right" for column in sheet.columns]
        heads = "".join(
            f'<th style="{_CELL.format(side=side, space="nowrap")}">{escape(column.header)}</th>'
            for column, side in zip(sheet.columns, sides, strict=True)
        )
        body = "".join(
            _row(row, sheet, sides, marks[place] if place < len(marks) else None)
            for place, row in enumerate(rows)
        )
        lines.append(
            f'<div style="overflow-x:auto"><table style="{_TABLE}">'
            f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>"
        )
    if left := len(sheet.rows) - len(rows):
        lines.append(note(f"\u2026 and {left:,} more rows"))
    return "".join([*lines, *map(note, sheet.captions)])


def _row(row: Sequence[str], sheet: Sheet, sides: Sequence[str], outcome: Outcome | None) -> str:
    cells = []
    for place, (cell, column, side) in enumerate(zip(row, sheet.columns, sides, strict=True)):
        style = _CELL.format(side=side, space="normal" if column.wraps else "nowrap")
        sign = mark(outcome) if place == 1 else ""
        cells.append(f'<td style="{style}">{sign}{escape(cell)}</td>')
    return f"<tr>{''.join(cells)}</tr>"


def mark(outcome: Outcome | None) -> str:
    """The sign of an outcome; a proved one is round. Empty without an outcome."""
    if outcome is None:
        return ""
    sign, ground = _SIGNS[outcome]
    style = _SIGN.format(ground=ground, radius="50%" if outcome is Outcome.PROVED else "3px")
    return f'<span style="{style}">{sign}</span>'


def note(text: str) -> str:
    """A line under a table."""
    return f'<div style="opacity:.75;font-size:.9em">{escape(text)}</div>'


def facts(parts: Iterable[str]) -> str:
    """``50 ms, 4 nodes, seed 1``; parts that are empty are left out."""
    return ", ".join(part for part in parts if part)
