"""Kernels with few capabilities: VLAN priorities, bridges without VLANs, no netem. Needs no kernel."""

from __future__ import annotations

import pytest

from support.kernel_text import POOR, namespaces, port_of, script_of, veth_port
from support.planned import document_of, plan_of
from support.star import STAR
from tsnbench.backends.kernel.environment import Capabilities, Environment
from tsnbench.backends.kernel.veth import VETH
from tsnbench.backends.kernel.veth.vlan_priority import bytecode
from tsnbench.backends.netns.capabilities import missing, notes
from tsnbench.plan.document import Plan

CLASSES = "{queues: {classes: {6: 1, 0: 0}}}"


def _plan(shaper: str = CLASSES) -> Plan:
    return plan_of(STAR.replace("SHAPER", shaper))


def _run(program: str, frame: bytes, tag: int | None) -> int:
    """Interpret the classic BPF instructions in use; ``tag`` is the VLAN tag beside the frame, if any."""
    count, *rows = program.split(",")
    code = [tuple(map(int, row.split())) for row in rows]
    assert len(code) == int(count)
    known = {0xFFFFF000 + 44: tag or 0, 0xFFFFF000 + 48: int(tag is not None)}
    at, value = 0, 0
    while True:
        instruction, yes, no, k = code[at]
        at += 1
        if instruction in (0x28, 0x30):
            octets = 2 if instruction == 0x28 else 1
            value = known[k] if k in known else int.from_bytes(frame[k : k + octets], "big")
        elif instruction == 0x15:
            at += yes if value == k else no
        elif instruction == 0x74:
            value >>= k
        elif instruction == 0x05:
            at += k
        else:
            assert instruction == 0x06
            return k


@pytest.mark.parametrize("pcp", range(8))
def test_a_tag_is_read_in_the_frame_and_beside_it(pcp):
    program = bytecode([100 + pcp for pcp in range(8)])
    macs, rest = bytes(range(12)), b"\x08\x00" + bytes(50)
    control = pcp << 13 | 0xFFF
    assert _run(program, macs + b"\x81\x00" + control.to_bytes(2, "big") + rest, None) == 100 + pcp
    # Where the kernel carries the tag beside the frame, octets of the frame that look like a tag are ignored.
    assert _run(program, macs + b"\x81\x00\x20\x00" + rest, control) == 100 + pcp
    assert _run(program, macs + rest, None) == 100


def test_the_higher_class_has_the_lower_number_of_htb():
    plan = _plan().document
    number = port_of(plan, "switch -> robot")
    lines = veth_port(plan, number, can=POOR)
    assert [line.split()[-1] for line in lines if "class add" in line and "parent 2:" in line] == ["1", "0"]
    assert f"qdisc add dev p{number} parent 2:11 handle 21: pfifo limit 1000" in lines
    assert not any("prio bands" in line for line in lines)


def test_a_wire_without_netem_passes_frames_on():
    spaces = namespaces(_plan().document, can=POOR)
    wires = spaces["wires"].tc
    assert not any("netem" in line for line in wires)
    assert (
        "filter add dev w0 ingress protocol all u32 match u32 0 0 action mirred egress redirect dev w1"
        in wires
    )
    bridge = spaces["n3"].bridge
    assert not any("vlan" in line for line in bridge)
    assert any(line.startswith("fdb add") for line in bridge)
    assert any("links take no time" in note for note in notes(POOR))
    assert not any("links take no time" in note for note in notes(Capabilities()))


SHARED = """
name: shared
duration: 10 ms
network:
  stations: [talker, near, far, other]
  bridges: [switch]
  links: {rate: 1 Gbit/s, between: [talker -- switch, near -- switch, far -- switch, other -- switch]}
streams:
  one: {from: talker, to: [near], period: 1 ms, frame: 100 B, vlan: 10}
  two: {from: talker, to: [near], period: 1 ms, frame: 100 B, vlan: 20}
  three: {from: talker, to: [near], period: 1 ms, address: 239.1.1.2, trdp: {com-id: 1, data-set: 64 B}}
  four: {from: talker, to: [far], period: 1 ms, address: 239.1.1.2, trdp: {com-id: 2, data-set: 64 B}}
"""


def test_streams_may_share_an_address_or_a_group():
    document = document_of(SHARED)
    switch = namespaces(document, can=POOR)["n4"]
    entries = [line for line in switch.bridge if line.startswith("fdb add")]
    assert len(entries) == len(set(entries)) == 1, "two VLANs, and a bridge that knows none"
    dropped = {line.split()[3] for line in switch.tc if line.startswith("filter add") and "egress" in line}
    ports = {port["name"]: f"p{number}" for number, port in enumerate(document["ports"])}
    assert dropped == {ports["switch -> talker"], ports["switch -> other"]}, "the group has both listeners"


def test_what_is_missing_is_named_by_port():
    gates = "{queues: {classes: {6: 1, 0: 0}}, gates: {cycle: 1 ms, entries: [{open: all, for: 1 ms}]}}"
    assert missing(_plan(gates).document, POOR) == [
        "port switch -> robot: a gate control list: this kernel has no qdisc taprio"
    ]
    assert missing(_plan().document, POOR) == []
    none = Capabilities(frozenset(), frozenset(), frozenset(), frozenset(), False)
    found = missing(_plan().document, none)
    assert any("veth" in line for line in found)
    assert any("htb" in line for line in found)
    half = Capabilities(filters=frozenset(("matchall",)))
    assert any("a tag's priority" in line for line in missing(_plan().document, half))


def test_a_job_runs_in_its_own_folders_alone():
    own = Environment(
        job="/s/job", results="/s/results", scratch="/s", ip="/x/ip", tc="/x/tc", console="/s/said", can=POOR
    )
    text = script_of(_plan(), VETH, own=own)
    for word in ("/tools", " /job", ">/results", "/tmp", "/dev/console"):
        assert word not in text
    assert "/x/ip netns exec n0 " in text
