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

_OTHER_BUS = re.compile(r"(?<![a-z])(can|canfd|canxl|lin|flexray|most|i2c|spi)(?![a-z])")
_LAYER_2 = re.compile(r"(?<![a-z])(avtp|layer ?2|l2|raw|goose|profinet|ethercat|gptp|ptp)(?![a-z])|1722")
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
        found = self.written(key)
        instead = self.said.defaults.get(key)
        if instead is not None and (cells.is_empty(found) or not re.search(r"\d", cells.plain(found))):
            return instead
        return found

    def written(self, key: str) -> Cell:
        return self.at(self.places[self.said.columns[key][0]][0]) if self.said.has(key) else ""

    def at(self, place: int) -> Cell:
        return self.row[place] if place < len(self.row) else ""

    def lose(self, what: str) -> None:
        self.lost.append(f"{self.where}: {what}")

    def wrong(self, key: str, error: CellError, cell: Cell) -> None:
        found = cells.plain(cell)[:60] or "nothing"
        self.lose(f"{key}: expected {error}, found {found}")

    def senders(self) -> list[str]:
        if not self.said.nodes:
            return cells.nodes(self.cell("from"))
        return list(self._signed(cells.SENDS))

    def receivers(self) -> list[str]:
        if self.said.nodes:
            return list(self._signed(cells.RECEIVES))
        return list(dict.fromkeys(name for one in self._receiving() for name in cells.nodes(one)))

    def has_open_receiver(self) -> bool:
        return not self.said.nodes and any(map(cells.is_open, self._receiving()))

    def _receiving(self) -> list[Cell]:
        places = dict.fromkeys(place for one in self.said.columns["to"] for place in self.places[one])
        return [self.at(place) for place in places]

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
    names = [one.name for one in book.sheets]
    if missing := [one for one in said.sheets if one not in names]:
        raise ContentError(f"{book.file}: expected the sheet {missing[0]}, found {', '.join(names[:8])}")
    read = Read(book.file)
    known: dict[tuple[object, ...], Message] = {}
    for sheet in book.sheets:
        if not said.sheets or sheet.name in said.sheets:
            _sheet(book.file, sheet, said, read, known)
        else:
            hidden = ", which is hidden" if sheet.hidden else ""
            read.lost.append(f"the sheet {sheet.name}{hidden}: {len(sheet.rows)} rows")
    _resolve_all(read)
    if not read.messages:
        more = f"; {read.lost[0]}" if read.lost else ""
        raise ContentError(f"{book.file}: expected rows with messages, found none{more}")
    return read


def _resolve_all(read: Read) -> None:
    """Gives messages for all nodes every node of the list as a listener."""
    names = (name for one in read.messages for name in (one.talker, *one.listeners))
    nodes = [name for name in dict.fromkeys(names) if name.lower() not in cells.ALL]
    for one in read.messages:
        wide = [name for name in one.listeners if name.lower() in cells.ALL]
        if wide:
            read.to_all.append(one.name)
            read.extend(one, nodes)
        for name in wide:
            del one.listeners[name]
    alone = [one for one in read.messages if not one.listeners]
    read.lost += [f"{one.row}: {one.name}: it is for all, and the list has no other node" for one in alone]
    read.messages = [one for one in read.messages if one.listeners]


def _sheet(
    file: str, sheet: Sheet, said: Columns, read: Read, known: dict[tuple[object, ...], Message]
) -> None:
    """Reads the rows of a sheet; the messages of the sheets before are known."""
    where = f"{sheet.name} row" if sheet.name else "row"
    found = header_row(sheet, said)
    if found is None:
        wanted = ", ".join(sorted(said.wanted())[:12])
        name = f" of the sheet {sheet.name}" if sheet.name else ""
        raise ContentError(f"{file}: expected a header{name} with {wanted}, found none")
    header, places = found
    read.unused.update(dict.fromkeys(one for one in places if one and one not in said.wanted()))
    used = [place for one in said.wanted() for place in places[one]]
    single = [said.columns[key][0] for key in said.columns if said.has(key) and key != "to"]
    read.unused.update((f"a further {one}", None) for one in single if len(places[one]) > 1)
    before: list[Message] = []
    for number, cells_ in sheet.rows.items():
        row = _Row(f"{where} {number}", cells_, places, said, read.lost, used)
        if number <= header or row.empty:
            continue
        if row.has_open_receiver():
            row.lose("a receiver that is not known yet")
        if before and _continues(row, before[0].name):
            _add_receivers(before, row, read)
            continue
        before = [_merge(one, known, read) for one in _new(row, number)]


def _continues(row: _Row, above: str) -> bool:
    """Whether a row belongs to the message above: it has receivers, no other name, sender nor period."""
    told = any(not cells.is_empty(row.written(key)) for key in ("from", "period"))
    name = row.written("name")
    return (
        not told
        and (cells.is_empty(name) or cells.plain(name) == above)
        and bool(row.receivers())
        and row.said.has("name")
    )


def _add_receivers(before: list[Message], row: _Row, read: Read) -> None:
    read.repeated += 1
    for one in before:
        read.extend(one, row.receivers())


def _merge(one: Message, known: dict[tuple[object, ...], Message], read: Read) -> Message:
    """The message that rows with the same values are, with the listeners of all of them."""
    if (other := known.get(one.key)) is not None:
        read.repeated += 1
        read.extend(other, one.listeners)
        return other
    first = known.setdefault((one.name, one.talker), one)
    if first is not one:
        read.lost.append(f"{one.row}: {one.name} differs from {first.row}; both are written")
    known[one.key] = one
    read.add(one)
    return one


def _new(row: _Row, number: int) -> Iterator[Message]:
    """The messages of a row: one for each sender; none if it cannot be a periodic message on Ethernet."""
    protocol = cells.plain(row.cell("protocol")).lower()
    if _OTHER_BUS.search(protocol):
        row.lose(f"a message of another bus: {protocol[:40]}")
        return
    comma = {"comma": True, "point": False}.get(row.said.decimal)
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
    if key == "frame" and octets < SMALLEST_FRAME:
        row.lose(f"a frame of {octets} B is sent as one of {SMALLEST_FRAME} B")
    octets = max(octets, SMALLEST_FRAME) if whole_frame else octets
    if "tcp" in protocol:
        row.lose("TCP; the message is written as a periodic one over UDP")
    deadline = _optional(
        row, "deadline", lambda cell: cells.time_ns(cell, row.said.units.get("deadline", ""), comma)
    )
    pcp = _optional(row, "pcp", lambda cell: cells.whole(cell, 0, 7))
    vlan = _optional(row, "vlan", lambda cell: cells.whole(cell, 1, 4094))
    for talker in senders:
        listeners = dict.fromkeys(one for one in receivers if one != talker)
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
