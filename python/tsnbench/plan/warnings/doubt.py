"""Findings of a check of a Plan: warnings, or requests that can never work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Protocol


@dataclass(frozen=True)
class Doubt:
    """One finding at a port or stream.

    ``path`` is the part of the scenario: ``streams.cam.requires.delay``; of a port ``gates``, to which its
    selector is added.
    """

    kind: str
    where: str
    text: str
    path: str = ""
    port: str = ""
    """The port, where ``path`` is what shapes it."""
    hint: str = ""


@dataclass(frozen=True)
class PlanWarning:
    """Something to look at before trusting a result: what kind, at which port or stream, in words."""

    kind: str
    where: str
    text: str
    path: str = field(default="", compare=False)
    """The part of the scenario that it is about; empty where no scenario is known."""
    place: str = field(default="", compare=False)
    """``file:line:column`` of that part."""
    hint: str = field(default="", compare=False)

    def __str__(self) -> str:
        return self.line()

    def line(self, warning: str = "warning") -> str:
        """Place, part, what is doubtful, and a hint where there is one."""
        hint = f"\n  hint: {self.hint}" if self.hint else ""
        if not self.place:
            return f"{warning}: {self.where}: {self.text}{hint}"
        about = "" if self.where in self.path else f"{self.where}: "
        return f"{self.place}: {self.path}: {warning}: {about}{self.text}{hint}"

    def as_dict(self) -> dict[str, str]:
        return asdict(self)


class Places(Protocol):
    """Knows in which place of a scenario's file each part of its Plan was written."""

    @property
    def cautions(self) -> Sequence[PlanWarning]:
        """What was doubtful while the file was read."""
        ...

    def path_of(self, doubt: Doubt) -> str:
        """The part of the scenario that a doubt concerns, as the file spells it."""
        ...

    def where(self, path: str) -> str:
        """``file:line:column``; empty where no file was read."""
        ...
