"""How two texts differ, line by line, and edits that take one difference over."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

from tsnbench.editing.edits import Edit

AROUND = 3
"""Equal lines that stand around each difference."""


@dataclass(frozen=True)
class Difference:
    """Lines of the first text and those of the second one in their place: from a number up to another one."""

    first: tuple[int, int]
    second: tuple[int, int]


@dataclass(frozen=True)
class Part:
    """Lines that stand together: one difference, or equal lines around it."""

    number: int | None
    """The number of the difference, from 0; None for equal lines."""
    first: int
    """Its first line in the first text, from 0."""
    second: int
    lines: list[tuple[str, str]]
    """Each with ``-`` (in the first text alone), ``+`` (in the second one alone) or a blank."""


def lines_of(text: str) -> list[str]:
    """The lines of a text with their ends; only line feeds end a line."""
    parts = text.split("\n")
    return [f"{one}\n" for one in parts[:-1]] + [one for one in parts[-1:] if one]


def differences(first: list[str], second: list[str]) -> list[Difference]:
    """All differences of two texts in order, with at least one equal line between them."""
    found = SequenceMatcher(None, first, second).get_opcodes()
    return [Difference((a, b), (c, d)) for kind, a, b, c, d in found if kind != "equal"]


def parts(first: list[str], second: list[str], around: int = AROUND) -> Iterator[Part]:
    """The differences of two texts with the equal lines around them; equal texts have none."""
    shown = 0
    found = differences(first, second)
    for number, one in enumerate(found):
        (begin, end), (low, high) = one.first, one.second
        before = max(shown, begin - around)
        yield Part(None, before, low - begin + before, _signed(" ", first[before:begin]))
        yield Part(number, begin, low, _signed("-", first[begin:end]) + _signed("+", second[low:high]))
        following = found[number + 1].first[0] if number + 1 < len(found) else len(first)
        shown = min(end + around, following)
        yield Part(None, end, high, _signed(" ", first[end:shown]))


def _signed(sign: str, lines: list[str]) -> list[tuple[str, str]]:
    return [(sign, line.rstrip("\r\n")) for line in lines]


def take_over(first: list[str], second: list[str], one: Difference) -> Edit:
    """Writes the lines of the second text in place of those of the first one; line ends become line feeds."""
    start = sum(map(len, first[: one.first[0]]))
    end = start + sum(map(len, first[slice(*one.first)]))
    return Edit(start, end, "".join(second[slice(*one.second)]).replace("\r\n", "\n"))
