"""A folder of live traffic: the log of each side, and all logs together as observations."""

from __future__ import annotations

from pathlib import Path

from tsnbench import _native
from tsnbench.errors import BackendError
from tsnbench.runs import clearing
from tsnbench.runs.errors import DISK, FolderError, unwritable, writing

OBSERVATIONS = "observations.parquet"


def make(folder: Path) -> None:
    """Makes the folder if it is missing; talker and listener may share one folder.

    Raises:
        FolderError: it is a file, or the folder of a run, whose observations would be lost.
        BackendError: the disk is full, or cannot be written.
    """
    clearing.refuse_file(folder)
    if clearing.ours(folder):
        raise FolderError(
            folder, "holds a run, and live traffic would replace its observations", clearing.HINT
        )
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)


def log_of(folder: Path, side: str) -> Path:
    """The path of the log in which a side (``send``, ``receive``) notes when frames passed its stages."""
    return folder / f"{side}.sights"


def merge(folder: Path) -> Path:
    """Joins the logs of all sides in one file. Both sides may use one folder, or users copy their logs into
    it.

    Raises:
        BackendError: a log cannot be read.
    """
    # The sender's log comes first, because it contains the streams' names.
    logs = sorted(folder.glob("*.sights"), key=lambda path: (path.name != "send.sights", path.name))
    into = folder / OBSERVATIONS
    try:
        _native.merge_logs([str(path) for path in logs], str(into))
    except OSError as error:
        if error.errno in DISK:
            raise unwritable(folder, error) from error
        raise BackendError(f"{folder}: {error}") from error
    return into
