"""A Plan's nodes and links as namespaces, veth pairs and bridges: text for ``ip``, ``tc`` and ``bridge``.

Every node is a namespace ``n<node>`` with an interface ``p<port>`` per port. All wires are in the namespace
``wires``: a veth pair has no rate, so each direction of a link passes a netem that serialises its frames.
Where the kernel has no netem, a frame arrives when its transmission begins.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from tsnbench.backends.kernel import groups, ports
from tsnbench.backends.kernel.shaping import QUEUES, bits, hidden_tag, largest_frame, shape
from tsnbench.backends.kernel.site import GUEST, Abilities
from tsnbench.backends.kernel.wire import Wire, dilated

WIRES = "wires"
PREAMBLE_AND_FCS = 12
"""Octets that netem adds to a frame: preamble, start delimiter and FCS. It ends with the frame's last bit."""
UNTAGGED = 1
"""The bridges' VLAN of untagged frames."""
USUAL_MTU = 1500


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


def build(
    plan: dict[str, Any], dilate: int, wire: Wire = Wire.VETH, can: Abilities = GUEST
) -> dict[str, Namespace]:
    """Every namespace by name; the wires come first, and make all interfaces."""
    if wire is Wire.TSNPORT:
        return _own_device(dilated(plan, dilate))
    spaces: dict[str, Namespace] = {WIRES: Namespace()}
    spaces |= {name(number): Namespace() for number in range(len(plan["nodes"]))}
    _links(plan, dilate, spaces, can)
    for number in _forwarding(plan):
        _bridge(plan, number, spaces[name(number)], can)
    for number, port in enumerate(plan["ports"]):
        own = spaces[name(port["node"])]
        own.ip += [f"link set p{number} up"]
        own.tc += shape(plan, number, dilate, can)
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
        own = spaces[name(number)]
        own.tc += ports.arriving(plan, number)
        if number in _forwarding(plan):
            ready = {int(found) for found in re.findall(r"dev p(\d+) clsact", "\n".join(own.tc))}
            own.tc += groups.filters(plan, number, GUEST, has_clsact=ready)
    for number, port in enumerate(plan["ports"]):
        own = spaces[name(port["node"])]
        own.ip += [f"link set p{number} up"]
        own.tc += ports.shape(plan, number)
    return spaces


def _links(plan: dict[str, Any], dilate: int, spaces: dict[str, Namespace], can: Abilities) -> None:
    wires = spaces[WIRES]
    headers = {stream["name"]: 18 if stream.get("vid") is None else 22 for stream in plan["streams"]}
    mtu = max(USUAL_MTU, 0, *(largest_frame(stream) - headers[stream["name"]] for stream in plan["streams"]))
    big = f"mtu {mtu} " if mtu > USUAL_MTU else ""
    for number, port in enumerate(plan["ports"]):
        queues = f"{big}numtxqueues {QUEUES} numrxqueues {QUEUES}"
        wires.ip += [
            f"link add w{number} {queues} type veth peer name p{number} address {port['mac']} {queues}"
            f" netns {name(port['node'])}",
            f"link set w{number} up",
        ]
        if can.wires:
            # Out of w<peer> goes what this port sends.
            wire = netem(port, dilate, hidden_tag(plan, number))
            wires.tc.append(f"qdisc add dev w{port['peer']} root {wire}")
        wires.tc += [f"qdisc add dev w{number} clsact", redirect(number, port["peer"], can)]


def netem(port: dict[str, Any], dilate: int, hidden: int) -> str:
    """The wire behind a port: its rate and length; ``hidden`` octets of a frame it does not see."""
    delay = -(-port["propagation_ps"] * dilate // 1000)
    return (
        "netem limit 100000"
        + (f" delay {delay / 1000}us" if delay else "")
        + f" rate {bits(port['rate_bps'], dilate)} {PREAMBLE_AND_FCS + hidden}"
    )


def redirect(number: int, peer: int, can: Abilities) -> str:
    """What a port sends goes out where its peer is."""
    every = "matchall" if "matchall" in can.filters else "protocol all u32 match u32 0 0"
    return f"filter add dev w{number} ingress {every} action mirred egress redirect dev w{peer}"


def _forwarding(plan: dict[str, Any]) -> list[int]:
    """Nodes that some stream passes."""
    passed = {
        plan["ports"][hop["port"]]["node"]
        for stream in plan["streams"]
        for hop in stream["route"]
        if hop.get("parent") is not None
    }
    return sorted(passed)


def _bridge(
    plan: dict[str, Any], node: int, own: Namespace, can: Abilities = GUEST, *, priorities: bool = True
) -> None:
    """802.1Q with static entries alone; a tag's priority becomes the kernel's, which its qdiscs look at.

    IEEE 802.1Q-2022, 8.8.1 and 6.9.3.
    """
    members = [number for number, port in enumerate(plan["ports"]) if port["node"] == node]
    filtering = "vlan_filtering 1 " if can.bridge_vlans else ""
    own.ip += [f"link add br0 type bridge {filtering}stp_state 0 mcast_snooping 0 ageing_time 0"]
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
            if not groups.is_group(stream):
                entries[stream["destination_mac"], vid or UNTAGGED] = hop["port"]
            if vid is not None:
                vlans |= {(vid, arrives), (vid, hop["port"])}
                seen[arrives].add(stream["pcp"])
    if can.bridge_vlans:
        own.bridge += [f"vlan add vid {vid} dev p{port}" for vid, port in sorted(vlans)]
    else:
        own.bridge += [f"link set dev p{port} learning off flood off" for port in members]
    for (mac, vid), port in sorted(entries.items()):
        own.bridge.append(
            f"fdb add {mac} dev p{port} master static" + (f" vlan {vid}" if can.bridge_vlans else "")
        )
    if not priorities:
        return
    if can.reads_tags:
        for port, found in sorted(seen.items()):
            own.tc += [f"qdisc add dev p{port} clsact"]
            own.tc += [
                f"filter add dev p{port} ingress protocol 802.1Q flower vlan_prio {pcp}"
                f" action skbedit priority {pcp}"
                for pcp in sorted(found)
                if pcp
            ]
    own.tc += groups.filters(plan, node, can, has_clsact=set(seen) if can.reads_tags else set())
