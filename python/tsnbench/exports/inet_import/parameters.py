"""The parameters of modules: for a path, the line of the ini file or of a NED file that sets it."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from tsnbench.errors import ContentError
from tsnbench.exports.inet_import.language.expressions import (
    Node,
    Quantity,
    Scope,
    Value,
    VaryingError,
    evaluate,
    parse,
    quantity,
    wrong,
)
from tsnbench.exports.inet_import.language.ini import Entry
from tsnbench.exports.inet_import.language.ned import Assigned
from tsnbench.exports.inet_import.language.patterns import Patterns

DEEPEST = 30
"""How many parameters a parameter may lead to."""


@dataclass(frozen=True)
class Setting:
    """The value of a parameter, and where it stands."""

    path: str
    node: Node
    text: str
    place: str
    entry: Entry | None


class Parameters:
    """Every parameter of a network, looked up by its path.

    As in OMNeT++, the first key that matches wins, a value in NED wins over the ini file, and the ini file
    over a default in NED.
    """

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.entries = list(entries)
        self._ini: Patterns[Entry] = Patterns()
        for one in self.entries:
            if "." not in one.key:
                continue
            try:
                self._ini.add(one.key, one)
            except ContentError as error:
                raise ContentError(f"{one.place}: {error}") from None
        self._ned: Patterns[tuple[Assigned, str]] = Patterns()
        self._parsed: dict[int, Node] = {}
        self._depth = 0

    def declare(self, prefix: str, assigned: Iterable[Assigned], file: str) -> None:
        """Values from NED for the modules below a path; those that are declared first win."""
        for one in assigned:
            self._ned.add(f"{prefix}.{one.pattern}", (one, file))

    def setting(self, path: str) -> Setting | None:
        """What sets a parameter; None if nothing does. All keys that match are taken, not only the first."""
        given = next(iter(self._ned.matching(path)), None)
        ini = self._ini.matching(path)
        for one in ini:
            one.used = True
        if ini and (given is None or given[0].is_default):
            one = ini[0]
            if one.value in ("default", "ask"):
                ini = []
            else:
                return Setting(path, self._node(one), one.value, one.place, one)
        if given is None:
            return None
        assigned, file = given
        return Setting(path, assigned.value, assigned.pattern, f"{file}:{assigned.line}", None)

    def _node(self, entry: Entry) -> Node:
        if id(entry) not in self._parsed:
            self._parsed[id(entry)] = parse(entry.value, entry.file, entry.line)
        return self._parsed[id(entry)]

    def name(self, module: str, name: str) -> Value:
        """The value of a name in an expression of a module.

        Raises:
            ValueError: there is no such parameter.
        """
        for word in ("this.", "parent."):
            if name.startswith(word):
                up = module.rpartition(".")[0] if word == "parent." else module
                return self.name(up, name.removeprefix(word))
        found = self.setting(f"{module}.{name}")
        if found is None or self._depth > DEEPEST:
            raise ValueError(f"the parameter {name}")
        self._depth += 1
        try:
            return evaluate(found.node, self.scope(found))
        finally:
            self._depth -= 1

    def scope(
        self, setting: Setting, now: Fraction | float | None = None, draw: random.Random | None = None
    ) -> Scope:
        """The names, and the time and random values if they are given, of a parameter's expression."""
        module = setting.path.rpartition(".")[0]
        return Scope(lambda name: self.name(module, name), now, draw)

    def value(self, setting: Setting) -> Value:
        """The one value of a parameter.

        Raises:
            ContentError: it has several, or cannot be evaluated; the message has the line.
        """
        try:
            return evaluate(setting.node, self.scope(setting))
        except VaryingError:
            raise self.wrong(setting, ValueError("it varies")) from None
        except ValueError as error:
            raise self.wrong(setting, error) from None

    def wrong(self, setting: Setting, error: Exception) -> Exception:
        """An error of a value with its line."""
        file, _, line = setting.place.rpartition(":")
        return wrong(file, int(line), setting.path.rpartition(".")[2], error, setting.text)

    def get(self, path: str, default: Value = None) -> Value:
        """The value of a parameter, or the default; for values that vary, too."""
        found = self.setting(path)
        if found is None:
            return default
        try:
            return evaluate(found.node, self.scope(found))
        except VaryingError:
            return default
        except ValueError as error:
            raise self.wrong(found, error) from None

    def number(self, path: str, unit: str) -> Fraction | None:
        """A parameter as a number of units; None if it is not set.

        Raises:
            ContentError: it is no such number.
        """
        found = self.setting(path)
        if found is None:
            return None
        try:
            return quantity(self.value(found)).to(unit)
        except ValueError as error:
            raise self.wrong(found, error) from None

    def whole(self, path: str, default: int) -> int:
        """A parameter as a whole number without a unit."""
        found = self.number(path, "")
        return default if found is None else int(found)

    def text(self, path: str, default: str = "") -> str:
        """A parameter as a text."""
        found = self.get(path)
        return found if isinstance(found, str) else default

    def flag(self, path: str, default: bool = False) -> bool:
        """A parameter that is true or false."""
        found = self.get(path)
        return found if isinstance(found, bool) else default

    def rows(self, path: str) -> list[dict[str, Value]]:
        """A parameter that is a list of mappings."""
        found = self.get(path)
        return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []

    def quantities(self, path: str, unit: str) -> list[Fraction]:
        """A parameter that is a list of numbers with a unit."""
        setting = self.setting(path)
        found = self.get(path)
        if setting is None or not isinstance(found, list):
            return []
        try:
            return [quantity(one).to(unit) for one in found]
        except ValueError as error:
            raise self.wrong(setting, error) from None


def of_row(row: dict[str, Value], key: str, unit: str = "") -> Fraction | None:
    """A number of a mapping; None if it is missing or no such number."""
    value = row.get(key)
    try:
        return value.to(unit) if isinstance(value, Quantity) else None
    except ValueError:
        return None
