"""Ports: classes, queues and their limits, credit-based shapers, gates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tsnbench.exports.inet.meters import eligible
from tsnbench.exports.inet.paths import Paths
from tsnbench.plan.network import Network
from tsnbench.plan.notes import Notes

if TYPE_CHECKING:
    from tsnbench.plan.types import Cbs, Class, GateCycle, Port


def classes(port: Port, queue: str) -> list[str]:
    """The class of each priority."""
    # A row of INET has a column for each possible number of classes. Only one column is used; all are equal.
    rows = ", ".join("[" + ", ".join([str(own)] * 8) + "]" for own in port["pcp_to_class"])
    return [
        f"{queue}.numTrafficClasses = {len(port['classes'])}",
        f"{queue}.classifier.mapping = [{rows}]",
    ]


def port(network: Network, paths: Paths, number: int, layer: str, notes: Notes) -> list[str]:
    """All lines of one port."""
    own, queue = network.ports[number], f"{layer}.queue"
    lines = classes(own, queue)
    gates = own.get("gates")
    waits = eligible(network, paths, number)
    for one, traffic in enumerate(own["classes"]):
        backlog = _backlog(network, paths, number, one)
        if one in waits:
            lines += _asynchronous(queue, one)
        else:
            lines += _queue(traffic, f"{queue}.queue[{one}]", backlog)
        if "max_sdu_octets" in traffic:
            notes.lost("largest units", "INET's queues have none", f"class {one} of {own['name']}")
        if "cbs" in traffic:
            lines += _shaper(traffic["cbs"], f"{queue}.transmissionSelectionAlgorithm[{one}]")
            if traffic["cbs"].get("runs_while_closed"):
                notes.lost(
                    "credit that runs while the gate is closed",
                    "the credit of INET's shaper is frozen then",
                    f"class {one} of {own['name']}",
                )
        if gates:
            lines += gate(gates, one, f"{queue}.transmissionGate[{one}]")
    if gates and (
        gates.get("changes") or gates.get("initial") is not None or gates.get("cycle_extension_ns")
    ):
        notes.lost(
            "gates other than one cyclic list",
            "INET's gates have one cycle, from the beginning on",
            own["name"],
        )
    if "preemption" in own:
        notes.lost(
            "pre-emption",
            "INET's pre-empting MAC takes every tagged frame for an express one: the request that it sorts "
            "by is gone when the tag is there",
            own["name"],
        )
    return lines


def _queue(traffic: Class, queue: str, backlog: int | None) -> list[str]:
    """INET's default queue ignores its parameters for limits."""
    frames = traffic.get("limit_frames")
    if backlog is not None:
        frames = backlog if frames is None else min(frames, backlog)
    if frames is None and "limit_octets" not in traffic:
        return []
    return [
        f'{queue}.typename = "DropTailQueue"',
        # Without this line, INET's own limit of frames would apply.
        f"{queue}.packetCapacity = {-1 if frames is None else frames}",
        *([f"{queue}.dataCapacity = {traffic['limit_octets']}B"] if "limit_octets" in traffic else []),
    ]


def _asynchronous(queue: str, number: int) -> list[str]:
    """IEEE 802.1Q-2022, 8.6.8.5."""
    return [
        f'{queue}.queue[{number}].typename = "EligibilityTimeQueue"',
        f'{queue}.transmissionSelectionAlgorithm[{number}].typename = "Ieee8021qAsynchronousShaper"',
    ]


def _backlog(network: Network, paths: Paths, port: int, number: int) -> int | None:
    """The backlog of a saturating talker with a queue of its own."""
    users = paths.users.get((port, number), [])
    if len(users) != 1:
        return None
    pattern = users[0]["pattern"]
    if pattern["kind"] != "saturating":
        return None
    first = network.ports[users[0]["route"][0]["port"]]["node"] == network.ports[port]["node"]
    return pattern["backlog"] if first else None


def _shaper(cbs: Cbs, algorithm: str) -> list[str]:
    return [
        f'{algorithm}.typename = "Ieee8021qCreditBasedShaper"',
        f"{algorithm}.idleSlope = {cbs['idle_slope_bps']}bps",
        f"{algorithm}.sendSlope = {cbs['send_slope_bps']}bps",
        f"{algorithm}.minCredit = {cbs['lo_credit_bits']}",
        f"{algorithm}.maxCredit = {cbs['hi_credit_bits']}",
        f"{algorithm}.accumulateCreditInGuardBand = true",
    ]


def gate(gates: GateCycle, number: int, name: str) -> list[str]:
    """Alternating durations, from a change of the gate on; empty for a gate that never changes."""
    states = [(bool(entry["open"] >> number & 1), entry["interval_ns"]) for entry in gates["entries"]]
    joined: list[tuple[bool, int]] = []
    for state, interval in states:
        if joined and joined[-1][0] == state:
            joined[-1] = (state, joined[-1][1] + interval)
        else:
            joined.append((state, interval))
    lead = 0
    if len(joined) == 1:
        return [f"{name}.initiallyOpen = {str(joined[0][0]).lower()}"]
    if joined[0][0] == joined[-1][0]:
        # The number of durations must be even. The first and the last state are equal, so they are joined.
        lead = joined[0][1]
        joined = [*joined[1:-1], (joined[-1][0], joined[-1][1] + lead)]
    offset = (-gates["base_time_ns"] - lead) % gates["cycle_ns"]
    lines = [
        f"{name}.initiallyOpen = {str(joined[0][0]).lower()}",
        f"{name}.durations = [{', '.join(f'{interval}ns' for _, interval in joined)}]",
        f"{name}.offset = {offset}ns",
    ]
    if gates.get("unguarded"):
        lines.append(f"{name}.enableImplicitGuardBand = false")
    return lines
