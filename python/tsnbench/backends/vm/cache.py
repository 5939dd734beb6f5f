"""The cache of downloaded kernels and images."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

from tsnbench.errors import BackendError


def folder() -> Path:
    """``$TSNBENCH_CACHE``, or ``tsnbench`` in the user's cache.

    It can be filled by hand without a network.
    """
    named = os.environ.get("TSNBENCH_CACHE")
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    path = Path(named) if named else base / "tsnbench"
    path.mkdir(parents=True, exist_ok=True)
    return path


def sha256(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def keep(path: Path, octets: bytes) -> str:
    """Put a file here in one step, with a note by which a later check sees whether it is complete; returns
    its SHA-256.

    Raises:
        BackendError: the disk is full, or may not be written to.
    """
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix="part-", delete=False) as part:
            try:
                part.write(octets)
                part.flush()
                # The old note is removed first. If the new one is not written, the file counts as one without
                # a note.
                _beside(path).unlink(missing_ok=True)
                Path(part.name).replace(path)
            except BaseException:
                Path(part.name).unlink(missing_ok=True)
                raise
        return note(path)
    except OSError as error:
        raise BackendError(
            f"{path} cannot be written: {error.strerror}\nhint: TSNBENCH_CACHE names another place"
        ) from error


def note(path: Path) -> str:
    """Write the note about a file here; returns its SHA-256."""
    found = sha256(path)
    _beside(path).write_text(f"{found}\n", encoding="ascii")
    return found


def whole(path: Path) -> str | None:
    """The SHA-256 of a file that is here and agrees with its note; None otherwise.

    A file without a note is used as it is: it was put here by hand, or by an earlier version.
    """
    try:
        found = sha256(path)
        noted = _beside(path).read_text(encoding="ascii").strip() if _beside(path).exists() else found
    except OSError:
        return None
    return found if found == noted else None


def _beside(path: Path) -> Path:
    return path.with_name(f"{path.name}.sha256")
