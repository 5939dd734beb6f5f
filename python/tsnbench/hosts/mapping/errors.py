"""Why a Plan does not fit a lab: all problems of one step together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from tsnbench.errors import InputError


@dataclass(frozen=True)
class MappingProblem:
    """One node, link or entry of the map that cannot be mapped."""

    where: str
    """``file:line:column``, the file of the inventory, or the option."""
    path: str
    """``node camera``, ``link camera -> s1``, ``map.camera``."""
    expected: str
    found: str
    hint: str = ""

    def __str__(self) -> str:
        path = f"{self.path}: " if self.path else ""
        text = f"{self.where}: {path}expected {self.expected}, found {self.found}"
        return f"{text}\n  hint: {self.hint}" if self.hint else text

    def as_dict(self) -> dict[str, str]:
        return asdict(self)


class MappingErrors(InputError):  # noqa: N818 - it holds many
    """The Plan and the inventory are valid, but do not fit each other."""

    def __init__(self, problems: Sequence[MappingProblem]) -> None:
        self.problems = tuple(dict.fromkeys(problems))
        super().__init__("\n".join(str(problem) for problem in self.problems))
