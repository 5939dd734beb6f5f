"""A scenario's tree with other values at named paths, as a study varies them.

Paths are those of messages: ``streams.video.period``, ``shapers.dut -> node0.gates.cycle``, ``faults[0].at``.
A star stands for every key of a mapping.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tsnbench.scenario.errors import Problem
from tsnbench.scenario.text.place import ELSEWHERE, Place
from tsnbench.scenario.text.reading import meant
from tsnbench.scenario.text.tree import Mapping, Scalar, Sequence, Value, describe

Step = str | int
"""A key of a mapping, or the number of an item in a list."""


class PathError(ValueError):
    """A path that the scenario does not have: the expected and the found key, and a hint."""

    def __init__(self, expected: str, found: str, hint: str = "") -> None:
        super().__init__(f"expected {expected}, found {found}")
        self.expected, self.found, self.hint = expected, found, hint


def places_of(tree: Mapping, path: str) -> list[tuple[str, tuple[Step, ...]]]:
    """The places that a path means in a tree, each with its own path; the last key need not be written yet.

    Raises:
        PathError: the path leads nowhere.
    """
    found = list(_places(tree, path, "", ()))
    if not found:
        raise PathError("a path to something in the scenario", path, "the star has no key to stand for")
    return found


def _places(
    value: Value, rest: str, path: str, steps: tuple[Step, ...]
) -> Iterator[tuple[str, tuple[Step, ...]]]:
    if not rest:
        yield path, steps
        return
    if rest.startswith("["):
        number, closed, after = rest[1:].partition("]")
        if not isinstance(value, Sequence) or not closed or not number.isdecimal():
            raise PathError(f"a list at {path}", describe(value))
        if int(number) >= len(value.items):
            raise PathError(f"one of the {len(value.items)} items of {path}", rest)
        inner = value.items[int(number)]
        yield from _places(inner, after.removeprefix("."), f"{path}[{number}]", (*steps, int(number)))
        return
    if not isinstance(value, Mapping):
        raise PathError(f"a mapping at {path}" if path else "a mapping", describe(value))
    if rest == "*" or rest.startswith("*."):
        for key, part in value.entries:
            yield from _places(part, rest[2:], _joined(path, key.text), (*steps, key.text))
        return
    # Names may contain dots: the longest key that fits is meant.
    for key, part in sorted(value.entries, key=lambda entry: -len(entry[0].text)):
        after = rest.removeprefix(key.text)
        if rest.startswith(key.text) and (not after or after[0] in ".["):
            yield from _places(part, after.removeprefix("."), _joined(path, key.text), (*steps, key.text))
            return
    if "." in rest or "[" in rest:
        known = [key.text for key, _ in value.entries]
        raise PathError(f"a key of {path or 'the scenario'}", rest, meant(rest.partition(".")[0], known))
    yield _joined(path, rest), (*steps, rest)


def _joined(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def from_study(text: str, place: Place) -> Scalar:
    """A value that stands at ``place`` in the file of a study: :func:`located` names this place."""
    return Scalar(Place(place.line + ELSEWHERE, place.column), text)


def written(tree: Mapping, steps: tuple[Step, ...]) -> Value:
    """What is written at a place of the tree; the mapping around it if its last key is not written yet."""
    value: Value = tree
    for step in steps:
        if isinstance(value, Sequence):
            value = value.items[int(step)]
        elif isinstance(value, Mapping):
            value = value.get(str(step)) or value
    return value


def replaced(tree: Mapping, steps: tuple[Step, ...], new: Value) -> Mapping:
    """The tree with another value at a place."""
    made = _replaced(tree, steps, new)
    assert isinstance(made, Mapping)
    return made


def _replaced(value: Value, steps: tuple[Step, ...], new: Value) -> Value:
    if not steps:
        return new
    first, *others = steps
    rest = tuple(others)
    if isinstance(value, Sequence):
        items = tuple(
            _replaced(item, rest, new) if number == first else item for number, item in enumerate(value.items)
        )
        return value._replace(items=items)
    assert isinstance(value, Mapping)
    entries = tuple(
        (key, _replaced(part, rest, new) if key.text == first else part) for key, part in value.entries
    )
    if all(key.text != first for key, _ in value.entries):
        entries = (*entries, (Scalar(new.place, str(first)), new))
    return value._replace(entries=entries)


def located(problem: Problem, study: str) -> Problem:
    """A problem of a varied scenario, at its place in the file of the study if the value is from there."""
    if problem.line < ELSEWHERE:
        return problem
    return replace(problem, file=study, line=problem.line - ELSEWHERE)
