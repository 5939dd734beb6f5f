"""The rooms of ARCHITECTURE.md: the imports between rooms, and the number of entries in a folder.

The tests import nothing of tsnbench: they compare the tables with syntax trees and Cargo's files.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from support.package_imports import IMPORTS, circle

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


KNOWN: dict[str, set[str]] = {room: set() for room in ROOMS}
"""The rooms that a room imports, without itself and the shared rooms."""
for _file, _modules in IMPORTS.items():
    _room = room_of(_file)
    _rooms = {room_of(module.replace(".", "/")) for module in _modules}
    KNOWN.setdefault(_room, set()).update(_rooms - {_room} - SHARED)


@pytest.mark.parametrize("room", sorted(KNOWN))
def test_a_room_imports_the_rooms_of_its_row(room: str) -> None:
    assert room in ROOMS, "ARCHITECTURE.md has no row for it"
    if ROOMS[room] == ALL:
        assert KNOWN[room] <= set(ROOMS)
    else:
        assert KNOWN[room] == names(ROOMS[room]) - SHARED


@pytest.mark.parametrize("path", sorted(ROWS))
def test_the_path_of_every_row_exists(path: str) -> None:
    assert (ROOT / path).exists()


def test_no_rooms_know_each_other_in_a_circle() -> None:
    assert circle({room: known - {"native"} for room, known in KNOWN.items()}) == ""


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
