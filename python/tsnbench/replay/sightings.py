"""Sightings of every frame at every port of a run: its Plan is simulated again, with taps at all ports."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, cast

from tsnbench import foreign
from tsnbench.backends.simulation import Simulation
from tsnbench.errors import BackendError, InputError
from tsnbench.libraries import polars as pl
from tsnbench.plan.document import Plan
from tsnbench.runs import FolderError, Run, file_names

if TYPE_CHECKING:
    from tsnbench.backends.protocol import Progress
    from tsnbench.foreign import Json
    from tsnbench.plan.types import PlanDocument, Stage, Tap


STAGES: tuple[Stage, ...] = ("send", "tx", "rx")
"""The stages of each port's taps, in their order."""


class ReplayError(InputError):
    """A run that cannot be replayed."""


def taps_of_every_port(document: PlanDocument) -> list[Tap]:
    """Three taps a port: a frame is handed to it, its first bit leaves, its last bit arrives at the peer."""
    return [
        {
            "name": f"{port['name']} {stage}",
            "port": port["peer"] if stage == "rx" else number,
            "stage": stage,
            "point": "end" if stage == "rx" else "start",
            "granularity_ns": 1,
        }
        for number, port in enumerate(document["ports"])
        for stage in STAGES
    ]


def unsupported(run: Run) -> str | None:
    """The reason why a run cannot be replayed; None if it can."""
    document = run.plan.document
    if (backend := run.manifest.get("backend")) != "simulation":
        return f"replay needs a simulated run, found one by {backend}"
    if document.get("clocks"):
        return "replay needs one time for all nodes, found nodes with clocks of their own"
    if any("cut_through_octets" in node for node in document["nodes"]):
        return "replay needs bridges that store and forward, found one that cuts through"
    if any("host" in node for node in document["nodes"]):
        return "replay needs stations without software, found a Linux host"
    if any("further" in node for node in document["nodes"]):
        return "replay needs processing of one length, found processing that varies"
    gates = [gate for policing in document.get("policing", ()) for gate in policing.get("gates", ())]
    if any("ipv" in entry for gate in gates for entry in gate["entries"]):
        return "replay needs classes that follow from priorities, found a stream gate that assigns them"
    return None


def sightings_of(run: Run, progress: Progress | None = None) -> pl.DataFrame:
    """Every frame at every port of a run: its Plan is simulated again, with taps at all ports.

    Columns: ``tap`` (a number: three taps per port, in the order of :func:`taps_of_every_port`), ``stream``
    (its number in the Plan), ``seq``, ``copy``, ``t_ns``, ``octets``, ``pcp``. A tap changes no frame: the
    sightings that the run itself has are held against the new ones.

    Raises:
        ReplayError: the run cannot be replayed, or the repeated run differs from the recorded one.
    """
    if reason := unsupported(run):
        raise ReplayError(f"{run.folder}: {reason}")
    document = cast("PlanDocument", {**run.plan.document, "taps": taps_of_every_port(run.plan.document)})
    with tempfile.TemporaryDirectory(prefix="tsnbench-replay-") as scratch:
        try:
            again = Simulation().execute(Plan(document), Path(scratch) / "run", progress=progress)
        except BackendError as error:
            # The user named no folder: which one is used is not obvious.
            lines = str(error).splitlines()[0]
            raise BackendError(f"{lines}\nhint: replay simulates below TMPDIR: name a larger disk") from error
        table = foreign.read_parquet(again.folder / file_names.OBSERVATIONS)
    _must_agree(run, table)
    return table


def _must_agree(run: Run, table: pl.DataFrame) -> None:
    """Number of frames and last instant at each tap that both runs have, at the same point of the frame."""
    recorded = run.observations()
    for tap in run.plan.document["taps"]:
        stage = tap["stage"]
        if {"tx": "start", "rx": "end"}.get(stage) != tap["point"] or tap["granularity_ns"] != 1:
            continue
        port = tap["port"] if stage == "tx" else run.plan.document["ports"][tap["port"]]["peer"]
        there = recorded.filter((pl.col("tap") == tap["name"]) & (pl.col("stage") == stage))["t_ns"]
        now = table.filter(pl.col("tap") == 3 * port + STAGES.index(stage))["t_ns"]
        if (len(there), there.max()) != (len(now), now.max()):
            raise ReplayError(
                f"{run.folder}: the Plan, simulated again, gives other frames at {tap['name']}: "
                "the run is of another version of tsnbench"
            )


def counters_of(run: Run) -> Json | None:
    """The counters of a run; None if it has none, because it was interrupted."""
    try:
        return run.counters
    except FolderError:
        return None
