"""Sightings of every frame at every port of a run: its Plan is simulated again, with taps at all ports."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, cast

from tsnbench.backends.simulation import Simulation
from tsnbench.errors import InputError
from tsnbench.plan.document import Plan
from tsnbench.runs.run import Run

if TYPE_CHECKING:
    import polars as pl

    from tsnbench.backends.protocol import Progress
    from tsnbench.plan.types import PlanDocument, Tap


class ReplayError(InputError):
    """A run that cannot be replayed."""


def taps_of_every_port(document: PlanDocument) -> list[Tap]:
    """Three taps a port: a frame is handed to it, its first bit leaves, its last bit arrives at the peer."""
    taps: list[Tap] = []
    for number, port in enumerate(document["ports"]):
        name = port["name"]
        taps += [
            {"name": f"{name} send", "port": number, "stage": "send", "point": "start", "granularity_ns": 1},
            {"name": f"{name} tx", "port": number, "stage": "tx", "point": "start", "granularity_ns": 1},
            {"name": f"{name} rx", "port": port["peer"], "stage": "rx", "point": "end", "granularity_ns": 1},
        ]
    return taps


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
    import polars as pl

    if reason := unsupported(run):
        raise ReplayError(f"{run.folder}: {reason}")
    document = cast("PlanDocument", {**run.plan.document, "taps": taps_of_every_port(run.plan.document)})
    with tempfile.TemporaryDirectory(prefix="tsnbench-replay-") as scratch:
        folder = Path(scratch) / "run"
        backend, plan = Simulation(), Plan(document)
        backend.prepare(plan, folder)
        backend.run(plan, folder, progress=progress)
        table = pl.read_parquet(folder / "observations.parquet")
    _must_agree(run, table)
    return table


def _must_agree(run: Run, table: pl.DataFrame) -> None:
    """Number of frames and last instant at each tap that both runs have, at the same point of the frame."""
    import polars as pl

    recorded = pl.read_parquet(run.folder / "observations.parquet")
    for number, tap in enumerate(run.plan.document["taps"]):
        point = {"tx": "start", "rx": "end"}.get(tap["stage"])
        if point != tap["point"] or tap["granularity_ns"] != 1:
            continue
        port = tap["port"] if tap["stage"] == "tx" else run.plan.document["ports"][tap["port"]]["peer"]
        again = 3 * port + (1 if tap["stage"] == "tx" else 2)

        def summary(of: pl.DataFrame, which: int) -> tuple[int, int | None]:
            times = of.filter(pl.col("tap") == which)["t_ns"]
            return len(times), cast("int | None", times.max())

        if summary(recorded, number) != summary(table, again):
            raise ReplayError(
                f"{run.folder}: the Plan, simulated again, gives other frames at {tap['name']}: "
                "the run is of another version of tsnbench"
            )
