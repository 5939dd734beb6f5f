"""Files that a command writes and never replaces."""

from __future__ import annotations

from pathlib import Path

from tsnbench.errors import InputError
from tsnbench.runs.errors import writing


def write_new(path: Path, text: str, hint: str) -> None:
    """Writes a file that is not there yet; an incomplete one does not stay.

    Raises:
        InputError: there is a file of that name, or there can be none.
        BackendError: the disk is full, or cannot be written.
    """
    with writing(path):
        try:
            new = path.open("x", encoding="utf-8")
        except FileExistsError:
            raise InputError(f"{path}: expected a file that is not there yet, found one\n{hint}") from None
        try:
            with new:
                new.write(text)
        except BaseException:
            path.unlink()
            raise
