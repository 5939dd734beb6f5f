"""A Plan on the guest's own device: its ports, and their qdiscs as :mod:`tsnbench.linux` writes them.

A bridge's gates are those of its hardware, so taprio hands them to the device; a host's are as its Plan says.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from tsnbench.backends.kernel.shaping import hidden_tag, largest_frame
from tsnbench.exports.network import Network
from tsnbench.exports.notes import Notes
from tsnbench.linux import ingress, qdiscs
from tsnbench.linux.profile import Layout, Mode, Profile

QUEUES = 8
"""Transmission queues of the device; the highest goes first."""
CONTROL = "/sys/kernel/debug/tsnport"
"""Where the device is told what no program for networks can say, and where its captures are."""
COUNTED = {"cbs": 24, "bfifo": 4}
"""Octets of a frame that no qdisc counts: on the wire (preamble, delimiter, FCS, gap), in a queue (FCS).

A tag that the kernel carries beside the frame comes on top."""
ENDLESS = 100_000
"""Frames: the limit of a queue that has none."""
SHORTEST = 64
"""Octets of a frame at least, with FCS."""
AHEAD_NS = 2_000_000_000
"""How far before the Plan's zero the lists of gates are in force at least; set-up takes longer than that."""


def profile(plan: dict[str, Any], epoch_ns: int = 0) -> Profile:
    """What the Plan leaves open."""
    return Profile(
        mode=Mode.FULL,
        layout=Layout.STRAIGHT,
        tx_queues=QUEUES,
        epoch_ns=epoch_ns,
        one_clock=True,
        interfaces={port["name"]: f"p{number}" for number, port in enumerate(plan["ports"])},
    )


def links(plan: dict[str, Any]) -> list[str]:
    """Lines for the device, one per cable. Nodes have a clock each, whatever number of ports."""
    found = []
    for number, port in enumerate(plan["ports"]):
        if number > port["peer"]:
            continue
        peer = plan["ports"][port["peer"]]
        ends = [(port, number), (peer, port["peer"])]
        names = " ".join(f"p{place}@{end['node']}" for end, place in ends)
        found.append(f"{names} " + " ".join(f"{end['rate_bps']} {end['propagation_ps']}" for end, _ in ends))
    return found


def port(plan: dict[str, Any], number: int) -> dict[str, Any]:
    """One port as its qdiscs see it: queues without a limit have one, lists began long ago."""
    own: dict[str, Any] = dict(plan["ports"][number])
    own["classes"] = [_limited(one) for one in own["classes"]]
    if own.get("gates"):
        # Below taprio the kernel takes no table of sizes (Linux 6.12: `STAB not supported on a non root`).
        own["classes"] = [_as_seen(one, plan, number, place) for place, one in enumerate(own["classes"])]
    if own.get("gates") and own["gates"].get("initial") is None:
        own["gates"] = _began(own["gates"])
    taprio = (own.get("qdisc") or {}).get("taprio")
    if taprio and taprio["base_time_ns"] <= 0:
        own["qdisc"] = {**own["qdisc"], "taprio": _began(taprio)}
    return own


def _limited(one: dict[str, Any]) -> dict[str, Any]:
    """A class with the one limit that counts, as a queue of the kernel has one."""
    if octets_count(one):
        return {key: value for key, value in one.items() if key != "limit_frames"}
    return one if "limit_frames" in one or "limit_octets" in one else {**one, "limit_frames": ENDLESS}


def _as_seen(one: dict[str, Any], plan: dict[str, Any], number: int, place: int) -> dict[str, Any]:
    """A class whose limit is as many of its longest frames, in octets that a queue counts of them."""
    to_class = plan["ports"][number]["pcp_to_class"]
    longest = max(
        (
            largest_frame(stream)
            for stream in plan["streams"]
            for hop in stream["route"]
            if hop["port"] == number and to_class[stream["pcp"]] == place
        ),
        default=0,
    )
    if "limit_octets" not in one or not longest:
        return one
    unseen = COUNTED["bfifo"] + hidden_tag(plan, number, forwarded=True)
    return {**one, "limit_octets": one["limit_octets"] - one["limit_octets"] // longest * unseen}


def octets_count(one: dict[str, Any]) -> bool:
    """Whether a limit in octets is reached before that in frames, however short these are."""
    return bool(one.get("limit_octets")) and one["limit_octets"] <= SHORTEST * one.get(
        "limit_frames", ENDLESS
    )


def _began(gates: dict[str, Any]) -> dict[str, Any]:
    cycle = gates["cycle_ns"]
    return {**gates, "base_time_ns": gates["base_time_ns"] % cycle - (AHEAD_NS // cycle + 1) * cycle}


def shape(plan: dict[str, Any], number: int) -> list[str]:
    """The qdiscs of one port; ``EPOCH+n`` stands for the Plan's moment n."""
    own, device, how = port(plan, number), f"p{number}", profile(plan)
    lines = qdiscs.batch(own, device, how)
    return [_moments(_counting(line, plan, number)) for line in lines]


def notes(plan: dict[str, Any]) -> list[str]:
    """What a reader of the results has to know."""
    return [
        f"{port['name']}: Linux's cbs below taprio counts frames without preamble, FCS and gap "
        f"({COUNTED['cbs']} octets each), so the class may send that much more than it reserved"
        for port in plan["ports"]
        if port.get("gates") and not port.get("qdisc") and any(one.get("cbs") for one in port["classes"])
    ]


def changes(plan: dict[str, Any], number: int) -> list[str]:
    """Lines that ask for later gate control lists, in the order of the Plan."""
    how = profile(plan)
    return [_moments(line) for _, line in qdiscs.changes(plan["ports"][number], f"p{number}", how)]


def added(plan: dict[str, Any], number: int, kind: str) -> int:
    """Octets of each frame that a port's qdisc of this kind is told to count besides those that it sees.

    A bridge's shaper counts what a frame costs on the wire, its queues count whole frames. Below taprio
    Linux takes no size table: "STAB not supported on a non root" (only mqprio's queues are roots).
    """
    own = plan["ports"][number]
    if own.get("qdisc") or own.get("gates") or kind not in COUNTED:
        return 0
    return COUNTED[kind] + hidden_tag(plan, number, forwarded=True)


def _counting(line: str, plan: dict[str, Any], number: int) -> str:
    for kind in COUNTED:
        place = line.find(f" {kind} ")
        if place >= 0 and (octets := added(plan, number, kind)):
            return f"{line[:place]} stab overhead {octets} linklayer ethernet{line[place:]}"
    return line


def _moments(line: str) -> str:
    return re.sub(r"base-time (-?\d+)", lambda found: f"base-time EPOCH{int(found[1]):+d}", line)


def control(plan: dict[str, Any]) -> Iterator[tuple[str, int]]:
    """What no other program can tell a port: a file below :data:`CONTROL`, and what is written to it."""
    for number, own in enumerate(plan["ports"]):
        if (own.get("gates") or {}).get("unguarded"):
            yield f"p{number}/unguarded", 1
        initial = (own.get("gates") or {}).get("initial")
        if initial is not None:
            yield f"p{number}/initial", initial
    for tap in plan["taps"]:
        if tap["stage"] in ("tx", "rx"):
            # In the time of the node, as a host's own card stamps.
            yield f"p{tap['port']}/{tap['stage']}/start", 2 if plan.get("clocks") else 1


def arriving(plan: dict[str, Any], node: int) -> list[str]:
    """What happens to frames as they come in; priorities only of those that do."""
    network = Network(plan)
    lines = ingress.batch(network, node, profile(plan), Notes("vm"))
    seen: dict[str, set[int]] = defaultdict(set)
    rewritten = any(entry.get("regeneration") for entry in plan.get("policing", ()))
    for stream in plan["streams"]:
        if stream.get("vid") is not None:
            for hop in stream["route"]:
                peer = plan["ports"][hop["port"]]["peer"]
                seen[f"p{peer}"] |= set(range(8)) if rewritten else {stream["pcp"]}
    plain = re.compile(
        r"filter replace dev (\S+) ingress .* flower vlan_prio (\d) action skbedit priority \2$"
    )
    kept = []
    for line in lines:
        found = plain.match(line)
        # Frames have priority 0 already.
        if not found or (int(found[2]) in seen[found[1]] and found[2] != "0"):
            kept.append(_moments(line))
    return kept


def lost(plan: dict[str, Any]) -> list[str]:
    """What a kernel cannot do of a Plan's filters."""
    network, notes = Network(plan), Notes("vm")
    for node in range(len(plan["nodes"])):
        ingress.batch(network, node, profile(plan), notes)
    return [f"{note.subject} ({note.why})" for note in notes if note.lost]
