"""Numbers that a paper prints beside the results of a study: ``printed.json`` in the study's folder.

``tsnbench reproduce`` writes the file, with the verdict of each number. The page of the study shows it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from tsnbench import foreign
from tsnbench.report.parts.study import Compared, Estimate, PrintedCurve, PrintedPoint
from tsnbench.runs.errors import FolderError
from tsnbench.studies.store import Row, Store

NAME = "printed.json"
FORMAT = "tsnbench-printed/1"


@dataclass(frozen=True)
class Printed:
    """The numbers in a paper that a study repeats."""

    results: str
    """The digest of the results that they are compared with."""
    compared: tuple[Compared, ...]
    curves: tuple[PrintedCurve, ...]


def digest(runs: Iterable[Row]) -> str:
    """The same for two tables of runs, if all sightings of all runs are the same."""
    said = "".join(f"{row['run']} {row['digest']}\n" for row in runs)
    return hashlib.sha256(said.encode()).hexdigest()


def write(store: Store, printed: Printed) -> None:
    """Writes the file into the folder of the study.

    Raises:
        OSError: the disk is full, or cannot be written.
    """
    store.write(NAME, json.dumps({"format": FORMAT, **asdict(printed)}, ensure_ascii=False, indent=1) + "\n")


def read(store: Store) -> Printed | None:
    """The printed numbers of a study; None for a study of no paper.

    Raises:
        FolderError: the file is damaged.
    """
    try:
        content = foreign.read_json(store.folder / NAME)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise FolderError(store.folder, f"its {NAME} cannot be read: {error}") from error
    try:
        if content["format"] != FORMAT:
            raise ValueError(content["format"])
        return Printed(
            str(content["results"]),
            tuple(Compared(**{key: str(text) for key, text in one.items()}) for one in content["compared"]),
            tuple(_curve(one) for one in content["curves"]),
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise FolderError(
            store.folder, f"its {NAME} is damaged: {error}", "remove the file; tsnbench reproduce writes it"
        ) from error


def _curve(said: foreign.Json) -> PrintedCurve:
    points = tuple(
        PrintedPoint(
            tuple(map(str, one["values"])),
            Estimate(*(None if end is None else float(end) for end in one["ours"].values())),  # type: ignore[arg-type]
            None if one["printed"] is None else (float(one["printed"][0]), float(one["printed"][1])),
        )
        for one in said["points"]
    )
    return PrintedCurve(
        str(said["stream"]), str(said["quantity"]), str(said["unit"]), float(said["scale"]), points
    )
