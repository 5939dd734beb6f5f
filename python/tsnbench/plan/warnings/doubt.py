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
    """The port, if ``path`` is a part of its shaper."""
    hint: str = ""


@dataclass(frozen=True)
class PlanWarning:
    """A warning to check before a result is trusted: kind, port or stream, and text.

    Example:
        >>> from tsnbench import load
        >>> values = {"streams.video.period": "11 us", "streams.video.jitter": "0 us"}
        >>> (often,) = load("first.yaml").vary(values)
        >>> [(one.kind, one.where) for one in often.plan().warnings]
        [('port-overload', 'camera -> switch'), ('port-overload', 'switch -> robot')]
    """

    kind: str
    where: str
    text: str
    path: str = field(default="", compare=False)
    """The part of the scenario that the warning concerns; empty if no scenario is known."""
    place: str = field(default="", compare=False)
    """``file:line:column`` of that part."""
    hint: str = field(default="", compare=False)

    def __str__(self) -> str:
        return self.line()

    def line(self, warning: str = "warning") -> str:
        """Place, part, text, and a hint if there is one."""
        hint = f"\n  hint: {self.hint}" if self.hint else ""
        if not self.place:
            return f"{warning}: {self.where}: {self.text}{hint}"
        about = "" if self.where in self.path else f"{self.where}: "
        return f"{self.place}: {self.path}: {warning}: {about}{self.text}{hint}"

    def as_dict(self) -> dict[str, str]:
        return asdict(self)


class Places(Protocol):
    """Maps parts of a Plan to their places in the scenario's file."""

    @property
    def cautions(self) -> Sequence[PlanWarning]:
        """Warnings from reading the file."""
        ...

    def path_of(self, doubt: Doubt) -> str:
        """The part of the scenario that a doubt concerns, as the file spells it."""
        ...

    def where(self, path: str) -> str:
        """``file:line:column``; empty where no file was read."""
        ...

    def text(self) -> str:
        """The text of the scenario; empty if this is not what was planned."""
        ...
