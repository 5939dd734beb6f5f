"""A passage: one frame through one port, from its arrival at the node over the wire to the next node.

The Plan of a run is simulated again, and the simulator records the events of each frame at each port, in true
time: it comes, leaves software or processing, is queued, becomes eligible, is sent and arrives. A run is
deterministic: the second simulation is the run itself.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tsnbench import _native, foreign
from tsnbench.errors import BackendError, InputError
from tsnbench.libraries import polars as pl
from tsnbench.replay.clocks import NodeClock
from tsnbench.runs import Run, file_names, room
from tsnbench.runs.errors import writing
from tsnbench.runs.manifest import State
from tsnbench.runs.tables import repeats

if TYPE_CHECKING:
    from tsnbench.backends.protocol import Progress
    from tsnbench.foreign import Json

PREAMBLE_OCTETS = 8
"""Preamble and start of frame delimiter. IEEE 802.3, 3.1.1."""
GAP_OCTETS = 12
"""Interpacket gap. IEEE 802.3, 4.4.2."""


class ReplayError(InputError):
    """A run that cannot be replayed."""


def octets_ns(octets: int, rate_bps: int) -> int:
    """The time of octets on a wire, rounded to ns."""
    return (octets * 8 * 10**9 + rate_bps // 2) // rate_bps


@dataclass(frozen=True)
class Recording:
    """The records of the simulator when a run is simulated again."""

    passages: pl.DataFrame
    """One row per frame and port, in the order in which frames begin to leave; the columns are those of
    :class:`tsnbench.replay.waiting.Passage`. Times are whole ns, rounded down."""
    fragments: dict[int, list[tuple[int, int]]]
    """By number of the passage, first and last bit of each mPacket of a frame that was interrupted."""
    expired: pl.DataFrame
    """Frames that ports dropped because they had waited for the longest time of their queue: ``port``,
    ``stream``, ``seq``, ``queued_ns`` and ``dropped_ns``."""
    clocks: dict[int, NodeClock]
    """The clock of each node; empty if all nodes share true time."""
    counters: Json
    """The counters of the whole run, which say when gate lists change."""


def unsupported(run: Run) -> str | None:
    """The reason why a run cannot be replayed; None if it can."""
    if (backend := run.manifest.get("backend")) != "simulation":
        return f"replay needs a simulated run, found one by {backend}"
    return None


def recorded(run: Run, progress: Progress | None = None) -> Recording:
    """Every frame at every port of a run.

    Raises:
        ReplayError: the run cannot be replayed, or the repeated run differs from the recorded one.
        BackendError: there is no room for its files below ``TMPDIR``.
    """
    if reason := unsupported(run):
        raise ReplayError(f"{run.folder}: {reason}")
    text = run.plan.to_json()
    with tempfile.TemporaryDirectory(prefix="tsnbench-replay-") as scratch:
        folder = Path(scratch)
        try:
            with writing(folder):
                room.refuse_too_large(run.plan.document, folder, folder, "replay", False)
                counters = json.loads(_native.simulate_passages(text, scratch, progress))
        except BackendError as error:
            # The user named no folder: which one is used is not obvious.
            problem = str(error).splitlines()[0]
            raise BackendError(
                f"{problem}\nhint: replay simulates below TMPDIR: name a larger disk"
            ) from error
        _must_agree(run, repeats.read(folder / file_names.OBSERVATIONS))
        table = foreign.read_parquet(folder / "passages.parquet")
        pieces = foreign.read_parquet(folder / "fragments.parquet")
        expired = foreign.read_parquet(folder / "expired.parquet")
        lines = foreign.read_parquet(folder / "clock_lines.parquet")
    fragments: dict[int, list[tuple[int, int]]] = {}
    for passage, start, end in pieces.rows():
        fragments.setdefault(passage, []).append((start, end))
    clocks = {
        node: NodeClock(own.select("from_ps", "shows_ps", "frequency").rows())
        for (node,), own in lines.partition_by("node", as_dict=True, maintain_order=True).items()
    }
    return Recording(table.sort("start_ns", "port", "number"), fragments, expired, clocks, counters)


def _must_agree(run: Run, again: pl.DataFrame) -> None:
    """A run that was interrupted has the first sightings only."""
    file = run.folder / file_names.OBSERVATIONS
    try:
        before = repeats.read(file)
    except OSError:
        # The run says what is missing, and why.
        before = run.observations()
    whole = run.state is State.COMPLETE
    if (whole and len(again) != len(before)) or not again.head(len(before)).equals(before):
        raise ReplayError(
            f"{run.folder}: the Plan, simulated again, gives other frames: "
            "the run is of another version of tsnbench"
        )
