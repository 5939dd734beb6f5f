"""Streams with equal destination address and VLAN that a bridge would have to send by two paths.

A bridge forwards by destination address and VLAN, for every sender: IEEE 802.1Q-2022, 8.8. The
simulator follows each stream's own path; kernels, exports and real bridges cannot.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tsnbench.plan.streams.facts import Facts
from tsnbench.plan.warnings.doubt import Doubt

if TYPE_CHECKING:
    from tsnbench.plan.types import Stream


def address_doubts(facts: Facts) -> Iterator[Doubt]:
    """Kind: one-address-two-paths."""
    document = facts.document
    first: dict[tuple[int, str, int | None], tuple[set[int], Stream]] = {}
    told: set[str] = set()
    used = {stream.get("vid") for stream in document["streams"]}
    senders: dict[tuple[str, int | None], str] = {}
    shared: set[tuple[str, int | None]] = set()
    for stream in document["streams"]:
        address = stream["destination_mac"], stream.get("vid")
        if senders.setdefault(address, stream["group"]) != stream["group"]:
            shared.add(address)
    # A doubt needs streams of two groups with one address; the routes of others are not read.
    for stream in document["streams"] if shared else ():
        if "redundancy" in stream or (stream["destination_mac"], stream.get("vid")) not in shared:
            continue
        leaves: dict[int, set[int]] = {}
        for hop in stream["route"]:
            if "parent" in hop:
                leaves.setdefault(document["ports"][hop["port"]]["node"], set()).add(hop["port"])
        for node, ports in leaves.items():
            key = (node, stream["destination_mac"], stream.get("vid"))
            others, other = first.setdefault(key, (ports, stream))
            group = stream["group"]
            if others == ports or group == other["group"] or group in told:
                continue
            told.add(group)
            vlan = f"VLAN {stream['vid']}" if "vid" in stream else "no VLAN"
            name = document["nodes"][node]["name"]
            text = (
                f"{other['group']} and {group} have one destination address and {vlan}, and leave {name} by"
            )
            text += " two ports: bridges and kernels send one address of a VLAN over one path"
            free = next(vid for vid in range(100, 4095) if vid not in used)
            used.add(free)
            yield Doubt(
                "one-address-two-paths",
                group,
                text,
                f"streams.{group}.{'via' if 'vid' in stream else 'vlan'}",
                hint=f"write vlan: {free} in stream {group}",
            )
