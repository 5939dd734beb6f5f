"""Pairs of mechanisms: what is said of a small network, in time and of loss, and that a run keeps it.

``pairs/*.yaml`` has the networks. A bound may become lower than here, not higher.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from support.planned import plan_of, run_of
from tsnbench import load
from tsnbench.plan.bounds import bounds

PAIRS = Path(__file__).parent / "pairs"
AT_MOST_NS = {
    # Software at hosts that no stream passes, and where streams begin or end.
    "host": {"bg l2": 302_880, "be l1": 222_880},
    # A meter on one stream: no filter matches the others.
    "meter-multicast": {"be l1": 222_880, "mc l1": 206_880, "mc l2": 276_480, "mc t3": 58_640},
    # A talker of class 0 babbles: gates keep its frames out of the windows of the schedule.
    "sched-babble": {"tt l1": 65_280, "be l1": 228_230},
    # Processing from 1 to 3 us at two bridges.
    "vary": {"bg l2": 304_880, "be l1": 224_880},
    # Gate entries hold preemptable frames; and shapers on preemptable classes.
    "hold": {"bg l2": 1_204_380, "be l1": 1_365_841},
    "cbs-preempt": {"bg l2": 385_457, "be l1": 767_017, "avb l1": 914_139, "avbb l2": 751_665},
    # The idle slope equals the load while a gate is closed for a part of the cycle.
    "cbs-gates": {"avb z": 178_810},
}
"""By network: streams and listeners without loss, with their worst cases."""


@pytest.mark.parametrize("name", AT_MOST_NS)
def test_a_pair_has_bounds_and_a_run_keeps_them(name: str, tmp_path: Path) -> None:
    plan = load(PAIRS / f"{name}.yaml").plan()
    flows = {f"{flow['stream']} {flow['listener']}": flow for flow in bounds(plan)["flows"]}
    for flow, most in AT_MOST_NS[name].items():
        upper = flows[flow]["upper_ns"]
        assert upper is not None, flows[flow]["reason"]
        assert upper <= most
        assert flows[flow]["loss_reason"] is None
    for path in run_of(plan, tmp_path).measures()["paths"]:
        upper = flows[f"{path['stream']} {path['listener']}"]["upper_ns"]
        assert upper is None or path["delay"]["max"] <= upper


@pytest.mark.parametrize("slope", ["7.04", "7.05", "7.1", "7.2"])
def test_no_bound_jumps_when_a_slope_changes_by_a_percent(slope: str, tmp_path: Path) -> None:
    """1,136, 1,045, 174 and 172 us before: 6.5 times for 0.7 % of the slope."""
    text = (PAIRS / "cbs-gates.yaml").read_text(encoding="utf-8")
    (avb, _) = bounds(plan_of(text.replace("[A]", f"{{A: {slope} Mbit/s}}")))["flows"]
    assert avb["upper_ns"] is not None
    assert 165_000 < avb["upper_ns"] <= 179_000
