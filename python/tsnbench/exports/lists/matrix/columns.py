"""Which column of a matrix means what: proposed from its headers, kept in a small YAML file beside it."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from tsnbench.errors import ContentError
from tsnbench.exports.lists.matrix import cells, words
from tsnbench.exports.lists.matrix.sheets import Book, Cell, Sheet
from tsnbench.foreign import mapping_of, parse_yaml, shown

KEYS = tuple(words.KEYS)
ASKED = "?"
NONE = "none"
UNITED: dict[str, Collection[str]] = {
    "period": cells.TIMES | cells.RATES,
    "deadline": cells.TIMES,
    "payload": cells.SIZES,
}
UNITED["frame"] = cells.SIZES
WITH_DEFAULT = ("period", "payload", "pcp", "vlan", "deadline")
HEADER_WITHIN = 50
"""Among so many first rows of a sheet the header is looked for."""
LARGEST_FILE = 1 << 18
LONGEST_HEADER = 200


@dataclass
class Columns:
    """The meaning of columns, by the texts of their headers."""

    sheets: list[str] = field(default_factory=list)
    columns: dict[str, list[str]] = field(default_factory=dict)
    """The headers of each key; ``["?"]`` where a person has to say them."""
    nodes: list[str] = field(default_factory=list)
    """Headers that are names of nodes, with signs of sender and receiver in their cells."""
    units: dict[str, str] = field(default_factory=dict)
    decimal: str = ""
    """``point`` or ``comma``; empty where no number shows it."""
    defaults: dict[str, str] = field(default_factory=dict)
    others: list[str] = field(default_factory=list)
    """Headers without a meaning here."""

    def has(self, key: str) -> bool:
        return self.columns.get(key, [NONE]) not in ([NONE], [ASKED])

    def wanted(self) -> set[str]:
        """The headers that a row must have to be the header of its sheet."""
        named = {one for key in KEYS if self.has(key) for one in self.columns[key]}
        return named | set(self.nodes)

    def questions(self) -> Iterator[str]:
        """What a person has to answer, line by line."""
        for key, said in self.columns.items():
            if ASKED in said:
                yield f"columns.{key}: the header of its column, or `none`"
        for key, unit in self.units.items():
            if unit == ASKED:
                yield f"units.{key}: the unit of {self.columns[key][0]}, {', '.join(_common(key))}"
        if self.decimal == ASKED:
            yield "decimal: `point` or `comma`; 1.000 or 1,000 can be one and a thousand"


def propose(book: Book) -> Columns:
    """The meaning of columns, as far as headers and cells tell it.

    Raises:
        ContentError: no sheet has a row that looks like the header of a matrix.
    """
    seen = [one for one in book.sheets if not one.hidden] or book.sheets
    found = [(sheet, *_header(sheet)) for sheet in seen]
    best = max((len(_best(header)) for _, _, header in found), default=0)
    if best < 2:
        raise ContentError(
            f"{book.file}: expected a row with headers such as Message, Sender, Receiver, Cycle [ms], Size, "
            "found none\n  hint: write the columns yourself: tsnbench's guide to matrices has an example"
        )
    sheet, row, header = next(one for one in found if len(_best(one[2])) == best)
    said = Columns([one.name for one, _, other in found if other == header and one.name], others=header)
    said.columns = {key: _best(header).get(key, []) for key in KEYS}
    _find_nodes(said, header, sheet, row)
    needed = {"from": said.nodes, "to": said.nodes, "period": [], "payload": said.columns["frame"]}
    for key in KEYS:
        if not said.columns[key]:
            said.columns[key] = [ASKED] if key in needed and not needed[key] else [NONE]
    taken = said.wanted()
    said.others = [one for one in dict.fromkeys(header) if one and one not in taken]
    alike = [(one, top) for one, top, other in found if other == header]
    body = [cells_ for one, top in alike for number, cells_ in one.rows.items() if number > top]
    _find_units(said, header, body)
    return said


def header_row(sheet: Sheet, said: Columns) -> tuple[int, dict[str, list[int]]] | None:
    """The row of the header, and the places of its texts; None if the sheet has no such row."""
    wanted = said.wanted()
    for number, row in list(sheet.rows.items())[:HEADER_WITHIN]:
        places: dict[str, list[int]] = {}
        for place, cell in enumerate(row):
            places.setdefault(_text(cell), []).append(place)
        if wanted <= set(places):
            return number, places
    return None


def _text(cell: Cell) -> str:
    return cells.plain(cell)[:LONGEST_HEADER]


def _header(sheet: Sheet) -> tuple[int, list[str]]:
    """The row that has the most headers; of several the last one, where a header has two rows."""
    rows = list(sheet.rows.items())[:HEADER_WITHIN]
    known = [(len(_best([_text(one) for one in row])), number) for number, row in rows]
    if not known:
        return 0, []
    number = max(known)[1]
    return number, [_text(one) for one in sheet.rows[number]]


def _best(header: list[str]) -> dict[str, list[str]]:
    """The best column of each key; of receivers all that fit equally well. No column has two keys."""
    ranks: list[tuple[int, int, int, str]] = []
    for place, text in enumerate(header):
        for order, key in enumerate(KEYS):
            rank = words.rank(key, text) if text else None
            if rank is not None:
                ranks.append((rank, order, place, key))
    found: dict[str, list[str]] = {}
    taken: dict[str, int] = {}
    used: set[str] = set()
    for rank, _, place, key in sorted(ranks):
        text = header[place]
        if text in used or (key in found and not (key == "to" and taken[key] == rank)):
            continue
        used.add(text)
        taken[key] = rank
        found.setdefault(key, []).append(text)
    return found


def _find_nodes(said: Columns, header: list[str], sheet: Sheet, row: int) -> None:
    """Columns that are nodes: every cell is a sign such as s and r."""
    if said.columns["from"] and said.columns["to"]:
        return
    known = said.wanted()
    signs = cells.SENDS | cells.RECEIVES | cells.BOTH
    for place, text in enumerate(header):
        below = [
            cells_[place] for number, cells_ in sheet.rows.items() if number > row and len(cells_) > place
        ]
        filled = {_text(one).lower() for one in below if not cells.is_empty(one)}
        if text and text not in known and not words.is_other(text) and filled and filled <= signs:
            said.nodes.append(text)
    if said.nodes:
        said.columns["from"] = said.columns["to"] = [NONE]


def _find_units(said: Columns, header: list[str], body: list[list[Cell]]) -> None:
    """The units of bare numbers, from the header; and the decimal sign, from all cells with numbers."""
    numbers: list[Cell] = []
    for key, units in UNITED.items():
        if not said.has(key):
            continue
        text = said.columns[key][0]
        place = header.index(text)
        column = [row[place] for row in body if len(row) > place and not cells.is_empty(row[place])]
        numbers += column
        bare = any(re.fullmatch(r"[\d.,' ]+", cells.plain(one)) for one in column)
        unit = cells.unit_of(text, units)
        if not unit and units is cells.SIZES and re.search(r"dlc|bytes?\b|octets?\b", text.lower()):
            unit = "byte"
        if unit or bare:
            said.units[key] = unit or ASKED
    comma, matters = cells.decimal_of(numbers)
    said.decimal = {True: "comma", False: "point", None: ASKED if matters else ""}[comma]


def _common(key: str) -> tuple[str, ...]:
    return ("B", "bit") if UNITED[key] is cells.SIZES else ("us", "ms", "s")


def written(said: Columns, file: str) -> str:
    """The file that keeps the meaning of columns."""
    lines = [
        f"# What the columns of {_quoted(file)} mean; `tsnbench import matrix` reads this file.",
        "# Write the text of a header. none: the matrix does not have it. ?: please answer.",
        *([f"sheets: [{', '.join(map(_quoted, said.sheets))}]"] if said.sheets else []),
        "columns:",
        *(f"  {key}: {_list(said.columns[key])}" for key in KEYS),
    ]
    if said.nodes:
        lines.append("# Columns of nodes: s or tx is a sender, r or rx (also e) a receiver.")
        lines.append(f"nodes: [{', '.join(map(_quoted, said.nodes))}]")
    lines.append("# Units of numbers without a unit.")
    lines.append(f"units: {{{', '.join(f'{key}: {_word(unit)}' for key, unit in said.units.items())}}}")
    if said.decimal:
        lines.append(f"decimal: {_word(said.decimal)}")
    lines.append("# For cells that are empty or have no number, such as {period: 100 ms, pcp: 3}.")
    lines.append("defaults: {}")
    lines += [f"# not used: {_quoted(one)}" for one in said.others]
    return "\n".join([*lines, ""])


def _word(text: str) -> str:
    return '"?"' if text == ASKED else text


def _list(texts: list[str]) -> str:
    if texts in ([ASKED], [NONE]):
        return _word(texts[0])
    return _quoted(texts[0]) if len(texts) == 1 else f"[{', '.join(map(_quoted, texts))}]"


def _quoted(text: str) -> str:
    """A text as YAML has it in quotes."""
    plain = json.dumps(text, ensure_ascii=False)
    return re.sub(
        "[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]", lambda one: f"\\u{ord(one[0]):04x}", plain
    )


def read(file: str, text: str) -> Columns:
    """The meaning of columns from its file.

    Raises:
        ContentError: it has other keys or values.
    """
    top = parse_yaml(file, text)
    parts = {"sheets", "columns", "nodes", "units", "decimal", "defaults"}
    if unknown := [key for key in top if key not in parts]:
        raise ContentError(f"{file}: expected the keys {', '.join(sorted(parts))}, found {shown(unknown[0])}")
    said = Columns(_texts(file, "sheets", top.get("sheets")), nodes=_texts(file, "nodes", top.get("nodes")))
    said.columns = {
        key: _texts(file, f"columns.{key}", one) or [NONE]
        for key, one in _known(file, "columns", top.get("columns"), KEYS)
    }
    for key, one in _known(file, "units", top.get("units"), tuple(UNITED)):
        said.units[key] = cells.unit(shown(one), {*UNITED[key], ASKED})
        if not said.units[key]:
            raise ContentError(f"{file}: units.{key}: expected a unit, found {shown(one)}")
    said.defaults = {
        key: shown(one) for key, one in _known(file, "defaults", top.get("defaults"), WITH_DEFAULT)
    }
    said.decimal = shown(top.get("decimal", ""))
    if said.decimal not in ("", "point", "comma", ASKED):
        raise ContentError(f"{file}: decimal: expected point or comma, found {said.decimal}")
    return said


def _known(file: str, part: str, value: object, keys: tuple[str, ...]) -> Iterator[tuple[str, object]]:
    for key, one in mapping_of(value).items():
        if key not in keys:
            raise ContentError(f"{file}: {part}: expected some of {', '.join(keys)}, found {shown(key)}")
        yield key, one


def _texts(file: str, part: str, value: object) -> list[str]:
    several = [] if value is None else value if isinstance(value, list) else [value]
    if any(isinstance(one, list | dict) for one in several):
        raise ContentError(f"{file}: {part}: expected the text of a header, found {shown(value)}")
    return [_text(str(one)) for one in several]
