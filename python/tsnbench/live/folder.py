"""A folder of live traffic: what each side noted, and all of it as observations."""

from __future__ import annotations

from pathlib import Path

from tsnbench.errors import BackendError

OBSERVATIONS = "observations.parquet"


def log_of(folder: Path, side: str) -> Path:
    """Where a side (``send``, ``receive``) notes when frames passed its stages."""
    return folder / f"{side}.sights"


def merge(folder: Path) -> Path:
    """Puts what all sides noted into one file: both may use one folder, or have their logs copied into it.

    Raises:
        BackendError: a log cannot be read.
    """
    from tsnbench import _native

    # The sender's first: it knows what the streams are called.
    logs = sorted(folder.glob("*.sights"), key=lambda path: (path.name != "send.sights", path.name))
    into = folder / OBSERVATIONS
    try:
        _native.merge_logs([str(path) for path in logs], str(into))
    except OSError as error:
        raise BackendError(f"{folder}: {error}") from error
    return into
