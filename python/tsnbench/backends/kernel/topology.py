"""A Plan's nodes and links as namespaces, veth pairs and bridges: text for ``ip``, ``tc`` and ``bridge``.

Every node is a namespace ``n<node>`` with an interface ``p<port>`` per port. All wires are in the namespace
``wires``: a veth pair has no rate, so each direction of a link passes a netem that serialises its frames.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from tsnbench.backends.kernel import ports
from tsnbench.backends.kernel.shaping import QUEUES, bits, shape
from tsnbench.backends.kernel.wire import Wire, dilated

WIRES = "wires"
PREAMBLE_AND_FCS = 12
"""Octets that netem adds to a frame: preamble, start delimiter and FCS. It ends with the frame's last bit."""
UNTAGGED = 1
"""The bridges' VLAN of untagged frames."""


@dataclass
class Namespace:
    """Lines for the batch modes of three programs, in the order in which they run."""

    ip: list[str] = field(default_factory=list)
    bridge: list[str] = field(default_factory=list)
    tc: list[str] = field(default_factory=list)
    """``EPOCH+n`` stands for a moment, in ns, that is known only when the guest has started."""


def name(node: int) -> str:
    """The namespace of a node."""
    return f"n{node}"


def build(plan: dict[str, Any], dilate: int, wire: Wire = Wire.VETH) -> dict[str, Namespace]:
    """Every namespace by name; the wires come first, and make all interfaces."""
    if wire is Wire.TSNPORT:
        return _own_device(dilated(plan, dilate))
    spaces: dict[str, Namespace] = {WIRES: Namespace()}
    spaces |= {name(number): Namespace() for number in range(len(plan["nodes"]))}
    _links(plan, dilate, spaces)
    for number in _forwarding(plan):
        _bridge(plan, number, spaces[name(number)])
    for number, port in enumerate(plan["ports"]):
        own = spaces[name(port["node"])]
        own.ip += [f"link set p{number} up"]
        own.tc += shape(plan, number, dilate)
    return spaces


def _own_device(plan: dict[str, Any]) -> dict[str, Namespace]:
    """The ports are there already, each in its namespace."""
    spaces = {name(number): Namespace() for number in range(len(plan["nodes"]))}
    for number, port in enumerate(plan["ports"]):
        spaces[name(port["node"])].ip += [f"link set p{number} address {port['mac']}"]
    for number in _forwarding(plan):
        _bridge(plan, number, spaces[name(number)], priorities=False)
    # clsact before taprio: whatever is put on an interface later resets it, and its timer stops (Linux 6.12).
    for number in range(len(plan["nodes"])):
        spaces[name(number)].tc += ports.arriving(plan, number)
    for number, port in enumerate(plan["ports"]):
        own = spaces[name(port["node"])]
        own.ip += [f"link set p{number} up"]
        own.tc += ports.shape(plan, number)
    return spaces


def _links(plan: dict[str, Any], dilate: int, spaces: dict[str, Namespace]) -> None:
    wires = spaces[WIRES]
    for number, port in enumerate(plan["ports"]):
        queues = f"numtxqueues {QUEUES} numrxqueues {QUEUES}"
        wires.ip += [
            f"link add w{number} {queues} type veth peer name p{number} address {port['mac']} {queues}"
            f" netns {name(port['node'])}",
            f"link set w{number} up",
        ]
        rate = bits(port["rate_bps"], dilate)
        delay = -(-port["propagation_ps"] * dilate // 1000)
        wires.tc += [
            # Out of w<peer> goes what this port sends.
            f"qdisc add dev w{port['peer']} root netem limit 100000"
            + (f" delay {delay / 1000}us" if delay else "")
            + f" rate {rate} {PREAMBLE_AND_FCS}",
            f"qdisc add dev w{number} clsact",
            f"filter add dev w{number} ingress matchall action mirred egress redirect dev w{port['peer']}",
        ]


def _forwarding(plan: dict[str, Any]) -> list[int]:
    """Nodes that some stream passes."""
    passed = {
        plan["ports"][hop["port"]]["node"]
        for stream in plan["streams"]
        for hop in stream["route"]
        if hop.get("parent") is not None
    }
    return sorted(passed)


def _bridge(plan: dict[str, Any], node: int, own: Namespace, *, priorities: bool = True) -> None:
    """802.1Q with static entries alone; a tag's priority becomes the kernel's, which its qdiscs look at.

    IEEE 802.1Q-2022, 8.8.1 and 6.9.3.
    """
    members = [number for number, port in enumerate(plan["ports"]) if port["node"] == node]
    own.ip += ["link add br0 type bridge vlan_filtering 1 stp_state 0 mcast_snooping 0 ageing_time 0"]
    own.ip += [f"link set p{number} master br0" for number in members]
    own.ip += ["link set br0 up"]
    entries: dict[tuple[str, int], int] = {}
    vlans: set[tuple[int, int]] = set()
    seen: dict[int, set[int]] = defaultdict(set)
    for stream in plan["streams"]:
        vid = stream.get("vid")
        for hop in stream["route"]:
            if hop.get("parent") is None or plan["ports"][hop["port"]]["node"] != node:
                continue
            arrives = plan["ports"][stream["route"][hop["parent"]]["port"]]["peer"]
            entries[stream["destination_mac"], vid or UNTAGGED] = hop["port"]
            if vid is not None:
                vlans |= {(vid, arrives), (vid, hop["port"])}
                seen[arrives].add(stream["pcp"])
    own.bridge += [f"vlan add vid {vid} dev p{port}" for vid, port in sorted(vlans)]
    own.bridge += [
        f"fdb add {mac} dev p{port} master static vlan {vid}" for (mac, vid), port in sorted(entries.items())
    ]
    for port, found in sorted(seen.items()) if priorities else ():
        own.tc += [f"qdisc add dev p{port} clsact"]
        own.tc += [
            f"filter add dev p{port} ingress protocol 802.1Q flower vlan_prio {pcp}"
            f" action skbedit priority {pcp}"
            for pcp in sorted(found)
            if pcp
        ]
