"""The list of a study's runs: every combination of values, run of the scenario's own sweep, and seed."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path

from tsnbench.errors import InputError
from tsnbench.foreign import Json
from tsnbench.planning import plan as make_plan
from tsnbench.quantities import quantity, some
from tsnbench.runs.engine import DIGITS, identity
from tsnbench.scenario import tables
from tsnbench.scenario.errors import Problem, ScenarioErrors, failure
from tsnbench.scenario.loader import runs_of
from tsnbench.scenario.model import Scenario
from tsnbench.scenario.selection import shortened
from tsnbench.scenario.text import source, varied
from tsnbench.scenario.text.place import Place
from tsnbench.scenario.text.tree import Mapping, Sequence, Value
from tsnbench.studies.exploring.questions import EVERY
from tsnbench.studies.random_plan import what_varies
from tsnbench.studies.study_file import Drawn, Listed, Study

MOST_RUNS = 100_000
BACKEND = "simulation"
CERTAIN, NO_PLAN = "certain", "no plan"
"""Why a combination runs once: nothing is random, or it has no Plan."""
_ENDING = re.compile(r"\.[a-z][a-z0-9]{1,8}$", re.IGNORECASE)


@dataclass(frozen=True)
class Request:
    """One run that a study wants."""

    id: str
    """A digest of all that decides the run's result."""
    values: dict[str, str]
    """What the study lists, by path as the study writes it."""
    variant: dict[str, str]
    """What the scenario's own sweep varies."""
    number: int
    """Which run of the scenario's own sweep it is."""
    seed: int

    def as_dict(self) -> Json:
        return asdict(self)


@dataclass(frozen=True)
class Design:
    """The runs of a study, and the reason if seeds make no difference."""

    runs: tuple[Request, ...]
    once: tuple[str, ...]
    """The values of runs that are not repeated, because a repetition would be the same."""


class Source:
    """A study with its scenario as text: the data that a worker needs for any of its Plans."""

    def __init__(self, study: Study, text: str) -> None:
        self.study = study
        self.text = text
        self.file = str(study.scenario)
        # A tree is large; it is read once, and each run replaces a few values in it.
        self.tree, self.tables = tables.joined(source.parse(text, self.file), self.file)
        files = files_beside(self.tree, study.scenario.parent)
        said = f"{self.tree!r} {[(str(one), hashlib.sha256(one.read_bytes()).hexdigest()) for one in files]}"
        self.digest = hashlib.sha256(said.encode()).hexdigest()
        self._places = {one.path: self._places_of(one) for one in study.vary}
        self.scenarios = lru_cache(maxsize=8)(self._scenarios)
        self.alike: dict[tuple[str, ...], str] = {}
        """Combinations for which it is known why repetitions are alike."""

    def _places_of(self, one: Listed | Drawn) -> list[tuple[str, tuple[varied.Step, ...]]]:
        try:
            return varied.places_of(self.tree, one.path)
        except varied.PathError as error:
            line, column = one.place
            path = f"vary.{one.path}"
            problem = Problem(
                str(self.study.file), line, column, path, error.expected, error.found, error.hint
            )
            raise ScenarioErrors([problem]) from None

    def drawn(self) -> bool:
        """Whether a repetition draws values of the scenario."""
        return any(isinstance(one, Drawn) for one in self.study.vary)

    def _scenarios(self, values: tuple[str, ...], seed: int | None) -> list[Scenario]:
        """The scenario's runs with these listed values and the values that this seed draws.

        Raises:
            ScenarioErrors: the values are wrong there.
        """
        tree: Mapping = self.tree
        texts = iter(values)
        for one in self.study.vary:
            text = next(texts) if isinstance(one, Listed) else ""
            for path, steps in self._places[one.path]:
                drawn = one.draw(path, seed or 0) if isinstance(one, Drawn) else text
                tree = varied.replaced(tree, steps, varied.from_study(drawn, one.place))
        try:
            return runs_of(tree, self.file, self.tables)
        except ScenarioErrors as error:
            raise ScenarioErrors(
                varied.located(one, str(self.study.file)) for one in error.problems
            ) from None

    def scenario(self, request: Request) -> Scenario:
        """The scenario of one run, with its seed."""
        seed = request.seed if self.drawn() else None
        every = self.scenarios(tuple(request.values.values()), seed)
        return shortened(every[request.number], None, request.seed)


def design(study: Study, text: str) -> Design:
    """The list of a study's runs, in an order that depends on the study and its scenario alone.

    Raises:
        ScenarioErrors: every mistake of the study or of the scenario with its values.
    """
    whole = Source(study, text)
    listed = [one for one in study.vary if isinstance(one, Listed)]
    runs: list[Request] = []
    once: list[str] = []
    points = math.prod(len(one.texts) for one in listed)
    _refuse_many(study, points * study.repeat)
    for texts in itertools.product(*(one.texts for one in listed)):
        values = {one.path: text for one, text in zip(listed, texts, strict=True)}
        first = whole.scenarios(texts, None if not whole.drawn() else 0)
        for number, scenario in enumerate(first):
            _refuse_unfit(study, scenario)
            seeds = list(range(scenario.seed, scenario.seed + study.repeat))
            if study.repeat > 1 and not whole.drawn() and (reason := _alike(scenario)):
                seeds = seeds[:1]
                once += [_label(values | dict(scenario.variant))] if reason == CERTAIN else []
            for seed in seeds:
                runs.append(_request(whole, values, dict(scenario.variant), number, seed))
        _refuse_many(study, len(runs))
    return Design(tuple(runs), tuple(once))


def explored(whole: Source, points: Iterable[tuple[str, ...]]) -> Design:
    """The runs of chosen combinations of values, in their order: of a search, or of a sensitivity analysis.

    A combination that the scenario refuses is a run without a Plan: a search goes on.

    Raises:
        ScenarioErrors: the scenario is a sweep itself, or the first values of all lists are wrong.
    """
    study = whole.study
    lists = study.lists
    texts = tuple(one.texts[0] for one in lists)
    first = whole.scenarios(texts, None if not whole.drawn() else 0)
    if len(first) > 1:
        line, column = study.scenario_place
        hint = "vary its values by the paths where they stand"
        said = Problem(
            str(study.file), line, column, "scenario", "a single run", f"a sweep of {len(first)} runs", hint
        )
        raise ScenarioErrors([said])
    _refuse_unfit(study, first[0])
    seeds = range(first[0].seed, first[0].seed + study.repeat)
    runs: list[Request] = []
    once: list[str] = []
    for point in dict.fromkeys(points):
        values = {one.path: text for one, text in zip(lists, point, strict=True)}
        own = seeds
        if study.repeat > 1 and not whole.drawn() and (reason := _known(whole, point)):
            own = seeds[:1]
            once += [_label(values)] if reason == CERTAIN else []
        runs += [_request(whole, values, {}, 0, seed) for seed in own]
        _refuse_many(study, len(runs))
    return Design(tuple(runs), tuple(once))


def _known(whole: Source, point: tuple[str, ...]) -> str:
    """Why repetitions of a combination are alike; it is found once."""
    if point not in whole.alike:
        try:
            whole.alike[point] = _alike(whole.scenarios(point, None)[0])
        except InputError:
            whole.alike[point] = NO_PLAN
    return whole.alike[point]


def _alike(scenario: Scenario) -> str:
    """Why no other seed can give another result; empty if one can."""
    try:
        return "" if _varies(scenario) else CERTAIN
    except InputError:
        return NO_PLAN


def _refuse_many(study: Study, count: int) -> None:
    if count > MOST_RUNS:
        raise failure(str(study.file), f"at most {MOST_RUNS} runs", f"{count} runs", "fewer values")


def _refuse_unfit(study: Study, scenario: Scenario) -> None:
    """Refuses what the study says of streams and times that this scenario does not have."""
    _refuse_unknown(study, scenario)
    _refuse_long_warm_up(study, scenario)


def _refuse_unknown(study: Study, scenario: Scenario) -> None:
    """Refuses a width or a goal of a stream that the scenario does not have: nothing would be measured."""
    asked = study.search.goals if study.search else study.sensitivity.of if study.sensitivity else ()
    for goal in asked:
        if goal.quantity and goal.who != EVERY and goal.who not in scenario.streams:
            key = "search" if study.search else "sensitivity"
            hint = f"the streams are {some(sorted(scenario.streams), 8)}"
            raise ScenarioErrors([Problem(str(study.file), *_place(study), key, "a stream", goal.who, hint)])
    for one in study.until.widths if study.until else ():
        if one.stream != EVERY and one.stream not in scenario.streams:
            place = study.place_of_repeat
            line, column = place if place else (1, 1)
            hint = f"the streams are {some(sorted(scenario.streams), 8)}"
            said = Problem(str(study.file), line, column, "repeat.until", "a stream", one.stream, hint)
            raise ScenarioErrors([said])


def _refuse_long_warm_up(study: Study, scenario: Scenario) -> None:
    """Refuses a warm-up that leaves nothing of a run; runs whose duration varies say so themselves."""
    wanted = study.warm_up
    if not isinstance(wanted, int) or wanted < scenario.duration:
        return
    if not any(one.path == "duration" for one in study.vary):
        expected = f"less than the duration of the scenario, {quantity(scenario.duration, 'ns')}"
        place = study.place_of_warm_up or Place(1, 1)
        found = quantity(wanted, "ns")
        raise ScenarioErrors(
            [Problem(str(study.file), *place, "warm-up", expected, found, "write warm-up: auto")]
        )


def _place(study: Study) -> Place:
    return study.place_of_goals or Place(1, 1)


def _varies(scenario: Scenario) -> bool:
    """Whether another seed can give another result."""
    plans = [make_plan(shortened(scenario, None, seed)) for seed in (scenario.seed, scenario.seed + 1)]
    documents = [plan.document.copy() for plan in plans]
    for document in documents:
        document["seed"] = 0
    return documents[0] != documents[1] or bool(what_varies(documents[0]))


def _label(values: dict[str, str]) -> str:
    return ", ".join(f"{key} {value}" for key, value in values.items())


def _request(
    whole: Source, values: dict[str, str], variant: dict[str, str], number: int, seed: int
) -> Request:
    drawn = [[one.path, repr(one.distribution)] for one in whole.study.vary if isinstance(one, Drawn)]
    said = [whole.digest, values, drawn, number, seed, BACKEND, identity()]
    said += [whole.study.warm_up] if whole.study.warm_up else []
    digest = hashlib.sha256(json.dumps(said).encode()).hexdigest()
    return Request(digest[:DIGITS], values, variant, number, seed)


def files_beside(value: Value, folder: Path) -> list[Path]:
    """Files that a scenario names, such as recorded traffic: the result also depends on their content."""
    found: set[Path] = set()
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Mapping):
            waiting += [part for _, part in one.entries]
        elif isinstance(one, Sequence):
            waiting += one.items
        elif _ENDING.search(one.text) and (folder / one.text).is_file():
            found.add(folder / one.text)
    return sorted(found)
