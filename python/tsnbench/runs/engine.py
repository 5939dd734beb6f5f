"""The identity of the engine: which build of tsnbench makes a run.

The version number stays the same through many changes, so results of two builds could be mixed. The digest of
the native module and of all Python sources tells builds apart.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

DIGITS = 16
"""Hexadecimal digits of an identity: 64 bits."""


@cache
def identity() -> str:
    """The identity of the engine that runs now, as it was when this process first asked."""
    return identity_of(Path(__file__).resolve().parents[1])


def identity_of(package: Path) -> str:
    """The identity of the engine in a folder: equal for equal native modules and sources."""
    whole = hashlib.sha256()
    files = [*package.rglob("*.py"), *package.glob("_native*.so")]
    for name, path in sorted((path.relative_to(package).as_posix(), path) for path in files):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        whole.update(f"{name} {content}\n".encode())
    return whole.hexdigest()[:DIGITS]
