"""Where downloaded kernels and baked images are kept between runs."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path


def folder() -> Path:
    """``$TSNBENCH_CACHE``, or ``tsnbench`` in the user's cache.

    Can be filled by hand where there is no network.
    """
    named = os.environ.get("TSNBENCH_CACHE")
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    path = Path(named) if named else base / "tsnbench"
    path.mkdir(parents=True, exist_ok=True)
    return path


def sha256(path: Path) -> str:
    """Of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
