"""``stamps.json``: a run's readings of the clocks of its timestamps, and the clocks without a reading."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NotRequired, TypedDict

from tsnbench import foreign
from tsnbench.runs import file_names

FORMAT = "tsnbench-stamps/1"
KERNEL = "the kernel of "
"""How the name of a clock begins whose stamps are made in software."""


class NodeStamps(TypedDict):
    """The clock of one node's timestamps."""

    clock: str
    """The clock's name; nodes with the same name share it."""
    drift_ppb: int
    """Greatest rate of change of its error between readings."""
    granularity_ns: NotRequired[int]
    """Resolution of the timestamps."""
    unseen_ns: NotRequired[int]
    """Greatest delay between the wire and the timestamp."""
    readings: Sequence[Sequence[int]]
    """The clock's time (ns, in the Plan's time), its offset and the uncertainty (ps) of each reading."""


def write(folder: Path, nodes: Mapping[str, NodeStamps], not_seen: Sequence[str]) -> None:
    """Writes the file."""
    content = {"format": FORMAT, "not_seen": not_seen, "nodes": nodes}
    (folder / file_names.STAMPS).write_text(json.dumps(content) + "\n", encoding="utf-8")


def read(folder: Path) -> dict[str, NodeStamps] | None:
    """The clocks by node; None if the run has no such file.

    Raises:
        OSError: the file cannot be read.
        ValueError: the file has another content.
    """
    path = folder / file_names.STAMPS
    if not path.is_file():
        return None
    told = foreign.read_json(path)
    if not isinstance(told, dict) or told.get("format") != FORMAT or not isinstance(told.get("nodes"), dict):
        raise ValueError(f"{path}: expected {FORMAT}, found something else")
    return dict(told["nodes"])
