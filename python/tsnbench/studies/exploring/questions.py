"""The keys ``search`` and ``sensitivity`` of a study's file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tsnbench.quantities import some
from tsnbench.scenario.kinds.combinators import Field, Fields, ListOf, Record
from tsnbench.scenario.kinds.values import Text
from tsnbench.scenario.text.reading import Bad, Named, Reading
from tsnbench.studies.exploring.numbers import numbers

QUANTITIES = {
    "mean": "delay mean",
    "median": "delay median",
    "p99": "delay p99",
    "p99.9": "delay p99_9",
    "greatest": "delay max",
    "lost": "lost",
}
"""Quantities of a stream as a study names them, and as its tables do."""
EVERY = "*"
"""All streams: the worst of them counts."""
BATCH = 10
"""Combinations that are chosen together, before the next results are known."""
MOST_EVALUATIONS = 10_000
SAMPLERS = ("tpe", "nsga2")
_GOAL = re.compile(rf"({'|'.join(map(re.escape, QUANTITIES))}) of (\S+)|value of (.+)")
_GOALS = f"{', '.join(QUANTITIES)} of a stream, or the value of a varied path"


@dataclass(frozen=True)
class Goal:
    """One quantity that is as small, or as great, as possible."""

    words: str
    """As the study writes it: ``greatest of video``, ``value of streams.video.period``."""
    quantity: str
    """The column of the tables; empty for the value of a path."""
    who: str
    """The stream, or the path."""
    great: bool
    """Whether great values are good."""


@dataclass(frozen=True)
class Search:
    """A search for the combinations that no other combination surpasses in all goals."""

    goals: tuple[Goal, ...]
    evaluations: int
    """How many combinations are tried at most."""
    sampler: str = SAMPLERS[0]
    seed: int = 0
    requirements: bool = True
    """Whether a combination has to meet all requirements of the scenario."""


@dataclass(frozen=True)
class Sensitivity:
    """A design that shows the effect of each varied value."""

    method: str
    """``morris`` or ``sobol``."""
    count: int
    """Trajectories of Morris, or the base number of samples of Sobol."""
    of: tuple[Goal, ...]
    """The quantities that are explained."""
    seed: int = 0


_NUMBER = Text("a whole number", swept=False)
_LIST = ListOf(Text("a goal", swept=False), "goals", 1)
SEARCH = Record(
    "a search",
    {
        "minimise": Field(_LIST, f"what shall be small: {_GOALS}"),
        "maximise": Field(_LIST, f"what shall be great: {_GOALS}"),
        "evaluations": Field(_NUMBER, "how many combinations are tried at most", "100"),
        "sampler": Field(Text("tpe or nsga2", swept=False), "what chooses them: tpe (by default) or nsga2"),
        "seed": Field(_NUMBER, "the seed of the choice; 0 by default"),
        "requirements": Field(
            Text("met or ignored", swept=False),
            "met (by default): a combination that breaks a requirement is no answer; or ignored",
        ),
    },
    example="{minimise: [greatest of video, mean of files], evaluations: 100}",
)
SENSITIVITY = Record(
    "a sensitivity analysis",
    {
        "morris": Field(_NUMBER, "trajectories of Morris's method"),
        "sobol": Field(_NUMBER, "base number of samples of Sobol's method, a power of two"),
        "of": Field(_LIST, f"what is explained: {_GOALS}", "[greatest of video]"),
        "seed": Field(_NUMBER, "the seed of the design; 0 by default"),
    },
    example="{morris: 10, of: [greatest of video]}",
)


def search_of(reading: Reading, fields: Fields, varied: Mapping[str, Sequence[str]]) -> Search | None:
    """The key ``search``; None after a mistake. ``varied``: the lists that are searched, by path."""
    goals = []
    for name, great in (("minimise", False), ("maximise", True)):
        goals += _goals(reading, fields, name, varied, great)
    if not goals and not reading.problems:
        hint = "write minimise: [greatest of video]"
        reading.problem(fields.place, fields.path, "minimise or maximise", "none", hint)
    evaluations = _whole(reading, fields, "evaluations", 1, MOST_EVALUATIONS, None)
    seed = _whole(reading, fields, "seed", 0, 2**32 - 1, 0)
    sampler = _word(reading, fields, "sampler", SAMPLERS)
    requirements = _word(reading, fields, "requirements", ("met", "ignored"))
    if reading.problems or evaluations is None or seed is None:
        return None
    return Search(tuple(goals), evaluations, sampler, seed, requirements == "met")


def sensitivity_of(reading: Reading, fields: Fields) -> Sensitivity | None:
    """The key ``sensitivity``; None after a mistake."""
    kinds = [name for name in ("morris", "sobol") if name in fields]
    if len(kinds) != 1:
        found = " and ".join(kinds) or "none"
        hint = f"write sensitivity: {SENSITIVITY.example}"
        reading.problem(fields.place, fields.path, "one of morris, sobol", found, hint)
        return None
    (method,) = kinds
    count = _whole(reading, fields, method, 2, MOST_EVALUATIONS, None)
    if method == "sobol" and count is not None and count & (count - 1):
        place = fields.at(method)
        reading.problem(place, fields.path_of(method), "a power of two", str(count), "write sobol: 64")
    goals = _goals(reading, fields, "of", {}, great=False)
    seed = _whole(reading, fields, "seed", 0, 2**32 - 1, 0)
    if reading.problems or count is None or seed is None:
        return None
    return Sensitivity(method, count, tuple(goals), seed)


def _goals(
    reading: Reading, fields: Fields, name: str, varied: Mapping[str, Sequence[str]], great: bool
) -> list[Goal]:
    found: list[Goal] = []
    for text in fields.get(name, ()):
        if isinstance(text, Bad):
            continue
        matched = _GOAL.fullmatch(text)
        if matched is None or (matched[3] and not varied):
            reading.problem(text.place, text.path, "a quantity of a stream", text, "write greatest of video")
        elif matched[3] and matched[3] not in varied:
            known = ", ".join(varied)
            reading.problem(text.place, text.path, "a path that is varied by a list", matched[3], known)
        elif matched[3] and numbers(varied[matched[3]]) is None:
            listed = some(list(varied[matched[3]]), 3)
            reading.problem(text.place, text.path, "a path whose values are numbers of one kind", listed)
        elif matched[3]:
            found.append(Goal(str(text), "", matched[3], great))
        else:
            found.append(Goal(str(text), QUANTITIES[matched[1]], matched[2], great))
    return found


def _whole(
    reading: Reading, fields: Fields, name: str, least: int, most: int, default: int | None
) -> int | None:
    if name not in fields:
        if default is None:
            reading.problem(fields.place, fields.path, name, "none", f"write {name}: {max(least, 100)}")
        return default
    text: Named = fields[name]
    if text.isascii() and text.isdecimal() and len(text) < 11 and least <= int(text) <= most:
        return int(text)
    reading.problem(text.place, text.path, f"a whole number from {least} to {most}", text)
    return None


def _word(reading: Reading, fields: Fields, name: str, words: Sequence[str]) -> str:
    text: Named | None = fields.get(name)
    if text is None or text in words:
        return words[0] if text is None else str(text)
    reading.problem(text.place, text.path, " or ".join(words), text, f"write {name}: {words[0]}")
    return words[0]
