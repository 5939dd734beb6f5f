"""Tables of other tools' pipelines (CSV): the columns that are wanted, and exact numbers in their cells."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator
from decimal import ROUND_HALF_EVEN, Decimal, localcontext

from tsnbench.errors import ContentError
from tsnbench.foreign_files.figures import ForeignFile

_NUMBER = re.compile(r"[+-]?\d{1,40}(?:\.\d{0,40})?(?:[eE][+-]?\d{1,2})?")
_LARGEST = 1 << 63
_EXACT_DOUBLE = 1 << 53


class CsvTable:
    """A CSV file whose first line names its columns.

    Args:
        file: the file.
        tool: the tool that wrote it, for messages.
    """

    def __init__(self, file: ForeignFile, tool: str) -> None:
        self.file = file
        self._tool = tool
        text = file.text.removeprefix("\ufeff")
        first = text.partition("\n")[0]
        self._separator = max(",;\t", key=first.count)
        self._text = text
        self.columns = next(csv.reader([first.rstrip("\r")], delimiter=self._separator), [])
        self.rounded = False
        """Whether a number was written as a floating-point number that cannot have every ns."""

    def rows(self, needed: list[str]) -> Iterator[tuple[int, list[str]]]:
        """Line number and the cells of these columns, row by row; a missing column is an empty cell.

        A last line without its end is left out if it has fewer cells than the first line.

        Raises:
            InputError: a row has fewer or more cells than there are columns.
        """
        places = [self.columns.index(name) if name in self.columns else None for name in needed]
        reader = csv.reader(io.StringIO(self._text), delimiter=self._separator)
        next(reader, None)
        try:
            for row in reader:
                if not row:
                    continue
                if len(row) != len(self.columns):
                    if reader.line_num == self._lines and not self._text.endswith("\n"):
                        return
                    cells = f"{len(self.columns)} cells of {self._tool}"
                    raise self.file.wrong(cells, len(row), reader.line_num)
                yield reader.line_num, ["" if place is None else row[place] for place in places]
        except csv.Error as error:
            raise ContentError(f"{self.file.name}: line {reader.line_num}: {error}") from None

    def ns(self, line: int, column: str, cell: str, digits: int = 0) -> int:
        """The whole number of ns in a cell, rounded to the nearest. ``digits``: 9 for a cell in seconds.

        Raises:
            InputError: the cell has no number, or a number beyond 292 years.
        """
        if not _NUMBER.fullmatch(cell):
            raise self.file.wrong(f"a number in the column {column!r}", repr(cell[:40]), line)
        with localcontext() as context:
            context.prec = 200
            number = Decimal(cell).scaleb(digits)
            value = int(number.to_integral_value(ROUND_HALF_EVEN))
        if abs(value) >= _LARGEST:
            raise self.file.wrong(f"less than 2^63 ns in the column {column!r}", repr(cell[:40]), line)
        # pandas writes a column with empty cells as floating-point numbers.
        if digits == 0 and abs(value) > _EXACT_DOUBLE and not cell.lstrip("+-").isdecimal():
            self.rounded = True
        return value

    @property
    def _lines(self) -> int:
        return self._text.count("\n") + (not self._text.endswith("\n"))


def first_line_has(*columns: str) -> Callable[[bytes], bool]:
    """A rule of recognition: the first line of a text names all of these columns."""
    wanted = [name.encode() for name in columns]

    def recognised(head: bytes) -> bool:
        first = head.partition(b"\n")[0]
        names = {
            name.strip().strip(b'"') for name in re.split(rb"[,;\t]", first.removeprefix(b"\xef\xbb\xbf"))
        }
        return all(name in names for name in wanted)

    return recognised
