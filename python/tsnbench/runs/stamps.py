"""``stamps.json``: what a run knows of the clocks that stamped its frames, and what no reading shows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NotRequired, TypedDict

from tsnbench import foreign
from tsnbench.runs import file_names

FORMAT = "tsnbench-stamps/1"


class NodeStamps(TypedDict):
    """The stamps of one node."""

    clock: str
    """Nodes that name the same clock share it."""
    drift_ppb: int
    """How fast its error changes at most between readings."""
    granularity_ns: NotRequired[int]
    """Ticks of the stamps."""
    unseen_ns: NotRequired[int]
    """What passes between the wire and the stamp at most."""
    readings: Sequence[Sequence[int]]
    """What the clock showed (ns, in the Plan's time), how far that was ahead and how unsure (ps)."""


def write(folder: Path, nodes: Mapping[str, NodeStamps], not_seen: Sequence[str]) -> None:
    """Writes the file."""
    content = {"format": FORMAT, "not_seen": not_seen, "nodes": nodes}
    (folder / file_names.STAMPS).write_text(json.dumps(content) + "\n", encoding="utf-8")


def read(folder: Path) -> dict[str, NodeStamps] | None:
    """By node; None where the run has no such file.

    Raises:
        OSError: it cannot be read.
        ValueError: it is something else.
    """
    path = folder / file_names.STAMPS
    if not path.is_file():
        return None
    told = foreign.read_json(path)
    if not isinstance(told, dict) or told.get("format") != FORMAT or not isinstance(told.get("nodes"), dict):
        raise ValueError(f"{path}: expected {FORMAT}, found something else")
    return dict(told["nodes"])
