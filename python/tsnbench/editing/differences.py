"""How two texts differ, line by line, and edits that take one difference over."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

from tsnbench.editing.edits import Edit
from tsnbench.editing.spans import EditError

AROUND = 3
"""Equal lines that stand around each difference."""
_EDITED = "these lines have been edited meanwhile: edit the text"


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
        begin, end = one.first
        yield Part(None, _signed(" ", first[max(shown, begin - around) : begin]))
        yield Part(number, _signed("-", first[begin:end]) + _signed("+", second[slice(*one.second)]))
        following = found[number + 1].first[0] if number + 1 < len(found) else len(first)
        shown = min(end + around, following)
        yield Part(None, _signed(" ", first[end:shown]))


def _signed(sign: str, lines: list[str]) -> list[tuple[str, str]]:
    return [(sign, line.rstrip("\r\n")) for line in lines]


def take_over(text: str, compared: str, own: tuple[int, int], other: list[str]) -> Edit:
    """Writes lines of another text in place of those of this one.

    Args:
        text: the text as it is now; other lines than those of the difference may have been edited.
        compared: the text that was compared.
        own: its lines that the other ones replace.
        other: the lines of the other text.

    Raises:
        EditError: the lines of the difference, or those beside them, have been edited.
    """
    lines, was = lines_of(text), lines_of(compared)
    place = {-1: -1, len(was): len(lines)}
    for old, new, size in SequenceMatcher(None, was, lines).get_matching_blocks():
        place |= {old + n: new + n for n in range(size)}
    now = [place.get(number) for number in range(own[0] - 1, own[1] + 1)]
    before = now[0]
    if before is None or now != list(range(before, before + len(now))):
        raise EditError(_EDITED)
    start = sum(map(len, lines[: before + 1]))
    end = start + sum(map(len, lines[before + 1 : before + len(now) - 1]))
    return Edit(start, end, "".join(other).replace("\r\n", "\n"))
