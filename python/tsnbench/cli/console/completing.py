"""What a shell completes: scenario files, run folders, and names of streams, nodes and parameters.

A function gets what is typed so far. Where it finds nothing, the shell completes files.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from tsnbench.cli.parts import run_files, runs_room, scenarios
from tsnbench.errors import InputError

if TYPE_CHECKING:
    from tsnbench.scenario import Scenario

DEPTH = 4
"""Levels of folders that are searched below what is typed."""
MOST = 2000
"""Folders and files, among those that begin with what is typed, that are examined: a shell must not wait."""
_HEAD = 1 << 16


def scenario_files(incomplete: str) -> list[str]:
    """YAML files with a network, but for the texts that run folders keep."""
    found = list(_below(incomplete))
    kept = {
        os.path.join(os.path.dirname(name), run_files.SCENARIO)
        for name, _ in found
        if os.path.basename(name) == run_files.MANIFEST
    }
    return [
        name
        for name, entry in found
        if name.endswith((".yaml", ".yml")) and name not in kept and _is_scenario(entry)
    ]


def run_folders(incomplete: str) -> list[str]:
    """Folders of runs and of sweeps."""
    marks = {run_files.MANIFEST, run_files.SWEEP}
    found = (os.path.dirname(name) for name, _ in _below(incomplete) if os.path.basename(name) in marks)
    return sorted({name for name in found if name.startswith(incomplete)})


def streams(context: typer.Context, incomplete: str) -> list[str]:
    """The streams of the scenario on the command line."""
    return _starting(incomplete, (one for scenario in _scenarios(context) for one in scenario.streams))


def nodes(context: typer.Context, incomplete: str) -> list[str]:
    """The nodes of the scenario on the command line."""
    return _starting(incomplete, (one for scenario in _scenarios(context) for one in scenario.network.nodes))


def parameters(context: typer.Context, incomplete: str) -> list[str]:
    """The parameters of a sweep."""
    return _starting(incomplete, (one for scenario in _scenarios(context) for one in scenario.variant))


def choices(context: typer.Context, incomplete: str) -> list[str]:
    """The values of a sweep's parameters: ``hops=3``."""
    every = (pair for scenario in _scenarios(context) for pair in scenario.variant.items())
    return _starting(incomplete, (f"{name}={value}" for name, value in every))


def frames(context: typer.Context, incomplete: str) -> list[str]:
    """The streams of the run folder on the command line, each with its first frame."""
    folder = _written(context, "folder")
    with suppress(InputError, OSError, ValueError):
        plan = runs_room.Run.open(str(folder)).plan
        return _starting(incomplete, (f"{stream['name']}/0" for stream in plan.document["streams"]))
    return []


def _scenarios(context: typer.Context) -> list[Scenario]:
    """The runs of the scenario on the command line; none if it is missing or wrong."""
    with suppress(InputError, OSError):
        return scenarios.load_variants(Path(_written(context, "file")))
    return []


def _written(context: typer.Context, name: str) -> str:
    """The value of an argument; a line that ends with an option has its arguments among the other words."""
    return str(context.params.get(name) or next((one for one in context.args if Path(one).exists()), ""))


def _starting(incomplete: str, names: Iterable[Any]) -> list[str]:
    return [name for name in dict.fromkeys(map(str, names)) if name.startswith(incomplete)]


def _below(incomplete: str) -> Iterator[tuple[str, str]]:
    """Files that begin with what is typed, also in folders below: their names as typed, and their paths."""
    folder = os.path.dirname(incomplete)
    pending, seen = [(folder, 0)], 0
    while pending:
        here, depth = pending.pop(0)
        with suppress(OSError):
            for entry in sorted(os.scandir(here or "."), key=lambda one: one.name):
                name = os.path.join(here, entry.name)
                if not name.startswith(incomplete) or entry.name.startswith(".") or not name.isprintable():
                    continue
                seen += 1
                if seen > MOST:
                    return
                # A FIFO or a device can make its reader wait.
                if entry.is_file():
                    yield name, entry.path
                elif depth < DEPTH and entry.is_dir(follow_symlinks=False):
                    pending.append((name, depth + 1))


def _is_scenario(path: str) -> bool:
    with suppress(OSError, UnicodeDecodeError), open(path, encoding="utf-8", errors="replace") as file:
        return any(line.startswith("network:") for line in file.read(_HEAD).splitlines())
    return False
