"""Faults and several listeners on kernels: the commands for the kernel. Needs no kernel."""

from __future__ import annotations

from support.kernel_text import POOR, namespaces, port_of, steps
from support.planned import plan_of
from support.star import CABLES, DOWN, FAULTY
from tsnbench.backends.kernel.environment import Capabilities
from tsnbench.backends.kernel.unsupported import unsupported
from tsnbench.backends.kernel.veth import VETH
from tsnbench.plan.document import Plan


def _plan(faults: str) -> Plan:
    return plan_of(FAULTY.replace("FAULTS", faults))


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
