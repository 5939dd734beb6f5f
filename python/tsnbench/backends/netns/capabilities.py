"""The parts of a Plan that this machine's kernel does not support: an error or a note before the start."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tsnbench.backends.kernel.environment import Capabilities
from tsnbench.backends.kernel.forwarding import departures, forwarding

if TYPE_CHECKING:
    from tsnbench.plan.types import Class, PlanDocument

NO_WIRE = (
    "this kernel has no netem, so links take no time: a frame arrives when its transmission begins, and each "
    "hop is shorter by the time of a frame and of the cable; ports still send no faster than their rate"
)
NOT_ALONE = "delays include the effects of other programs on this machine"


def missing(plan: PlanDocument, can: Capabilities) -> list[str]:
    """One line per unsupported part."""
    return list(dict.fromkeys(_all(plan, can)))


def notes(can: Capabilities) -> list[str]:
    """Notes for the reader of the results."""
    return [*([] if can.wires else [NO_WIRE]), NOT_ALONE]


def _all(plan: PlanDocument, can: Capabilities) -> Iterator[str]:
    for kind in ("veth", "bridge"):
        if kind not in can.links:
            yield f"links of kind {kind}: this kernel makes none"
    for qdisc in ("htb", "pfifo", "clsact"):
        if qdisc not in can.qdiscs:
            yield f"every port: this kernel has no qdisc {qdisc}"
    if "mirred" not in can.actions or not can.filters & {"matchall", "u32"}:
        yield "every link: this kernel cannot pass frames on (filter matchall or u32, action mirred)"
    for port in plan["ports"]:
        where = f"port {port['name']}"
        if port.get("gates") and "taprio" not in can.qdiscs:
            yield f"{where}: a gate control list: this kernel has no qdisc taprio"
        if any(own.get("cbs") for own in port["classes"]) and "cbs" not in can.qdiscs:
            yield f"{where}: a credit-based shaper: this kernel has no qdisc cbs"
        if any(_forgets(own) for own in port["classes"]):
            yield f"{where}: a lowest credit above what frames owe (cbs counts at the 10 Gbit/s of veth)"
        if len(port["classes"]) > 1:
            if "prio" not in can.qdiscs and "bpf" not in can.filters:
                yield f"{where}: traffic classes: this kernel has neither the qdisc prio nor the filter bpf"
            elif "prio" in can.qdiscs and not can.reads_tags and port["node"] in forwarding(plan):
                yield f"{where}: a tag's priority: this kernel has no filter flower with action skbedit"
    if not can.bridge_vlans:
        yield from _without_vlans(plan)


def _forgets(own: Class) -> bool:
    """Whether the lowest credit of a class cuts off debts."""
    cbs = own.get("cbs")
    owed = cbs.get("follows", {}).get("lo_credit_bits") if cbs else None
    return cbs is not None and owed is not None and cbs["lo_credit_bits"] > owed


def _without_vlans(plan: PlanDocument) -> Iterator[str]:
    """Without VLANs, an address leaves a bridge by one port in all VLANs."""
    found: dict[tuple[int, str], set[int]] = {}
    for node, stream, ports in departures(plan):
        if found.setdefault((node, stream["destination_mac"]), ports) != ports:
            name = plan["nodes"][node]["name"]
            yield (
                f"stream {stream['name']}: leaves {name} by other ports than another VLAN's frames to "
                "the same address: this kernel's bridges do not distinguish VLANs"
            )
