"""``prediction.json``: the intervals in which a calibrated twin predicts the figures of a measurement."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TypedDict, cast

from tsnbench.runs import documents, file_names
from tsnbench.runs.errors import writing

FORMAT = "tsnbench-prediction/1"
QUANTITIES = ("min", "median", "p99", "max")
"""Of the delay."""


class PathPrediction(TypedDict):
    """One stream at one listener."""

    stream: str
    listener: str
    quantities: dict[str, list[float]]
    """Name of a statistic of the delay to the least and the greatest value, ns."""


class Prediction(TypedDict):
    """The intervals of one run."""

    level: float
    """The share of next measurements whose figure is inside."""
    draws: int
    outside: list[str]
    """Conditions at which no device was measured: one sentence each."""
    paths: list[PathPrediction]


def write(folder: Path, found: Prediction) -> None:
    """Writes the file into a run folder.

    Raises:
        BackendError: the disk is full, or the folder cannot be written.
    """
    with writing(folder):
        text = json.dumps({"format": FORMAT, **found}, indent=1) + "\n"
        (folder / file_names.PREDICTION).write_text(text, encoding="utf-8")


def read(folder: Path) -> Prediction | None:
    """The prediction of a run; None if it has none.

    Raises:
        UnusableFileError: the file has another content.
    """
    path = folder / file_names.PREDICTION
    return cast("Prediction", documents.read(path)) if path.is_file() else None


def intervals(found: Prediction) -> dict[tuple[str, str, str], tuple[float, float]]:
    """Least and greatest value by stream, listener and statistic."""
    return {
        (path["stream"], path["listener"], name): (low, high)
        for path in found["paths"]
        for name, (low, high) in path["quantities"].items()
    }
