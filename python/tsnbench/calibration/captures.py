"""Captures of both ends of a path, with the Plan of what was sent, as sections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from tsnbench.calibration.calibrate import Measured, places_of
from tsnbench.calibration.clocks import Clocks
from tsnbench.calibration.errors import CalibrationError
from tsnbench.calibration.sections import Left, Sighted
from tsnbench.compare.runs import captured_frames
from tsnbench.libraries import polars as pl
from tsnbench.plan.streams.paths import path_to

if TYPE_CHECKING:
    from tsnbench.plan.document import Plan
    from tsnbench.plan.types import PlanDocument

TICK_NS = 1.0
"""Of the stamps of a capture file with ns."""


def measured(
    plan: Plan,
    files: tuple[Sequence[Path], Sequence[Path]],
    renamed: Mapping[str, str],
    names: Sequence[str],
    left: Left,
    clocks_ns: float | None,
) -> Measured:
    """The sections that captures at the sender and at the receiver show.

    Args:
        plan: the Plan of what was sent: its paths, rates, cables and taps at the ends.
        files: captures at the sender, and at the receiver.
        renamed: names of streams in the captures, and in the Plan. names: the nodes. left: notes frames.
        clocks_ns: how far the clocks of both captures may differ.

    Raises:
        CalibrationError: the clocks are unknown, or the Plan has no taps at its ends.
        MeasureError: a file is no readable capture.
    """
    document = plan.document
    nodes = places_of(document, names, plan.name)
    if clocks_ns is None:
        raise CalibrationError(
            "--clocks: expected how far the clocks of both captures may differ, found nothing",
            "--clocks 0ns if one clock stamped both, else the greatest difference: --clocks 100ns",
        )
    with TemporaryDirectory(prefix="tsnbench-calibrate-") as scratch:
        frames = captured_frames(*files, Path(scratch), renamed, document)
    table = _sightings(document, frames)
    sections = Sighted(document, table, Clocks(None, TICK_NS, clocks_ns)).sections(nodes, left)
    source = ", ".join(path.name for own in files for path in own)
    return Measured(f"{source} (Plan {plan.hash[:12]})", document, tuple(sections), nodes)


def _sightings(document: PlanDocument, frames: pl.DataFrame) -> pl.DataFrame:
    """The frames at the taps of the Plan's ends: as :class:`Sighted` takes them."""
    taps = {(tap["stage"], tap["port"]): place for place, tap in enumerate(document["taps"])}
    rows = []
    for number, stream in enumerate(document["streams"]):
        for listener, end in enumerate(stream["listeners"]):
            ports = path_to(stream, listener)
            first = taps.get(("tx", ports[0]))
            last = taps.get(("rx", document["ports"][ports[-1]]["peer"]))
            name = document["nodes"][end["node"]]["name"]
            own = frames.filter(
                (pl.col("stream").cast(pl.String) == stream["name"])
                & (pl.col("listener").cast(pl.String) == name)
                & pl.col("t_tx_ns").is_not_null()
                & pl.col("t_rx_ns").is_not_null()
            )
            for tap, column in ((first, "t_tx_ns"), (last, "t_rx_ns")):
                if tap is None:
                    raise CalibrationError(
                        f"expected a Plan with taps at both ends of {stream['name']}, found one without",
                        "leave taps: {ends: false} out",
                    )
                rows.append(
                    own.select(
                        pl.lit(tap).alias("tap"),
                        pl.lit(number).alias("stream"),
                        "seq",
                        pl.col(column).alias("t_ns"),
                        "octets",
                    )
                )
    return pl.concat(rows).unique(["tap", "stream", "seq", "t_ns"])
