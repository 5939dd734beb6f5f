"""A Plan as tables for spreadsheets: nodes, ports, classes, gate entries, streams, hops."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tsnbench.plan.frames import sizes
from tsnbench.plan.gates import gate_lists
from tsnbench.plan.network import Network
from tsnbench.plan.notes import Notes
from tsnbench.sheet import csv_text

if TYPE_CHECKING:
    from tsnbench.plan.types import Stream

NODE = ("kind", "processing_ns", "ipv4")
LIMITS = ("limit_frames", "limit_octets", "max_sdu_octets", "longest_wait_ns")
SLOPES = ("idle_slope_bps", "send_slope_bps", "hi_credit_bits", "lo_credit_bits")
LINUX = ("idleslope", "sendslope", "hicredit", "locredit")
STREAM = ("pcp", "vid", "destination_mac", "destination_ipv4", "udp_port")
"""Columns with the name that the Plan has for their values."""
COLUMNS = {
    "nodes": ("node", *NODE),
    "ports": (
        *("port", "node", "to", "mac", "rate_bps", "propagation_ps"),
        *(f"class_of_pcp{pcp}" for pcp in range(8)),
    ),
    "classes": ("port", "class", *LIMITS, *SLOPES, *(f"tc_{name}" for name in LINUX), "preemptable"),
    "gates": (
        *("port", "asked_ns", "base_time_ns", "cycle_ns"),
        *("entry", "begin_ns", "interval_ns", "open_classes", "mac"),
    ),
    "streams": (
        *("stream", "talker", "listeners", *STREAM, "pattern", "period_ns", "offset_ns"),
        *("largest_frame_octets", "delay_limit_ns"),
    ),
    "hops": ("stream", "hop", "after", "port"),
}
Rows = Iterator[tuple[object, ...]]


def files(network: Network, notes: Notes) -> dict[str, str]:
    """Six tables; units are in the names of the columns, as in the Plan."""
    why = "the tables are of ports and streams; `tsnbench plan --json` has all"
    notes.parts(network, why, "faults", "clocks", "policing", "hosts", "taps")
    notes.stages(network, why, why, None)
    for stream in network.redundant():
        notes.lost("copies", "the table of hops has the paths alone", stream["name"])
    rows: dict[str, Rows] = {
        "nodes": ((one["name"], *map(one.get, NODE)) for one in network.nodes),
        "ports": _ports(network),
        "classes": _classes(network),
        "gates": _gates(network),
        "streams": (_stream(network, stream) for stream in network.streams),
        "hops": (
            (stream["name"], place, hop.get("parent"), network.ports[hop["port"]]["name"])
            for stream in network.streams
            for place, hop in enumerate(stream["route"])
        ),
    }
    return {f"csv/{name}.csv": csv_text(COLUMNS[name], own) for name, own in rows.items()}


def _ports(network: Network) -> Rows:
    for number, port in enumerate(network.ports):
        ends = (network.nodes[node]["name"] for node in (port["node"], network.far(number)))
        wire = (port["mac"], port["rate_bps"], port["propagation_ps"])
        yield port["name"], *ends, *wire, *port["pcp_to_class"]


def _classes(network: Network) -> Rows:
    for port in network.ports:
        express = port.get("preemption", {}).get("express")
        for number, one in enumerate(port["classes"]):
            cbs = one.get("cbs", {})
            linux = cbs.get("linux", {})
            shaper = (*map(one.get, LIMITS), *map(cbs.get, SLOPES), *map(linux.get, LINUX))
            yield port["name"], number, *shaper, None if express is None else int(not express >> number & 1)


def _gates(network: Network) -> Rows:
    for port in network.ports:
        for gates in gate_lists(port["gates"]) if "gates" in port else ():
            own = (port["name"], gates.get("at_ns"), gates["base_time_ns"], gates["cycle_ns"])
            begin = 0
            for place, entry in enumerate(gates["entries"]):
                classes = [number for number in range(len(port["classes"])) if entry["open"] >> number & 1]
                span = (begin, entry["interval_ns"])
                yield *own, place, *span, " ".join(map(str, classes)), entry.get("mac")
                begin += entry["interval_ns"]


def _stream(network: Network, stream: Stream) -> tuple[object, ...]:
    pattern = stream["pattern"]
    # Each run draws a phase that nothing says.
    offset_ns = None if stream.get("any_phase") else pattern.get("offset_ns")
    return (
        stream["name"],
        network.nodes[stream["talker"]]["name"],
        " ".join(network.nodes[one["node"]]["name"] for one in stream["listeners"]),
        *map(stream.get, STREAM),
        *map(pattern.get, ("kind", "period_ns")),
        offset_ns,
        sizes(stream["size"]).largest,
        stream.get("requirements", {}).get("delay_ns"),
    )
