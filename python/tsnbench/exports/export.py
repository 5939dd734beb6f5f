"""All formats of a Plan, as texts by path."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tsnbench import foreign
from tsnbench.errors import InputError
from tsnbench.exports import ansible, inet, spreadsheets, trdp, tsnkit
from tsnbench.exports.saihu import writing as saihu
from tsnbench.linux import files as linux_files
from tsnbench.linux.profile import Profile
from tsnbench.plan.document import PlanReadError
from tsnbench.plan.network import Network
from tsnbench.plan.notes import Note, Notes
from tsnbench.runs.errors import writing
from tsnbench.yang import files as yang_files

if TYPE_CHECKING:
    from tsnbench.plan.types import PlanDocument

MARKER = ".tsnbench-export"
"""The record of an export's files and their SHA-256, so that the next export can replace them."""


@dataclass
class Exported:
    """Files as texts, and notes of the losses.

    Example:
        >>> from tsnbench import Plan
        >>> from tsnbench.exports import export
        >>> done = export(Plan.read("runs/first/plan.json").document, ["tc"])
        >>> done.files["switch/tc.batch"].splitlines()[0]
        'qdisc replace dev eth1 clsact'
        >>> done.notes[0].what, done.notes[0].lost
        ('when and what talkers send', True)
    """

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
    "ansible": ansible.files,
    "trdp": lambda network, _, notes: trdp.files(network, notes),
    "saihu": lambda network, _, notes: saihu.files(network, notes),
}
NEEDS = {"ansible": ("tc", "ptp4l")}
"""Formats that need the files of others, which are written with them."""


def export(document: PlanDocument, to: Iterable[str], profile: Profile | None = None) -> Exported:
    """Writes a Plan in other formats, in memory.

    Args:
        document: ``plan.document``.
        to: names of formats: ``tc``, ``ptp4l``, ``yang``, ``inet``, ``tsnkit``, ``csv``, ``ansible``,
            ``trdp``, ``saihu``.
        profile: names of interfaces and options for Linux.

    Raises:
        InputError: a format is not known.

    Example:
        >>> from tsnbench import Plan
        >>> from tsnbench.exports import export
        >>> done = export(Plan.read("runs/first/plan.json").document, ["csv"])
        >>> done.files["csv/streams.csv"].splitlines()[1].split(",")[:4]
        ['loop', 'controller', 'robot', '6']
    """
    done = Exported()
    _names(document)
    network = Network(document, profile.interfaces if profile else None)
    wanted = list(to)
    for name in wanted:
        if name not in FORMATS:
            raise InputError(f"formats: expected one of {', '.join(FORMATS)}, found {name}")
    for name in dict.fromkeys(part for one in wanted for part in (*NEEDS.get(one, ()), one)):
        notes = Notes(name)
        done.files |= FORMATS[name](network, profile or Profile(), notes)
        done.notes += list(notes)
    if done.notes:
        done.files["notes.txt"] = "".join(f"{note}\n" for note in done.notes)
    return done


def _names(document: PlanDocument) -> None:
    """Checks the names, as they become parts of scripts and files, and anybody may have written the Plan."""
    found = {
        "nodes": [node["name"] for node in document["nodes"]],
        "ports": [port["name"] for port in document["ports"]],
        "streams": [stream["name"] for stream in document["streams"]],
    }
    for kind, (pattern, expected) in _NAMES.items():
        for number, name in enumerate(found[kind]):
            if not pattern.fullmatch(name):
                raise PlanReadError(f"{kind}[{number}].name: expected {expected}, found {name!r}")


def write(done: Exported, folder: Path) -> list[Path]:
    """Writes all files below a folder. The folder is created; files of an earlier export in it are replaced.

    Raises:
        InputError: the folder has other files, or files that were changed after an export.
        BackendError: the disk is full, or cannot be written.

    Example:
        >>> from pathlib import Path
        >>> from tsnbench import Plan
        >>> from tsnbench.exports import export, write
        >>> done = export(Plan.read("runs/first/plan.json").document, ["csv"])
        >>> [path.name for path in write(done, Path("tables"))]
        ['nodes.csv', 'ports.csv', 'classes.csv', 'gates.csv', 'streams.csv', 'hops.csv', 'notes.txt']
    """
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: expected a folder, found a file")
    marker = folder / MARKER
    if folder.is_dir() and any(folder.iterdir()) and not marker.exists():
        raise InputError(f"{folder}: expected an empty folder or an earlier export, found other files")
    octets = {name: text.encode("utf-8") for name, text in done.files.items()}
    with writing(folder):
        earlier = _written(marker)
        there = sorted(name for name in {*earlier, *octets} if os.path.lexists(folder / name))
        if changed := [name for name in there if not _unchanged(folder, name, earlier.get(name))]:
            raise InputError(
                f"{folder}: holds files that no export has written, or that were changed since: "
                f"{', '.join(changed[:5])}\nhint: name an empty or a new folder"
            )
        for name in there:
            (folder / name).unlink()
        folder.mkdir(parents=True, exist_ok=True)
        listed = "".join(f"{_digest(content)}  {name}\n" for name, content in octets.items())
        for name, content in {MARKER: listed.encode("utf-8"), **octets}.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            if path.suffix == ".sh":
                path.chmod(0o755)
    return [folder / name for name in octets]


def _written(marker: Path) -> dict[str, str]:
    """SHA-256 by name of the files of an earlier export."""
    if not marker.is_file():
        return {}
    lines = foreign.read_text(marker, 1 << 20).splitlines()
    return {name: digest for digest, _, name in (line.partition("  ") for line in lines) if _is_inside(name)}


def _is_inside(name: str) -> bool:
    """Whether a path is inside of the folder: anybody can have edited the list."""
    return bool(name) and "\0" not in name and not Path(name).is_absolute() and ".." not in Path(name).parts


def _unchanged(folder: Path, name: str, digest: str | None) -> bool:
    """Whether a file is unchanged since its export, and in the folder itself: exports make no links."""
    path = folder / name
    links = any((folder / part).is_symlink() for part in (Path(name), *Path(name).parents[:-1]))
    return digest is not None and not links and path.is_file() and _digest(path.read_bytes()) == digest


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
