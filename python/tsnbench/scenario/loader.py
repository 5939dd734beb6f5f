"""A scenario file -> its runs: one without a sweep, one per combination of values with one."""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping as Map
from pathlib import Path

from tsnbench.scenario import model, network, shapers, source, streams
from tsnbench.scenario.errors import Problem, ScenarioErrors
from tsnbench.scenario.grammar import SCENARIO
from tsnbench.scenario.kinds import Fields, keys_of
from tsnbench.scenario.reading import NAME, Bad, Reading
from tsnbench.scenario.source import Mapping, Scalar, Sequence, describe
from tsnbench.scenario.sweep import MOST_RUNS, Axis, SweepError, axis_of

_PASSES_AFTER_A_MISTAKE = 32
"""How many combinations are still read for further mistakes once one has been found."""


def load(path: str | os.PathLike[str]) -> model.Scenario:
    """The one run of a scenario file.

    Raises :class:`ScenarioErrors` with every mistake of the file, or where it is a sweep of several runs.
    """
    runs = load_variants(path)
    if len(runs) > 1:
        names = ", ".join(runs[0].variant)
        hint = "load_variants reads all of them"
        raise source.failure(str(path), "one run", f"a sweep of {len(runs)} runs over {names}", hint)
    return runs[0]


def load_variants(path: str | os.PathLike[str]) -> list[model.Scenario]:
    """All runs of a scenario file, the first parameter varying slowest.

    Raises :class:`ScenarioErrors` with every mistake of the file.
    """
    where = Path(path)
    return read_scenario(source.read_file(where), str(path))


def read_scenario(text: str, file: str = "scenario.yaml") -> list[model.Scenario]:
    """All runs of a scenario's text; ``file`` is what mistakes call it. Raises :class:`ScenarioErrors`."""
    if len(text.encode(errors="replace")) > source.LARGEST_FILE:
        raise source.failure(file, f"at most {source.LARGEST_FILE} B", "a larger text")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise source.failure(file, "text", "a surrogate, which is no character") from None
    return _runs(source.parse(text, file), file)


def _runs(tree: Mapping, file: str) -> list[model.Scenario]:
    """Depth first: what a choice brings to light (lists within an alternative) is chosen from next."""
    pending: list[Map[str, int]] = [{}]
    runs: list[tuple[model.Scenario, dict[str, str]]] = []
    problems: list[Problem] = []
    passes = 0
    while pending:
        choices = pending.pop()
        reading = Reading(file, choices)
        scenario = _read(tree, reading)
        passes += 1
        problems += reading.problems
        if problems and passes > _PASSES_AFTER_A_MISTAKE:
            break
        fresh = [axis for path, axis in reading.axes.items() if path not in choices]
        count = 1
        for axis in fresh:
            count *= len(axis.values)
        if count + len(runs) + len(pending) > MOST_RUNS:
            found = f"{count + len(runs) + len(pending)} or more"
            raise source.failure(file, f"at most {MOST_RUNS} runs", found, place=fresh[0].place)
        if fresh:
            ways = itertools.product(*(range(len(axis.values)) for axis in fresh))
            paths = [axis.path for axis in fresh]
            found_ways = [{**choices, **dict(zip(paths, way, strict=True))} for way in ways]
            pending += reversed(found_ways)
        elif scenario is not None:
            runs.append((scenario, {path: axis.texts[choices[path]] for path, axis in reading.axes.items()}))
    if problems:
        raise ScenarioErrors(problems)
    names = _short(list(dict.fromkeys(path for _, chosen in runs for path in chosen)))
    return [
        scenario.model_copy(update={"variant": {names[path]: text for path, text in chosen.items()}})
        for scenario, chosen in runs
    ]


def _short(paths: list[str]) -> dict[str, str]:
    """The shortest ending of each path that no other path has: ``hops`` for ``network.line.hops``."""
    names: dict[str, str] = {}
    for path in paths:
        parts = path.split(".")
        endings = (".".join(parts[-n:]) for n in range(1, len(parts) + 1))
        others = [other for other in paths if other != path]
        names[path] = next(
            (end for end in endings if not any(f".{other}".endswith(f".{end}") for other in others)), path
        )
    return names


def _read(tree: Mapping, reading: Reading) -> model.Scenario | None:
    """One run; None where a mistake was noted."""
    entries = tuple((key, value) for key, value in tree.entries if key.text != "parameters")
    _parameters(reading, tree)
    top = SCENARIO.read(reading, Mapping(tree.place, entries, tree.weight), "")
    if isinstance(top, Bad):
        return None
    net = network.Net(reading)
    net.named = net.whole = False
    if "network" in top:
        net = network.build(reading, top["network"])
    if "streams" in top and not top["streams"]:
        hint = "write streams: {s: {from: a, to: b, period: 1 ms, frame: 500 B}}"
        reading.problem(top.at("streams"), "streams", "at least one stream", "none", hint)
    built = streams.build(reading, net, top.get("streams", {}))
    shaped = shapers.build(reading, net, top.get("shapers", {}), built.values())
    tapped = shapers.taps(reading, net, top["taps"]) if "taps" in top else model.Taps()
    _unused(reading, tree)
    if top.bad or reading.problems:
        return None
    return model.Scenario(
        name=str(top["name"]),
        network=model.Network(nodes=net.nodes, links=tuple(net.links), queues=net.queues),
        streams=built,
        shapers=shaped,
        taps=tapped,
        **_optional(top),
    )


def _optional(top: Fields) -> dict[str, int | str]:
    """Keys with defaults in the model, where they are written."""
    found: dict[str, int | str] = {key: top[key] for key in ("duration", "drain", "seed") if key in top}
    return found | {key: str(top[key]) for key in ("title", "source") if key in top}


def _parameters(reading: Reading, tree: Mapping) -> None:
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
                reading.parameters[key] = reading.take(axis_of(key.path, value))
            except SweepError as error:
                reading.problem(error.place, key.path, error.expected, error.found, error.hint)
                reading.broken.add(key)
        elif isinstance(value, Mapping):
            if not value.entries:
                reading.problem(value.place, key.path, "named alternatives", "an empty mapping")
                reading.broken.add(key)
                continue
            names = tuple(name.text.strip() for name, _ in value.entries)
            parts = tuple(part for _, part in value.entries)
            reading.parameters[key] = reading.take(Axis(key.path, value.place, names, parts))
        elif isinstance(value, Scalar) and (value.text.strip() or not value.plain):
            reading.parameters[key] = value
        else:
            reading.problem(value.place, key.path, "a value, a list or named alternatives", "nothing")
            reading.broken.add(key)


def _unused(reading: Reading, tree: Mapping) -> None:
    """A parameter that nothing uses is a misspelt one: its sweep would repeat one run."""
    written = tree.get("parameters")
    if reading.problems or not isinstance(written, Mapping):
        return
    for key, _ in written.entries:
        if key.text.strip() in reading.parameters and key.text.strip() not in reading.used:
            hint = f"write ${{{key.text}}} where its value belongs, or leave it out"
            path = f"parameters.{key.text}"
            reading.problem(key.place, path, "a parameter that is used", "no use of it", hint)
