"""Values that are one text in the file: each kind reads its text and gives its JSON Schema."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from collections.abc import Mapping as Map
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, Protocol

from tsnbench.scenario.text.reading import BAD, NAME, Bad, Named, Reading, meant
from tsnbench.scenario.text.tree import Scalar, Sequence, Value, describe, shown
from tsnbench.scenario.units import Dimension, Schema, UnitError

PARAMETER: Schema = {"type": "string", "pattern": r"\$\{"}
OBJECT: Schema = {"type": ["object", "string"], "pattern": r"\$\{"}
"""A mapping, or the parameter that stands for one."""


class Kind(Protocol):
    """Reads one value, or reports a mistake and returns :data:`BAD`."""

    @property
    def expected(self) -> str: ...

    def read(self, reading: Reading, value: Value, path: str) -> Any: ...

    def schema(self) -> Schema: ...


def sweepable(one: Schema) -> Schema:
    """The schema of a value where a list makes a sweep."""
    item = {"anyOf": [one, {"type": "string", "pattern": r"^\.\.\. |\$\{"}]}
    return {"anyOf": [one, PARAMETER, {"type": "array", "items": item, "minItems": 1}]}


class OneText:
    """A value that is one text."""

    @property
    def expected(self) -> str:
        raise NotImplementedError

    def of(self, text: str) -> Any:
        """The meaning of the text.

        Raises:
            UnitError: the text has no meaning here.
        """
        raise NotImplementedError

    def read(self, reading: Reading, value: Value, path: str) -> Any:
        text = reading.plain(value)
        if text is None:
            scalar = reading.scalar(value, path, self.expected)
            if isinstance(scalar, Bad):
                return BAD
            value, text = scalar, scalar.text.strip()
        try:
            return self.of(text)
        except UnitError as error:
            hint = _parameter(reading, text) or _as_beside(reading, path, text) or error.hint
            if isinstance(value, Scalar) and value.plain and text in ("null", "~", "None"):
                hint = f"write a value, or leave {path.rsplit('.', 1)[-1]} out"
            return reading.problem(value.place, path, error.expected, shown(text), hint)


def _parameter(reading: Reading, text: str) -> str:
    """A hint for a parameter without braces, as shells write it; empty for other texts."""
    named = re.fullmatch(r"\$([A-Za-z][A-Za-z0-9_.+-]*)", text)
    if named is None:
        return ""
    return f"write ${{{named[1]}}}" + (
        "" if named[1] in reading.parameters else f", and {named[1]} under parameters:"
    )


def _as_beside(reading: Reading, path: str, text: str) -> str:
    """A hint for a bare number in a list whose other values have a unit; empty for other texts."""
    if path not in reading.axes or not re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", text):
        return ""
    units = (re.fullmatch(r"-?[0-9.]+\s*([^0-9.\s]+)", one) for one in reading.axes[path].texts)
    return next((f"write {text} {found[1]}" for found in units if found), "")


@dataclass(frozen=True)
class Average(OneText):
    """A number with a unit that need not be whole, as a fraction of the dimension's base unit."""

    dimension: Dimension

    @property
    def expected(self) -> str:
        return self.dimension.expected

    def of(self, text: str) -> Any:
        number, unit = self.dimension.read(text)
        return number * self.dimension.units[unit]

    def schema(self) -> Schema:
        return sweepable(self.dimension.schema())


@dataclass(frozen=True)
class Quantity(Average):
    """A number with a unit, as an integer in the dimension's base unit."""

    least: int = 0
    most: int = 1 << 62
    zero: bool = False
    """Whether a bare 0 needs no unit."""
    usual: str = ""
    """The unit that hints name, where it is not the dimension's usual one."""
    below: str = ""
    """A hint for a value below the least one."""

    def of(self, text: str) -> int:
        if self.zero and text == "0":
            return 0
        if self.zero and text.lower() in ("no", "none", "zero", "false", "never"):
            raise UnitError(self.expected, "write 0")
        number = self.dimension.parse(text, self.usual)
        if not self.least <= number <= self.most:
            raise UnitError(
                f"{self.dimension.article} {self.range}", self.below if number < self.least else ""
            )
        return number

    @property
    def range(self) -> str:
        name, least = self.dimension.name, self.dimension.text(self.least)
        if self.most == 1 << 62:
            return f"{name} of at least {least}"
        return f"{name} from {least} to {self.dimension.text(self.most)}"

    def schema(self) -> Schema:
        one = self.dimension.schema()
        return sweepable({"anyOf": [one, {"const": 0}]} if self.zero else one)


@dataclass(frozen=True)
class OrAny(Quantity):
    """A quantity, or ``any``, which is None."""

    @property
    def expected(self) -> str:
        return f"{self.dimension.expected}, or any"

    @property
    def range(self) -> str:
        return f"{super().range}; or any"

    def of(self, text: str) -> int | None:  # type: ignore[override]
        return None if text == "any" else super().of(text)

    def schema(self) -> Schema:
        return {"anyOf": [{"const": "any"}, super().schema()]}


@dataclass(frozen=True)
class Signed(Average):
    """A number with a unit that may be negative, as an integer in the dimension's base unit."""

    most: int

    def of(self, text: str) -> int:
        sign = -1 if text.startswith("-") else 1
        number = sign * self.dimension.parse(text.removeprefix("-" if sign < 0 else "+"))
        if abs(number) > self.most:
            most = self.dimension.text(self.most)
            raise UnitError(f"{self.dimension.article} {self.dimension.name} from -{most} to {most}")
        return number

    def schema(self) -> Schema:
        one = self.dimension.schema()
        return sweepable({**one, "pattern": one["pattern"].replace(r"^\s*", r"^\s*[+-]?", 1)})


@dataclass(frozen=True)
class Negative(Average):
    """A number with a unit and a minus sign, as an integer in the dimension's base unit."""

    most: int
    zero: bool = False
    """Whether 0 is one, too."""
    usual: str = ""
    """The unit that hints name, where it is not the dimension's usual one."""

    @property
    def expected(self) -> str:
        return f"{self.dimension.article} negative {self.dimension.name} with a unit"

    def of(self, text: str) -> int:
        signed = text.startswith("-")
        try:
            number = self.dimension.parse(text.removeprefix("-").lstrip(), self.usual)
        except UnitError as error:
            hint = re.sub("write (?=[0-9])", "write -", error.hint) if signed else error.hint
            raise UnitError(self.expected, hint) from None
        if number == 0 and self.zero:
            return 0
        if number == 0 or not signed:
            raise UnitError(self.expected, f"write -{text.removeprefix('+')}" if number else "")
        if number > self.most:
            range_ = f"from -{self.dimension.text(self.most)} to 0"
            raise UnitError(f"{self.dimension.article} {self.dimension.name} {range_}")
        return -number

    def schema(self) -> Schema:
        one = self.dimension.schema()
        pattern = one["pattern"].replace(r"^\s*", r"^\s*-?\s*" if self.zero else r"^\s*-\s*", 1)
        examples = [f"-{example}" for example in one["examples"]]
        return sweepable({**one, "pattern": pattern, "description": self.expected, "examples": examples})


@dataclass(frozen=True)
class OrPlan(OneText):
    """The quantity, or ``planned`` if the text is ``plan``, or another ``word``."""

    quantity: Quantity
    planned: int | str | None = None
    word: str = "plan"

    @property
    def expected(self) -> str:
        return f"{self.quantity.expected}, or {self.word}"

    def of(self, text: str) -> int | str | None:
        return self.planned if text == self.word else self.quantity.of(text)

    def schema(self) -> Schema:
        return {"anyOf": [self.quantity.schema(), {"const": self.word}]}


def decimal(text: str) -> int:
    """The value of a hexadecimal or binary number as programs write it; 0 for other texts."""
    return int(text, 0) if re.fullmatch("0x[0-9a-fA-F]{1,12}|0b[01]{1,40}", text) else 0


@dataclass(frozen=True)
class Count(OneText):
    """A whole number without a unit."""

    least: int
    most: int
    what: str = "a whole number"

    @property
    def expected(self) -> str:
        return f"{self.what} from {self.least} to {self.most}"

    def of(self, text: str) -> int:
        if not re.fullmatch(r"-?[0-9]{1,18}", text) or not self.least <= int(text) <= self.most:
            raise UnitError(self.expected, self._decimal(text))
        return int(text)

    def _decimal(self, text: str) -> str:
        """A hint for digits with a leading zero, which may be decimal or bits, and for a number behind a
        word, with decimals, or hexadecimal; empty for other texts."""
        if (named := re.fullmatch(r"[A-Za-z]+[ -]?([0-9]{1,17})", text)) and (
            self.least <= int(named[1]) <= self.most
        ):
            return f"write {named[1]}"
        if (whole := re.fullmatch(r"([0-9]{1,17})\.0+", text)) and self.least <= int(whole[1]) <= self.most:
            return f"write {whole[1]}"
        if hexadecimal := decimal(text):
            return f"write {hexadecimal}" if self.least <= hexadecimal <= self.most else ""
        if not re.fullmatch("0[0-9]{1,17}", text):
            return ""
        if self.least <= int(text) <= self.most:
            return f"write {int(text)}"
        bits = int(text, 2) if set(text) <= set("01") else -1
        return f"write {bits}, if these digits are bits" if self.least <= bits <= self.most else ""

    def schema(self) -> Schema:
        return sweepable({"type": "integer", "minimum": self.least, "maximum": self.most})


@dataclass(frozen=True)
class Thousandths(OneText):
    """A number with at most three decimals, in thousandths."""

    least: int
    most: int

    @property
    def expected(self) -> str:
        return f"a number from {self.least / 1000:g} to {self.most / 1000:g} with at most three decimals"

    def of(self, text: str) -> int:
        number = Fraction(text) * 1000 if re.fullmatch(r"-?[0-9]{1,6}(\.[0-9]{1,3})?", text) else None
        if number is None or not self.least <= number <= self.most:
            raise UnitError(self.expected)
        return int(number)

    def schema(self) -> Schema:
        return sweepable({"type": "number", "minimum": self.least / 1000, "maximum": self.most / 1000})


@dataclass(frozen=True)
class Choice(OneText):
    """One of a few words; ``true`` and ``false`` are words too."""

    words: Map[str, Any]
    what: str
    common_mistakes: Map[str, str] = field(default_factory=dict)
    """Words that people write by mistake, with the intended words."""

    @property
    def expected(self) -> str:
        listed = list(self.words)
        what = f"{self.what}: " if self.what else ""
        return f"{what}{', '.join(listed[:-1])} or {listed[-1]}" if len(listed) > 1 else listed[0]

    def of(self, text: str) -> Any:
        if text in self.words:
            return self.words[text]
        if text in self.common_mistakes:
            raise UnitError(self.expected, f"write {self.common_mistakes[text]}")
        hint = meant(text, self.words)
        raise UnitError(self.expected, "" if hint.startswith("known") else hint)

    def schema(self) -> Schema:
        return sweepable({"enum": [value for word in self.words for value in _in_yaml(word)]})


def _in_yaml(word: str) -> list[Any]:
    """What an editor's YAML reader makes of a word."""
    if word == "null":
        return [None, word]
    return [int(word) if word.isdecimal() else {"true": True, "false": False}.get(word, word)]


_SLIPS = {"yes": "true", "on": "true", "True": "true", "no": "false", "off": "false", "False": "false"}
YES_NO = Choice({"true": True, "false": False}, "", _SLIPS)


OF = "x-of"
"""In schemas, for editors of our own: what a text names, ``node`` or ``port``."""


@dataclass(frozen=True)
class Text:
    """A text that remembers its place. ``named``: it must be a name; ``swept``: a list makes a sweep.

    ``number``: an editor need not ask for quotation marks around a number.
    """

    what: str
    named: bool = False
    swept: bool = True
    pattern: str = ""
    number: bool = False
    listed: bool = False
    """Whether a list may be written here: names in sequence."""
    of: str = ""
    """``node``, ``port`` or ``stream``: it is the name of one."""

    @property
    def expected(self) -> str:
        return self.what

    def read(self, reading: Reading, value: Value, path: str) -> Named | Bad:
        if not self.swept and isinstance(value, Sequence):
            return reading.problem(value.place, path, self.expected, describe(value))
        text = reading.plain(value)
        if text is None:
            scalar = reading.scalar(value, path, self.expected)
            if isinstance(scalar, Bad):
                return BAD
            value, text = scalar, scalar.text.strip()
        if self.named and not NAME.fullmatch(text):
            hint = (in_a_row(text) if self.listed else "") or name_hint(text)
            if self.listed and text.isdecimal():
                hint = "write the names: [node1, node2]"
            return reading.problem(value.place, path, self.expected, describe(value), hint)
        return Named.at(text, value.place, path, self.of)

    def schema(self) -> Schema:
        one: Schema = {"type": ["string", "number"] if self.number else "string", "description": self.what}
        if self.named:
            one["pattern"] = rf"^({NAME.pattern})$|\$\{{"
        elif self.pattern:
            one["pattern"] = rf"({self.pattern})|\$\{{"
        if self.of:
            one[OF] = self.of
        return sweepable(one) if self.swept else one


@dataclass(frozen=True)
class Parsed(Text):
    """A text with a grammar of its own: ``parse`` makes the value, or raises ValueError with a hint."""

    parse: Callable[[str], Any] = str

    def read(self, reading: Reading, value: Value, path: str) -> Any:
        text = super().read(reading, value, path)
        if isinstance(text, Bad):
            return BAD
        try:
            return self.parse(text)
        except ValueError as error:
            return reading.problem(text.place, text.path, self.expected, str(text), str(error))


@dataclass(frozen=True)
class FileBeside(Text):
    """A file with one of these endings, as a path that is valid in any working directory."""

    endings: tuple[str, ...] = ()

    def read(self, reading: Reading, value: Value, path: str) -> Any:
        name = super().read(reading, value, path)
        if isinstance(name, Bad):
            return BAD
        if Path(name).suffix.lower() not in self.endings:
            both = len(self.endings) == 2
            expected = f"a file that ends in {(' or ' if both else ', ').join(self.endings)}"
            return reading.problem(name.place, name.path, expected, str(name))
        return str(Path(reading.file).parent / name)


def in_a_row(text: str) -> str:
    """A hint for names in a row without brackets around them; empty for other texts."""
    names = [name for name in re.split(r"[\s,;]+", text.strip()) if name]
    return f"write [{', '.join(names)}]" if len(names) > 1 and all(map(NAME.fullmatch, names)) else ""


NAME_RULE = "a name starts with a letter; then letters, digits and _ . + - follow, 64 at most"


def name_hint(text: str) -> str:
    """A hint for a text that is no name: the nearest name, and the rule."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    near = re.sub(r"[^A-Za-z0-9_.+-]+", "-", plain).strip("-")[:63]
    near = near if near[:1].isalpha() else f"n{near}"
    return f"write {near}: {NAME_RULE}" if len(near) > 1 else NAME_RULE
