"""What cuts of preemptable frames add: frames of the simulator with other times, as of another device."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from support.device_defects import CUT
from support.devices import bench
from tsnbench import Simulation
from tsnbench.conform import budget
from tsnbench.conform.catalogue import chosen
from tsnbench.conform.run import judged, prepare
from tsnbench.conform.seen import Seen


@pytest.mark.parametrize(("octets", "verdict"), [(0, "pass"), (4, "fail")])
def test_fragments_with_other_overheads_are_told(octets: int, verdict: str, tmp_path: Path) -> None:
    """Each express frame so far moves all frames behind it by these octets of a cut."""
    own = bench(CUT, only=["switch -> robot"])
    ((_, one),) = prepare(own, chosen(["preempt.cuts"])).stimuli
    seen = Seen.of(Simulation().execute(one.plan, tmp_path / "run"))
    tap = seen.taps["rx", own.network.ports[own.number(one.port)]["peer"]]["name"]
    here = pl.col("tap") == tap
    rows = seen.table.filter(here).sort("t_ns")
    before = (rows["stream"].cast(pl.String) == "express").cast(pl.Int64).cum_sum() * octets * 80
    moved = pl.concat([rows.with_columns(t_ns=pl.col("t_ns") + before), seen.table.filter(~here)])
    found = judged("preempt", own, one, replace(seen, table=moved), budget.before(one.plan, "simulation", 0))
    (cuts,) = [result for result in found if result.test == "preempt.cuts"]
    assert cuts.verdict == verdict
    assert cuts.found is not None
    assert cuts.found.value == pytest.approx(octets * 80, abs=2)
