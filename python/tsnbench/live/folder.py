"""A folder of live traffic: what each side noted, and all of it as observations."""

from __future__ import annotations

from pathlib import Path

from tsnbench import _native
from tsnbench.errors import BackendError
from tsnbench.runs import clearing
from tsnbench.runs.errors import DISK, FolderError, unwritable, writing

OBSERVATIONS = "observations.parquet"


def make(folder: Path) -> None:
    """Makes the folder where it is not there; both sides may use one.

    Raises:
        FolderError: it is a file, or the folder of a run, whose observations would be lost.
        BackendError: the disk is full, or does not let us.
    """
    clearing.refuse_file(folder)
    if clearing.ours(folder):
        raise FolderError(
            folder, "holds a run, and live traffic would replace its observations", clearing.HINT
        )
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)


def log_of(folder: Path, side: str) -> Path:
    """Where a side (``send``, ``receive``) notes when frames passed its stages."""
    return folder / f"{side}.sights"


def merge(folder: Path) -> Path:
    """Puts what all sides noted into one file: both may use one folder, or have their logs copied into it.

    Raises:
        BackendError: a log cannot be read.
    """
    # The sender's first: it knows what the streams are called.
    logs = sorted(folder.glob("*.sights"), key=lambda path: (path.name != "send.sights", path.name))
    into = folder / OBSERVATIONS
    try:
        _native.merge_logs([str(path) for path in logs], str(into))
    except OSError as error:
        if error.errno in DISK:
            raise unwritable(folder, error) from error
        raise BackendError(f"{folder}: {error}") from error
    return into
