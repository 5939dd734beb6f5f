"""What a scenario asks for that no Plan can give: all problems of one pass together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tsnbench.errors import InputError


@dataclass(frozen=True)
class PlanningProblem:
    """One problem: ``path`` is the place in the scenario, such as ``streams.cam.via``."""

    path: str
    expected: str
    found: str
    hint: str | None = None

    def __str__(self) -> str:
        text = f"{self.path}: expected {self.expected}, found {self.found}"
        return f"{text}\n  hint: {self.hint}" if self.hint else text


class PlanningErrors(InputError):  # noqa: N818 - it holds many
    """The scenario is well-formed, but cannot be planned."""

    def __init__(self, problems: Sequence[PlanningProblem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class PlanReadError(InputError):
    """A file that is no Plan, or one that was changed."""
