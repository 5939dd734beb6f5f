"""The folder that is opened: its scenarios and runs, and nothing outside of it."""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from threading import Lock

from tsnbench import foreign
from tsnbench.replay.page import LARGEST_LESSON
from tsnbench.runs import file_names, sweep
from tsnbench.studies.store import LIST

MOST_LISTED = 500
"""Most files of each kind in a list; the others are counted."""
MOST_STUDIES = 50
MOST_LESSONS = 50
MOST_LABS = 50
LARGEST_LAB = 1 << 20
LARGEST_SCENARIO = 64 << 20
FARTHEST = 1e9
"""Of a coordinate, in lengths of a link."""
LAYOUT = ".layout.json"
"""The ending of a file with positions, instead of .yaml."""
SUFFIXES = (".yaml", ".yml")
LESSON = ".md"
_HOSTS, _NETWORK = (re.compile(rf"^{key}\s*:", re.MULTILINE) for key in ("hosts", "network"))
_SKIPPED = {"node_modules", "target", "__pycache__"}


class OutsideError(Exception):
    """No such file within the folder."""


class ChangedError(Exception):
    """The file is not the one that was read: another program has written it."""


class NewNameError(Exception):
    """A new file cannot have this name; the message says which names it can have."""


class ThereError(Exception):
    """There is a file of this name already."""


@dataclass(frozen=True)
class Text:
    """The text of a file and a tag that changes with each of its octets."""

    text: str
    tag: str


class Workspace:
    """One folder. All names are relative to it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve(strict=True)
        self._writing = Lock()

    def scenarios(self) -> tuple[list[str], int]:
        """The YAML files of the folder but labs, by name, and how many more there are."""
        names = (
            path.relative_to(self.folder).as_posix()
            for path in self._files()
            if path.suffix in SUFFIXES and not path.is_symlink()
        )
        found = sorted(set(names).difference(self._labs()), key=_by_numbers)
        return found[:MOST_LISTED], max(0, len(found) - MOST_LISTED)

    def runs(self) -> tuple[list[str], int]:
        """The folders with a manifest, the newest first, and how many more there are."""
        found = self._newest(file_names.MANIFEST)
        return found[:MOST_LISTED], max(0, len(found) - MOST_LISTED)

    def studies(self) -> list[str]:
        """The folders of studies and sweeps, the newest first."""
        return self._newest(LIST, sweep.NAME)[:MOST_STUDIES]

    def lessons(self) -> list[str]:
        """Markdown files with a link to an instant of a replay, ``#t=12ms``, by name."""
        found = self._texts((LESSON,), LARGEST_LESSON, lambda text: "(#t=" in text)
        return sorted(islice(found, MOST_LESSONS), key=_by_numbers)

    def labs(self) -> list[str]:
        """YAML files with hosts and without a network, by name: inventories of labs."""

        return sorted(self._labs())[:MOST_LABS]

    def _labs(self) -> Iterator[str]:
        def fits(text: str) -> bool:
            return bool(_HOSTS.search(text) and not _NETWORK.search(text))

        return self._texts(SUFFIXES, LARGEST_LAB, fits)

    def _newest(self, *names: str) -> list[str]:
        """The folders with a file of one of these names, the newest first."""
        found = sorted(
            (-_changed(path), path.parent.relative_to(self.folder).as_posix())
            for path in self._files()
            if path.name in names and not path.is_symlink()
        )
        return [name for _, name in found]

    def _texts(self, suffixes: tuple[str, ...], largest: int, fits: Callable[[str], bool]) -> Iterator[str]:
        """The files with these endings whose text, of at most so many octets, fits."""
        for path in self._files():
            if path.suffix in suffixes and not path.is_symlink():
                with suppress(OSError, foreign.UnusableFileError):
                    if fits(foreign.read_text(path, largest)):
                        yield path.relative_to(self.folder).as_posix()

    def path(self, name: str, suffixes: tuple[str, ...] = SUFFIXES) -> Path:
        """The regular file of this name after all links are followed.

        Raises:
            OutsideError: there is none, or it lies outside of the folder.
        """
        path = self._inside(name)
        if not path.is_file() or path.suffix not in suffixes:
            raise OutsideError(name)
        return path

    def _inside(self, name: str) -> Path:
        """What has this name after all links are followed: a file or a folder."""
        try:
            path = (self.folder / name).resolve(strict=True)
        except (OSError, ValueError, RuntimeError):
            raise OutsideError(name) from None
        if not path.is_relative_to(self.folder):
            raise OutsideError(name)
        return path

    def read(self, name: str) -> Text:
        """The text of a scenario, line ends as they are.

        Raises:
            OutsideError: there is no such file within the folder.
            foreign.UnusableFileError: it is no text, or too large.
        """
        content = foreign.read_bytes(path := self.path(name), LARGEST_SCENARIO)
        try:
            return Text(content.decode("utf-8"), tag(content))
        except UnicodeDecodeError as error:
            found = f"the byte 0x{content[error.start]:02x} at {error.start}"
            raise foreign.UnusableFileError(path, "text in UTF-8", found) from None

    def write(self, name: str, content: bytes, expected: str) -> str:
        """Replaces a scenario as a whole, and returns its new tag.

        Raises:
            OutsideError: there is no such file within the folder.
            ChangedError: its tag is not ``expected``.
        """
        with self._writing:
            path = self.path(name)
            if tag(foreign.read_bytes(path, LARGEST_SCENARIO)) != expected:
                raise ChangedError(name)
            _replace(path, content, path.stat().st_mode & 0o7777)
        return tag(content)

    def create(self, name: str, content: bytes) -> tuple[str, str]:
        """Writes a scenario that is not there yet; an incomplete one does not stay.

        Returns:
            Its name in the list of scenarios, and its tag.

        Raises:
            NewNameError: a file of this name would not be listed.
            OutsideError: its folder is not within the opened one, or there is none.
            ThereError: there is a file, a folder or a link of this name.
        """
        path = self._new(name)
        try:
            # The system refuses an existing name, also a link that leads nowhere: of two tabs, one writes.
            new = path.open("xb")
        except FileExistsError:
            raise ThereError(name) from None
        try:
            with new:
                new.write(content)
                new.flush()
                os.fsync(new.fileno())
        except BaseException:
            path.unlink()
            raise
        return path.relative_to(self.folder).as_posix(), tag(content)

    def _new(self, name: str) -> Path:
        """Where a new scenario is written, after all links of its folder are followed."""
        folders, _, own = name.rpartition("/")
        parts = [*folders.split("/"), own] if folders else [own]
        if not own.endswith(SUFFIXES[0]) or any(
            not part.isprintable() or "\ufffd" in part or part.strip() != part for part in parts
        ):
            raise NewNameError("The name of a scenario ends with .yaml, and has no control characters")
        if any(part.startswith(".") or part in _SKIPPED for part in parts) or "" in parts:
            raise NewNameError("Files and folders that are hidden or unnamed are not listed")
        folder = self._inside(folders)
        if not folder.is_dir():
            raise OutsideError(name)
        if (folder / LIST).exists() or (folder / file_names.MANIFEST).exists():
            raise NewNameError("The folder of a study or a run keeps copies; choose another folder")
        return folder / own

    def layout(self, name: str) -> dict[str, list[float]]:
        """The positions of nodes that somebody chose for the drawing of a scenario; empty if there are none.

        Raises:
            OutsideError: there is no such scenario within the folder.
        """
        beside = f"{Path(name).with_suffix('').as_posix()}{LAYOUT}"
        self.path(name)
        try:
            path = self.path(beside, (".json",))
            return positions_of(json.loads(foreign.read_bytes(path, LARGEST_SCENARIO))["nodes"])
        except (OutsideError, OSError, ValueError, TypeError, KeyError, RecursionError):
            return {}

    def write_layout(self, name: str, places: dict[str, list[float]]) -> None:
        """Writes the positions into a file beside the scenario; no Plan depends on it.

        Raises:
            OutsideError: there is no such scenario within the folder.
        """
        path = self.path(name)
        beside = path.with_suffix("").with_name(path.with_suffix("").name + LAYOUT)
        if beside.is_symlink() or (beside.exists() and not beside.is_file()):
            raise OutsideError(name)
        content = json.dumps({"nodes": places}, indent=1, ensure_ascii=False) + "\n"
        with self._writing:
            _replace(beside, content.encode(), 0o644)

    def _files(self) -> Iterator[Path]:
        """All files but those that are hidden, and the copies of scenarios that studies and runs keep."""
        for root, folders, files in os.walk(self.folder):
            folders[:] = sorted(one for one in folders if not one.startswith(".") and one not in _SKIPPED)
            copies: tuple[str, ...] = SUFFIXES if LIST in files else ()
            own = file_names.SCENARIO if file_names.MANIFEST in files else ""
            here = Path(root)
            for one in sorted(files):
                if not one.startswith(".") and one != own and not one.endswith(copies):
                    yield here / one


def _by_numbers(name: str) -> list[tuple[int, str]]:
    """The key for names in the order of their numbers: ``2-gates`` before ``10-replay``."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"([0-9]{1,18})", name)]


def _replace(path: Path, content: bytes, mode: int) -> None:
    """Replaces a file as a whole; it has the old or the new content at every instant."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _changed(path: Path) -> int:
    """The time at which a file was written; 0 if it does not exist any more."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def positions_of(found: object) -> dict[str, list[float]]:
    """Positions of nodes by name, as JSON gives them.

    Raises:
        ValueError: it is anything else, or a number is infinite or none.
    """
    if not isinstance(found, dict):
        raise ValueError("an object with positions is missing")
    places: dict[str, list[float]] = {}
    for name, pair in found.items():
        # JSON in Python also reads NaN and Infinity, and texts with half a character.
        name.encode()
        if not isinstance(pair, list) or len(pair) != 2 or not all(type(one) in (int, float) for one in pair):
            raise ValueError(f"{name} has no two coordinates")
        if not all(abs(one) < FARTHEST for one in pair):
            raise ValueError(f"{name} is too far away")
        places[name] = [round(float(one), 4) for one in pair]
    return places


def tag(content: bytes) -> str:
    """The entity tag of these octets, with its quotation marks."""
    return f'"{hashlib.sha256(content).hexdigest()[:32]}"'
