"""``printed.yml`` as types."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from paper_figures.expression import names
from paper_figures.number import PrintedNumber, number
from paper_figures.quantity import Quantities, Quantity, parse
from paper_figures.twins import Twin, twin

PAPERS = Path(__file__).parents[1]


class PrintedError(ValueError):
    """A file of printed numbers that says something else than it may."""


@dataclass(frozen=True)
class Entry:
    """One printed number or statement, and the expression that stands against it."""

    what: str
    where: str
    """Figure, table or section of the paper."""
    printed: str
    number: PrintedNumber | None
    """None for a condition, or a word such as ``YES*``."""
    expression: str
    """Over the figure's values: a number, or whether the statement holds."""
    values: dict[str, Quantities]
    tolerance: str = ""
    """Why ours may be farther away than the print's last digit says."""
    why: str = ""
    """Why ours differs; only where it does."""
    table: str = ""
    """The printed table that it is a number of; its ``why`` is the table's."""
    given: str = ""
    """The number went into the scenario: where it is used. Then nothing is compared."""
    twin: Twin | None = None
    """The twin that predicts this number, or else the one that is fitted to it."""

    @property
    def statement(self) -> bool:
        return self.number is None or self.number.is_bound

    @property
    def quantity(self) -> Quantity:
        """Of a number of a table."""
        return self.values["ours"].members[0]

    @property
    def quantities(self) -> set[Quantity]:
        """All that the entry needs, of the scenario and of the twin."""
        if self.given:
            return set()
        own = {one for several in self.values.values() for one in several.members}
        return own if self.twin is None else {*own, self.twin.quantity(self.quantity)}


@dataclass(frozen=True)
class Figure:
    """A row of the table: what belongs to one figure, table or section of a paper."""

    name: str
    what: str
    scenarios: tuple[str, ...]
    entries: tuple[Entry, ...]
    note: str = ""
    """Behind the verdict."""

    def quantities(self) -> set[Quantity]:
        return {one for entry in self.entries for one in entry.quantities}


@dataclass(frozen=True)
class Paper:
    folder: str
    heading: str
    title: str
    figures: tuple[Figure, ...]
    twins: tuple[Twin, ...] = ()
    experiments: tuple[Entry, ...] = ()
    """Each is a statement over runs that supports the reason (``why``) of numbers that differ."""

    def quantities(self) -> dict[str, list[Quantity]]:
        """By scenario file, everything that is compared."""
        found: dict[str, list[Quantity]] = {}
        compared = {q for figure in self.figures for q in figure.quantities()}
        for quantity in sorted(compared.union(*(one.quantities for one in self.experiments))):
            found.setdefault(quantity.file, []).append(quantity)
        return found


def papers() -> list[Paper]:
    """Every paper of which scenarios are shipped, by folder."""
    return [read(path) for path in sorted(PAPERS.glob("*/printed.yml"))]


@cache
def read(path: Path) -> Paper:
    """
    Raises:
        PrintedError: an unknown key, a missing one, or a text that cannot be read.
    """
    content = YAML(typ="base", pure=True).load(path.read_text(encoding="utf-8"))
    reader = _Keys(path.parent.name, content)
    reader.mapping("reasons")
    figures = tuple(
        _figure(_Keys(f"{path.parent.name}: {one.get('figure')}", one)) for one in reader.list("figures")
    )
    first = [twin(name, keys) for name, keys in reader.mapping("twins").items()]
    twins = (*first, *(own.across() for own in first if own.across_duration))
    paper = Paper(
        path.parent.name,
        reader.text("heading"),
        reader.text("paper"),
        tuple(
            replace(one, entries=tuple(_with_twin(entry, twins) for entry in one.entries)) for one in figures
        ),
        twins,
        tuple(
            _experiment(_Keys(f"{path.parent.name}: experiment", one)) for one in reader.list("experiments")
        ),
    )
    reader.done()
    return paper


def _with_twin(entry: Entry, twins: tuple[Twin, ...]) -> Entry:
    if not entry.table or entry.given or entry.statement:
        return entry
    rows = [(own, own.row(entry.table, entry.quantity)) for own in twins]
    found = [own for own, row in rows if row in own.predict] + [own for own, row in rows if row in own.fit]
    return replace(entry, twin=found[0] if found else None)


@dataclass
class _Keys:
    """A mapping of which every key has to be asked for."""

    where: str
    content: dict[str, Any]
    asked: set[str] = field(default_factory=set)

    def text(self, key: str, default: str | None = None) -> str:
        self.asked.add(key)
        found = self.content.get(key, default)
        if not isinstance(found, str):
            raise PrintedError(f"{self.where}: expected a text as {key}, found {found}")
        return found

    def list(self, key: str) -> list[Any]:
        self.asked.add(key)
        return list(self.content.get(key) or [])

    def mapping(self, key: str) -> dict[str, Any]:
        self.asked.add(key)
        return dict(self.content.get(key) or {})

    def done(self) -> None:
        if unknown := sorted(set(self.content) - self.asked):
            raise PrintedError(f"{self.where}: unknown {', '.join(unknown)}")


def _figure(keys: _Keys) -> Figure:
    values = {name: parse(text) for name, text in keys.mapping("values").items()}
    entries: list[Entry] = []
    for one in keys.list("numbers"):
        entries.append(_number(_Keys(f"{keys.where}: {one.get('what')}", one), values))
    for one in keys.list("tables"):
        entries += _table(_Keys(f"{keys.where}: table {one.get('where')}", one))
    for one in keys.list("statements"):
        entries.append(_statement(_Keys(f"{keys.where}: {one.get('says')}", one), values))
    if unused := set(values) - {name for entry in entries for name in entry.values}:
        raise PrintedError(f"{keys.where}: values that nothing uses: {', '.join(sorted(unused))}")
    figure = Figure(
        keys.text("figure"),
        keys.text("what"),
        tuple(keys.list("scenarios")),
        tuple(entries),
        keys.text("note", ""),
    )
    keys.done()
    return figure


def _number(keys: _Keys, values: dict[str, Quantities]) -> Entry:
    tolerance = keys.mapping("tolerance")
    printed = keys.text("printed")
    used, expression = _used(keys, "computed", values)
    entry = Entry(
        what=keys.text("what"),
        where=keys.text("where"),
        printed=printed,
        number=number(printed, tolerance.get("of")),
        expression=expression,
        values=used,
        tolerance=tolerance.get("because", ""),
        why=keys.text("why", ""),
        given=keys.text("given", ""),
    )
    if tolerance and not (tolerance.get("of") and tolerance.get("because")):
        raise PrintedError(f"{keys.where}: a tolerance has a size (of) and a reason (because)")
    keys.done()
    return entry


def _statement(keys: _Keys, values: dict[str, Quantities]) -> Entry:
    used, expression = _used(keys, "holds", values)
    entry = Entry(
        what=keys.text("says"),
        where=keys.text("where"),
        printed="",
        number=None,
        expression=expression,
        values=used,
        why=keys.text("why", ""),
    )
    keys.done()
    return entry


def _experiment(keys: _Keys) -> Entry:
    """What runs show of a reason: a statement over values of its own."""
    values = {name: parse(text) for name, text in keys.mapping("values").items()}
    used, expression = _used(keys, "holds", values)
    if unused := set(values) - set(used):
        raise PrintedError(f"{keys.where}: values that nothing uses: {', '.join(sorted(unused))}")
    shown = Entry(keys.text("shows"), "", "", None, expression, used, why=keys.text("why"))
    keys.done()
    return shown


def _table(keys: _Keys) -> list[Entry]:
    """Rows by ``<scenario>[<variant>] <whose>``, columns by path; ``-`` is compared with nothing."""
    unit, columns = keys.text("unit", ""), keys.list("columns")
    where, why, given = keys.text("where"), keys.text("why", ""), keys.text("given", "")
    what = keys.text("what", "")
    entries = []
    for row, numbers in keys.mapping("rows").items():
        if len(numbers) != len(columns):
            raise PrintedError(f"{keys.where}: {row}: expected {len(columns)} numbers, found {len(numbers)}")
        for column, printed in zip(columns, numbers, strict=True):
            if printed == "-":
                continue
            text = f"{printed} {unit}".strip()
            name = f"{row} {column}"
            quantity = {} if given else {"ours": parse(name)}
            label = f"{what}: {name}" if what else name
            entries.append(
                Entry(
                    label,
                    where,
                    text,
                    number(text),
                    "ours",
                    quantity,
                    why=why,
                    given=given,
                    table=what or where,
                )
            )
    keys.done()
    return entries


def _used(keys: _Keys, key: str, values: dict[str, Quantities]) -> tuple[dict[str, Quantities], str]:
    """The values that an expression is about; ``ours: <quantity>`` is the shortest one."""
    if "given" in keys.content:
        return {}, ""
    if "ours" in keys.content:
        return {"ours": parse(keys.text("ours"))}, keys.text(key, "ours")
    expression = keys.text(key)
    if unknown := names(expression) - set(values):
        raise PrintedError(f"{keys.where}: no values {', '.join(sorted(unknown))}")
    return {name: values[name] for name in sorted(names(expression))}, expression
