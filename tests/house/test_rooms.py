"""The rooms of ARCHITECTURE.md: the imports between rooms, and the number of entries in a folder.

The tests import nothing of tsnbench: they compare the tables with syntax trees and Cargo's files.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path

from support.package_imports import circle, imports

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python/tsnbench"
TEXT = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
ALL = "all of the above"
COMMON = "all may know it"
MOST_ENTRIES = 17
MORE_ENTRIES = {".": "one entry for each room"}
"""Folders that may have more entries, with reasons."""


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


def room_of(file: str) -> str:
    """The room of a file or module: the first name of its path."""
    first = Path(file).parts[0]
    return "native" if first == "_native" else Path(first).stem


ROWS = {path: knows for path, _, knows in table("| room | what lives there | knows |")}
ROOMS = {Path(path).stem: knows for path, knows in ROWS.items() if path.startswith("python/tsnbench/")}
SHARED = {room for room, knows in ROOMS.items() if COMMON in knows}


@cache
def known() -> dict[str, set[str]]:
    """The rooms that a room imports, without itself and the shared rooms."""
    found: dict[str, set[str]] = {room: set() for room in ROOMS}
    for file, modules in imports().items():
        room = room_of(file)
        rooms = {room_of(module.replace(".", "/")) for module in modules}
        found.setdefault(room, set()).update(rooms - {room} - SHARED)
    return found


def test_a_room_imports_the_rooms_of_its_row() -> None:
    assert known().keys() - ROOMS.keys() == set(), "ARCHITECTURE.md has no row for them"
    for room, found in known().items():
        if ROOMS[room] == ALL:
            assert found <= set(ROOMS), room
        else:
            assert found == names(ROOMS[room]) - SHARED, room


def test_the_path_of_every_row_exists() -> None:
    assert [path for path in ROWS if not (ROOT / path).exists()] == []


def test_no_rooms_know_each_other_in_a_circle() -> None:
    assert circle({room: needs - {"native"} for room, needs in known().items()}) == ""


def test_a_crate_needs_the_crates_of_its_row() -> None:
    for path in (path for path in ROWS if path.startswith("crates/")):
        cargo = tomllib.loads((ROOT / path / "Cargo.toml").read_text(encoding="utf-8"))
        every = cargo.get("dependencies", {})
        needs = {name.removeprefix("tsn-") for name in every if name.startswith("tsn-")}
        assert needs == names(ROWS[path]), path


def test_a_folder_has_few_entries() -> None:
    built = {"__pycache__", "tsnbench-traffic"}
    folders = {path.parent for path in PACKAGE.rglob("*.py")}
    entries = {
        folder.relative_to(PACKAGE).as_posix(): [
            one.name for one in folder.iterdir() if one.name not in built and one.suffix != ".so"
        ]
        for folder in folders
    }
    full = {folder for folder, found in entries.items() if len(found) > MOST_ENTRIES}
    assert full - MORE_ENTRIES.keys() == set()
