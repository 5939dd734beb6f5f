"""The rows of a matrix as messages: rows of one message together, and what is not taken, row by row."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from tsnbench.errors import ContentError
from tsnbench.exports.lists.matrix import cells
from tsnbench.exports.lists.matrix.cells import CellError
from tsnbench.exports.lists.matrix.columns import Columns, header_row
from tsnbench.exports.lists.matrix.sheets import Book, Cell, Sheet
from tsnbench.exports.lists.messages import LARGEST_FRAME, SMALLEST_FRAME, TAGGED_HEADER, Message, Read

_OTHER_BUS = re.compile(r"\b(can|can[ -]?fd|can[ -]?xl|lin|flexray|most|i2c|spi)\b")
_LAYER_2 = re.compile(r"\b(avtp|1722|layer ?2|l2|raw|goose|profinet|ethercat|opc ua pubsub l2|gptp|ptp)\b")
_Value = TypeVar("_Value")
_Reader = Callable[[Cell], _Value]


@dataclass(frozen=True)
class _Row:
    """One row; a key's cell, or its default."""

    where: str
    row: list[Cell]
    places: dict[str, list[int]]
    said: Columns
    lost: list[str]
    used: list[int]
    """The places of all columns with a meaning."""

    def cell(self, key: str) -> Cell:
        """The cell of a key; the default where it is empty, or has no digit and the key is a number."""
        found: Cell = ""
        if self.said.has(key):
            found = self.at(self.places[self.said.columns[key][0]][0])
        instead = self.said.defaults.get(key)
        if instead is not None and (cells.is_empty(found) or not re.search(r"\d", cells.plain(found))):
            return instead
        return found

    def at(self, place: int) -> Cell:
        return self.row[place] if place < len(self.row) else ""

    def lose(self, what: str) -> None:
        self.lost.append(f"{self.where}: {what}")

    def wrong(self, key: str, error: CellError, cell: Cell) -> None:
        found = cells.plain(cell)[:60] or "nothing"
        self.lose(f"{key}: expected {error}, found {found}")

    def senders(self) -> list[str]:
        if not self.said.nodes:
            return list(cells.nodes(self.cell("from")))
        return list(self._signed(cells.SENDS))

    def receivers(self) -> list[str]:
        if self.said.nodes:
            return list(self._signed(cells.RECEIVES))
        places = dict.fromkeys(place for one in self.said.columns["to"] for place in self.places[one])
        return list(dict.fromkeys(name for place in places for name in cells.nodes(self.at(place))))

    def _signed(self, signs: set[str]) -> Iterator[str]:
        for name in self.said.nodes:
            found = {cells.plain(self.at(place)).lower() for place in self.places[name]}
            if found & (signs | cells.BOTH):
                yield name

    @property
    def empty(self) -> bool:
        """Whether no column with a meaning has a text."""
        return all(cells.is_empty(self.at(place)) for place in self.used)


def messages(book: Book, said: Columns) -> Read:
    """All messages of the sheets.

    Raises:
        ContentError: a sheet or a column is missing, or no row is a message.
    """
    known = [one.name for one in book.sheets]
    if missing := [one for one in said.sheets if one not in known]:
        raise ContentError(f"{book.file}: expected the sheet {missing[0]}, found {', '.join(known[:8])}")
    read = Read()
    for sheet in book.sheets:
        if not said.sheets or sheet.name in said.sheets:
            _sheet(book.file, sheet, said, read)
        else:
            read.lost.append(f"the sheet {sheet.name}: {len(sheet.rows)} rows")
    nodes = {name: None for one in read.messages for name in (one.talker, *one.listeners)}
    for one in read.messages:
        if any(name.lower() in cells.ALL for name in one.listeners):
            read.to_all.append(one.name)
            one.listeners = [name for name in nodes if name.lower() not in cells.ALL and name != one.talker]
    read.messages = [one for one in read.messages if one.listeners]
    if not read.messages:
        more = f"; {read.lost[0]}" if read.lost else ""
        raise ContentError(f"{book.file}: expected rows with messages, found none{more}")
    return read


def _sheet(file: str, sheet: Sheet, said: Columns, read: Read) -> None:
    where = f"{sheet.name} row" if sheet.name else "row"
    found = header_row(sheet, said)
    if found is None:
        wanted = ", ".join(sorted(said.wanted())[:12])
        name = f" of the sheet {sheet.name}" if sheet.name else ""
        raise ContentError(f"{file}: expected a header{name} with {wanted}, found none")
    header, places = found
    read.unused.update(dict.fromkeys(one for one in places if one and one not in said.wanted()))
    used = [place for one in said.wanted() for place in places[one]]
    before: list[Message] = []
    known: dict[tuple[str, str], list[Message]] = {}
    for number, cells_ in sheet.rows.items():
        row = _Row(f"{where} {number}", cells_, places, said, read.lost, used)
        if number <= header or row.empty:
            continue
        if before and _continues(row):
            _add_receivers(before, row, read)
            continue
        before = list(_new(row, number))
        for one in before:
            _merge(one, known, read)


def _continues(row: _Row) -> bool:
    """Whether a row belongs to the message above: it has receivers, and neither name, sender nor period."""
    told = any(not cells.is_empty(row.cell(key)) for key in ("name", "from", "period"))
    return not told and bool(row.receivers()) and row.said.has("name")


def _add_receivers(before: list[Message], row: _Row, read: Read) -> None:
    read.repeated += 1
    for one in before:
        one.listeners += [name for name in row.receivers() if name not in one.listeners]


def _merge(one: Message, known: dict[tuple[str, str], list[Message]], read: Read) -> None:
    """A message of one name and sender is one message, if its rows agree."""
    having = known.setdefault((one.name, one.talker), [])
    for other in having:
        if other.same(one):
            read.repeated += 1
            other.listeners += [name for name in one.listeners if name not in other.listeners]
            return
    if having:
        read.lost.append(f"{one.row}: {one.name} differs from {having[0].row}; both are written")
    having.append(one)
    read.messages.append(one)


def _new(row: _Row, number: int) -> Iterator[Message]:
    """The messages of a row: one for each sender; none if it cannot be a periodic message on Ethernet."""
    protocol = cells.plain(row.cell("protocol")).lower()
    if _OTHER_BUS.search(protocol):
        row.lose(f"a message of another bus: {protocol[:40]}")
        return
    comma = row.said.decimal == "comma" if row.said.decimal != "?" else None
    period = _value(row, "period", lambda cell: cells.time_ns(cell, row.said.units.get("period", ""), comma))
    key = "frame" if not cells.is_empty(row.cell("frame")) else "payload"
    octets = _value(row, key, lambda cell: cells.size_octets(cell, row.said.units.get(key, ""), comma))
    senders, receivers = row.senders(), row.receivers()
    if not senders or not receivers:
        row.lose("no sender" if not senders else "no receiver")
        return
    if period is None or octets is None:
        return
    whole_frame = key == "frame"
    if key == "payload" and _LAYER_2.search(protocol):
        octets, whole_frame = octets + TAGGED_HEADER, True
    if whole_frame and octets > LARGEST_FRAME:
        row.lose(f"a frame of {octets} B; at most {LARGEST_FRAME} B are possible")
        return
    octets = max(octets, SMALLEST_FRAME) if whole_frame else octets
    if "tcp" in protocol:
        row.lose("TCP; the message is written as a periodic one over UDP")
    deadline = _optional(
        row, "deadline", lambda cell: cells.time_ns(cell, row.said.units.get("deadline", ""), comma)
    )
    pcp = _optional(row, "pcp", lambda cell: cells.whole(cell, 0, 7))
    vlan = _optional(row, "vlan", lambda cell: cells.whole(cell, 1, 4094))
    for talker in senders:
        listeners = [one for one in receivers if one != talker]
        name = cells.plain(row.cell("name")) or f"{talker}-{number}"
        if not listeners:
            row.lose(f"{name}: its sender is its only receiver")
            continue
        yield Message(name, talker, listeners, row.where, period, octets, whole_frame, pcp, vlan, deadline)


def _value(row: _Row, key: str, read: _Reader[_Value]) -> _Value | None:
    """The value of a cell; a cell without it is listed."""
    cell = row.cell(key)
    try:
        return read(cell)
    except CellError as error:
        row.wrong(key, error, cell)
        return None


def _optional(row: _Row, key: str, read: _Reader[_Value]) -> _Value | None:
    """The value of a cell; None if it is empty, too."""
    return None if cells.is_empty(row.cell(key)) else _value(row, key, read)
