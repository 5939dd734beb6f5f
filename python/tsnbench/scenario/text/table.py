"""A table beside the scenario, CSV or Parquet -> the tree of a YAML file with the same content.

The header has the keys of a stream, a node or a link, with a unit if the cells have none: ``period (us)``. A
dot stands for a mapping: ``requires.delay``. A cell has the text that YAML has after the colon; an empty cell
gives no key.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Mapping as Map
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path

from tsnbench import foreign
from tsnbench.scenario.errors import Problem, ScenarioErrors, failure
from tsnbench.scenario.text.builder import most_values, repeated, too_many
from tsnbench.scenario.text.place import Place, in_table
from tsnbench.scenario.text.source import Subject, parse
from tsnbench.scenario.text.tree import ENDS, SHARED, Mapping, Scalar, Sequence, Value, shown

ENDINGS = (".csv", ".parquet")
LARGEST_FILE = 1 << 26
_HEADER = re.compile(r"\s*(?P<key>[^()\[\]]*?)\s*(?:[(\[]\s*(?P<unit>[^()\[\]]+?)\s*[)\]])?\s*")
_UNITED = re.compile("([a-z-]+)[_ -](ns|us|ms|s|b|B|ppm)")
"""A header that names its unit in another way: ``period_us``."""
_NUMBER = re.compile(r"[+-]?[0-9.,]+")
_CELL = Subject("a cell", "")


@dataclass(frozen=True)
class Column:
    """One column: the keys that lead to its values, and the unit of cells that have none."""

    keys: tuple[Scalar, ...]
    unit: str
    number: int


@dataclass(frozen=True)
class Rows:
    """The kind of a table's rows."""

    part: str
    """The part of the scenario that the table fills: ``streams``, ``network.links``."""
    name: str
    """The column that every row must fill."""
    what: str
    """A row in words: ``a stream``."""
    wrong: Callable[[str], str]
    """What is wrong with a key, as a hint; empty where a row may have such a key."""
    needed: Map[str, tuple[str, ...]] = field(default_factory=dict)
    """Further columns that every row must fill, with the words that they may have."""

    @property
    def noun(self) -> str:
        """A row in words without its article."""
        return self.what.partition(" ")[2]


class TableReader:
    """Reads one table; all mistakes of its shape are noted with its file, row and column.

    Args:
        file: the scenario's file.
        written: the name of the table, as the scenario has it.
        rows: the kind of its rows.
        number: which table of the scenario it is, from 0.
    """

    def __init__(self, file: str, written: Scalar, rows: Rows, number: int = 0) -> None:
        self.scenario = file
        self.written = written
        self.rows = rows
        self.number = number
        self.path = Path(file).parent / written.text.strip()
        self.file = str(self.path)
        self.problems: list[Problem] = []

    def entries(self) -> list[tuple[Scalar, Value]]:
        """Each row's name and its keys with their values; their places are those of :func:`in_table`.

        Raises:
            ScenarioErrors: the table cannot be read, or its header is wrong.
        """
        rows = self._rows()
        first = next(rows, None)
        if first is None:
            raise self._failure("a table with a header", "an empty file")
        number, header = first
        columns = self._columns(header, number)
        if self.problems:
            raise ScenarioErrors(self.problems)
        name_at = next(
            n for n, column in enumerate(columns) if column and column.keys[0].text == self.rows.name
        )
        found: list[tuple[Scalar, Value] | None] = []
        values, most = 0, most_values()
        alike = _Alike(self, columns, name_at)
        for row, cells in rows:
            values += len(cells)
            if values > most:
                raise too_many(self.file, Place(row, 1))
            found.append(alike.row(row, cells) or self.row(columns, name_at, row, cells))
        if self.problems:
            raise ScenarioErrors(self.problems)
        if not found:
            hint = "add rows below the header"
            raise self._failure(f"a row for each {self.rows.noun}", "the header alone", hint)
        return [entry for entry in found if entry is not None]

    def _rows(self) -> Iterator[tuple[int, list[str]]]:
        """Rows with their numbers, as an editor or a spreadsheet counts them; the header first."""
        if self.path.suffix.lower() not in ENDINGS:
            last = self.rows.part.rpartition(".")[2]
            hint = f"write {last}: {{table: {last}.csv}}"
            if self.path.suffix.lower() in (".xls", ".xlsx", ".ods"):
                hint = f"save the sheet as CSV, and write {last}: {{table: {shown(self.path.stem, 40)}.csv}}"
            raise self._failure("a file that ends in .csv or .parquet", shown(self.written.text), hint)
        try:
            return self._parquet() if self.path.suffix.lower() == ".parquet" else self._csv()
        except FileNotFoundError:
            hint = "the path counts from the scenario's folder"
            raise self._failure("a table beside the scenario", f"no file {self.file}", hint) from None
        except foreign.UnusableFileError as error:
            hint = "save the file as UTF-8" if "UTF-8" in error.expected else ""
            raise self._failure(error.expected, f"{error.found}: {self.file}", hint) from None
        except OSError as error:
            raise self._failure("a table", f"{self.file}: {error.strerror or error}") from None

    def _csv(self) -> Iterator[tuple[int, list[str]]]:
        text = foreign.read_text(self.path, LARGEST_FILE).removeprefix("\ufeff")
        header = text.partition("\n")[0]
        # Spreadsheets separate columns by a semicolon if the comma is the decimal sign of their language.
        mark = next((mark for mark in ",;\t" if mark in header), ",")
        return self._csv_rows(csv.reader(io.StringIO(text, newline=""), delimiter=mark, strict=True))

    def _csv_rows(self, reader: Iterator[list[str]]) -> Iterator[tuple[int, list[str]]]:
        line = 1
        try:
            for cells in reader:
                if any(cells):
                    yield line, cells
                line = reader.line_num + 1  # type: ignore[attr-defined]
        except csv.Error as error:
            raise failure(self.file, "a CSV file", str(error), place=Place(line, 1)) from None

    def _parquet(self) -> Iterator[tuple[int, list[str]]]:
        frame = foreign.read_parquet(self.path)
        lists = [name for name, kind in frame.schema.items() if kind.is_nested()]
        if lists:
            raise failure(self.file, "columns of texts and numbers", f"lists in the column {shown(lists[0])}")
        cells = frame.rows()
        return iter([(1, list(frame.columns)), *((n, _texts(row)) for n, row in enumerate(cells, 2))])

    def _columns(self, header: list[str], row: int) -> list[Column | None]:
        columns: list[Column | None] = []
        seen: set[str] = set()
        capital: list[str] = []
        for number, text in enumerate(header, 1):
            match = _HEADER.fullmatch(text)
            key = " ".join(match["key"].split()) if match else ""
            if not text.strip():
                columns.append(None)
                continue
            hint = self._wrong(key)
            if hint and not self._wrong(key.lower()):
                capital.append(key)
                key = key.lower()
            elif hint:
                self._problem(row, number, f"a key of {self.rows.what}", shown(text), hint)
            elif key in seen:
                self._problem(row, number, "each column once", f"{shown(key)} again")
            seen.add(hint.removeprefix("did you mean ").removesuffix("?") if hint.endswith("?") else key)
            place = in_table(row, number, self.number)
            keys = tuple(Scalar(place, part) for part in key.split(".", 1))
            columns.append(Column(keys, (match["unit"] or "") if match else "", number))
        if len(self.problems) == len([one for one in columns if one]) > 1 and not seen & {self.rows.name}:
            self.problems.clear()
            found = ", ".join(cell.strip() for cell in header[:5])
            hint = f"write a first row with {self.rows.name} and keys, such as: {self.rows.name}, from, to"
            self._problem(row, 1, "a header with names of columns", shown(found), hint)
            return columns
        if capital:
            hint = f"write {', '.join(key.lower() for key in capital[:5])}{', …' if len(capital) > 5 else ''}"
            self._problem(row, 1, "headers in small letters", ", ".join(capital[:5]), hint)
        for needed in (self.rows.name, *self.rows.needed):
            if needed not in seen:
                hint = f"add a column with the {needed} of each {self.rows.noun}"
                self._problem(row, 1, f"a column {needed}", "none", hint)
        return columns

    def _wrong(self, key: str) -> str:
        """A hint for a header that is no key of a row; empty for a good one."""
        if key == self.rows.name:
            return ""
        if key in ("stream", "flow", "id", "node", "link") and self.rows.name == "name":
            return "did you mean name?"
        united = _UNITED.fullmatch(key)
        if united and not self.rows.wrong(united[1]):
            return f"write {united[1]} ({united[2].replace('b', 'B')})"
        return self.rows.wrong(key) if key else "write period (us), or period"

    def row(
        self, columns: list[Column | None], name_at: int, row: int, cells: list[str]
    ) -> tuple[Scalar, Value] | None:
        """A row's name and its keys with their values; None after a mistake, which is noted."""
        if len(cells) < len(columns) or any(cells[len(columns) :]):
            at = min(len(cells), len(columns)) + 1
            self._problem(row, at, f"{len(columns)} cells, as the header has", f"{len(cells)}")
            return None
        name = ""
        entries: list[tuple[Scalar, Value]] = []
        within: dict[str, list[tuple[Scalar, Value]]] = {}
        for column, cell in zip(columns, cells, strict=False):
            text = cell.strip()
            if column is None or not text:
                continue
            place = in_table(row, column.number, self.number)
            if column.number == name_at + 1:
                name = text
                continue
            if column.unit and _NUMBER.fullmatch(text):
                text = f"{text} {column.unit}"
            value: Value = Scalar(place, text)
            if text[0] in "[{":
                value = self._nested(text, row, column.number, place)
            if len(column.keys) == 1:
                entries.append((column.keys[0], value))
                continue
            outer, inner = column.keys[0], column.keys[1]
            if outer.text not in within:
                within[outer.text] = []
                entries.append((outer, Mapping(place, (), 0)))
            within[outer.text].append((inner, value))
        if not name:
            self._problem(row, name_at + 1, f"the {self.rows.name} of {self.rows.what}", "nothing")
            return None
        if not self._has_needed(columns, row, cells):
            return None
        if within:
            entries = [(key, _filled(value, within.get(key.text))) for key, value in entries]
        place = in_table(row, name_at + 1, self.number)
        weight = 1 + 2 * len(entries)
        return Scalar(place, name), Mapping(place, tuple(entries), weight)

    def _has_needed(self, columns: list[Column | None], row: int, cells: list[str]) -> bool:
        """Whether the columns that every row must fill have one of their words."""
        for needed, words in self.rows.needed.items():
            at = next(n for n, column in enumerate(columns) if column and column.keys[0].text == needed)
            text = cells[at].strip() if at < len(cells) else ""
            if text not in words:
                self._problem(
                    row, at + 1, f"{', '.join(words[:-1])} or {words[-1]}", shown(text) or "nothing"
                )
                return False
        return True

    def _nested(self, text: str, row: int, column: int, place: Place) -> Value:
        """A list or a mapping in a cell; all that is in it has the place of the cell."""
        try:
            top = parse(f"cell: {text}", self.file, _CELL)
        except ScenarioErrors:
            self._problem(row, column, "a list such as [a, b] or a mapping such as {a: 1 ms}", shown(text))
            return Scalar(place, text)
        return _moved(top.entries[0][1], place)

    def _problem(self, row: int, column: int, expected: str, found: str, hint: str = "") -> None:
        self.problems.append(Problem(self.file, row, column, "", expected, found, hint))

    def _failure(self, expected: str, found: str, hint: str = "") -> ScenarioErrors:
        """A mistake at the name of the table in the scenario."""
        place = self.written.place
        problem = Problem(
            self.scenario, place.line, place.column, f"{self.rows.part}.table", expected, found, hint
        )
        return ScenarioErrors([problem])


class _Alike:
    """The rows of a table that have the same cells but for the name and the ends.

    Args:
        reader: reads single rows.
        columns: of the table.
        name_at: which of them has the name.
    """

    def __init__(self, reader: TableReader, columns: list[Column | None], name_at: int) -> None:
        self.reader = reader
        self.columns = columns
        self.name_at = name_at
        words = [column.keys[0].text if column else "" for column in columns]
        self._ends = [(at, word) for at, word in enumerate(words) if word in ENDS]
        others = [at for at, word in enumerate(words) if word not in ENDS and at != name_at]
        allowed = all(words[at] in SHARED for at in others)
        named = [column for column in columns if column and column.keys[0].text in ENDS]
        allowed = allowed and not any(column.unit or len(column.keys) > 1 for column in named)
        allowed = allowed and not any("class" in key.text for at in others for key in _keys(columns[at]))
        self._others = itemgetter(*others) if allowed and len(others) > 1 and self._ends else None
        self._shapes: dict[tuple[str, ...], int] = {}
        """The number of the shape, by the cells."""
        self._weights: list[int] = []
        """The weight of each shape's mapping; 0 if its rows are read one by one."""
        self._rows: list[tuple[int, list[str]]] = []

    def row(self, row: int, cells: list[str]) -> tuple[Scalar, Value] | None:
        """A row's name and its mapping; None if it has to be read alone."""
        if self._others is None or len(cells) != len(self.columns):
            return None
        name = cells[self.name_at].strip()
        if not name or not all(_plain(cells[at]) for at, _ in self._ends):
            return None
        written = self._others(cells)
        shape = self._shapes.get(written)
        if shape is None:
            shape = self._shapes[written] = len(self._weights)
            found, before = None, len(self.reader.problems)
            if not any(text and (text[0] in "[{" or "${" in text or "class" in text) for text in written):
                found = self.reader.row(self.columns, self.name_at, row, cells)
            # A mistake is noted when the row is read alone.
            del self.reader.problems[before:]
            self._weights.append(found[1].weight if found else 0)
        weight = self._weights[shape]
        if not weight:
            return None
        place = in_table(row, self.name_at + 1, self.reader.number)
        self._rows.append((row, cells))
        return Scalar(place, name), repeated(place, weight, self, len(self._rows) - 1, shape)

    def entries(self, at: int) -> tuple[tuple[Scalar, Value], ...]:
        """The entries of a row's mapping."""
        row, cells = self._rows[at]
        found = self.reader.row(self.columns, self.name_at, row, cells)
        assert found is not None
        assert isinstance(found[1], Mapping)
        return found[1].entries

    def ends(self, at: int, _: int) -> list[tuple[str, Scalar]]:
        """The keys and texts of a row's ends."""
        row, cells = self._rows[at]
        number = self.reader.number
        return [
            (word, Scalar(in_table(row, end + 1, number), cells[end].strip())) for end, word in self._ends
        ]


def _keys(column: Column | None) -> tuple[Scalar, ...]:
    return column.keys if column else ()


def _plain(cell: str) -> bool:
    """Whether a cell is a name: not empty, no list and no parameter."""
    text = cell.strip()
    return bool(text) and text[0] not in "[{" and "${" not in text


def _texts(row: Iterable[object]) -> list[str]:
    """The cells of a Parquet row as a CSV file would have them."""
    texts = []
    for value in row:
        if value is None:
            texts.append("")
        elif isinstance(value, bool):
            texts.append("true" if value else "false")
        elif isinstance(value, float) and value.is_integer():
            texts.append(str(int(value)))
        else:
            texts.append(str(value))
    return texts


def _filled(value: Value, inner: list[tuple[Scalar, Value]] | None) -> Value:
    """The mapping of columns with a dot, with their content."""
    if inner is None or not isinstance(value, Mapping) or value.weight:
        return value
    return Mapping(value.place, tuple(inner), 1 + 2 * len(inner))


def _moved(value: Value, place: Place) -> Value:
    """The value with another place."""
    if isinstance(value, Mapping):
        entries = tuple(
            (Scalar(place, key.text, key.plain), _moved(one, place)) for key, one in value.entries
        )
        return Mapping(place, entries, value.weight)
    if isinstance(value, Sequence):
        return Sequence(place, tuple(_moved(one, place) for one in value.items), value.weight)
    return Scalar(place, value.text, value.plain)
