"""YAML text -> a tree in which everything has its place; no value is interpreted here.

YAML 1.2. Scalars stay text (``1:30`` and ``on`` are read as they are written); the grammar interprets them.
"""

from __future__ import annotations

import difflib
from array import array
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tsnbench import _native, foreign, quantities
from tsnbench.libraries import Lazy
from tsnbench.scenario.errors import ScenarioErrors, failure
from tsnbench.scenario.text.braces import OPEN, marked, unmarked
from tsnbench.scenario.text.builder import DEEPEST, Builder, Written
from tsnbench.scenario.text.place import Place
from tsnbench.scenario.text.tree import ENDS, SHARED, Mapping, describe, shown

if TYPE_CHECKING:
    from tsnbench.scenario.text import spelling
else:
    spelling = Lazy("tsnbench.scenario.text.spelling")

LARGEST_FILE = 1 << 26
"""Octets of a file: about 500,000 streams of one line each."""
LARGEST_SLOW = 1 << 22
"""Characters of a text that the slow parser gets to read: it takes 4 s for each million."""


@dataclass(frozen=True, slots=True)
class Subject:
    """The kind of file that messages are about."""

    name: str
    start: str
    """How such a file can begin."""
    smaller: str = ""
    """How a file can be written in fewer octets."""


SCENARIO = Subject(
    "a scenario", "name: my-first-network", "generators, sweeps and count say much in few lines"
)


def read_file(path: Path, subject: Subject = SCENARIO) -> str:
    """The file's text; raises :class:`ScenarioErrors` where it cannot be read as text."""
    name = str(path)
    try:
        raw = foreign.read_bytes(path, LARGEST_FILE)
    except foreign.UnusableFileError as error:
        hint = subject.smaller if error.expected.startswith("at most") else ""
        raise failure(name, error.expected, error.found, hint) from None
    except FileNotFoundError:
        raise failure(name, f"{subject.name} file", "no such file", _near(path)) from None
    except IsADirectoryError:
        raise failure(name, f"{subject.name} file", *_folder(path)) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "a path that cannot be opened"
        raise failure(name, f"{subject.name} file", str(reason).lower()) from None
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        column = error.start - (raw.rfind(b"\n", 0, error.start) + 1) + 1
        found = f"the byte 0x{raw[error.start]:02x}"
        if b"\0" in raw[:256] and raw[:2] not in (b"\xff\xfe", b"\xfe\xff"):
            hint = "captures are read by tsnbench measure"
            raise failure(name, f"{subject.name} in YAML", "a file that is no text", hint) from None
        raise failure(name, "text in UTF-8", found, "save the file as UTF-8", Place(line, column)) from None


def _folder(path: Path) -> tuple[str, str]:
    """What a folder is, and which file in it may be meant."""
    if (path / "manifest.json").exists():
        return "a run folder", f"tsnbench report {path} reads it"
    names = sorted(one.name for one in path.glob("*.y*ml"))
    return "a folder", f"name a file in it: {quantities.some(names)}" if names else "name a .yaml file"


def _near(path: Path) -> str:
    """A hint for a file that does not exist: one beside it with almost the same name."""
    try:
        beside = [one.name for one in path.parent.iterdir() if one.suffix in (".yaml", ".yml")][:1000]
    except OSError:
        return "check the path"
    for name in (f"{path.name}.yaml", f"{path.name}.yml", f"{path.stem}.yaml", f"{path.stem}.yml"):
        if name in beside:
            return f"did you mean {path.parent / name}?"
    near = difflib.get_close_matches(path.name, sorted(beside), n=1, cutoff=0.8)
    return f"did you mean {path.parent / near[0]}?" if near else "check the path"


def parse(text: str, file: str, subject: Subject = SCENARIO) -> Mapping:
    """The tree of a YAML text, whose top is a mapping.

    Raises :class:`ScenarioErrors` with the first mistake of spelling, or with every key that is given twice.
    """
    if not text.strip():
        raise failure(file, subject.name, "an empty file", f"start with: {subject.start}")
    stood_in = marked(text)
    builder = _native_tree(stood_in, file)
    is_mapping = builder is not None and isinstance(builder.top, Mapping)
    if not is_mapping and (other := spelling.other_kind(text)):
        kind, hint, place = other
        raise failure(file, f"{subject.name} in YAML", kind, hint, place)
    if builder is None:
        builder = _slow_tree(stood_in, file)
    if builder.problems:
        raise ScenarioErrors(builder.problems)
    top = builder.top
    if not isinstance(top, Mapping):
        place = top.place if top else Place(1, 1)
        hint = f"start with: {subject.start}"
        raise failure(file, "a mapping of keys to values", describe(top), hint, place)
    return top


def events_of(text: str) -> tuple[array[int], list[str]] | None:
    """The native parser's events of a text with stand-ins for braces, five numbers each, and the texts of its
    scalars; None for texts that it refuses."""
    try:
        octets, texts, _ = _native.yaml_events(text, DEEPEST, OPEN, (), ())
    except ValueError:
        return None
    return array("I", octets), texts


def _slow_tree(text: str, file: str) -> Builder:
    """The tree by the slow parser, which raises :class:`ScenarioErrors` at a mistake."""
    builder = Builder(file)
    builder.follow(spelling.slow_events(text, file))
    return builder


def _native_tree(text: str, file: str) -> Builder | None:
    """The tree by the native parser; None for texts that it refuses, most of them with a mistake."""
    try:
        octets, texts, shapes = _native.yaml_events(text.replace("\r\n", "\n"), DEEPEST, OPEN, ENDS, SHARED)
    except ValueError as refusal:
        if len(text) <= LARGEST_SLOW:
            return None
        line, column, found = refusal.args
        expected = f"plain YAML in a file of more than {LARGEST_SLOW >> 20} MiB"
        raise failure(file, expected, shown(found, 200), place=Place(line, column)) from None
    texts = [unmarked(text) for text in texts]
    builder = Builder(file)
    events = array("I", octets)
    builder.take(events, texts, Written(file, events, texts, shapes))
    return builder
