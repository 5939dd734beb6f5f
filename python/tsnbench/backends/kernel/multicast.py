"""Frames for several listeners: the ports by which a group address leaves a bridge.

IEEE 802.1Q-2022, 8.8.3. A bridge of the kernel sends a group address to all ports of its VLAN, and its own
filtering requires IGMP, which no Plan has: so frames that must not leave by a port are dropped before its
queues.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tsnbench.backends.kernel.device import interface
from tsnbench.backends.kernel.forwarding import departures, is_group

if TYPE_CHECKING:
    from tsnbench.backends.kernel.environment import Capabilities
    from tsnbench.plan.types import PlanDocument


def filters(
    plan: PlanDocument,
    node: int,
    can: Capabilities,
    has_clsact: set[int],
    names: Callable[[int], str] = interface,
) -> list[str]:
    """Lines for ``tc`` that drop the group's frames at every other port of the bridge."""
    lines: list[str] = []
    ready = set(has_clsact)
    mine = {number for number, port in enumerate(plan["ports"]) if port["node"] == node}
    sent: dict[tuple[str, int | None], set[int]] = {}
    for own, stream, ports in departures(plan):
        if own == node and is_group(stream):
            # Streams may share a group, as TRDP telegrams do; the bridge knows only its address.
            sent.setdefault((stream["destination_mac"], stream.get("vid")), set()).update(ports)
    for (mac, vid), ports in sorted(sent.items(), key=str):
        for port in sorted(mine - ports):
            if port not in ready:
                lines.append(f"qdisc add dev {names(port)} clsact")
                ready.add(port)
            lines.append(f"filter add dev {names(port)} egress {_drop(mac, vid, can)}")
    return lines


def _drop(mac: str, vid: int | None, can: Capabilities) -> str:
    if "flower" in can.filters and "gact" in can.actions:
        # Only frames of one VLAN: frames of other VLANs to the address are filtered separately.
        return (
            f"protocol 802.1Q flower dst_mac {mac} vlan_id {vid} action drop"
            if vid is not None
            else f"protocol ip flower dst_mac {mac} action drop"
        )
    # Classic BPF compares the address. The result 2 drops the frame, and -1 lets it pass.
    high, low = int(mac.replace(":", "")[:4], 16), int(mac.replace(":", "")[4:], 16)
    program = ["40 0 0 0", f"21 0 3 {high}", "32 0 0 2", f"21 0 1 {low}", "6 0 0 2", "6 0 0 4294967295"]
    return f"protocol all bpf bytecode '{len(program)},{','.join(program)}' direct-action"
