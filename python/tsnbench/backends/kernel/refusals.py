"""What of a Plan this backend cannot run: said before anything starts, never run wrongly."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tsnbench.backends.kernel import clocks, faults, groups, harm, ports
from tsnbench.backends.kernel.shaping import QUEUES
from tsnbench.backends.kernel.site import GUEST, Abilities
from tsnbench.backends.kernel.wire import Wire

NODE = {"name", "kind", "processing_ns", "ipv4", "host"}
PORT = {
    "name", "node", "peer", "mac", "rate_bps", "propagation_ps", "pcp_to_class", "classes", "gates",
}  # fmt: skip
CLASS = {"limit_frames", "cbs"}
CBS = {"idle_slope_bps", "send_slope_bps", "hi_credit_bits", "lo_credit_bits", "linux"}
GATES = {"base_time_ns", "cycle_ns", "entries", "unguarded"}
CHANGE = {"at_ns", "base_time_ns", "cycle_ns", "entries", "cycle_extension_ns"}
ENTRY = {"open", "interval_ns"}
STREAM = {
    "name", "group", "talker", "pcp", "vid", "destination_mac", "destination_ipv4", "udp_port", "pattern",
    "size", "start_ns", "stop_ns", "route", "listeners", "requirements", "socket", "scheduled",
}  # fmt: skip
PLAN = {
    "format", "name", "variant", "seed", "duration_ns", "drain_ns", "nodes", "ports", "streams", "taps",
    "hash", "faults",
}  # fmt: skip
"""What is understood. Whatever else a Plan holds is refused by its name: nothing is left out unsaid."""

MOST_PORTS = 60
MOST_FRAME = {Wire.VETH: 9018, Wire.TSNPORT: 1518}
"""Octets of an untagged frame: what fits the interfaces."""


OWN_DEVICE = {
    "plan": {"policing", "clocks"},
    "node": {"host"},
    "port": {"qdisc"},
    "class": {"max_sdu_octets", "limit_octets"},
    "gates": {"cycle_extension_ns", "initial", "changes"},
}
"""What is understood besides on ports that gates, launch times and the usual root qdiscs know."""


def refusals(
    plan: dict[str, Any], wire: Wire = Wire.VETH, can: Abilities = GUEST, dilate: int = 1
) -> list[str]:
    """One line per thing, each once."""
    found = [*_all(plan, wire, dilate), *faults.refused(plan, can, wire)]
    return list(dict.fromkeys(found))


def _all(plan: dict[str, Any], wire: Wire, dilate: int) -> Iterator[str]:
    more = OWN_DEVICE if wire is Wire.TSNPORT else {}
    none: set[str] = set()
    yield from _strange("the plan", plan, PLAN | more.get("plan", none))
    if len(plan["ports"]) > MOST_PORTS:
        yield f"{len(plan['ports'])} ports: at most {MOST_PORTS}"
    for node in plan["nodes"]:
        yield from _strange(f"node {node['name']}", node, NODE | more.get("node", none))
    for port in plan["ports"]:
        yield from _port(port, more)
    if more:
        yield from harm.refused(plan)
    if more and plan.get("policing"):
        yield from ports.lost(plan)
    if more:
        yield from clocks.refused(plan, dilate)
    for stream in plan["streams"]:
        yield from _stream(stream, wire)
        yield from _socket(stream, plan["ports"][stream["route"][0]["port"]])
    yield from _addresses(plan)


def _port(port: dict[str, Any], more: dict[str, set[str]]) -> Iterator[str]:
    none: set[str] = set()
    where = f"port {port['name']}"
    yield from _strange(where, port, PORT | more.get("port", none))
    if len(port["classes"]) > QUEUES:
        yield f"{where}: more than {QUEUES} classes"
    for own in port["classes"]:
        yield from _strange(where, own, CLASS | more.get("class", none))
        if own.get("max_sdu_octets") and not port.get("gates"):
            yield f"{where}: max_sdu_octets without gates (mqprio has no such limit)"
        if own.get("cbs") and port.get("qdisc"):
            yield f"{where}: shapers of the hardware below queueing disciplines (give it `cbs: software`)"
        if own.get("limit_octets") and (own.get("cbs") or not ports.octets_count(own)):
            yield f"{where}: limit_octets beside a shaper, or a limit in frames that may be reached first"
        yield from _strange(where, own.get("cbs") or {}, CBS)
    gates = port.get("gates") or {}
    yield from _strange(where, gates, GATES | more.get("gates", none))
    for change in gates.get("changes", ()):
        yield from _strange(f"{where}: changed gates", change, CHANGE)
    lists = [gates, *gates.get("changes", ())]
    for entry in (entry for one in lists for entry in one.get("entries", ())):
        yield from _strange(where, entry, ENTRY)


def _stream(stream: dict[str, Any], wire: Wire) -> Iterator[str]:
    where = f"stream {stream['name']}"
    yield from _strange(where, stream, STREAM)
    if len(stream["listeners"]) > 1 and not groups.is_group(stream):
        yield f"{where}: several listeners of one address that is no group's"
    if sum(hop.get("parent") is None for hop in stream["route"]) > 1:
        yield f"{where}: leaves its talker by several ports"
    if stream.get("vid") is None and stream["pcp"]:
        yield f"{where}: a priority without a VLAN tag, which a bridge cannot see"
    size = stream["size"]
    largest = size["most_per_frame"] + size["overhead"] if size["kind"] == "units" else size["octets"]
    largest = max(largest) if isinstance(largest, list) else largest
    if largest > MOST_FRAME[wire] + (4 if stream.get("vid") is not None else 0):
        yield f"{where}: frames of more than {MOST_FRAME[wire]} octets"


def _socket(stream: dict[str, Any], port: dict[str, Any]) -> Iterator[str]:
    """Launch times are for queueing disciplines that heed them."""
    children = (port.get("qdisc") or {}).get("children", ())
    if (stream.get("socket") or {}).get("txtime") and not any(one["kind"] == "etf" for one in children):
        yield f"stream {stream['name']}: SO_TXTIME (port {port['name']} has no etf, which would heed it)"


def _addresses(plan: dict[str, Any]) -> Iterator[str]:
    """A bridge sends an address of a VLAN one way, whoever sent the frame."""
    ways: dict[tuple[int, str, int | None], set[int]] = {}
    for node, stream, leaves in groups.ways(plan):
        key = (node, stream["destination_mac"], stream.get("vid"))
        if ways.setdefault(key, leaves) != leaves:
            name = plan["nodes"][node]["name"]
            what = f"another stream to the same address leaves {name} by another port"
            yield f"stream {stream['name']}: {what}"


def _strange(where: str, part: dict[str, Any], known: set[str]) -> Iterator[str]:
    for key in part:
        if key not in known and part[key] not in (None, [], {}):
            yield f"{where}: {key}"
