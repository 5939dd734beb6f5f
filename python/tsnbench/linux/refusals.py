"""Messages of the kernel when it refuses a queueing discipline, with their meaning and a remedy."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

TABLE = Path(__file__).with_name("refusals.txt")
"""Three lines for each message: a part of it, its meaning, a remedy. The first one that fits counts."""


@dataclass(frozen=True)
class Refusal:
    """A message of the kernel or of tc, its meaning, and a remedy."""

    text: str
    """A part of the printed message; case does not matter."""
    reason: str
    remedy: str


@cache
def refusals() -> tuple[Refusal, ...]:
    """The known messages, in the order of the table."""
    paragraphs = TABLE.read_text(encoding="utf-8").strip().split("\n\n")
    return tuple(Refusal(*paragraph.split("\n")) for paragraph in paragraphs)


def explain(printed: str) -> Refusal | None:
    """The known message that a text of the kernel or of tc contains; None if there is none."""
    found = printed.casefold()
    return next((one for one in refusals() if one.text.casefold() in found), None)
