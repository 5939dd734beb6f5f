"""Faults on veth interfaces, in the guest and on this kernel: the same frames arrive as in the simulator."""

from __future__ import annotations

import polars as pl
import pytest

from support.guest_runs import Guest, Wanted, wanted
from support.planned import plan_of
from support.star import CABLES, DOWN, FAULTY
from tsnbench import Simulation
from tsnbench.backends.kernel.veth import VETH
from tsnbench.backends.netns import Namespaces, unavailable
from tsnbench.backends.vm import VirtualMachine
from tsnbench.runs import Run

BOTH = wanted("veth", Wanted(FAULTY.replace("FAULTS", f"{DOWN}, {CABLES}"), VirtualMachine(device=VETH)))


def _check(simulated: Run, real: Run, *, cables: bool) -> None:
    """The same frames arrive in both runs: every step of a fault is late by less than half a period."""
    for listener in ("right -> one rx", "right -> two rx", "left -> three rx"):
        seen = [
            run.observations().filter(pl.col("tap") == listener)["seq"].sort().to_list()
            for run in (simulated, real)
        ]
        assert seen[0] == seen[1], listener
    lost = simulated.counters["streams"][0]["lost_to_faults"]
    assert real.counters["streams"][0]["dropped_in_network"] == lost == (30 if cables else 20)


def test_the_guest_loses_delays_and_doubles_the_frames_that_the_simulator_does(guest: Guest):
    simulated, real = guest.both(BOTH)
    _check(simulated, real, cables=True)
    late = [step["late_ns"] for step in real.manifest["guest"]["steps"]]
    assert 0 <= min(late) <= max(late) < 2_000_000
    delays = real.delay("plain").frames.sort("seq")["delay_ns"].to_list()
    # The delay is in force from 50 to 100 ms; the period is 2 ms.
    usual = sorted(delays)[len(delays) // 2]
    later = [seq for seq, delay in enumerate(delays) if abs(delay - usual - 500_000) < 40_000]
    assert later == list(range(25, 50))


def test_this_kernel_cuts_a_link_as_the_simulator_does(tmp_path):
    if why := unavailable():
        pytest.skip(f"no namespaces here: {why}")
    plan = plan_of(FAULTY.replace("FAULTS", DOWN))
    simulated = plan.run(on=Simulation(), into=tmp_path / "sim")
    # Half a period of the Plan is then 5 ms, within which a step of a busy machine comes.
    real = plan.run(on=Namespaces(10), into=tmp_path / "real")
    _check(simulated, real, cables=False)
