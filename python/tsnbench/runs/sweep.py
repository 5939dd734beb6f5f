"""The folder of a sweep: its runs, and which of them belong to the last whole sweep."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from tsnbench import foreign
from tsnbench.quantities import some
from tsnbench.runs import file_names, lock
from tsnbench.runs.errors import FolderError

FORMAT = "tsnbench-sweep/1"
NAME = file_names.SWEEP
MOST = 16 << 20
"""Octets."""
PATIENCE_S = 10.0
"""Runs of one sweep may be made in parallel (``--only``); each writes this file for a moment."""


@dataclass(frozen=True)
class Sweep:
    """The content of ``sweep.json``."""

    name: str
    """The scenario's name."""
    file: str
    """The scenario file, as in the manifests of its runs."""
    runs: list[str] = field(default_factory=list)
    """Every run folder that was made here."""
    current: list[str] = field(default_factory=list)
    """Run folders of the last complete sweep."""
    files: list[str] = field(default_factory=list)
    """Figures of all runs together."""

    @property
    def earlier(self) -> list[str]:
        """Runs of values that the sweep does not have any more."""
        return sorted(set(self.runs) - set(self.current)) if self.current else []


def read(folder: Path) -> Sweep:
    """The file of a sweep's folder.

    Raises:
        FolderError: the file cannot be read, or has another content.
    """
    try:
        found = foreign.read_json(folder / NAME, MOST)
    except OSError as error:
        raise FolderError(folder, f"its {NAME} cannot be read: {error.strerror or error}") from error
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise FolderError(folder, f"expected a {NAME} of format {FORMAT}, found something else")
    lists = {key: _names(found.get(key)) for key in ("runs", "current", "files")}
    return Sweep(str(found.get("name", "")), str(found.get("file", "")), **lists)


def write(folder: Path, content: Sweep) -> None:
    """Writes the file in one step, so that a reader never finds an incomplete one."""
    path = folder / NAME
    part = path.with_name(f"{NAME}.{os.getpid()}.part")
    text = json.dumps({"format": FORMAT, **asdict(content)}, indent=2, ensure_ascii=False) + "\n"
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def add(folder: Path, runs: Iterable[str] = (), files: Iterable[str] = ()) -> None:
    """Records files that are about to be written."""
    with lock.held(folder, PATIENCE_S):
        _add(folder, runs, files)


def _add(folder: Path, runs: Iterable[str], files: Iterable[str]) -> None:
    there = read(folder)
    more = replace(there, runs=sorted({*there.runs, *runs}), files=sorted({*there.files, *files}))
    if more != there:
        write(folder, more)


@dataclass(frozen=True)
class Members:
    """The content of the folder of a sweep."""

    runs: list[Path]
    missing: list[str]
    """Run folders of the last whole sweep that are not there: it was interrupted, or they were removed."""
    earlier: list[str]
    """Run folders that are there, for values that the sweep does not have any more."""


def members(folder: Path) -> Members | None:
    """The runs in the folder of a sweep; None for other folders."""
    if not (folder / NAME).is_file():
        return None
    content = read(folder)
    there = sorted(path.parent.name for path in folder.glob(f"*/{file_names.MANIFEST}"))
    return Members(
        [folder / name for name in there if name not in content.earlier],
        [name for name in content.current if name not in there],
        [name for name in there if name in content.earlier],
    )


def earlier_note(folder: Path, earlier: Sequence[str]) -> str:
    """The sentence about runs with values that the sweep does not have any more."""
    names = some(earlier, 5)
    return f"note: {folder} also holds runs of an earlier sweep, which are not part of this report: {names}"


def earlier_among(folders: Iterable[Path]) -> list[Path]:
    """Run folders for values that are no longer part of their sweep."""
    found = []
    for folder in folders:
        if (folder.parent / NAME).is_file() and folder.name in read(folder.parent).earlier:
            found.append(folder)
    return found


def _names(value: Any) -> list[str]:
    names = [name for name in value if isinstance(name, str)] if isinstance(value, list) else []
    return [name for name in names if name not in ("", ".", "..")]
