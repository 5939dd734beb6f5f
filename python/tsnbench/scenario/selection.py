"""Some of a sweep's scenarios, or the same scenario with other values."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from collections.abc import Mapping as Map
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tsnbench.errors import InputError
from tsnbench.scenario.errors import Problem, ScenarioErrors, failure
from tsnbench.scenario.loader import runs_of
from tsnbench.scenario.text import tree, varied
from tsnbench.scenario.text.place import Place, located
from tsnbench.scenario.text.reading import meant
from tsnbench.scenario.text.sweep import MOST_RUNS, SweepError, axis_of, same

if TYPE_CHECKING:
    from tsnbench.scenario.model import Scenario
    from tsnbench.scenario.text.origin import Origin


def shortened(scenario: Scenario, duration_ns: int | None, seed: int | None) -> Scenario:
    """A copy of the scenario with another duration or seed."""
    changes: dict[str, int] = {}
    if duration_ns is not None:
        changes["duration"] = duration_ns
    if seed is not None:
        changes["seed"] = seed
    return scenario.model_copy(update=changes)


def selected(scenarios: Sequence[Scenario], only: Sequence[str]) -> list[Scenario]:
    """The runs of a sweep whose parameters have the values of ``only`` (``hops=3``; ``45us`` is ``45 us``).

    Raises:
        InputError: a condition that is not ``name=value``, or that no run fulfils.
    """
    chosen = list(scenarios)
    for condition in only:
        key, separator, value = condition.partition("=")
        if not separator:
            raise InputError(f"--only: expected name=value, found {condition}")
        kept = [one for one in chosen if key in one.variant and same(one.variant[key], value)]
        if not kept:
            there = sorted({f"{k}={v}" for s in scenarios for k, v in s.variant.items()})
            choices = ", ".join(there) if there else "none: the scenario is no sweep"
            raise InputError(f"--only: no run has {condition}\nhint: there are {choices}")
        chosen = kept
    return chosen


@dataclass(frozen=True)
class _Axis:
    """A path that is varied: its places in the tree, and the new values with their texts."""

    name: str
    """As the caller wrote it."""
    path: str
    places: tuple[tuple[varied.Step, ...], ...]
    values: tuple[tuple[str, tree.Value | int], ...]
    """Of a parameter with named alternatives, the place of one among them."""


def varied_by(scenario: Scenario, values: Map[str, object]) -> list[Scenario]:
    """The scenarios with other values at paths: :meth:`Scenario.vary`."""
    origin = scenario.as_read()
    axes = [_axis(origin, name, value) for name, value in values.items()]
    _refuse_nested(origin, axes)
    if (count := math.prod(len(axis.values) for axis in axes)) > MOST_RUNS:
        raise failure(origin.file, f"at most {MOST_RUNS} runs", f"{count} runs", "fewer values")
    chosen = _still_chosen(origin, axes)
    before = {
        name: text
        for name, text in scenario.variant.items()
        if (path := origin.swept.get(name, name)) not in origin.choices and all(path != a.path for a in axes)
    }
    found = []
    for combination in itertools.product(*(axis.values for axis in axes)):
        whole, choices = origin.tree, dict(chosen)
        for axis, (_, value) in zip(axes, combination, strict=True):
            if isinstance(value, int):
                choices[axis.path] = value
                continue
            for place in axis.places:
                whole = varied.replaced(whole, place, value)
        own = {axis.name: text for axis, (text, _) in zip(axes, combination, strict=True)}
        found += [
            one.of_sweep(before | one.variant | own, {**origin.swept, **one.as_read().swept})
            for one in runs_of(whole, origin.file, origin.tables, choices, origin.text)
        ]
    return found


def _still_chosen(origin: Origin, axes: Sequence[_Axis]) -> dict[str, int]:
    """The choices of the scenario's own sweep that stay: not those of lists within an alternative."""
    paths = {axis.path for axis in axes}
    kept = {path: place for path, place in origin.choices.items() if path not in paths}
    if not any(isinstance(value, int) for axis in axes for _, value in axis.values):
        return kept
    return {path: place for path, place in kept.items() if _is_list(origin.tree, path)}


def _is_list(whole: tree.Mapping, path: str) -> bool:
    """Whether the list or the alternatives stand at the path itself, and not in a parameter that is used
    there."""
    try:
        ((_, steps),) = varied.places_of(whole, path)
    except varied.PathError:
        return False
    return not isinstance(varied.written(whole, steps), tree.Scalar)


def _axis(origin: Origin, name: str, value: object) -> _Axis:
    """The places of a path, and its new values.

    Raises:
        ScenarioErrors: the scenario has no such path, or there is no list of different values.
    """
    path = origin.swept.get(name, name)
    place = Place(1, 1)
    try:
        places = tuple(steps for _, steps in varied.places_of(origin.tree, path))
        before = varied.written(origin.tree, places[0])
        place = before.place
        texts = axis_of(path, tree.Sequence(place, tuple(_scalars(place, value)), 1))
        new: tuple[tuple[str, tree.Value | int], ...] = tuple(zip(texts.texts, texts.values, strict=True))
        if path in origin.swept.values() and isinstance(before, tree.Mapping):
            new = tuple((text, _alternative(before, text)) for text in texts.texts)
        return _Axis(name, path, places, new)
    except (varied.PathError, SweepError) as error:
        words = (error.expected, error.found, error.hint)
        raise ScenarioErrors([Problem(*located(origin.file, origin.tables, place), name, *words)]) from None


def _refuse_nested(origin: Origin, axes: Sequence[_Axis]) -> None:
    """Refuses a path that leads into a part which another path replaces."""
    whose = {place: axis for axis in axes for place in axis.places}
    for place, axis in whose.items():
        for length in range(1, len(place)):
            if (outer := whose.get(place[:length])) is not None:
                line, column = varied.written(origin.tree, place[:length]).place
                said = f"no path within {outer.name}, which also varies"
                raise ScenarioErrors([Problem(origin.file, line, column, axis.name, said, axis.name)])


def _scalars(place: Place, value: object) -> Iterable[tree.Scalar]:
    """The new values as texts of the file, each at the place of the value before."""
    if isinstance(value, Map) or value is None:
        found = "nothing" if value is None else "a mapping"
        raise SweepError(place, "a value, or a list of values", found, "write the path of one value in it")
    several = list(value) if isinstance(value, Iterable) and not isinstance(value, str) else [value]
    for one in several:
        yield tree.Scalar(place, str(one).lower() if isinstance(one, bool) else str(one))


def _alternative(named: tree.Mapping, text: str) -> int:
    """The place of one of a parameter's named alternatives."""
    known = [key.text for key, _ in named.entries]
    if text not in known:
        raise SweepError(named.place, "one of the alternatives", text, meant(text, known))
    return known.index(text)
