"""All formats of a Plan, as texts by path."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tsnbench import foreign
from tsnbench.errors import InputError
from tsnbench.exports import inet, spreadsheets, tsnkit
from tsnbench.exports.network import Network
from tsnbench.exports.notes import Note, Notes
from tsnbench.linux import files as linux_files
from tsnbench.linux.profile import Profile
from tsnbench.yang import files as yang_files

MARKER = ".tsnbench-export"
"""The files that an export has written, so that the next one can replace them."""


@dataclass
class Exported:
    """Texts by path, relative to the folder; and what they do not say."""

    files: dict[str, str] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)


_NAMES = {
    "nodes": (re.compile(r"[A-Za-z][A-Za-z0-9_.+-]{0,63}"), "a letter, then letters, digits and _ . + -"),
    "ports": (re.compile(r"[ -~]{1,200}"), "letters, digits and signs of ASCII"),
    "streams": (re.compile(r"[!-~]{1,200}"), "letters, digits and signs of ASCII"),
}
Writer = Callable[[Network, Profile, Notes], dict[str, str]]
FORMATS: dict[str, Writer] = {
    "tc": linux_files.traffic_control,
    "ptp4l": linux_files.linuxptp,
    "yang": lambda network, _, notes: yang_files.instance_data(network, notes),
    "inet": lambda network, _, notes: inet.files(network, notes),
    "tsnkit": lambda network, _, notes: tsnkit.files(network, notes),
    "csv": lambda network, _, notes: spreadsheets.files(network, notes),
}


def export(document: dict[str, Any], to: Iterable[str], profile: Profile | None = None) -> Exported:
    """A Plan's document in the formats that are asked for.

    Raises:
        InputError: a format is not known.
    """
    done = Exported()
    _names(document)
    network = Network(document, profile.interfaces if profile else None)
    for name in dict.fromkeys(to):
        if name not in FORMATS:
            raise InputError(f"--to: expected one of {', '.join(FORMATS)}, found {name}")
        notes = Notes(name)
        done.files |= FORMATS[name](network, profile or Profile(), notes)
        done.notes += list(notes)
    if done.notes:
        done.files["notes.txt"] = "".join(f"{note}\n" for note in done.notes)
    return done


def _names(document: dict[str, Any]) -> None:
    """Names get into scripts and files, and a Plan may be anybody's."""
    for kind, (pattern, expected) in _NAMES.items():
        for number, one in enumerate(document[kind]):
            if not pattern.fullmatch(str(one["name"])):
                raise InputError(f"{kind}[{number}].name: expected {expected}, found {one['name']!r}")


def write(done: Exported, folder: Path) -> list[Path]:
    """Writes all files below a folder, which is made.

    Raises:
        InputError: the folder has files of something else.
    """
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: expected a folder, found a file")
    marker = folder / MARKER
    if folder.is_dir() and any(folder.iterdir()) and not marker.exists():
        raise InputError(f"{folder}: expected an empty folder or an earlier export, found other files")
    if marker.exists():
        for name in foreign.read_text(marker, 1 << 20).splitlines():
            # Only what an export can have written, wherever the marker came from.
            if not Path(name).is_absolute() and ".." not in Path(name).parts:
                (folder / name).unlink(missing_ok=True)
    paths = []
    for name, text in {MARKER: "".join(f"{one}\n" for one in done.files), **done.files}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        if path.suffix == ".sh":
            path.chmod(0o755)
        paths.append(path)
    return paths[1:]
