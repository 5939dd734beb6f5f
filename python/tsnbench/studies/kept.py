"""Run folders of the runs with the greatest delays: they can be examined, replayed and compared.

A worker stores figures alone. At the end, the worst runs are made once more, with all their files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from tsnbench.errors import BackendError
from tsnbench.studies.rerun import again
from tsnbench.studies.store import KEPT, Row, Store


def worst(results: Iterable[Row], most: int) -> list[str]:
    """The runs with the greatest delay of any stream, greatest first; of equal ones the first in the list."""
    greatest: dict[str, int] = {}
    for row in results:
        if row["delay max"] is not None:
            greatest[row["run"]] = max(greatest.get(row["run"], row["delay max"]), row["delay max"])
    return sorted(greatest, key=lambda run: -greatest[run])[:most]


def keep(store: Store, runs: Iterable[str], tell: Callable[[str], None] | None = None) -> list[Path]:
    """Makes the run folders of these runs below ``kept``; those that are there already are used again.

    Raises:
        BackendError: a run differs from that of the study, or failed.
    """
    folders = []
    for run in runs:
        folder = store.folder / KEPT / run
        if tell:
            tell(run)
        if not again(store, run, folder):
            raise BackendError(f"{folder}: its sightings differ from those of the study")
        folders.append(folder)
    return folders
