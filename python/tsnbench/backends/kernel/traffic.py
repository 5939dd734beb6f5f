"""The live talker's program: built with the package, or named."""

from __future__ import annotations

import os
from pathlib import Path

from tsnbench.errors import BackendError

NAME = "tsnbench-traffic"


def program() -> Path:
    """The path of the program.

    Raises:
        BackendError: the program is not built.
    """
    found = _find()
    if found is None:
        raise BackendError(f"{NAME} is not built\nhint: make run, or name it in TSNBENCH_TRAFFIC")
    return found


def _find() -> Path | None:
    named = os.environ.get("TSNBENCH_TRAFFIC")
    package = Path(__file__).parents[2]
    target = Path(os.environ.get("CARGO_TARGET_DIR") or package.parents[1] / "target")
    places = [Path(named)] if named else [package / NAME, target / "release" / NAME]
    return next((place for place in places if place.is_file()), None)
