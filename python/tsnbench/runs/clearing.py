"""The files of tsnbench in a folder, and their removal.

No other code removes files from a folder that a user named.

A run folder contains files of fixed names, files that its manifest lists (captures, figures), and the text of
its scenario as long as nobody has changed it. A sweep's folder contains run folders, which its :mod:`sweep`
file lists, and their common report. All other files belong to users: they stay, and the folder is not used.
"""

from __future__ import annotations

import hashlib
import re
import stat
from collections.abc import Callable, Iterable
from pathlib import Path

from tsnbench import foreign
from tsnbench.quantities import some
from tsnbench.runs import file_names, lock, manifest, sweep
from tsnbench.runs.errors import FolderError, refuse_unnamable, unwritable

_FIXED = {
    manifest.NAME,
    file_names.PLAN,
    file_names.COUNTERS,
    file_names.OBSERVATIONS,
    file_names.STEADY,
    file_names.CLOCK_ERROR,
    file_names.STAMPS,
    file_names.BOUNDS,
    file_names.KERNEL,
    file_names.MEASURES,
    file_names.FRAMES,
    file_names.VERDICT,
    file_names.CONFORM,
    file_names.PREDICTION,
    "stages.svg",
    "stages.png",
}
_BETWEEN = re.compile(r"measures-[a-z-]+\.json|frames-[a-z-]+\.parquet")
"""Files of ``tsnbench measure --from --to``."""
_PAGES = {file_names.REPORT, file_names.SUMMARY, file_names.COMPARISON}
_GENERATOR = b'<meta name="generator" content="tsnbench'
_LISTED = re.compile(
    r"(captures|figures|hosts)/[^/\0]+|hosts/[^/\0]+/[^/\0]+|ptp4l-[^/\0]+\.log|attempts\.json|sync\.parquet"
    rf"|{re.escape(file_names.SCENARIO)}"
)
"""The paths that the list in a manifest may contain; anybody can edit that file."""
_PARTS = re.compile(rf"{re.escape(manifest.NAME)}\.\d+\.part|{re.escape(sweep.NAME)}\.\d+\.part")
HINT = "name an empty or a new folder with --into"


def clear(folder: Path) -> None:
    """Remove the files of tsnbench from a run folder or a sweep's folder, complete or not.

    Nothing is removed if there are other files, too.

    Raises:
        FolderError: it is no such folder, or contains files of other programs.
        FolderBusyError: another process writes into it.
    """
    lock.refuse_busy(folder)
    found = _Found()
    found.look(folder, "")
    if found.strange:
        listed = some(sorted(found.strange), 5)
        raise FolderError(folder, f"holds files that no run has written: {listed}", HINT)
    for one in found.runs:
        lock.refuse_busy(one)
    for path in found.order:
        # A whole tree is never removed: a folder into which a user puts a file meanwhile stays.
        if _is(path, stat.S_ISDIR):
            path.rmdir()
        else:
            path.unlink(missing_ok=True)


def size(folder: Path) -> int:
    """Octets of the files that :func:`clear` would remove."""
    if not folder.is_dir():
        return 0
    found = _Found()
    found.look(folder, "")
    return sum(path.lstat().st_size for path in found.order)


def ours(folder: Path) -> bool:
    """Whether a folder is tsnbench's: of a run or a sweep."""
    return (folder / manifest.NAME).is_file() or (folder / sweep.NAME).is_file()


def is_empty(folder: Path) -> bool:
    """Whether a folder is empty, except for the files of a run that was killed at its begin."""
    return all(_leftover(entry.name) for entry in folder.iterdir())


def refuse_file(folder: Path) -> None:
    """The check before a folder that a user named is made or used.

    Raises:
        FolderError: the folder cannot exist.
    """
    refuse_unnamable(folder)
    try:
        folder.stat()
    except FileNotFoundError:
        if folder.is_symlink():
            raise FolderError(folder, "expected a folder, found a symbolic link to nothing", HINT) from None
        return
    except OSError as error:
        # The name is too long, links form a cycle, or a file is on the path.
        raise unwritable(folder, error) from error
    if not folder.is_dir():
        raise FolderError(folder, "expected a folder, found a file", HINT)


def refuse_foreign(folder: Path) -> None:
    """The check before files are written into a folder that a user named.

    Raises:
        FolderError: it is a file, or a folder with other content.
    """
    refuse_file(folder)
    if folder.exists() and not ours(folder) and not is_empty(folder):
        raise FolderError(folder, "expected an empty folder or a run folder, found other files", HINT)


def claim(folder: Path, names: Iterable[str]) -> None:
    """Records files that are about to be written into the folder of a run or sweep; does nothing for other
    folders."""
    if (folder / manifest.NAME).is_file():
        content = manifest.read(folder)
        listed = manifest.listed(content)
        if more := sorted(set(names) - set(listed)):
            manifest.write(folder, content | {"files": [*listed, *more]})
    elif (folder / sweep.NAME).is_file():
        sweep.add(folder, files=names)


def is_page(path: Path) -> bool:
    """Whether an HTML file is one of our pages."""
    if not _is(path, stat.S_ISREG):
        return False
    with path.open("rb") as file:
        return _GENERATOR in file.read(4096)


def is_as_written(scenario: Path, digest: str) -> bool:
    """Whether the text of a scenario is the one that its run kept: users edit texts."""
    try:
        return hashlib.sha256(foreign.read_bytes(scenario, foreign.MOST_JSON)).hexdigest() == digest
    except OSError:
        return False


class _Found:
    """The content of a folder: our files in the order of their removal, and all others."""

    def __init__(self) -> None:
        self.order: list[Path] = []
        self.strange: list[str] = []
        self.runs: list[Path] = []

    def look(self, folder: Path, above: str) -> None:
        refuse_foreign(folder)
        names = sorted(entry.name for entry in folder.iterdir())
        listed: set[str] = set()
        runs: set[str] = set()
        if manifest.NAME in names:
            about = manifest.read(folder)
            listed |= set(manifest.listed(about)) - {file_names.SCENARIO}
            digest, kept = about.get("scenario"), folder / file_names.SCENARIO
            # Without the text, its part is what a run that was killed has left.
            if digest is not None and (not kept.exists() or is_as_written(kept, digest)):
                listed.add(file_names.SCENARIO)
        if sweep.NAME in names and not above:
            content = sweep.read(folder)
            listed |= set(content.files)
            runs |= set(content.runs)
        # The files that mark the folder as ours are removed last, so that the rest is recognised after a
        # crash.
        for name in sorted(names, key=lambda name: (name in (manifest.NAME, sweep.NAME), name)):
            path = folder / name
            if _is(path, stat.S_ISREG):
                if name != lock.NAME or above:
                    self._take(path, above + name, _is_ours(path, name, listed))
            elif name in ("captures", "figures", "hosts") and _is(path, stat.S_ISDIR):
                self._look_listed(path, name, above, listed)
            elif name in runs and _is(path, stat.S_ISDIR) and (is_empty(path) or _is_run(path)):
                self.runs.append(path)
                self.look(path, f"{name}/")
                self.order.append(path)
            else:
                self.strange.append(above + name)

    def _look_listed(self, folder: Path, called: str, above: str, listed: set[str]) -> None:
        """A folder whose files the manifest lists; ``hosts`` contains one for each host."""
        for one in sorted(folder.iterdir()):
            own = f"{called}/{one.name}"
            if called == "hosts" and _is(one, stat.S_ISDIR):
                self._look_listed(one, own, above, listed)
            else:
                self._take(one, above + own, _is(one, stat.S_ISREG) and _is_listed(own, listed))
        self.order.append(folder)

    def _take(self, path: Path, called: str, fine: bool) -> None:
        if fine:
            self.order.append(path)
        else:
            self.strange.append(called)


def _is_ours(path: Path, name: str, listed: set[str]) -> bool:
    whole = name.removesuffix(".part")
    if whole in _PAGES:
        return name != whole or is_page(path)
    return (
        whole in _FIXED
        or name == sweep.NAME
        or bool(_BETWEEN.fullmatch(whole))
        or _leftover(name)
        or _is_listed(name, listed)
    )


def _is_listed(name: str, listed: set[str]) -> bool:
    whole = name.removesuffix(".part")
    return bool(_LISTED.fullmatch(whole)) and (name in listed or whole in listed)


def _is_run(folder: Path) -> bool:
    return (folder / manifest.NAME).is_file()


def _leftover(name: str) -> bool:
    return name == lock.NAME or _PARTS.fullmatch(name) is not None


def _is(path: Path, kind: Callable[[int], bool]) -> bool:
    """The kind of a path itself: tsnbench makes no symbolic links, so a link belongs to a user."""
    return kind(path.lstat().st_mode)
