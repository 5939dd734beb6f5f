"""A network that changes while it runs, on a guest's kernel: streams join and leave, lists are replaced."""

from __future__ import annotations

import statistics
from pathlib import Path

import pytest

from cnc.cell import base_of
from cnc.test_transition import MS, PLANT, changed, delays
from cnc.transitions import run_of
from tsnbench.backends.simulation import Simulation
from tsnbench.backends.vm import VirtualMachine, unavailable
from tsnbench.plan.document import Plan

MARGIN_US = 20
"""In the Plan's time: forwarding in the guest takes some us, which no Plan knows."""


def _plan(folder: Path) -> Plan:
    base = base_of(folder, f"{PLANT}schedule: {{margin: {MARGIN_US} us}}\n")
    return run_of(changed(base), 70 * MS, 3 * MS)


@pytest.mark.nightly
@pytest.mark.skipif(unavailable() is not None, reason=f"no guests here: {unavailable()}")
def test_lists_are_replaced_at_their_instants_and_no_frame_is_lost(tmp_path: Path) -> None:
    """The guest's device says when each list came into force: another moment is an error of the run."""
    plan = _plan(tmp_path)
    run = plan.run(on=VirtualMachine(10), into=tmp_path / "vm")
    lists = [
        port["gates"]["changes"] for port in plan.document["ports"] if "changes" in port.get("gates", {})
    ]
    assert sum(map(len, lists)) > 10
    gates = [port["gates"] for port in run.counters["ports"] if "gates" in port]
    told = [one for one in gates if len(one["in_force"]) > 1]
    assert len(told) == len(lists)
    assert all(one["config_change_errors"] == 0 for one in told)
    real, simulated = delays(run), delays(plan.run(on=Simulation(), into=tmp_path / "sim"))
    assert len(real) == 25
    for stream, found in real.items():
        assert None not in found, f"{stream} lost a frame"
        assert len(found) == len(simulated[stream])
    scheduled = {one["name"] for one in plan.document["streams"] if "scheduled" in one}
    assert len(scheduled) > 10
    for stream in scheduled:
        # The talkers' and the bridges' windows are those of one network, before and after each change.
        apart = [a - b for a, b in zip(real[stream], simulated[stream], strict=True)]  # type: ignore[operator]
        assert 0 <= statistics.median(apart) < 1_000 * MARGIN_US, stream
