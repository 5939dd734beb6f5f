"""Nodes that forward as bridges of the kernel, with static entries alone. IEEE 802.1Q-2022, 8.8.1."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from tsnbench.backends.kernel.device import interface

if TYPE_CHECKING:
    from tsnbench.backends.kernel.environment import Capabilities
    from tsnbench.plan.types import PlanDocument, Stream

UNTAGGED = 1
"""The bridges' VLAN of untagged frames."""


def is_group(stream: Stream) -> bool:
    """Whether a stream's destination is a group address (IEEE 802-2014, 8.4.2)."""
    return bool(int(stream["destination_mac"][:2], 16) & 1)


def departures(plan: PlanDocument) -> Iterator[tuple[int, Stream, set[int]]]:
    """For each bridge on each stream's path: the node, the stream, and the ports by which it leaves there."""
    for stream in plan["streams"]:
        found: dict[int, set[int]] = {}
        for hop in stream["route"]:
            if hop.get("parent") is not None:
                found.setdefault(plan["ports"][hop["port"]]["node"], set()).add(hop["port"])
        for node, ports in found.items():
            yield node, stream, ports


def forwarding(plan: PlanDocument) -> list[int]:
    """Nodes that forward streams."""
    return sorted({node for node, _, _ in departures(plan)})


def bridge(
    plan: PlanDocument,
    node: int,
    can: Capabilities,
    names: Callable[[int], str] = interface,
    own_name: str = "br0",
) -> tuple[list[str], list[str]]:
    """Lines for ``ip`` and for ``bridge``; ``names``: the interfaces of ports."""
    members = [number for number, port in enumerate(plan["ports"]) if port["node"] == node]
    filtering = "vlan_filtering 1 " if can.bridge_vlans else ""
    links = [f"link add {own_name} type bridge {filtering}stp_state 0 mcast_snooping 0 ageing_time 0"]
    links += [f"link set {names(number)} master {own_name}" for number in members]
    links += [f"link set {own_name} up"]
    entries: dict[tuple[str, int], int] = {}
    vlans: set[tuple[int, int]] = set()
    for stream in plan["streams"]:
        vid = stream.get("vid")
        for hop in stream["route"]:
            parent = hop.get("parent")
            if parent is None or plan["ports"][hop["port"]]["node"] != node:
                continue
            if not is_group(stream):
                own = vid or UNTAGGED if can.bridge_vlans else UNTAGGED
                entries[stream["destination_mac"], own] = hop["port"]
            if vid is not None:
                arrives = plan["ports"][stream["route"][parent]["port"]]["peer"]
                vlans |= {(vid, arrives), (vid, hop["port"])}
    if can.bridge_vlans:
        table = [f"vlan add vid {vid} dev {names(port)}" for vid, port in sorted(vlans)]
    else:
        table = [f"link set dev {names(port)} learning off flood off" for port in members]
    for (mac, vid), port in sorted(entries.items()):
        table.append(
            f"fdb add {mac} dev {names(port)} master static" + (f" vlan {vid}" if can.bridge_vlans else "")
        )
    return links, table
