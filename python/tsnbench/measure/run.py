"""A run folder to measures."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from tsnbench import _native
from tsnbench.measure.errors import MeasureError
from tsnbench.runs.folder import half_written


def measure_run(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """Measures a run; writes ``measures.json`` and ``frames.parquet`` into its folder.

    Returns:
        ``tsnbench-measures/1``.

    Raises:
        MeasureError: the folder is no run folder, or half-written.
    """
    path = Path(folder)
    if (path / "manifest.json").exists() and (why := half_written(path)):
        raise MeasureError(f"{path}: {why}\nhint: run it again")
    try:
        text = _native.measure_run(os.fspath(path), "{}")
        measures: dict[str, Any] = json.loads(text)
        written = json.dumps(measures, indent=2, ensure_ascii=False) + "\n"
        (path / "measures.json").write_text(written, encoding="utf-8")
    except (OSError, ValueError) as error:
        raise MeasureError(str(error)) from error
    return measures
