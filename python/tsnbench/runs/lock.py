"""One writer per folder: a lock that ends with its process, and contains its holder."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import platform
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tsnbench.errors import BackendError
from tsnbench.runs.process import started

if TYPE_CHECKING:
    from tsnbench.foreign import Json

NAME = ".tsnbench.lock"
_NO_LOCKS = {errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS}
"""Errors of flock(2) on file systems without locks; then the file's content identifies the holder."""
_held: set[tuple[Path, int, int]] = set()
"""Folder, process and thread."""


class FolderBusyError(BackendError):
    """Another process writes into this folder now."""

    def __init__(self, folder: Path, who: str) -> None:
        super().__init__(
            f"{folder}: {who} is writing into this folder\n"
            "hint: wait until it has ended; tsnbench run --into names another folder"
        )


@contextmanager
def held(folder: Path, patience_s: float = 0) -> Iterator[None]:
    """No other process writes into ``folder`` meanwhile.

    It is made if it is missing, and removed if it stays empty.

    The same thread may hold it several times. ``patience_s`` is for short writes.

    Raises:
        FolderBusyError: another process, or another thread of this one, holds it.
        OSError: the folder cannot be made or written.
    """
    key = (folder.resolve(), os.getpid(), threading.get_ident())
    if key in _held:
        yield
        return
    made = _make(folder)
    try:
        descriptor = _wait(folder, patience_s)
        _held.add(key)
        try:
            yield
        finally:
            _held.discard(key)
            # The file is removed while the lock is held: a waiting process checks whether the file still has
            # that name.
            with suppress(OSError):
                (folder / NAME).unlink()
            os.close(descriptor)
    finally:
        for path in reversed(made):
            with suppress(OSError):
                path.rmdir()


def holder(folder: Path) -> str | None:
    """The process that writes into a folder now, such as ``process 71``; None without one."""
    if (folder.resolve(), os.getpid(), threading.get_ident()) in _held:
        return None
    try:
        descriptor = os.open(folder / NAME, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _NO_LOCKS and not _alive(_content(descriptor)):
            return None
        return _words(_content(descriptor))
    finally:
        os.close(descriptor)
    return None


def refuse_busy(folder: Path) -> None:
    """The check before a folder is read.

    Raises:
        FolderBusyError: another process writes into it.
    """
    if who := holder(folder):
        raise FolderBusyError(folder, who)


def _make(folder: Path) -> list[Path]:
    """The folders that had to be made, outermost first."""
    made = []
    for path in [*reversed(folder.parents), folder]:
        if not path.exists():
            with suppress(FileExistsError):
                path.mkdir()
                made.append(path)
    return made


def _wait(folder: Path, patience_s: float) -> int:
    until = time.monotonic() + patience_s
    while True:
        try:
            return _take(folder)
        except FolderBusyError:
            if time.monotonic() >= until:
                raise
            time.sleep(0.02)


def _take(folder: Path) -> int:
    path = folder / NAME
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                if error.errno not in _NO_LOCKS or _alive(_content(descriptor)):
                    raise FolderBusyError(folder, _words(_content(descriptor))) from None
            # The last holder may have removed the file between open and flock.
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(descriptor), os.stat(path, follow_symlinks=False)):
                    _write(descriptor)
                    return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _write(descriptor: int) -> None:
    said = {"process": os.getpid(), "started": started(os.getpid()), "host": platform.node()}
    # The holder's name is only information for others: a full disk must not prevent the lock.
    with suppress(OSError):
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, json.dumps(said).encode(), 0)


def _content(descriptor: int) -> Json:
    try:
        found = json.loads(os.pread(descriptor, 4096, 0))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _words(said: Json) -> str:
    process, host = said.get("process"), said.get("host")
    if not isinstance(process, int):
        return "another process"
    if isinstance(host, str) and host.isprintable() and host != platform.node():
        return f"process {process} on {host[:64]}"
    return f"process {process}"


def _alive(said: Json) -> bool:
    """Whether the process in the file still runs; a process of another machine counts as running."""
    process = said.get("process")
    if not isinstance(process, int):
        return False
    if said.get("host") != platform.node():
        return True
    if process == os.getpid() and not any(own[1] == process for own in _held):
        return False
    return said.get("started") is not None and started(process) == said.get("started")
