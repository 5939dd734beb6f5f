"""Sections of a scenario that are indented, so that YAML reads them as a part of the previous section."""

from __future__ import annotations

from tsnbench.scenario.grammar import SCENARIO
from tsnbench.scenario.grammar.network import NETWORK
from tsnbench.scenario.text.reading import Reading
from tsnbench.scenario.text.tree import Mapping, Scalar, Value


def apart(reading: Reading, tree: Mapping) -> Mapping:
    """The tree with misplaced inner sections moved out, each reported as a mistake.

    So their content is read, and no further mistake is reported about their place.
    """
    entries: list[tuple[Scalar, Value]] = []
    moved: list[tuple[Scalar, Value]] = []
    for key, value in tree.entries:
        if key.text in ("network", "streams", "shapers") and isinstance(value, Mapping):
            inside = [entry for entry in value.entries if _is_section(key, *entry)]
            moved += inside
            kept = tuple(entry for entry in value.entries if entry not in inside)
            value = Mapping(value.place, kept, value.weight) if inside else value
            for section, _ in inside:
                name, found = section.text, f"it inside {key.text}"
                if section.place.line > key.place.line:
                    hint = f"write {name}: without the spaces before it, in column {key.place.column}"
                else:
                    hint = f"close the {{ of {key.text} before it"
                reading.problem(section.place, name, f"{name} beside {key.text}", found, hint)
        entries.append((key, value))
    if not moved:
        return tree
    there = {key.text for key, _ in entries}
    entries += [entry for entry in moved if entry[0].text not in there]
    return Mapping(tree.place, tuple(entries), tree.weight)


def _is_section(outer: Scalar, key: Scalar, value: Value) -> bool:
    if key.text not in SCENARIO.fields or key.place.column <= outer.place.column:
        return False
    if outer.text == "network":
        return key.text not in NETWORK.fields
    # A stream may have the name faults: then it has a talker or listeners.
    return not (isinstance(value, Mapping) and any(value.get(name) for name in ("from", "to", "pattern")))
