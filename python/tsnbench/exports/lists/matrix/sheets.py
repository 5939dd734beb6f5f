"""The cells of a matrix: of a CSV file in any usual encoding, or of the sheets of an Excel file.

An Excel file is read by openpyxl, cell by cell: formulas, macros and links are neither run nor followed, and
the values are those that Excel has stored.
"""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Context, Decimal
from itertools import islice
from pathlib import Path
from statistics import mode

from tsnbench import foreign
from tsnbench.errors import ContentError, InputError
from tsnbench.libraries import load, openpyxl

Cell = str | Decimal
"""A text without blanks around it, or a number of Excel."""
MISSING = "expected openpyxl for a file of Excel, found none\nhint: pip install 'tsnbench[excel]'"
ENDINGS = (".xlsx", ".xlsm")
OTHER_ENDINGS = (".xls", ".xlsb", ".ods", ".numbers")
LARGEST_FILE = 1 << 24
LARGEST_UNPACKED = 1 << 26
MOST_PARTS = 1000
MOST_ROWS, MOST_COLUMNS = 100_000, 256
LAST_ROW = 1 << 20
"""Excel has no more."""
MOST_MERGED = 1_000_000
"""Cells of all merged areas of a sheet."""
_AREA = re.compile(
    rb"<(?:\w+:)?mergeCell\s[^>]{0,300}?ref=\"([A-Z]{1,3})([0-9]{1,7}):([A-Z]{1,3})([0-9]{1,7})\""
)
_ROW = re.compile(rb"<(?:\w+:)?row\s(?:[^>]{0,300}?\s)?r=\"([0-9]{1,12})\"")
_FORMULA = re.compile(
    rb"<(?:\w+:)?c\s([^>]{0,300})>\s*<(?:\w+:)?f\b(?:[^>]{0,300}/>|[^>]{0,300}>[^<]*</(?:\w+:)?f>)\s*"
    rb"(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v>\s*</(?:\w+:)?v>)?\s*</(?:\w+:)?c>"
)
"""A formula without a value; Excel has one in each file that it saves, other programs may not."""
_HIDDEN = re.compile(rb"<(?:\w+:)?(row|col)\s[^>]{0,300}?\bhidden=\"(?:1|true)\"")
_DOCTYPE = re.compile(rb"<\x00?!\x00?D\x00?O\x00?C\x00?T\x00?Y\x00?P\x00?E")
_AS_SHOWN = Context(prec=15)
"""Excel shows 15 digits: 0.1 + 0.2 is 0.3 there."""


@dataclass(frozen=True)
class Sheet:
    """A table; its rows have the numbers that a spreadsheet shows."""

    name: str
    """Empty for a CSV file."""
    rows: dict[int, list[Cell]]
    hidden: bool = False
    told: tuple[str, ...] = ()
    """What a person does not see in it, or is missing."""


@dataclass(frozen=True)
class Book:
    """All tables of a file, and how it was read where that was not certain."""

    file: str
    sheets: list[Sheet]
    decided: str = ""


def read(path: Path) -> Book:
    """The sheets of a file.

    Raises:
        InputError: it is neither CSV nor Excel, or openpyxl is missing.
        OSError: it cannot be opened.
    """
    content = foreign.read_bytes(path, LARGEST_FILE)
    if path.suffix.lower() in OTHER_ENDINGS:
        raise ContentError(
            f"{path}: expected a file of CSV or Excel's xlsx, found one that ends in {path.suffix}"
            "\n  hint: save it as .xlsx or as CSV"
        )
    if path.suffix.lower() in ENDINGS or content.startswith(b"PK\x03\x04"):
        return Book(path.name, list(_excel(path.name, content)))
    return _csv(path.name, content)


def _csv(file: str, content: bytes) -> Book:
    text, decided = _decoded(content)
    if any(mark in text for mark in "\x00\x01\x02"):
        raise ContentError(f"{file}: expected a file of CSV or Excel's xlsx, found octets of another kind")
    first, _, rest = text.partition("\n")
    if said := re.fullmatch(r"sep=(.)\r?", first):
        # Excel writes the separator into the first line; the row stays, so that numbers of rows do.
        return Book(file, [Sheet("", _rows(file, f"\n{rest}", said[1]))], decided)
    return Book(file, [Sheet("", _rows(file, text, _mark(text)))], decided)


def _decoded(content: bytes) -> tuple[str, str]:
    """The text, and the encoding where nothing in the file says it."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", errors="replace"), ""
    if b"\x00" in content[:4000]:
        order = "utf-16-le" if content[1::2].count(0) > content[::2].count(0) else "utf-16-be"
        return content.decode(order, errors="replace"), "the file is read as UTF-16"
    try:
        return content.decode("utf-8-sig"), ""
    except UnicodeDecodeError:
        pass
    try:
        return content.decode("cp1252"), "the file is read as Windows-1252"
    except UnicodeDecodeError:
        return content.decode("latin-1"), "the file is read as Latin-1"


def _mark(text: str) -> str:
    """The separator: the one by which most of the first lines have an equal number of cells."""
    lines = [line for line in text[:20_000].splitlines()[:60] if line.strip()]

    def width(mark: str) -> tuple[int, int]:
        try:
            widths = [len(row) for row in csv.reader(lines, delimiter=mark)]
        except csv.Error:
            return 0, 0
        usual = mode([one for one in widths if one > 1] or [1])
        return (widths.count(usual) if usual > 1 else 0), usual

    return max(";,\t|", key=width)


def _rows(file: str, text: str, mark: str) -> dict[int, list[Cell]]:
    rows: dict[int, list[Cell]] = {}
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=mark)
    try:
        for number, row in enumerate(reader, 1):
            _keep(file, rows, number, [cell.strip() for cell in row])
    except csv.Error as error:
        raise ContentError(f"{file}: row {len(rows) + 1}: expected a file of CSV, found {error}") from None
    return rows


def _keep(file: str, rows: dict[int, list[Cell]], number: int, cells: list[Cell]) -> None:
    while cells and cells[-1] == "":
        cells.pop()
    if len(cells) > MOST_COLUMNS:
        raise ContentError(
            f"{file}: row {number}: expected at most {MOST_COLUMNS} columns, found {len(cells)}"
        )
    if not cells:
        return
    if len(rows) == MOST_ROWS:
        raise ContentError(f"{file}: expected at most {MOST_ROWS} rows, found more")
    rows[number] = cells


def _excel(file: str, content: bytes) -> Iterator[Sheet]:
    try:
        load(openpyxl)
    except ImportError:
        raise InputError(MISSING) from None
    try:
        _refuse_bombs(file, content)
        book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True, keep_links=False)
        for sheet in book.worksheets:
            where, part = f"{file}: {sheet.title}", _part(content, sheet)
            sheet.reset_dimensions()
            rows: dict[int, list[Cell]] = {}
            limits = {"max_row": _last(where, part), "max_col": MOST_COLUMNS + 1, "values_only": True}
            for number, row in enumerate(sheet.iter_rows(**limits), 1):
                _keep(where, rows, number, [_cell(value) for value in row])
            _fill(where, rows, islice(_AREA.finditer(part), MOST_MERGED + 1))
            name = " ".join(str(sheet.title).split())
            yield Sheet(name, rows, sheet.sheet_state != "visible", tuple(_told(name, part)))
    except (InputError, MemoryError):
        raise
    except Exception as error:
        # openpyxl has no error of its own: a damaged file ends in any exception of Python's.
        said = str(error).partition("\n")[0][:120] or type(error).__name__
        raise ContentError(f"{file}: expected a file of Excel, found a damaged one: {said}") from None


def _told(name: str, part: bytes) -> Iterator[str]:
    """Hidden rows and columns, and formulas without a value."""
    hidden = {one[1] for one in _HIDDEN.finditer(part)}
    for kind, what in ((b"row", "rows"), (b"col", "columns")):
        if kind in hidden:
            yield f"hidden {what} of {name} are read like others"
    # A formula whose value is the empty text has the type str.
    attributes = [one[1] for one in _FORMULA.finditer(part) if b't="str"' not in one[1]]
    if attributes:
        place = re.search(rb'\br="([A-Z]{1,3}[0-9]{1,7})"', attributes[0])
        first = f", the first one in {place[1].decode()}" if place else ""
        yield (
            f"{name} has {len(attributes)} formulas without a stored value{first}; "
            "their cells are empty here: save the file in Excel"
        )


def _refuse_bombs(file: str, content: bytes) -> None:
    """A file of Excel is a ZIP file: its parts tell their sizes, and reading stops there."""
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        parts = packed.infolist()
        if len(parts) > MOST_PARTS or sum(one.file_size for one in parts) > LARGEST_UNPACKED:
            most = foreign.octets(LARGEST_UNPACKED)
            raise ContentError(f"{file}: expected at most {MOST_PARTS} parts and {most} unpacked, found more")
        for one in parts:
            if _DOCTYPE.search(packed.read(one)):
                raise ContentError(f"{file}: expected a file of Excel, found a document type definition")


def _cell(value: object) -> Cell:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return _AS_SHOWN.create_decimal(repr(value)).normalize()
    return str(value).strip()


def _part(content: bytes, sheet: openpyxl.worksheet._read_only.ReadOnlyWorksheet) -> bytes:
    """The XML of a sheet: openpyxl leaves out merged areas when it reads cell by cell."""
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        return packed.read(sheet._worksheet_path)


def _last(where: str, part: bytes) -> int:
    """The number of the last row; openpyxl would go through all rows up to any number."""
    found = max((int(one[1] or 0) for one in _ROW.finditer(part)), default=0)
    if found > LAST_ROW:
        raise ContentError(f"{where}: expected rows up to {LAST_ROW}, found row {found}")
    return max(found, part.count(b"<row"), 1)


def _fill(where: str, rows: dict[int, list[Cell]], areas: Iterable[re.Match[bytes]]) -> None:
    """Every cell of a merged area gets the value that Excel shows in it."""
    last, filled = max(rows, default=0), 0
    for area in areas:
        left, right = (min(_column(area[one]), MOST_COLUMNS) for one in (1, 3))
        top, bottom = int(area[2]), min(int(area[4]), last)
        filled += max(bottom - top + 1, 0) * max(right - left + 1, 0) + 1
        if filled > MOST_MERGED:
            raise ContentError(f"{where}: expected at most {MOST_MERGED} merged cells, found more")
        first = rows.get(top, [])
        value = first[left - 1] if len(first) >= left else ""
        for number in range(top, bottom + 1):
            if value == "" or number not in rows:
                continue
            row = rows[number]
            row += [""] * (right - len(row))
            row[left - 1 : right] = [value] * (right - left + 1)


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number
