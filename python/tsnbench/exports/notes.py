"""What a format cannot express: said, never silently dropped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Note:
    """One thing of the Plan that a format does not carry: which format, what, and why."""

    to: str
    what: str
    why: str
    lost: bool = True
    """False: it is exported, but look before you use it."""

    def __str__(self) -> str:
        if not self.lost:
            return f"{self.to}: {self.what}: {self.why}"
        return f"{self.to}: not exported: {self.what}, because {self.why}"


class Notes:
    """Collects notes of one format; each is there once."""

    def __init__(self, to: str) -> None:
        self.to = to
        self._notes: dict[Note, None] = {}

    def lost(self, what: str, why: str) -> None:
        self._notes[Note(self.to, what, why)] = None

    def warn(self, where: str, text: str) -> None:
        self._notes[Note(self.to, where, text, lost=False)] = None

    def __iter__(self) -> Iterator[Note]:
        return iter(self._notes)
