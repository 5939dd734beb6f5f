"""A scenario file -> its runs: one without a sweep, one per combination of values with one."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from collections.abc import Mapping as Map
from dataclasses import dataclass
from pathlib import Path

from tsnbench.scenario import model, tables
from tsnbench.scenario.errors import Problem, ScenarioErrors, failure
from tsnbench.scenario.kinds.parameters import unused
from tsnbench.scenario.run import read_run
from tsnbench.scenario.text import source
from tsnbench.scenario.text.reading import Reading
from tsnbench.scenario.text.sweep import MOST_RUNS, Axes, Axis
from tsnbench.scenario.text.tree import Mapping, Scalar

_MOST_PARTS = 5_000_000
"""Nodes, links and streams of all runs together, so that a sweep fits into memory."""
_PASSES_AFTER_A_MISTAKE = 32
"""The number of combinations that are read for further mistakes after the first one."""


def load(path: str | os.PathLike[str]) -> model.Scenario:
    """Reads a scenario file that describes one run.

    Args:
        path: the YAML file.

    Raises:
        ScenarioErrors: every mistake of the file at once; or the file is a sweep of several runs, which
            :func:`~tsnbench.load_variants` reads.

    Example:
        >>> from tsnbench import load
        >>> load("first.yaml")
        Scenario('first', 2 streams)
    """
    runs = load_variants(path)
    if len(runs) > 1:
        names = ", ".join(runs[0].variant)
        hint = "load_variants reads all of them"
        raise failure(str(path), "one run", f"a sweep of {len(runs)} runs over {names}", hint)
    return runs[0]


def load_variants(path: str | os.PathLike[str]) -> list[model.Scenario]:
    """Reads a scenario file that describes one run or a sweep.

    Args:
        path: the YAML file.

    Returns:
        One scenario per run; the first parameter varies slowest. ``variant`` has the values of each.

    Raises:
        ScenarioErrors: every mistake of the file at once.

    Example:
        >>> from pathlib import Path
        >>> from tsnbench import load_variants
        >>> text = Path("first.yaml").read_text().replace("period: 250 us", "period: [250 us, 500 us]")
        >>> _ = Path("sweep.yaml").write_text(text)
        >>> [one.variant for one in load_variants("sweep.yaml")]
        [{'period': '250 us'}, {'period': '500 us'}]
    """
    where = Path(path)
    return read_scenario(source.read_file(where), str(path))


def read_scenario(text: str, file: str = "scenario.yaml") -> list[model.Scenario]:
    """Reads the text of a scenario, as :func:`~tsnbench.load_variants` reads a file.

    Args:
        text: YAML.
        file: the name of the file in error messages.

    Raises:
        ScenarioErrors: every mistake of the text at once.

    Example:
        >>> from pathlib import Path
        >>> from tsnbench.scenario import read_scenario
        >>> (scenario,) = read_scenario(Path("first.yaml").read_text())
        >>> scenario.name
        'first'
    """
    if len(text.encode(errors="replace")) > source.LARGEST_FILE:
        raise failure(file, f"at most {source.LARGEST_FILE} B", "a larger text")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise failure(file, "text", "a surrogate, which is no character") from None
    tree = source.parse(text, file)
    _no_other_file(tree, file)
    tree, files = tables.joined(tree, file)
    return runs_of(tree, file, files, text=text)


def _no_other_file(tree: Mapping, file: str) -> None:
    """Refuses another file of tsnbench by its own name, in place of one mistake for each of its keys."""
    format_ = tree.get("format")
    if isinstance(format_, Scalar) and format_.text.startswith("tsnbench-"):
        hint = "name the YAML file of the scenario"
        raise failure(file, "a scenario", f"a file of the format {format_.text}", hint, format_.place)
    study = tree.get("study")
    if study is not None and tree.get("scenario") is not None:
        raise failure(file, "a scenario", "a study", f"tsnbench study run {file}", study.place)


@dataclass(frozen=True)
class _Run:
    """One combination: its scenario, and its value of each axis."""

    scenario: model.Scenario
    axes: dict[str, Axis]
    choices: Map[str, int]


def runs_of(
    tree: Mapping,
    file: str,
    beside: tuple[str, ...] = (),
    chosen: Map[str, int] | None = None,
    text: str = "",
) -> list[model.Scenario]:
    """Every combination of a scenario's tree; ``beside`` are the files of the tables that are part of it.

    ``chosen``: axes, by their paths, of which only one value is wanted, with the place of that value.
    ``text``: the text of the tree, which run folders keep.

    An axis can depend on earlier choices (lists within an alternative), so one axis is chosen from at a time,
    in the order of the pass.
    """
    pending: list[Map[str, int]] = [chosen or {}]
    runs: list[_Run] = []
    problems: list[Problem] = []
    used: set[str] = set()
    made = Axes()
    passes = parts = 0
    while pending:
        choices = pending.pop()
        reading = Reading(file, choices, made, beside)
        scenario = read_run(tree, reading)
        passes += 1
        problems += reading.problems
        used |= reading.parameters.used
        if problems and passes > _PASSES_AFTER_A_MISTAKE:
            break
        fresh = [axis for path, axis in reading.axes.items() if path not in choices]
        count = math.prod(len(axis.values) for axis in fresh)
        if fresh and (count > MOST_RUNS or len(runs) + len(pending) > MOST_RUNS):
            hint = "fewer values, or several files"
            raise failure(file, f"at most {MOST_RUNS} runs", "more", hint, fresh[0].place)
        if fresh:
            pending += [{**choices, fresh[0].path: n} for n in reversed(range(len(fresh[0].values)))]
        elif scenario is not None:
            runs.append(_Run(scenario, reading.axes, choices))
            parts += len(scenario.network.nodes) + len(scenario.network.links) + len(scenario.streams)
            if parts > _MOST_PARTS:
                hint = "a smaller network, or fewer runs"
                raise failure(file, f"at most {_MOST_PARTS} parts in all runs", "more", hint)
    if not problems:
        problems += unused(tree, file, used)
    if problems:
        raise ScenarioErrors(tables.without_units(problems, beside))
    return _named(runs, reading.parameters, text)


def _named(runs: list[_Run], parameters: Iterable[str], text: str) -> list[model.Scenario]:
    """The runs in order, each with its variant: parameters as written, then lists as they are met."""
    met = dict.fromkeys(f"parameters.{name}" for name in parameters)
    paths = [*met, *dict.fromkeys(path for run in runs for path in run.axes if path not in met)]
    names = _short([path for path in paths if any(path in run.axes for run in runs)])
    runs = sorted(runs, key=lambda run: [run.choices.get(path, -1) for path in paths])
    return [
        run.scenario.of_sweep(
            {names[path]: run.axes[path].texts[run.choices[path]] for path in paths if path in run.axes},
            {names[path]: path for path in paths if path in run.axes},
            text,
        )
        for run in runs
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
