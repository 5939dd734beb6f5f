"""Lists that make sweeps: the ellipsis of ``[1, 2, ... 7]`` and the ``${…}`` of parameters."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping as Map
from dataclasses import dataclass
from fractions import Fraction

from tsnbench.scenario.text.place import Place
from tsnbench.scenario.text.tree import Mapping, Scalar, Sequence, Value
from tsnbench.scenario.units import DURATION, LENGTH, RATE, SHARE, SIZE

MOST_RUNS = 10_000
"""Most runs of one scenario file."""

_NUMBER = re.compile(r"\s*(-?[0-9]{1,20}(?:\.[0-9]{1,20})?)\s*(\S{0,10})\s*")
_EXPRESSION = re.compile(r"\$\{([^{}\n]*)\}")
_WORTH = {
    unit: (dimension.name, worth)
    for dimension in (DURATION, RATE, SIZE, LENGTH, SHARE)
    for unit, worth in dimension.units.items()
}


class SweepError(ValueError):
    """A list or an expression that cannot be read."""

    def __init__(self, place: Place, expected: str, found: str, hint: str = "") -> None:
        super().__init__(f"expected {expected}, found {found} ({hint})")
        self.place, self.expected, self.found, self.hint = place, expected, found, hint


@dataclass(frozen=True)
class Axis:
    """One axis of a sweep: its path, its values as written, and the place of the list."""

    path: str
    place: Place
    texts: tuple[str, ...]
    values: tuple[Value, ...]


def axis_of(path: str, values: Sequence) -> Axis:
    """The axis that a list of scalars makes; raises :class:`SweepError`."""
    items = _spread(values)
    for item in items:
        if not isinstance(item, Scalar):
            hint = "name the alternatives under parameters: and write ${name} here"
            if isinstance(item, Mapping) and item.entries:
                keys = ", ".join(f"{key.text}: …" for key, _ in item.entries[:3])
                hint = f"for one value, leave the square brackets out: {{{keys}}}; for several, {hint}"
                if {"open", "for"} <= {key.text for key, _ in item.entries}:
                    hint = f"write {path.rpartition('.')[2]}: {{entries: [{{open: …, for: …}}]}}"
            raise SweepError(item.place, "one value per run", "a list or mapping", hint)
    if not items:
        raise SweepError(
            values.place, "at least one value", "an empty list", "write a value, or leave the key out"
        )
    texts = tuple(item.text.strip() for item in items if isinstance(item, Scalar))
    seen: set[str] = set()
    for again in texts:
        if again not in seen:
            seen.add(again)
            continue
        raise SweepError(values.place, "different values", f"{again} twice", "each value makes one run")
    return Axis(path, values.place, texts, items)


class Axes:
    """The axes of a scenario's lists: each is made once, however many runs there are."""

    def __init__(self) -> None:
        self._made: dict[tuple[str, int], tuple[Value, Axis]] = {}

    def of(self, path: str, values: Sequence | Mapping) -> Axis:
        """The axis of a list, or of a mapping of named alternatives; raises :class:`SweepError`."""
        # Parts of a tree are compared by identity. The part is stored, so that no other part gets its id.
        key = (path, id(values))
        if key not in self._made:
            self._made[key] = (
                values,
                axis_of(path, values) if isinstance(values, Sequence) else _named(path, values),
            )
        return self._made[key][1]


def _named(path: str, values: Mapping) -> Axis:
    names = tuple(name.text.strip() for name, _ in values.entries)
    return Axis(path, values.place, names, tuple(part for _, part in values.entries))


def _spread(values: Sequence) -> tuple[Value, ...]:
    """The items, with ``a, b, ... z`` written out."""
    items: list[Value] = []
    for number, item in enumerate(values.items):
        if isinstance(item, Scalar) and item.plain and item.text.startswith("..."):
            last = item.text[3:].strip()
            if number < 2 or number != len(values.items) - 1 or not last:
                hint = "two values before the dots, one after, no comma between: [1, 2, ... 7]"
                raise SweepError(item.place, "the dots before the last value", item.text, hint)
            items += _steps(items[-2], items[-1], Scalar(item.place, last))
        else:
            items.append(item)
        if len(items) > MOST_RUNS:
            raise SweepError(values.place, f"at most {MOST_RUNS} runs", "more")
    return tuple(items)


def _steps(first: Value, second: Value, last: Scalar) -> list[Scalar]:
    """The values after ``second`` in the steps from ``first`` to ``second``, up to and with ``last``."""
    texts = [value.text if isinstance(value, Scalar) else "" for value in (first, second, last)]
    numbers: list[Fraction] = []
    unit = ""
    for text in texts:
        found = _NUMBER.fullmatch(text)
        if found is None:
            raise SweepError(last.place, "numbers around the dots", text or "a list", "write [1, 2, ... 7]")
        number, own = Fraction(found[1]), found[2]
        if not numbers:
            unit = own
        elif own != unit:
            kind, worth = _WORTH.get(unit, ("", Fraction(1)))
            other, factor = _WORTH.get(own, ("?", Fraction(1)))
            if kind != other:
                raise SweepError(last.place, "the same kind of unit throughout", text.strip())
            number = number * factor / worth
        numbers.append(number)
    low, step, high = numbers[1], numbers[1] - numbers[0], numbers[2]
    steps = (high - low) / step if step else Fraction(-1)
    if steps < 1 or steps.denominator != 1:
        hint = f"from {texts[0].strip()} in steps of {_text(step, unit)} this value is never reached"
        raise SweepError(last.place, "a last value that the steps reach", texts[2].strip(), hint)
    if steps > MOST_RUNS:
        raise SweepError(last.place, f"at most {MOST_RUNS} runs", f"{steps} steps")
    return [Scalar(last.place, _text(low + step * (n + 1), unit)) for n in range(int(steps))]


def same(one: str, other: str) -> bool:
    """Whether two texts are equal values: ``45us``, ``45 us`` and ``0.045 ms``.

    >>> same("45us", "0.045 ms"), same("7", "7.0"), same("45us", "45 ms"), same("gates", "cbs")
    (True, True, False, False)
    """
    texts = [one.strip(), other.strip()]
    found = [_NUMBER.fullmatch(text) for text in texts]
    if texts[0] == texts[1] or found[0] is None or found[1] is None:
        return texts[0] == texts[1]
    kinds, values = zip(
        *((_WORTH.get(each[2], (each[2], Fraction(1))), each[1]) for each in found if each), strict=True
    )
    return (
        kinds[0][0] == kinds[1][0]
        and len({Fraction(n) * k[1] for n, k in zip(values, kinds, strict=True)}) == 1
    )


def _text(number: Fraction, unit: str) -> str:
    """An exact decimal: sums of decimals are decimals, for every unit here."""
    places = 0
    while (number * 10**places).denominator != 1 and places < 40:
        places += 1
    digits = f"{abs(int(number * 10**places)):0{places + 1}d}"
    text = f"{digits[:-places]}.{digits[-places:]}" if places else digits
    return f"{'-' if number < 0 else ''}{text}{' ' + unit if unit else ''}"


def substitute(value: Scalar, parameters: Map[str, Value]) -> Value:
    """The value with every ``${…}`` replaced; ``${name}`` alone may stand for a whole list or mapping.

    Raises :class:`SweepError` where an expression cannot be read.
    """
    alone = _EXPRESSION.fullmatch(value.text.strip())
    if alone and alone[1].strip() in parameters:
        return parameters[alone[1].strip()]

    def worth(found: re.Match[str]) -> str:
        return _evaluate(found[1].strip(), value.place, parameters)

    text = _EXPRESSION.sub(worth, value.text)
    return Scalar(value.place, text, value.plain)


def _evaluate(text: str, place: Place, parameters: Map[str, Value]) -> str:
    if text in parameters:
        chosen = parameters[text]
        if isinstance(chosen, Scalar):
            return chosen.text.strip()
        raise SweepError(place, "a parameter with a plain value", f"${{{text}}}, a list or mapping")
    known = f"known: {', '.join(parameters)}" if parameters else "write them under parameters:"
    hint = f"parameters, whole numbers, + - * // and brackets are allowed; {known}"
    if len(text) > 100:
        raise SweepError(place, "a short expression", f"{len(text)} characters", hint)

    def number(node: ast.AST) -> int:
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return node.value
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -number(node.operand)
        if isinstance(node, ast.Name):
            return name(node.id)
        if isinstance(node, ast.BinOp):
            left, right = number(node.left), number(node.right)
            if isinstance(node.op, ast.Add):
                return left + right
            if isinstance(node.op, ast.Sub):
                return left - right
            if isinstance(node.op, ast.Mult):
                return left * right
            if isinstance(node.op, ast.FloorDiv) and right != 0:
                return left // right
        raise SweepError(place, "whole-number arithmetic", f"${{{text}}}", hint)

    def name(known_as: str) -> int:
        if known_as not in parameters:
            raise SweepError(place, "a parameter", known_as, hint)
        chosen = parameters[known_as]
        plain = chosen.text.strip() if isinstance(chosen, Scalar) else ""
        if not re.fullmatch(r"-?[0-9]{1,9}", plain):
            raise SweepError(place, f"a whole number as parameter {known_as}", plain or "a list or mapping")
        return int(plain)

    try:
        return str(number(ast.parse(text, mode="eval").body))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        if isinstance(error, SweepError):
            raise
        raise SweepError(place, "a parameter or whole-number arithmetic", f"${{{text}}}", hint) from None
