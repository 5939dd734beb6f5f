"""The qdiscs of the device's ports, as :mod:`tsnbench.linux` has them, and what happens to arriving frames.

A bridge's gates are those of its hardware, so taprio offloads them to the device; a host's gates are
configured as in its Plan.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from tsnbench.backends.kernel.port_traffic import ENDLESS, with_one_limit
from tsnbench.linux import ingress, qdiscs
from tsnbench.linux.profile import Layout, Mode, Profile
from tsnbench.plan.network import Network
from tsnbench.plan.notes import Notes

if TYPE_CHECKING:
    from tsnbench.backends.kernel.port_traffic import PortTraffic
    from tsnbench.linux.qdiscs import Child, Root
    from tsnbench.plan.types import Class, GateChange, Gates, PlanDocument, Port, Taprio

QUEUES = 8
"""Transmission queues of the device; the highest is served first."""
COUNTED = {"cbs": 24, "bfifo": 4}
"""Octets of a frame that no qdisc counts: on the wire (preamble, delimiter, FCS, gap), in a queue (FCS).

A tag that the kernel stores beside the frame is additional."""
AHEAD_NS = 2_000_000_000
"""How long before the Plan's zero the gate control lists are at least in force; the set-up takes longer than
that."""
_List = TypeVar("_List", "Gates", "Taprio")


def profile(plan: PlanDocument, epoch_ns: int = 0) -> Profile:
    """The settings that the Plan leaves open."""
    return Profile(
        mode=Mode.FULL,
        layout=Layout.STRAIGHT,
        tx_queues=QUEUES,
        epoch_ns=epoch_ns,
        one_clock=True,
        interfaces={port["name"]: f"p{number}" for number, port in enumerate(plan["ports"])},
    )


def shape(
    port: Port, traffic: PortTraffic, how: Profile, last: GateChange | None = None
) -> tuple[Root, list[Child]]:
    """The root of one port and the qdiscs of its queues; ``last``: the latest gate control list."""
    own = _as_requested(port, traffic)
    children = [
        replace(child, overhead=child.overhead or overhead(port, traffic, child.kind))
        for child in qdiscs.children(own, how)
    ]
    return qdiscs.root(own, how, last), children


def overhead(port: Port, traffic: PortTraffic, kind: str) -> int:
    """Octets of each frame that a port's qdisc of this kind must count in addition to the frame's own.

    A bridge's shaper counts all octets on the wire, its queues count whole frames. Below taprio Linux
    supports no size table: "STAB not supported on a non root" (only mqprio's queues are roots).
    """
    if port.get("qdisc") or port.get("gates") or kind not in COUNTED:
        return 0
    return COUNTED[kind] + traffic.hidden_at_port


def _as_requested(port: Port, traffic: PortTraffic) -> Port:
    """One port in the form of its qdiscs: queues without a limit get one, and lists began long ago."""
    own = port.copy()
    own["classes"] = [_limited(one) for one in own["classes"]]
    gates = own.get("gates")
    if gates:
        # Below taprio the kernel supports no table of sizes (Linux 6.12: `STAB not supported on a non root`).
        own["classes"] = [
            _as_seen(one, longest, traffic)
            for one, longest in zip(own["classes"], traffic.longest, strict=True)
        ]
        if gates.get("initial") is None:
            own["gates"] = _began(gates)
    qdisc = own.get("qdisc")
    if qdisc and "taprio" in qdisc and qdisc["taprio"]["base_time_ns"] <= 0:
        own["qdisc"] = {**qdisc, "taprio": _began(qdisc["taprio"])}
    return own


def _limited(one: Class) -> Class:
    """A class with only the limit that applies, as a queue of the kernel has one limit."""
    own = with_one_limit(one)
    if "limit_frames" not in own and "limit_octets" not in own:
        own["limit_frames"] = ENDLESS
    return own


def _as_seen(one: Class, longest: int, traffic: PortTraffic) -> Class:
    """A class with its limit in octets for as many of its longest frames, as a queue counts them."""
    if "limit_octets" not in one or not longest:
        return one
    unseen = COUNTED["bfifo"] + traffic.hidden_at_port
    return {**one, "limit_octets": one["limit_octets"] - one["limit_octets"] // longest * unseen}


def _began(gates: _List) -> _List:
    own, cycle = gates.copy(), gates["cycle_ns"]
    own["base_time_ns"] = gates["base_time_ns"] % cycle - (AHEAD_NS // cycle + 1) * cycle
    return own


def arriving(network: Network, how: Profile) -> dict[int, list[ingress.Arrivals]]:
    """By node, the treatment of received frames; with priorities only of frames that exist."""
    plan = network.document
    seen: dict[int, set[int]] = defaultdict(set)
    rewritten = any(entry.get("regeneration") for entry in plan.get("policing", ()))
    for stream in plan["streams"]:
        if stream.get("vid") is not None:
            for hop in stream["route"]:
                peer = plan["ports"][hop["port"]]["peer"]
                seen[peer] |= set(range(8)) if rewritten else {stream["pcp"]}
    found = {}
    for node in range(len(plan["nodes"])):
        found[node] = [
            # Priority 0 is the frames' default.
            replace(one, filters=tuple(_needed(one.filters, seen[one.port] - {0})))
            for one in ingress.arrivals(network, node, how, Notes("vm"))
        ]
    return found


def _needed(filters: tuple[ingress.Filter, ...], priorities: set[int]) -> list[ingress.Filter]:
    return [one for one in filters if one.copies is None or one.copies in priorities]


def unsupported_filters(plan: PlanDocument) -> list[str]:
    """The parts of a Plan's filters that a kernel does not support."""
    network, notes = Network(plan), Notes("vm")
    for node in range(len(plan["nodes"])):
        ingress.arrivals(network, node, profile(plan), notes)
    return [f"{note.subject} ({note.why})" for note in notes if note.lost]
