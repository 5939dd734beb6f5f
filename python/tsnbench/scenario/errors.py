"""Mistakes in a scenario file, as data: the place, the expected value, the found value, and a hint."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass

from tsnbench.errors import InputError
from tsnbench.messages import code_of
from tsnbench.scenario.text.place import Place
from tsnbench.scenario.text.tree import shown

MOST_SHOWN = 240
"""Characters of each part of a message."""
_START = Place(1, 1)


@dataclass(frozen=True, order=True)
class Problem:
    """One mistake. Lines and columns count from 1; ``path`` is ``streams.cam.period``, empty for the file.

    Example:
        >>> from tsnbench import load
        >>> from tsnbench.scenario import ScenarioErrors
        >>> try:
        ...     load("first.yaml").vary({"streams.loop.period": 250})
        ... except ScenarioErrors as errors:
        ...     errors.problems[0].as_dict()["hint"]
        'write 250us'
    """

    file: str
    line: int
    column: int
    path: str
    expected: str
    found: str
    hint: str = ""

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}:{self.column}: "
        text = f"{where}{self.path + ': ' if self.path else ''}expected {self.expected}, found {self.found}"
        return f"{text}\n  hint: {self.hint}" if self.hint else text

    @property
    def code(self) -> str:
        """The code of its kind: ``tsnbench explain CODE`` prints its page."""
        return code_of(self.path, self.expected)

    def as_dict(self) -> dict[str, str | int]:
        return {**asdict(self), "code": self.code}


@dataclass(frozen=True)
class Caution:
    """A valid value that is probably not intended: a warning."""

    where: str
    """``file:line:column``."""
    kind: str
    path: str
    text: str
    hint: str


class ScenarioErrors(InputError):  # noqa: N818 - it holds several
    """All mistakes of one file, in the order of their places.

    Example:
        >>> from tsnbench.scenario import ScenarioErrors, read_scenario
        >>> try:
        ...     read_scenario("name: first")
        ... except ScenarioErrors as errors:
        ...     [problem.expected for problem in errors.problems]
        ['the key duration in a scenario', 'the key network in a scenario', 'the key streams in a scenario']
    """

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(set(problems)))
        super().__init__("\n".join(str(problem) for problem in self.problems))


def failure(file: str, expected: str, found: str, hint: str = "", place: Place = _START) -> ScenarioErrors:
    """One mistake that ends reading."""
    words = (shown(text, MOST_SHOWN) for text in (expected, found, hint))
    return ScenarioErrors([Problem(file, place.line, place.column, "", *words)])
