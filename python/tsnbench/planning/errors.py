"""Requests of a scenario that no Plan can meet: all problems of one pass together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tsnbench.errors import InputError
from tsnbench.messages import code_of

_PLACE = re.compile(r"(.*):(\d+):(\d+)", re.DOTALL)


@dataclass(frozen=True)
class PlanningProblem:
    """One problem: ``path`` is the part of the scenario, such as ``streams.cam.via``."""

    path: str
    expected: str
    found: str
    hint: str | None = None
    where: str = ""
    """``file:line:column``, if the scenario was read from a file."""

    def __str__(self) -> str:
        where = f"{self.where}: " if self.where else ""
        text = f"{where}{self.path}: expected {self.expected}, found {self.found}"
        return f"{text}\n  hint: {self.hint}" if self.hint else text

    @property
    def code(self) -> str:
        """The code of its kind: ``tsnbench explain CODE`` prints its page."""
        return code_of(self.path, self.expected)

    def as_dict(self) -> dict[str, str | int]:
        """The fields of :class:`tsnbench.scenario.errors.Problem`; of an unknown place line and column 1."""
        place = _PLACE.fullmatch(self.where)
        file, line, column = place.groups() if place else (self.where, "1", "1")
        return {
            "file": file,
            "line": int(line),
            "column": int(column),
            "path": self.path,
            "expected": self.expected,
            "found": self.found,
            "hint": self.hint or "",
            "code": self.code,
        }


class PlanningErrors(InputError):  # noqa: N818 - it holds many
    """The scenario is well-formed, but cannot be planned."""

    def __init__(self, problems: Sequence[PlanningProblem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))
