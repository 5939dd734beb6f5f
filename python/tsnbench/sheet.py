"""A table for a terminal that fits its width: names are shortened in the middle, digits never.

If this is not enough, columns of figures are left out, the least important first, and named. If even the
columns that are always shown are too wide, their cells take several lines: nothing is cut.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from tsnbench.libraries import rich

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.measure import Measurement
    from rich.table import Table

SHORTEST_SENTENCE = 24
"""The least width of a column of sentences."""
SHORTEST_NAME = 8
"""To so many characters a name is shortened before a column of figures is left out."""
BETWEEN = 2
"""Blanks between columns."""
ELLIPSIS = "\u2026"
_NARROW = re.compile("[ -~\u00a1-\u00ac\u00ae-\u00ff\u2026]*")
"""Characters that take one column of a terminal."""


@dataclass(frozen=True)
class Column:
    """One column of a sheet."""

    header: str
    name: bool = False
    """Cells are names, which may be shortened in the middle; others are never cut."""
    wraps: bool = False
    """Cells are sentences, which may take several lines."""
    left: bool = False
    """Cells begin at the left, as words do."""
    spare: int = 0
    """Left out where the width is too small: the highest number first; never where it is 0."""

    @property
    def at_left(self) -> bool:
        """Cells stand at the left."""
        return self.name or self.left or self.wraps


@dataclass
class Sheet:
    """Columns and rows as text; folded to ``most`` rows where that is not None."""

    title: str
    columns: Sequence[Column]
    rows: list[Sequence[str]] = field(default_factory=list)
    captions: list[str] = field(default_factory=list)
    most: int | None = None
    rest: str = "rows more: --all"
    """What stands for rows that are folded away, after their number."""

    def shown(self) -> Sequence[Sequence[str]]:
        """Rows that are printed; if only one row would be left out, it is printed, too."""
        if self.most is None or len(self.rows) <= self.most + 1:
            return self.rows
        return self.rows[: self.most]

    def fitted(self, width: int) -> tuple[list[int], list[int]]:
        """The columns that are printed at this width, and the width of each."""
        rows = self.shown()
        needs = [
            max([len(column.header), *(len(row[place]) for row in rows)], default=0)
            for place, column in enumerate(self.columns)
        ]
        places = list(range(len(self.columns)))
        spare = sorted((p for p in places if self.columns[p].spare), key=lambda p: self.columns[p].spare)

        def least(place: int) -> int:
            column = self.columns[place]
            if column.wraps:
                return min(needs[place], SHORTEST_SENTENCE)
            if not column.name:
                return needs[place]
            return min(needs[place], max(SHORTEST_NAME, len(column.header)))

        def room(cost: Sequence[int]) -> int:
            return width - sum(cost) - BETWEEN * (len(cost) - 1)

        while spare and room([least(place) for place in places]) < 0:
            places.remove(spare.pop())
        left = room([least(place) for place in places])
        wide = [least(place) for place in places]
        # What is left goes to names, the shortest first, so that as many as possible stand in full.
        lacking = sorted(range(len(places)), key=lambda n: needs[places[n]] - wide[n])
        for turn, n in enumerate(lacking):
            more = min(needs[places[n]] - wide[n], max(left, 0) // (len(lacking) - turn))
            wide[n] += more
            left -= more
        return places, wide

    def plain(self, width: int) -> str | None:
        """The sheet as :meth:`table` prints it without styles; None if a line folds or a sign is wide."""
        places, wide = self.fitted(width)
        captions = self._captions(places)
        rows = [[row[place] for place in places] for row in self.shown()]
        columns = [self.columns[place] for place in places]
        across = sum(wide) + BETWEEN * (len(wide) - 1)
        texts = [self.title, *captions]
        folds = any(len(text) > across for text in texts) or any(
            column.wraps and len(cell) > own
            for row in rows
            for column, cell, own in zip(columns, row, wide, strict=True)
        )
        texts += [column.header for column in columns] + [cell for row in rows for cell in row]
        if folds or not rows or across > width or not all(_NARROW.fullmatch(text) for text in texts):
            return None

        def line(cells: Sequence[str]) -> str:
            laid = zip(columns, cells, wide, strict=True)
            return (" " * BETWEEN).join(
                shortened(cell, own).ljust(own) if column.at_left else shortened(cell, own).rjust(own)
                for column, cell, own in laid
            )

        titles = [self.title.ljust(across)] if self.title else []
        head = [line([column.header for column in columns]), "\u2500" * across]
        under = [caption.ljust(across) for caption in captions]
        return "\n".join(["", *titles, *head, *map(line, rows), *under, ""])

    def _captions(self, places: Sequence[int]) -> list[str]:
        """Under a table of these columns."""
        captions = []
        if hidden := len(self.rows) - len(self.shown()):
            captions.append(f"{ELLIPSIS} and {hidden:,} {self.rest}")
        if gone := [self.columns[p].header for p in range(len(self.columns)) if p not in places]:
            captions.append(f"columns left out: {', '.join(gone)}")
        return captions + self.captions

    def table(self, width: int) -> Table:
        """For a console of this width."""
        places, wide = self.fitted(width)
        fits = sum(wide) + BETWEEN * (len(wide) - 1) <= width
        captions, rows = self._captions(places), self.shown()
        table = rich.table.Table(
            title=self.title or None,
            box=rich.box.SIMPLE_HEAD,
            title_justify="left",
            pad_edge=False,
            padding=(0, BETWEEN - 1, 0, 0),
            collapse_padding=True,
            show_edge=False,
            caption=rich.text.Text("\n".join(captions)) if captions else None,
            caption_justify="left",
        )
        for place, own in zip(places, wide, strict=True):
            column = self.columns[place]
            justify: Literal["left", "right"] = "left" if column.at_left else "right"
            table.add_column(
                column.header,
                justify=justify,
                no_wrap=fits and not column.wraps,
                overflow="fold",
                min_width=own if fits else None,
                max_width=own,
            )
        for row in rows:
            cells = [
                row[place] if self.columns[place].wraps else shortened(row[place], own)
                for place, own in zip(places, wide, strict=True)
            ]
            table.add_row(*(rich.text.Text(cell) for cell in cells))
        return table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield ""
        yield self.table(options.max_width)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:

        _, wide = self.fitted(options.max_width)
        return rich.measure.Measurement(1, min(options.max_width, sum(wide) + BETWEEN * (len(wide) - 1)))


def plain_table(title: str, left: Sequence[str], right: Sequence[str]) -> Table:
    """A table whose columns wrap: words at the left, figures at the right."""
    table = rich.table.Table(title=title, box=rich.box.SIMPLE_HEAD, title_justify="left", pad_edge=False)
    for name in left:
        table.add_column(name, overflow="fold")
    for name in right:
        table.add_column(name, justify="right")
    table.caption_justify = "left"
    return table


def shortened(text: str, length: int) -> str:
    """A name that fits; its middle is cut, because the ends distinguish names."""
    if len(text) <= length:
        return text
    head = (length - 1) // 2
    return f"{text[:head]}{ELLIPSIS}{text[len(text) - (length - 1 - head) :]}"


def numbered(labels: Sequence[str]) -> list[str]:
    """Equal labels with numbers: ``a (1)``, ``a (2)``."""
    return [
        label if labels.count(label) == 1 else f"{label} ({labels[: place + 1].count(label)})"
        for place, label in enumerate(labels)
    ]


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Rows as CSV: a comma between cells, a line feed after rows (RFC 4180 otherwise); None is empty."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(["" if cell is None else cell for cell in row] for row in rows)
    return out.getvalue()
