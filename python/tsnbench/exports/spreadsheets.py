"""A Plan as tables for spreadsheets: nodes, ports, classes, gate entries, streams, hops."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tsnbench.plan.frames import sizes
from tsnbench.plan.network import Network
from tsnbench.plan.notes import Notes
from tsnbench.sheet import csv_text

if TYPE_CHECKING:
    from tsnbench.plan.types import Stream


def files(network: Network, notes: Notes) -> dict[str, str]:
    """Six tables; units are in the names of the columns, as in the Plan."""
    why = "the tables are of ports and streams; `tsnbench plan --json` has all"
    notes.parts(network, why, "faults", "clocks", "policing", "hosts", "taps")
    for stream in network.redundant():
        notes.lost("copies", "the table of hops has the paths alone", stream["name"])
    return {
        "csv/nodes.csv": csv_text(
            ("node", "kind", "processing_ns", "ipv4"),
            ((one["name"], one["kind"], one["processing_ns"], one["ipv4"]) for one in network.nodes),
        ),
        "csv/ports.csv": csv_text(
            (
                "port",
                "node",
                "to",
                "mac",
                "rate_bps",
                "propagation_ps",
                *(f"class_of_pcp{pcp}" for pcp in range(8)),
            ),
            (
                (
                    port["name"],
                    network.nodes[port["node"]]["name"],
                    network.nodes[network.far(number)]["name"],
                    port["mac"],
                    port["rate_bps"],
                    port["propagation_ps"],
                    *port["pcp_to_class"],
                )
                for number, port in enumerate(network.ports)
            ),
        ),
        "csv/classes.csv": csv_text(
            (
                "port",
                "class",
                "limit_frames",
                "limit_octets",
                "max_sdu_octets",
                "idle_slope_bps",
                "send_slope_bps",
                "hi_credit_bits",
                "lo_credit_bits",
                "tc_idleslope",
                "tc_sendslope",
                "tc_hicredit",
                "tc_locredit",
                "preemptable",
            ),
            _classes(network),
        ),
        "csv/gates.csv": csv_text(
            (
                "port",
                "asked_ns",
                "base_time_ns",
                "cycle_ns",
                "entry",
                "begin_ns",
                "interval_ns",
                "open_classes",
                "mac",
            ),
            _gates(network),
        ),
        "csv/streams.csv": csv_text(
            (
                "stream",
                "talker",
                "listeners",
                "pcp",
                "vid",
                "destination_mac",
                "destination_ipv4",
                "udp_port",
                "pattern",
                "period_ns",
                "offset_ns",
                "largest_frame_octets",
                "delay_limit_ns",
            ),
            (_stream(network, stream) for stream in network.streams),
        ),
        "csv/hops.csv": csv_text(
            ("stream", "hop", "after", "port"),
            (
                (stream["name"], place, hop.get("parent"), network.ports[hop["port"]]["name"])
                for stream in network.streams
                for place, hop in enumerate(stream["route"])
            ),
        ),
    }


def _classes(network: Network) -> Iterator[tuple[object, ...]]:
    for port in network.ports:
        for number, one in enumerate(port["classes"]):
            cbs = one.get("cbs", {})
            linux = cbs.get("linux", {})
            express = port.get("preemption", {}).get("express")
            yield (
                port["name"],
                number,
                *(one.get(name) for name in ("limit_frames", "limit_octets", "max_sdu_octets")),
                *(
                    cbs.get(name)
                    for name in ("idle_slope_bps", "send_slope_bps", "hi_credit_bits", "lo_credit_bits")
                ),
                *(linux.get(name) for name in ("idleslope", "sendslope", "hicredit", "locredit")),
                None if express is None else int(not express >> number & 1),
            )


def _gates(network: Network) -> Iterator[tuple[object, ...]]:
    for port in network.ports:
        first = port.get("gates")
        if first is None:
            continue
        for gates in [first, *first.get("changes", [])]:
            begin = 0
            for place, entry in enumerate(gates["entries"]):
                classes = [number for number in range(len(port["classes"])) if entry["open"] >> number & 1]
                yield (
                    port["name"],
                    gates.get("at_ns"),
                    gates["base_time_ns"],
                    gates["cycle_ns"],
                    place,
                    begin,
                    entry["interval_ns"],
                    " ".join(map(str, classes)),
                    entry.get("mac"),
                )
                begin += entry["interval_ns"]


def _stream(network: Network, stream: Stream) -> tuple[object, ...]:
    pattern = stream["pattern"]
    return (
        stream["name"],
        network.nodes[stream["talker"]]["name"],
        " ".join(network.nodes[one["node"]]["name"] for one in stream["listeners"]),
        stream["pcp"],
        stream.get("vid"),
        stream["destination_mac"],
        stream["destination_ipv4"],
        stream["udp_port"],
        pattern["kind"],
        pattern.get("period_ns"),
        pattern.get("offset_ns"),
        sizes(stream["size"]).largest,
        stream.get("requirements", {}).get("delay_ns"),
    )
