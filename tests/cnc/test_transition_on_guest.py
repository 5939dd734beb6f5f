"""A run on a guest's kernel in which 20 streams join and 10 leave."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from cnc.cell import base_of
from cnc.test_transition import MS, PLANT, by_name, changed, delays, worst
from cnc.transitions import run_of
from tsnbench.backends.simulation import Simulation
from tsnbench.backends.vm.backend import VirtualMachine, unavailable


@pytest.mark.kernel
@pytest.mark.nightly
@pytest.mark.skipif(unavailable() is not None, reason=f"no guests here: {unavailable()}")
def test_windows_of_a_guest_are_kept_while_others_join_and_leave(tmp_path: Path) -> None:
    """On its kernel, 30 times slower: lists come into force at their instants, or the run fails."""
    networks = changed(base_of(tmp_path, f"{PLANT}schedule: {{margin: 20 us}}\n"))
    plan = run_of(networks, 70 * MS, 3 * MS)
    there = plan.run(on=VirtualMachine(30), into=tmp_path / "guest")
    planned = plan.run(on=Simulation(), into=tmp_path / "simulated")
    frames = there.frames().join(planned.frames(), on=["path", "seq"], suffix="_planned")
    assert len(frames) == len(there.frames()) == len(planned.frames())
    assert frames["t_rx_ns"].null_count() == 0, "a frame was lost"
    in_windows = ["scheduled" in by_name(networks, path["stream"]) for path in there.measures()["paths"]]
    scheduled = frames.filter(pl.col("path").is_in([place for place, yes in enumerate(in_windows) if yes]))
    assert len(scheduled) == 525
    late = scheduled["t_rx_ns"].cast(pl.Int64) - scheduled["t_rx_ns_planned"].cast(pl.Int64)
    # A frame that misses a window is late by a period, 500 us at least.
    assert late.max() < 20_000
    bounds = worst(networks)
    for stream, found in delays(there).items():
        assert max(one for one in found if one is not None) <= bounds[stream] + 20_000, stream
