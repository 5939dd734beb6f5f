"""Why a folder cannot be used as a run folder."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tsnbench.errors import BackendError, InputError

_NAMED_WRONG = {
    errno.ENOTDIR,
    errno.EISDIR,
    errno.EEXIST,
    errno.ENAMETOOLONG,
    errno.ELOOP,
    errno.ENOENT,
    errno.EINVAL,
}
"""Errors that mean a wrong path, not a broken disk."""
HINTS = {
    errno.ENOSPC: "make room on this disk, or use a folder on another one",
    errno.EDQUOT: "make room in your quota, or use a folder on another disk",
    errno.EFBIG: "the size of files is limited: ulimit -f shows the limit",
    errno.EROFS: "use a folder that can be written",
    errno.EACCES: "use a folder that you may write",
    errno.EPERM: "use a folder that you may write",
}
FULL = {errno.ENOSPC, errno.EDQUOT}
DISK = FULL | {errno.EFBIG, errno.EROFS, errno.EIO}
"""Errors of writing, or of a broken disk."""


class FolderError(InputError):
    """A folder that is no run folder, is incomplete, or must not be overwritten.

    Example:
        >>> from tsnbench import Run
        >>> Run.open(".")
        Traceback (most recent call last):
        ...
        tsnbench.runs.errors.FolderError: .: expected a run folder, found no manifest.json in it
    """

    def __init__(self, folder: Path, problem: str, hint: str | None = None) -> None:
        self.folder = folder
        self.problem = problem
        self.hint = hint
        super().__init__(f"{folder}: {problem}" + (f"\nhint: {hint}" if hint else ""))


def refuse_unnamable(folder: Path) -> None:
    """The check that all programs can name a folder: tables and pages are read and written by UTF-8 names.

    Raises:
        FolderError: the octets of the name are not UTF-8, or the locale has no UTF-8.
    """
    try:
        str(folder).encode("utf-8")
    except UnicodeEncodeError:
        hint = "rename it, or set a locale with UTF-8: LC_ALL=C.UTF-8"
        raise FolderError(folder, "expected a folder with a name in UTF-8", hint) from None


def unwritable(path: Path, error: OSError) -> InputError | BackendError:
    """Why a file could not be written below ``path``: the path is wrong, or the disk is full or broken."""
    # A new folder cannot be made where a file is: mkdir says that something exists.
    number = errno.ENOTDIR if error.errno == errno.EEXIST else error.errno
    said = os.strerror(number) if number else str(error)
    problem = f"cannot be written: {said}"
    if error.errno in _NAMED_WRONG:
        return FolderError(path, problem, "use the path of a folder that is there, or of a new one")
    hint = HINTS.get(error.errno or 0)
    return BackendError(f"{path}: {problem}" + (f"\nhint: {hint}" if hint else ""))


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Converts errors of code that writes below ``path``.

    Raises:
        FolderError: such a folder cannot exist.
        BackendError: the disk is full, or cannot be written.
    """
    try:
        yield
    except OSError as error:
        # An error about an unusable file is already converted.
        if isinstance(error, InputError):
            raise
        raise unwritable(path, error) from error
