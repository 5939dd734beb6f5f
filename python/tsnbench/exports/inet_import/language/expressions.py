"""Expressions of NED: constants with units, names of parameters, functions, lists and mappings.

An expression of the simulation's time, or with random values, has no single value: it is evaluated for each
use, with a time and a generator of random values.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from tsnbench.errors import ContentError
from tsnbench.exports.inet_import.language.tokens import Reader

DEEPEST = 40
"""Levels of brackets in an expression."""
MOST_TERMS = 100
"""Terms of a sum, and so on: an expression is evaluated from the outside to the inside."""
MOST_DRAWS = 1000
"""Values of a distribution without negative values that are drawn for one that is not negative."""
UNITS: dict[str, tuple[str, Fraction]] = {
    "s": ("s", Fraction(1)), "ms": ("s", Fraction(1, 10**3)), "us": ("s", Fraction(1, 10**6)),
    "ns": ("s", Fraction(1, 10**9)), "ps": ("s", Fraction(1, 10**12)), "fs": ("s", Fraction(1, 10**15)),
    "min": ("s", Fraction(60)), "h": ("s", Fraction(3600)),
    "b": ("b", Fraction(1)), "B": ("b", Fraction(8)),
    "kb": ("b", Fraction(1000)), "Mb": ("b", Fraction(10**6)), "Gb": ("b", Fraction(10**9)),
    "kB": ("b", Fraction(8000)), "MB": ("b", Fraction(8 * 10**6)), "GB": ("b", Fraction(8 * 10**9)),
    "KiB": ("b", Fraction(8 << 10)), "MiB": ("b", Fraction(8 << 20)),
    "bps": ("bps", Fraction(1)), "kbps": ("bps", Fraction(1000)), "Mbps": ("bps", Fraction(10**6)),
    "Gbps": ("bps", Fraction(10**9)), "Tbps": ("bps", Fraction(10**12)),
    "m": ("m", Fraction(1)), "mm": ("m", Fraction(1, 1000)), "cm": ("m", Fraction(1, 100)),
    "km": ("m", Fraction(1000)), "ppm": ("ppm", Fraction(1)), "ppb": ("ppm", Fraction(1, 1000)),
    "Hz": ("Hz", Fraction(1)), "kHz": ("Hz", Fraction(1000)), "MHz": ("Hz", Fraction(10**6)),
    "pk": ("pk", Fraction(1)), "mps": ("mps", Fraction(1)), "deg": ("deg", Fraction(1)),
    "W": ("W", Fraction(1)), "mW": ("W", Fraction(1, 1000)), "J": ("J", Fraction(1)), "V": ("V", Fraction(1)),
}  # fmt: skip
"""Each unit: its dimension, and how many of the dimension's smallest unit it is."""


class Quantity(NamedTuple):
    """A number with its unit, as it is written; exact as long as no function rounds it."""

    value: Fraction | float
    unit: str = ""

    def to(self, unit: str) -> Fraction:
        """The number in another unit of the same dimension.

        Raises:
            ValueError: the dimensions differ, or the number is not finite.
        """
        if isinstance(self.value, float) and not math.isfinite(self.value):
            raise ValueError(f"{self.value}")
        value = Fraction(self.value)
        if self.unit == unit:
            return value
        if self.unit not in UNITS or unit not in UNITS or UNITS[self.unit][0] != UNITS[unit][0]:
            raise ValueError(f"{self.unit or 'a number without a unit'}")
        return value * UNITS[self.unit][1] / UNITS[unit][1]

    def real(self, unit: str) -> float:
        """The number in another unit, rounded as OMNeT++ does; errors as :meth:`to`."""
        if self.unit == unit:
            return float(self.value)
        if self.unit not in UNITS or unit not in UNITS or UNITS[self.unit][0] != UNITS[unit][0]:
            raise ValueError(f"{self.unit or 'a number without a unit'}")
        return float(self.value) * float(UNITS[self.unit][1] / UNITS[unit][1])

    @property
    def text(self) -> str:
        """As people read it."""
        number = self.value
        if math.isfinite(number) and number == int(number):
            return f"{int(number)}{self.unit}"
        return f"{float(number):.12g}{self.unit}"


_ZERO = Quantity(Fraction(0))


class Filter(NamedTuple):
    """``expr(…)``: an expression about packets."""

    node: Node


class Xml(NamedTuple):
    """``xml(…)``: a document."""

    text: str


Value: TypeAlias = "bool | str | Quantity | Filter | Xml | list[Value] | dict[str, Value] | None"


@dataclass(frozen=True)
class Node:
    """A part of an expression: ``kind`` says what ``text`` and ``parts`` are."""

    kind: str
    text: str = ""
    parts: tuple[Node, ...] = ()
    number: Quantity = _ZERO


class VaryingError(Exception):
    """The expression depends on the simulation's time or on random values: it has no single value."""


@dataclass
class Scope:
    """What the names in an expression are, and its time and random values, if there are any."""

    name: Callable[[str], Value]
    now: Fraction | float | None = None
    random: random.Random | None = None


_LEVELS: tuple[tuple[str, ...], ...] = (
    ("||",), ("&&",), ("==", "!=", "<", ">", "<=", ">=", "=~"), ("+", "-"), ("*", "/", "%"),
)  # fmt: skip


def parse(text: str, file: str, line: int) -> Node:
    """An expression from its text.

    Raises:
        ContentError: it is none, or has more than :data:`DEEPEST` levels.
    """
    reader = Reader(text, file, line)
    found = expression(reader)
    if reader.now.kind != "end":
        raise reader.wrong("the end of the value")
    return found


def expression(reader: Reader) -> Node:
    """An expression from the next tokens."""
    reader.depth += 1
    if reader.depth > DEEPEST:
        raise reader.wrong(f"at most {DEEPEST} levels of brackets")
    found = _level(reader, 0)
    if reader.skip("?"):
        yes = expression(reader)
        reader.need(":")
        found = Node("if", "", (found, yes, expression(reader)))
    reader.depth -= 1
    return found


def operand(reader: Reader) -> Node:
    """An expression without comparisons, for places where `>` ends it."""
    return _level(reader, _LEVELS.index(("+", "-")))


def _level(reader: Reader, level: int) -> Node:
    if level == len(_LEVELS):
        return _unary(reader)
    found = _level(reader, level + 1)
    terms = 1
    while reader.sees(*_LEVELS[level]):
        sign = reader.take().text
        terms += 1
        if terms > MOST_TERMS:
            raise reader.wrong(f"at most {MOST_TERMS} terms")
        found = Node("sign", sign, (found, _level(reader, level + 1)))
    return found


def _unary(reader: Reader) -> Node:
    signs = []
    while reader.sees("-", "+", "!", "~"):
        signs.append(reader.take().text)
    found = _power(reader)
    for sign in reversed(signs):
        found = Node("unary", sign, (found,))
    return found


def _power(reader: Reader) -> Node:
    found = _term(reader)
    if reader.skip("^"):
        found = Node("sign", "^", (found, _term(reader)))
    return found


def _term(reader: Reader) -> Node:
    token = reader.now
    if token.kind == "number":
        return _number(reader)
    if token.kind == "text":
        return Node("text", _unquoted(reader.take().text))
    if reader.skip("("):
        found = expression(reader)
        reader.need(")")
        return found
    if reader.skip("["):
        return Node("list", "", _several(reader, "]"))
    if reader.skip("{"):
        return _mapping(reader)
    if token.kind == "word":
        return _name(reader)
    raise reader.wrong("a value")


def _number(reader: Reader) -> Node:
    found = _quantity(reader)
    # Several parts make one quantity: 1ms 500us.
    while found.unit and reader.now.kind == "number":
        more = _quantity(reader)
        try:
            found = Quantity(found.to(found.unit) + more.to(found.unit), found.unit)
        except ValueError:
            raise reader.wrong("parts of one dimension") from None
    return Node("number", "", (), found)


def _quantity(reader: Reader) -> Quantity:
    token = reader.take()
    value = Fraction(int(token.text, 16)) if token.text[:2] in ("0x", "0X") else _decimal(reader, token.text)
    # A unit may stand behind a blank, too: `100 Mbps`.
    unit = reader.take().text if reader.now.kind == "word" and reader.now.text in UNITS else ""
    return Quantity(value, unit)


def _decimal(reader: Reader, text: str) -> Fraction:
    exponent = text.lower().partition("e")[2]
    if len(text) > 60 or (exponent and abs(int(exponent)) > 40):
        raise reader.wrong("a number of at most 60 digits")
    return Fraction(text)


def _several(reader: Reader, end: str) -> tuple[Node, ...]:
    found = []
    while not reader.skip(end):
        found.append(expression(reader))
        if not reader.sees(end):
            reader.need(",")
    return tuple(found)


def _mapping(reader: Reader) -> Node:
    found = []
    while not reader.skip("}"):
        token = reader.take()
        if token.kind not in ("word", "text", "number"):
            raise reader.wrong("a key")
        key = _unquoted(token.text) if token.kind == "text" else token.text
        reader.need(":")
        found.append(Node("key", key, (expression(reader),)))
        if not reader.sees("}"):
            reader.need(",")
    return Node("map", "", tuple(found))


def _name(reader: Reader) -> Node:
    name = reader.take().text
    if name in ("true", "false", "null", "nullptr", "undefined"):
        return Node("constant", name)
    if name in ("inf", "nan"):
        unit = reader.take().text if reader.now.kind == "word" and reader.now.text in UNITS else ""
        return Node("number", "", (), Quantity(float(name), unit))
    if reader.skip("("):
        if name == "expr":
            made = expression(reader)
            reader.need(")")
            return Node("filter", "", (made,))
        return Node("call", name, _several(reader, ")"))
    while reader.sees(".", "["):
        if reader.skip("["):
            index = _term(reader)
            reader.need("]")
            name += f"[{index.number.text if index.kind == 'number' else index.text}]"
        else:
            reader.take()
            name += f".{reader.word('a name').text}"
            if reader.sees("("):
                raise reader.wrong("a function that tsnbench knows")
    return Node("name", name)


def _unquoted(text: str) -> str:
    if "\\" not in text:
        return text[1:-1]
    plain = {"n": "\n", "t": "\t", "\n": ""}
    out, at = [], 1
    while at < len(text) - 1:
        if text[at] == "\\":
            at += 1
            out.append(plain.get(text[at], text[at]))
        else:
            out.append(text[at])
        at += 1
    return "".join(out)


def evaluate(node: Node, scope: Scope) -> Value:
    """The value of an expression.

    Raises:
        VaryingError: it depends on the time or on random values, and the scope has none.
        ValueError: a function, a name, a unit or a number that does not fit; the text says which.
    """
    try:
        return _evaluated(node, scope)
    except ArithmeticError as error:
        raise ValueError(str(error)) from None


def _evaluated(node: Node, scope: Scope) -> Value:
    if node.kind == "number":
        return node.number
    if node.kind == "text":
        return node.text
    if node.kind == "constant":
        return {"true": True, "false": False}.get(node.text)
    if node.kind == "name":
        return scope.name(node.text)
    if node.kind == "filter":
        return Filter(node.parts[0])
    if node.kind == "list":
        return [_evaluated(part, scope) for part in node.parts]
    if node.kind == "map":
        return {part.text: _evaluated(part.parts[0], scope) for part in node.parts}
    if node.kind == "if":
        chosen = node.parts[1] if _truth(_evaluated(node.parts[0], scope)) else node.parts[2]
        return _evaluated(chosen, scope)
    if node.kind == "call":
        return _call(node, scope)
    if node.kind == "unary":
        value = _evaluated(node.parts[0], scope)
        if node.text == "!":
            return not _truth(value)
        number = quantity(value)
        return Quantity(-number.value, number.unit) if node.text == "-" else number
    return _binary(node, scope)


def quantity(value: Value) -> Quantity:
    """The value as a number.

    Raises:
        ValueError: it is none.
    """
    if isinstance(value, Quantity):
        return value
    raise ValueError(f"{value!r}"[:60])


def _truth(value: Value) -> bool:
    if isinstance(value, bool):
        return value
    raise ValueError(f"{value!r}"[:60])


def _binary(node: Node, scope: Scope) -> Value:
    sign = node.text
    left = _evaluated(node.parts[0], scope)
    if sign in ("&&", "||"):
        if _truth(left) == (sign == "||"):
            return left
        return _truth(_evaluated(node.parts[1], scope))
    right = _evaluated(node.parts[1], scope)
    if isinstance(left, str) and isinstance(right, str):
        return _texts(sign, left, right)
    if sign in ("==", "!=") and not (isinstance(left, Quantity) and isinstance(right, Quantity)):
        return (left == right) == (sign == "==")
    one, other = quantity(left), quantity(right)
    if sign in ("*", "/", "%", "^"):
        return _product(sign, one, other)
    second = _as(other, one.unit)
    if sign in ("+", "-"):
        return Quantity(one.value + second if sign == "+" else one.value - second, one.unit)
    compared = {
        "==": one.value == second, "!=": one.value != second, "<": one.value < second,
        ">": one.value > second, "<=": one.value <= second, ">=": one.value >= second,
    }  # fmt: skip
    return compared[sign]


def _as(one: Quantity, unit: str) -> Fraction | float:
    return one.real(unit) if isinstance(one.value, float) else one.to(unit)


def _texts(sign: str, left: str, right: str) -> Value:
    if sign == "+":
        return left + right
    if sign in ("==", "!="):
        return (left == right) == (sign == "==")
    raise ValueError(f"{sign} between texts")


def _product(sign: str, one: Quantity, other: Quantity) -> Quantity:
    if sign == "*":
        return Quantity(one.value * other.value, one.unit or other.unit)
    if other.value == 0:
        raise ValueError("a division by 0")
    if sign == "^":
        return Quantity(math.pow(one.value, other.value), one.unit)
    if sign == "%":
        return Quantity(one.value % other.value, one.unit)
    if one.unit and other.unit:
        return Quantity(one.value / _as(other, one.unit))
    return Quantity(one.value / other.value, one.unit)


_PLAIN: dict[str, Callable[[float], float]] = {
    "sin": math.sin, "cos": math.cos, "tan": math.tan, "exp": math.exp, "log": math.log, "sqrt": math.sqrt,
    "log10": math.log10, "fabs": abs, "atan": math.atan,
}  # fmt: skip
_ROUNDING: Mapping[str, Callable[[Fraction | float], int]] = {
    "floor": math.floor, "ceil": math.ceil, "round": round, "int": int,
}  # fmt: skip


def _call(node: Node, scope: Scope) -> Value:
    name = node.text
    if name == "simTime":
        if scope.now is None:
            raise VaryingError
        return Quantity(scope.now, "s")
    arguments = [_evaluated(part, scope) for part in node.parts]
    if name == "default" and len(arguments) == 1:
        return arguments[0]
    if name == "xml" and len(arguments) == 1:
        return Xml(str(arguments[0]))
    if name in _DRAWN:
        return _drawn(name, [quantity(one) for one in arguments], scope)
    if name == "firstAvailableOrEmpty" or name == "firstAvailable":
        return str(arguments[0]) if arguments else ""
    if name == "replaceUnit" and len(arguments) == 2:
        return Quantity(quantity(arguments[0]).value, str(arguments[1]))
    numbers = [quantity(one) for one in arguments]
    if name in ("dropUnit", "double") and len(numbers) == 1:
        return Quantity(numbers[0].value)
    if name in _PLAIN and len(numbers) == 1:
        unit = numbers[0].unit if name == "fabs" else ""
        return Quantity(_PLAIN[name](float(numbers[0].value)), unit)
    if name in _ROUNDING and len(numbers) == 1:
        return Quantity(Fraction(_ROUNDING[name](numbers[0].value)), numbers[0].unit)
    if name in ("min", "max") and len(numbers) == 2:
        second = Quantity(_as(numbers[1], numbers[0].unit), numbers[0].unit)
        return (min if name == "min" else max)(numbers[0], second, key=lambda one: one.value)
    raise ValueError(f"the function {name}()")


_DRAWN = {"uniform": 2, "exponential": 1, "normal": 2, "truncnormal": 2, "intuniform": 2, "triang": 3}


def _drawn(name: str, numbers: Sequence[Quantity], scope: Scope) -> Quantity:
    """A random value; a further argument of OMNeT++'s functions is the number of a generator."""
    if scope.random is None:
        raise VaryingError
    needed = _DRAWN[name]
    if len(numbers) < needed:
        raise ValueError(f"{name}() with {len(numbers)} arguments")
    unit = numbers[0].unit
    values = [float(_as(one, unit)) for one in numbers[:needed]]
    draw = scope.random
    if name == "uniform":
        return Quantity(draw.uniform(*values), unit)
    if name == "exponential":
        return Quantity(draw.expovariate(1 / values[0]), unit)
    if name == "intuniform":
        return Quantity(Fraction(draw.randint(int(values[0]), int(values[1]))), unit)
    if name == "triang":
        return Quantity(draw.triangular(values[0], values[2], values[1]), unit)
    for _ in range(MOST_DRAWS):
        found = draw.gauss(*values)
        if name == "normal" or found >= 0:
            return Quantity(found, unit)
    raise ValueError(f"{name}() whose values are below 0")


def wrong(file: str, line: int, what: str, error: Exception, text: str) -> ContentError:
    """A value that cannot be evaluated, as a message."""
    said = f" ({error})" if str(error) else ""
    return ContentError(f"{file}:{line}: {what}: expected a value that is known, found {text[:80]}{said}")
