"""Places of values: in a scenario's file, and in the tables beside it."""

from __future__ import annotations

from typing import NamedTuple


class Place(NamedTuple):
    """The place of a value: line and column, which count from 1."""

    line: int
    column: int


_TABLE = 1 << 32
"""Beyond all lines of a file: rows of the first table beside a scenario count from here, those of the second
from twice as far, and so on."""

ELSEWHERE = 1 << 40
"""Beyond all tables: lines of another file, which its reader converts (``varied.located``)."""


def in_table(row: int, column: int, number: int = 0) -> Place:
    """A place in a table beside a scenario: a row, the header being the first one, and a column.

    ``number``: which table of the scenario it is, from 0.
    """
    return Place(_TABLE * (number + 1) + row, column)


def is_in_table(place: Place) -> bool:
    """Whether a place is in a table beside a scenario."""
    return _TABLE < place.line < ELSEWHERE


def located(file: str, tables: tuple[str, ...], place: Place) -> tuple[str, int, int]:
    """File, line and column of a place in a scenario's file or in one of the tables beside it."""
    if is_in_table(place):
        number, line = divmod(place.line, _TABLE)
        return tables[number - 1], line, place.column
    return file, place.line, place.column
