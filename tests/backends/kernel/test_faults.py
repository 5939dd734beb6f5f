"""Faults and several listeners on kernels: the commands for the kernel, and the simulator's frames."""

from __future__ import annotations

import polars as pl
import pytest

from support.guest_runs import Guest, Wanted, wanted
from support.kernel_text import POOR, namespaces, planned, port_of, steps
from tsnbench import Simulation
from tsnbench.backends.kernel.environment import Capabilities
from tsnbench.backends.kernel.unsupported import unsupported
from tsnbench.backends.kernel.veth import VETH
from tsnbench.backends.netns import Namespaces
from tsnbench.backends.netns import unavailable as no_namespaces
from tsnbench.backends.vm import VirtualMachine
from tsnbench.plan.document import Plan
from tsnbench.runs import Run

SCENARIO = """
name: faulty
duration: 200 ms
network:
  stations: [talker, other, one, two, three]
  bridges: [left, right]
  links:
    rate: 100 Mbit/s
    cable: 5 m
    between: [talker -- left, other -- left, left -- right, right -- one, right -- two, left -- three]
streams:
  group: {from: talker, to: [one, two], pcp: 6, period: 1 ms, offset: 500 us, payload: 100 B}
  plain: {from: other, to: three, pcp: 0, period: 2 ms, offset: 700 us, payload: 400 B}
faults: [FAULTS]
taps: [left -> right]
"""
DOWN = "{down: left -> right, at: 40 ms, for: 20 ms}"
CABLES = (
    "{loss: 100 %, on: talker -> left, at: 100 ms, for: 10 ms}, "
    "{delay: 500 us, on: other -> left, at: 50 ms, for: 50 ms}, "
    "{duplicate: 100 %, after: 0 ns, on: other -> left, at: 150 ms, for: 20 ms}"
)
BOTH = wanted("veth", Wanted(SCENARIO.replace("FAULTS", f"{DOWN}, {CABLES}"), VirtualMachine(device=VETH)))


def _plan(faults: str) -> Plan:
    return planned(SCENARIO.replace("FAULTS", faults))


def test_a_link_that_is_down_is_cut_both_ways_and_mended():
    plan = _plan(DOWN)
    ends = sorted((port_of(plan.document, "left -> right"), port_of(plan.document, "right -> left")))
    found = [(step.at_ns, step.line) for step in steps(plan.document)]
    assert found[:2] == [(40_000_000, f"filter del dev w{port} ingress") for port in ends]
    assert [at for at, _ in found[2:]] == [60_000_000] * 2
    # The link comes up with the commands that set it up at first.
    made = namespaces(plan.document)["wires"].tc
    assert all(line in made for _, line in found[2:])


def test_faults_that_overlap_do_not_undo_each_other():
    plan = _plan(f"{DOWN}, {{down: right, at: 50 ms, for: 50 ms}}")
    end = port_of(plan.document, "left -> right")
    found = [
        (step.at_ns, step.line)
        for step in steps(plan.document, can=POOR)
        if f"dev w{end} ingress" in step.line
    ]
    assert [at for at, _ in found] == [40_000_000, 100_000_000]


def test_a_bad_cable_changes_the_netem_of_its_wire():
    plan = _plan(CABLES)
    other, talker = port_of(plan.document, "other -> left"), port_of(plan.document, "talker -> left")
    peers = [plan.document["ports"][port]["peer"] for port in (other, talker)]
    found = {step.at_ns // 10_000_000: step.line for step in steps(plan.document, 10)}
    wire = "netem limit 100000 delay {}us rate 10000000bit 16"
    assert found[50] == f"qdisc change dev w{peers[0]} root {wire.format('5000.25')}"
    assert found[150] == f"qdisc change dev w{peers[0]} root {wire.format('0.25')} duplicate 100%"
    assert found[170] == f"qdisc change dev w{peers[0]} root {wire.format('0.25')}"
    assert found[110] == f"qdisc change dev w{peers[1]} root {wire.format('0.25')}"


def test_what_no_kernel_supports_is_named():
    def refused(faults: str, can: Capabilities | None = None) -> list[str]:
        return unsupported(_plan(faults).document, VETH, can or Capabilities())

    assert refused(f"{DOWN}, {CABLES}") == []
    assert refused(DOWN, POOR) == []
    assert refused(CABLES, POOR) == [
        f"fault {number} ({kind}): needs the qdisc netem"
        for number, kind in ((1, "loss"), (2, "delay"), (3, "duplicate"))
    ]
    for faults, words in (
        ("{bit-errors: 1e-6, on: talker -> left}", "a frame's length"),
        ("{delay: {from: 10 us, to: 100 us}, on: talker -> left}", "a delay that is drawn"),
        ("{duplicate: 1 %, after: 20 us, on: talker -> left}", "a duplicate that comes later"),
        ("{babble: plain, every: 10 us, at: 1 ms, for: 5 ms}", "the supported kinds of faults are link-down"),
        ("{loss: 1 %, on: talker -> left}, {loss: 2 %, on: talker -> left}", "another one of its kind"),
    ):
        found = refused(faults)
        assert len(found) == 1, faults
        assert words in found[0]


def test_a_group_leaves_a_bridge_only_where_its_listeners_are():
    plan = _plan("")
    for can in (Capabilities(), POOR):
        left = namespaces(plan.document, can=can)["n5"].tc
        dropped = {line.split()[3] for line in left if " egress " in line}
        out = port_of(plan.document, "left -> right")
        ports = {f"p{n}" for n, port in enumerate(plan.document["ports"]) if port["node"] == 5}
        assert dropped == ports - {f"p{out}"}


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
    if why := no_namespaces():
        pytest.skip(f"no namespaces here: {why}")
    plan = _plan(DOWN)
    simulated = plan.run(on=Simulation(), into=tmp_path / "sim")
    # Half a period of the Plan is then 5 ms, within which a step of a busy machine comes.
    real = plan.run(on=Namespaces(10), into=tmp_path / "real")
    _check(simulated, real, cables=False)
