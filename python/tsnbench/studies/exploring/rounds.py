"""The lists of runs of a study: a search needs the results of one list before it chooses further runs."""

from __future__ import annotations

from collections.abc import Iterator

from tsnbench.errors import BackendError
from tsnbench.studies.design import Design, Source, design, explored
from tsnbench.studies.exploring.evaluation import Evaluation, evaluation
from tsnbench.studies.exploring.numbers import numbers
from tsnbench.studies.exploring.questions import Goal, Search
from tsnbench.studies.exploring.search import Point, Searcher
from tsnbench.studies.exploring.sensitivity import points
from tsnbench.studies.store import SCENARIO, STUDY, Content, Record, Store
from tsnbench.studies.study_file import Study


def rounds(study: Study, text: str, store: Store) -> Iterator[Design]:
    """Lists of runs; all runs of a list have to be made before the next list is asked for.

    Raises:
        ScenarioErrors: every mistake of the study or of the scenario with its values.
        InputError: an extra of tsnbench is not installed.
        BackendError: runs of a list are missing.
    """
    if study.sensitivity is not None:
        axes = {one.path: one.texts for one in study.lists}
        yield explored(Source(study, text), points(study.sensitivity, axes))
    elif study.search is not None:
        yield from _search(study, study.search, Source(study, text), store)
    else:
        yield design(study, text)


def following(store: Store, content: Content, whole: Source) -> Content | None:
    """The list after this one, whose runs are all made; it is written into the folder.

    Any worker finds the same list, because results alone decide. None: there is no further list.

    Raises:
        InputError: an extra of tsnbench is not installed.
        BackendError: the disk is full, or the file cannot be written.
    """
    if content.explores != "search":
        return None
    files = {STUDY: store.folder / content.file, SCENARIO: store.folder / content.scenario}
    wanted, open_ = None, False
    for wanted in rounds(whole.study, whole.text, store):
        if open_ := any(store.result(run) is None for run in wanted.runs):
            break
    # A slow worker may have written an earlier list in the meantime; the last list has all runs.
    if wanted is not None and (open_ or wanted.runs != store.read().runs):
        store.begin(wanted, whole.study, files)
    return store.read() if open_ else None


def _search(study: Study, search: Search, whole: Source, store: Store) -> Iterator[Design]:
    searcher = Searcher(search, [one.texts for one in study.lists])
    asked: list[Point] = []
    while batch := searcher.ask():
        asked += batch
        wanted = explored(whole, asked)
        yield wanted
        made = results(wanted, store)
        found = {}
        for point in batch:
            if len(made.get(point, ())) == 0:
                raise BackendError(
                    f"{store.folder}: runs of the search are missing\nhint: another tsnbench study run has "
                    "changed the list meanwhile; the same command goes on"
                )
            found[point] = evaluated(study, search.goals, point, made[point], search.requirements)
        searcher.tell(found)


def results(wanted: Design, store: Store) -> dict[Point, list[Record]]:
    """The results of each combination whose runs are all made."""
    found: dict[Point, list[Record | None]] = {}
    for run in wanted.runs:
        found.setdefault(tuple(run.values.values()), []).append(store.result(run))
    return {
        point: [one for one in made if one is not None] for point, made in found.items() if None not in made
    }


def evaluated(
    study: Study, goals: tuple[Goal, ...], point: Point, made: list[Record], requirements: bool
) -> Evaluation:
    """The evaluation of a combination of the study's lists."""
    own = {}
    for axis, text in zip(study.lists, point, strict=True):
        number = numbers([text])
        if number is not None:
            own[axis.path] = number[0]
    return evaluation(goals, own, made, requirements)
