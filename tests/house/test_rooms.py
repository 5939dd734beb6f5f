"""The rooms of ARCHITECTURE.md: the imports between rooms, and the number of entries in a folder.

The tests import nothing of tsnbench: they compare the tables with syntax trees and Cargo's files.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python/tsnbench"
TEXT = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
ALL = "all of the above"
COMMON = "all may know it"
MOST_ENTRIES = 17
MORE_ENTRIES = {".": "one entry for each room"}
"""Folders that may have more entries, with reasons."""
HEAVY = {
    "IPython",
    "SALib",
    "distributed",
    "jinja2",
    "markupsafe",
    "matplotlib",
    "ncclient",
    "numpy",
    "optuna",
    "ortools",
    "paramiko",
    "polars",
    "rich",
    "ruamel",
}
"""Libraries that are loaded on use: reading and planning need none of them."""
LATE = {
    "__main__.py": "a signal that comes while the command line is loaded ends it as later",
    "cli": "a command loads what it needs when it runs",
    "backends/kernel": "doctor asks what a kernel can do and makes no run",
    "backends/netns/state.py": "doctor and restore read the state of an interface and make no run",
    "backends/protocol.py": "doctor asks backends and makes no run",
    "doctor": "a guest's files are looked for where a guest is asked for",
    "planning/passes.py": "schedules, windows and cyclic queues are loaded where a scenario has them",
    "report/__init__.py": "whoever writes no report draws no figures",
    "report/figures/style.py": "the renderer of pgf is a class of matplotlib, which is loaded on use",
    "runs/run.py": "a convenience that ARCHITECTURE.md declares",
    "scenario/catalogue/hosts.py": "the catalogue builds its entries as a scenario builds its own",
    "scenario/kinds/common.py": "the catalogue builds its entries as a scenario builds its own",
    "scenario/text/source.py": "only a text with a mistake is read a second time, by ruamel",
    "scenario/tables.py": "only a scenario with a table reads one",
    "tuning/question.py": "a kernel is loaded only if it judges",
    "scenario/model/scenario.py": "a convenience that ARCHITECTURE.md declares",
}
"""Files or folders whose functions import modules of tsnbench, with reasons."""


@dataclass(frozen=True)
class Import:
    """One import statement of the package."""

    file: str
    module: str
    """The first name of another distribution, or the whole name of a module of tsnbench."""
    room: str
    """The room of tsnbench that is imported; empty for imports from outside the package."""
    late: bool
    """Inside a function."""
    typing: bool
    """Inside a block ``if TYPE_CHECKING``."""


def table(heading: str) -> list[list[str]]:
    """The rows of a table of ARCHITECTURE.md, by the text of its heading."""
    lines = TEXT.split(heading, 1)[1].splitlines()[2:]
    rows = []
    for line in lines:
        if not line.startswith("|"):
            break
        rows.append([cell.strip().strip("`") for cell in line.strip("|").split("|")])
    return rows


def names(cell: str) -> set[str]:
    """The rooms of a list with commas; remarks in brackets are ignored."""
    listed = re.sub(r"\s*\(.*\)", "", cell)
    return set() if listed == "nothing" else set(listed.split(", "))


ROWS = {path: knows for path, _, knows in table("| room | what lives there | knows |")}
ROOMS = {Path(path).stem: knows for path, knows in ROWS.items() if path.startswith("python/tsnbench/")}
SHARED = {room for room, knows in ROOMS.items() if COMMON in knows}
EXCEPTIONS = {room: names(knows) for room, knows, _ in table("| room | also knows | for |")}


def python_files() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


def room_of(path: Path) -> str:
    inside = path.relative_to(PACKAGE).parts
    return Path(inside[0]).stem


def within(tree: ast.Module, kinds: type[ast.AST] | tuple[type[ast.AST], ...], test: str = "") -> set[int]:
    """The nodes below nodes of these kinds, or below an ``if`` with this test."""
    above = [node for node in ast.walk(tree) if isinstance(node, kinds)]
    if test:
        above = [node for node in above if isinstance(node, ast.If) and ast.unparse(node.test) == test]
    return {id(below) for node in above for below in ast.walk(node)}


def imports_of(path: Path) -> Iterator[Import]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    late = within(tree, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
    typing = within(tree, ast.If, "TYPE_CHECKING")
    file = path.relative_to(PACKAGE).as_posix()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found = [(alias.name.split(".")[0], "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: a relative import"
            first, *more = (node.module or "").split(".")
            if first != "tsnbench":
                found = [(first, "")]
            elif more:
                found = [(node.module or "", more[0])]
            else:
                found = [(f"tsnbench.{alias.name}", alias.name) for alias in node.names]
        else:
            continue
        for module, room in found:
            room = "native" if room == "_native" else room
            yield Import(file, module, room, id(node) in late, id(node) in typing)


IMPORTS: dict[str, list[Import]] = {room: [] for room in ROOMS}
"""The imports of every room."""
for _path in python_files():
    IMPORTS.setdefault(room_of(_path), []).extend(imports_of(_path))


def known(room: str) -> set[str]:
    """The rooms that a room imports, without itself, the shared rooms and the version."""
    found = {one.room for one in IMPORTS[room] if one.room}
    return found - {room, "__version__"} - SHARED


@pytest.mark.parametrize("room", sorted(IMPORTS))
def test_a_room_imports_the_rooms_of_its_row(room: str) -> None:
    assert room in ROOMS, "ARCHITECTURE.md has no row for it"
    exceptions = EXCEPTIONS.get(room, set())
    if ROOMS[room] == ALL:
        assert known(room) <= set(ROOMS)
    else:
        assert known(room) == (names(ROOMS[room]) - SHARED) | exceptions


@pytest.mark.parametrize("room", sorted(EXCEPTIONS))
def test_a_declared_convenience_is_loaded_when_it_is_used(room: str) -> None:
    only = [one for one in IMPORTS[room] if one.room in EXCEPTIONS[room]]
    assert only
    assert all(one.late or one.typing for one in only)


@pytest.mark.parametrize("path", sorted(ROWS))
def test_the_path_of_every_row_exists(path: str) -> None:
    assert (ROOT / path).exists()


def test_no_rooms_know_each_other_in_a_circle() -> None:
    graph = {room: known(room) - EXCEPTIONS.get(room, set()) - {"native"} for room in IMPORTS}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"a circle: {' -> '.join(error.args[1])}")


@pytest.mark.parametrize("path", sorted(path for path in ROWS if path.startswith("crates/")))
def test_a_crate_needs_the_crates_of_its_row(path: str) -> None:
    cargo = tomllib.loads((ROOT / path / "Cargo.toml").read_text(encoding="utf-8"))
    needs = {name.removeprefix("tsn-") for name in cargo.get("dependencies", {}) if name.startswith("tsn-")}
    assert needs == names(ROWS[path])


def folders() -> list[Path]:
    return sorted({path.parent for path in PACKAGE.rglob("*.py")})


@pytest.mark.parametrize("folder", folders(), ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_a_folder_has_few_entries(folder: Path) -> None:
    built = {"__pycache__", "tsnbench-traffic"}
    entries = [one.name for one in folder.iterdir() if one.name not in built and one.suffix != ".so"]
    if folder.relative_to(PACKAGE).as_posix() not in MORE_ENTRIES:
        assert len(entries) <= MOST_ENTRIES


@pytest.mark.parametrize("room", sorted(IMPORTS))
def test_functions_import_only_heavy_libraries(room: str) -> None:
    late = [one for one in IMPORTS[room] if one.late and not one.typing]
    libraries = {one.module for one in late if not one.room} - set(sys.stdlib_module_names)
    assert libraries - HEAVY == set() if room != "cli" else libraries - HEAVY <= {"typer"}
    own = {one.file for one in late if one.room}
    assert {file for file in own if not any(is_below(file, place) for place in LATE)} == set()


@pytest.mark.parametrize("place", LATE)
def test_every_file_that_may_import_late_does(place: str) -> None:
    assert any(
        one.late and one.room and is_below(one.file, place) for room in IMPORTS.values() for one in room
    )


def is_below(file: str, place: str) -> bool:
    return file == place or file.startswith(f"{place}/")
