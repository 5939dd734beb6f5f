"""The parameters of a scenario: values of the names in ``${…}``."""

from __future__ import annotations

from collections.abc import Iterator

from tsnbench.scenario.errors import Problem
from tsnbench.scenario.kinds.combinators import keys_of
from tsnbench.scenario.text.reading import NAME, Reading
from tsnbench.scenario.text.sweep import SweepError
from tsnbench.scenario.text.tree import Mapping, Scalar, Sequence, describe


def read_parameters(reading: Reading, tree: Mapping) -> None:
    """Each parameter's value in this run: a list makes an axis, a mapping one of named alternatives."""
    written = tree.get("parameters")
    if written is None:
        return
    if not isinstance(written, Mapping):
        hint = "write parameters: {hops: [1, 2, 3]}"
        reading.problem(written.place, "parameters", "a mapping of names to values", describe(written), hint)
        return
    for key, value in keys_of(reading, written, "parameters"):
        if not NAME.fullmatch(key):
            reading.problem(key.place, key.path, "a name", key, "letters, digits and _ make a name")
            continue
        if isinstance(value, Sequence):
            try:
                reading.parameters.written[key] = reading.made.of(key.path, value)
            except SweepError as error:
                reading.problem(error.place, key.path, error.expected, error.found, error.hint)
                reading.broken.add(key)
        elif isinstance(value, Mapping):
            if not value.entries:
                reading.problem(value.place, key.path, "named alternatives", "an empty mapping")
                reading.broken.add(key)
                continue
            reading.parameters.written[key] = reading.made.of(key.path, value)
        elif isinstance(value, Scalar) and (value.text.strip() or not value.plain):
            reading.parameters.written[key] = value
        else:
            reading.problem(value.place, key.path, "a value, a list or named alternatives", "nothing")
            reading.broken.add(key)


def unused(tree: Mapping, file: str, used: set[str]) -> Iterator[Problem]:
    """An unused parameter is probably misspelt: its sweep would not happen."""
    written = tree.get("parameters")
    for key, _ in written.entries if isinstance(written, Mapping) else ():
        name = key.text.strip()
        if name not in used:
            hint = f"write ${{{name}}} where its value belongs, or leave it out"
            place, path = key.place, f"parameters.{name}"
            expected, found = "a parameter that is used", "no use of it"
            yield Problem(file, place.line, place.column, path, expected, found, hint)
