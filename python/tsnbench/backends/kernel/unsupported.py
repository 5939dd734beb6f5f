"""The parts of a Plan that this backend does not support: an error before the start, never a wrong run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from tsnbench.backends.kernel.environment import GUEST, Capabilities
from tsnbench.backends.kernel.forwarding import departures, is_group
from tsnbench.backends.kernel.port_traffic import octets_count
from tsnbench.errors import InputError
from tsnbench.plan.gates import gate_lists

if TYPE_CHECKING:
    from tsnbench.backends.kernel.device import Ports
    from tsnbench.plan.types import PlanDocument, Port, Stream

NODE = {"name", "kind", "processing_ns", "ipv4", "host"}
PORT = {
    "name", "node", "peer", "mac", "rate_bps", "propagation_ps", "pcp_to_class", "classes", "gates",
}  # fmt: skip
CLASS = {"limit_frames", "cbs"}
CBS = {"idle_slope_bps", "send_slope_bps", "hi_credit_bits", "lo_credit_bits", "linux", "follows"}
GATES = {"base_time_ns", "cycle_ns", "entries", "unguarded"}
CHANGE = {"at_ns", "base_time_ns", "cycle_ns", "entries", "cycle_extension_ns"}
ENTRY = {"open", "interval_ns"}
STREAM = {
    "name", "group", "talker", "pcp", "vid", "destination_mac", "destination_ipv4", "udp_port", "pattern",
    "size", "start_ns", "stop_ns", "route", "listeners", "requirements", "socket", "scheduled",
    "type_of_service", "trdp",
}  # fmt: skip
PLAN = {
    "format", "name", "variant", "seed", "duration_ns", "drain_ns", "nodes", "ports", "streams", "taps",
    "hash", "faults", "measure_from",
}  # fmt: skip
"""Supported parts of a Plan. Every other part is an error with its name: no part is ignored silently."""
FAULTS = ("link-down", "node-down", "loss", "delay", "duplicate")
"""Kinds of faults that a kernel supports. Babbling belongs to a talker, wrong gates belong to a queueing
discipline."""

MOST_PORTS = 60
MOST_CLASSES = 8
MOST_LINES = 12
_MAC = re.compile(r"(?:[0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}")
_NO_MORE: frozenset[str] = frozenset()


def unsupported(plan: PlanDocument, device: Ports, can: Capabilities = GUEST, dilation: int = 1) -> list[str]:
    """One line per unsupported part, each once."""
    return list(dict.fromkeys(_all(plan, device, can, dilation)))


def check_dilation(dilate: int) -> None:
    """Checks the factor by which an experiment runs slower.

    Raises:
        InputError: this is no dilation.
    """
    if dilate < 1:
        raise InputError(f"--dilate: expected a whole number from 1 on, found {dilate}")


def refuse(backend: str, name: str, found: Sequence[str], hint: str) -> None:
    """Checks that a backend has found no unsupported parts of a Plan.

    Args:
        backend: the backend's name.
        name: the Plan's name.
        found: the unsupported parts.
        hint: what the user can do.

    Raises:
        InputError: there are unsupported parts.
    """
    if found:
        raise InputError(
            f"{name}: --on {backend} cannot run all of this plan:\n{listed(found)}\nhint: {hint}"
        )


def listed(found: Sequence[object]) -> str:
    """The first findings as lines, for an error."""
    more = [f"and {len(found) - MOST_LINES} more"] if len(found) > MOST_LINES else []
    return "\n".join(f"  {line}" for line in [*found[:MOST_LINES], *more])


def _all(plan: PlanDocument, device: Ports, can: Capabilities, dilation: int) -> Iterator[str]:
    more = device.more
    yield from _strange("the plan", plan, PLAN | more.get("plan", _NO_MORE))
    if len(plan["ports"]) > MOST_PORTS:
        yield f"{len(plan['ports'])} ports: at most {MOST_PORTS}"
    for node in plan["nodes"]:
        yield from _strange(f"node {node['name']}", node, NODE)
    for port in plan["ports"]:
        yield from _port(port, more)
    for stream in plan["streams"]:
        yield from _stream(stream, device.most_frame)
        yield from _socket(stream, plan["ports"][stream["route"][0]["port"]])
    yield from _addresses(plan)
    for number, fault in enumerate(plan.get("faults", ())):
        if fault["kind"] not in FAULTS:
            supported = ", ".join(FAULTS)
            yield f"fault {number + 1} ({fault['kind']}): the supported kinds of faults are {supported}"
    yield from device.unsupported(plan, can, dilation)


def _port(port: Port, more: Mapping[str, frozenset[str]]) -> Iterator[str]:
    where = f"port {port['name']}"
    yield from _strange(where, port, PORT | more.get("port", _NO_MORE))
    if not _MAC.fullmatch(port["mac"]):
        yield f"{where}: an address that is no MAC address: {port['mac']!r}"
    if len(port["classes"]) > MOST_CLASSES:
        yield f"{where}: more than {MOST_CLASSES} classes"
    gates = port.get("gates")
    for own in port["classes"]:
        if "longest_wait_ns" in own:
            yield f"{where}: longest_wait_ns (no queueing discipline with classes drops frames for their age)"
        yield from _strange(where, own, CLASS | {"longest_wait_ns"} | more.get("class", _NO_MORE))
        if own.get("max_sdu_octets") and not gates:
            yield f"{where}: max_sdu_octets without gates (mqprio has no such limit)"
        if own.get("cbs") and port.get("qdisc"):
            yield f"{where}: shapers of the hardware below queueing disciplines (give it `cbs: software`)"
        if own.get("limit_octets") and (own.get("cbs") or not octets_count(own)):
            yield f"{where}: limit_octets beside a shaper, or a limit in frames that may be reached first"
        if cbs := own.get("cbs"):
            yield from _strange(where, cbs, CBS)
    if not gates:
        return
    yield from _strange(where, gates, GATES | more.get("gates", _NO_MORE))
    for change in gates.get("changes", ()):
        yield from _strange(f"{where}: changed gates", change, CHANGE)
    for one in gate_lists(gates):
        for entry in one["entries"]:
            yield from _strange(where, entry, ENTRY)


def _stream(stream: Stream, most_frame: int) -> Iterator[str]:
    where = f"stream {stream['name']}"
    yield from _strange(where, stream, STREAM)
    if not _MAC.fullmatch(stream["destination_mac"]):
        yield f"{where}: an address that is no MAC address: {stream['destination_mac']!r}"
    elif len(stream["listeners"]) > 1 and not is_group(stream):
        yield f"{where}: several listeners of one address that is no group's"
    if sum(hop.get("parent") is None for hop in stream["route"]) > 1:
        yield f"{where}: leaves its talker by several ports"
    if stream.get("vid") is None and stream["pcp"]:
        yield f"{where}: a priority without a VLAN tag, which a bridge cannot see"
    size = stream["size"]
    if size["kind"] == "units":
        largest = size["most_per_frame"] + size["overhead"]
    else:
        largest = size["octets"] if size["kind"] == "frame" else max(size["octets"])
    if largest > most_frame + (4 if stream.get("vid") is not None else 0):
        yield f"{where}: frames of more than {most_frame} octets"


def _socket(stream: Stream, port: Port) -> Iterator[str]:
    """Launch times need queueing disciplines that support them."""
    qdisc = port.get("qdisc")
    heeded = qdisc and any(one["kind"] == "etf" for one in qdisc["children"])
    if stream.get("socket", {}).get("txtime") and not heeded:
        yield f"stream {stream['name']}: SO_TXTIME (port {port['name']} has no etf, which would heed it)"


def _addresses(plan: PlanDocument) -> Iterator[str]:
    """A bridge has one port for an address of a VLAN, the same one for each sender."""
    sent: dict[tuple[int, str, int | None], set[int]] = {}
    for node, stream, leaves in departures(plan):
        key = (node, stream["destination_mac"], stream.get("vid"))
        if sent.setdefault(key, leaves) != leaves:
            name = plan["nodes"][node]["name"]
            what = f"another stream to the same address leaves {name} by another port"
            yield f"stream {stream['name']}: {what}"


def _strange(where: str, part: Mapping[str, object], known: set[str] | frozenset[str]) -> Iterator[str]:
    for key, value in part.items():
        if key not in known and value not in (None, [], {}):
            yield f"{where}: {key}"
