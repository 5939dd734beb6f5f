"""Leases: each one assigns a run to the worker that makes it now.

A lease is a file that only one process can create. Its holder touches it regularly. If a holder is dead,
another worker takes the lease away by renaming it, which only one of several workers can do. At worst a run
is made twice, and both results are the same.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tsnbench.runs.process import started

BEAT_S = 5.0
"""How often a holder touches its lease."""
STALE_S = 60.0
"""Age of a lease without a touch whose holder counts as dead; ages are of the file server's clock."""
_NEW = ".new"


@dataclass(frozen=True)
class Lease:
    """A lease that this process holds."""

    path: Path
    token: str

    def touch(self) -> None:
        with suppress(OSError):
            os.utime(self.path)

    def release(self) -> None:
        """Releases the lease; a lease that another worker has taken stays."""
        if _said(self.path).get("token") == self.token:
            with suppress(OSError):
                self.path.unlink()


def take(folder: Path, name: str) -> Lease | None:
    """The lease of this name; None while another live worker holds it.

    Raises:
        OSError: the folder cannot be written.
    """
    path = folder / name
    token = secrets.token_hex(8)
    said = {
        "token": token,
        "host": platform.node(),
        "process": os.getpid(),
        "started": started(os.getpid()),
    }
    # The file gets its name when its content is complete: no reader finds an empty lease.
    fresh = folder / f"{name}.{token}.{_this_host()}-{os.getpid()}{_NEW}"
    try:
        fresh.write_text(json.dumps(said), encoding="utf-8")
        for _ in range(2):
            try:
                os.link(fresh, path)
                return Lease(path, token)
            except FileExistsError:
                if not _take_away(path, fresh, token):
                    return None
        return None
    finally:
        fresh.unlink(missing_ok=True)


def _take_away(path: Path, fresh: Path, token: str) -> bool:
    """Removes the lease of a dead worker; returns whether it is gone."""
    said = _said(path)
    try:
        age = fresh.stat().st_mtime - path.stat().st_mtime
    except FileNotFoundError:
        return True
    if not _dead(said, age):
        return False
    aside = path.with_name(f"{path.name}.{token}.stale")
    try:
        path.rename(aside)
    except FileNotFoundError:
        return True
    if _said(aside) != said:
        # Another worker was faster, and its lease was moved aside by mistake: it is put back.
        with suppress(OSError):
            os.link(aside, path)
    with suppress(OSError):
        aside.unlink()
    return True


def _dead(said: dict[str, object], age_s: float) -> bool:
    process = said.get("process")
    if said.get("host") == platform.node() and isinstance(process, int):
        return said.get("started") != started(process)
    return age_s > STALE_S


def _this_host() -> str:
    """This machine's name as a part of a file's name."""
    return hashlib.blake2s(platform.node().encode(), digest_size=4).hexdigest()


def _maker_is_dead(path: Path, age_s: float) -> bool:
    """Whether nobody completes this new file: its maker can be killed before the file has a content."""
    host, _, process = path.stem.rpartition(".")[2].partition("-")
    if host == _this_host() and process.isdecimal():
        return started(int(process)) is None
    return age_s > STALE_S


def _said(path: Path) -> dict[str, object]:
    try:
        with path.open("rb") as file:
            found = json.loads(file.read(4096))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


@contextmanager
def kept_fresh(lease: Lease) -> Iterator[None]:
    """Touches the lease regularly in the meantime, and releases it at the end."""
    done = threading.Event()

    def beat() -> None:
        while not done.wait(BEAT_S):
            lease.touch()

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        lease.release()


def clear_dead(folder: Path) -> None:
    """Removes leases of dead workers, and files that they left while they took one."""
    now = time.time()
    for path in sorted(folder.iterdir()):
        with suppress(OSError):
            said, age_s = _said(path), now - path.stat().st_mtime
            if _dead(said, age_s) if "token" in said else path.suffix == _NEW and _maker_is_dead(path, age_s):
                path.unlink()


def held(folder: Path) -> list[str]:
    """Names of the runs that live workers make now."""
    now = time.time()
    found = []
    for path in sorted(folder.iterdir()):
        if path.suffix in (_NEW, ".stale"):
            continue
        with suppress(FileNotFoundError):
            if not _dead(_said(path), now - path.stat().st_mtime):
                found.append(path.name)
    return found
