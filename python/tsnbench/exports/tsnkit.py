"""tsnkit's CSV files: a problem for its schedulers; gates, offsets, routes and queues for its simulator.

A size there is what a frame takes on the wire, so the 20 octets of preamble, delimiter and gap are in it.
"""

from __future__ import annotations

from typing import Any

from tsnbench.exports.network import Network, frame_octets
from tsnbench.exports.notes import Notes
from tsnbench.exports.tables import csv_text

WIRE_OCTETS = 20
"""Preamble, start frame delimiter, inter-frame gap."""
RATES = {1_000_000_000: 1, 100_000_000: 10, 10_000_000: 100, 1_000_000: 1000}
"""bit/s to ns per bit; tsnkit knows no other ones."""


def files(network: Network, notes: Notes) -> dict[str, str]:
    """Nodes are numbered in the order of the Plan (`nodes.csv`), streams in that of `task.csv`."""
    name = "tsnkit"
    tasks = _tasks(network, notes)
    found = {
        f"{name}/nodes.csv": csv_text(
            ("node", "name", "kind"), ((n, one["name"], one["kind"]) for n, one in enumerate(network.nodes))
        ),
        f"{name}/topo.csv": csv_text(("link", "q_num", "rate", "t_proc", "t_prop"), _links(network, notes)),
        f"{name}/task.csv": csv_text(
            ("stream", "src", "dst", "size", "period", "deadline", "jitter"),
            (row for _, _, row in tasks),
        ),
        f"{name}/streams.csv": csv_text(
            ("stream", "name"), ((row[0], stream["name"]) for stream, _, row in tasks)
        ),
    }
    offsets, routes, queues = [], [], []
    for number, (stream, listener, _) in enumerate(tasks):
        offsets.append((number, 0, stream["start_ns"] + stream["pattern"]["offset_ns"]))
        for place in _way(stream, listener["route"]):
            port = stream["route"][place]["port"]
            routes.append((number, _link(network, port)))
            queues.append(
                (number, 0, _link(network, port), network.ports[port]["pcp_to_class"][stream["pcp"]])
            )
    found[f"{name}/schedule-OFFSET.csv"] = csv_text(("stream", "frame", "offset"), offsets)
    found[f"{name}/schedule-ROUTE.csv"] = csv_text(("stream", "link"), routes)
    found[f"{name}/schedule-QUEUE.csv"] = csv_text(("stream", "frame", "link", "queue"), queues)
    gates = [row for number in range(len(network.ports)) for row in _gates(network, number, notes)]
    if gates:
        found[f"{name}/schedule-GCL.csv"] = csv_text(("link", "queue", "start", "end", "cycle"), gates)
    _tell(network, notes)
    return found


def _link(network: Network, port: int) -> str:
    return f"({network.ports[port]['node']}, {network.far(port)})"


def _links(network: Network, notes: Notes) -> list[tuple[object, ...]]:
    rows: dict[str, tuple[object, ...]] = {}
    for number, port in enumerate(network.ports):
        link = _link(network, number)
        if link in rows:
            notes.lost(f"the parallel link {port['name']}", "tsnkit names a link by its two nodes")
            continue
        rate = RATES.get(port["rate_bps"])
        if rate is None:
            notes.lost(
                f"the rate of {port['name']} ({port['rate_bps']} bit/s)",
                "tsnkit knows 1 Gbit/s, 100, 10 and 1 Mbit/s; written: the next slower one",
            )
            rate = min((cost for bps, cost in RATES.items() if bps <= port["rate_bps"]), default=1000)
        # The node at the far end takes its time before the frame is in its next queue; ns rounded up.
        processing = network.nodes[network.far(number)]["processing_ns"]
        rows[link] = (link, len(port["classes"]), rate, processing, -(-port["propagation_ps"] // 1000))
    return list(rows.values())


Task = tuple[dict[str, Any], dict[str, Any], tuple[object, ...]]


def _tasks(network: Network, notes: Notes) -> list[Task]:
    found: list[Task] = []
    for stream in network.streams:
        pattern = stream["pattern"]
        if pattern["kind"] != "periodic":
            notes.lost(f"stream {stream['name']}", f"it is {pattern['kind']}; tsnkit's streams are periodic")
            continue
        if pattern["jitter_ns"]:
            notes.lost(f"the late releases of {stream['name']}", "tsnkit's talkers are on time")
        if stream["size"]["kind"] != "frame":
            notes.lost(
                f"the smaller frames of {stream['name']}",
                "tsnkit's streams have one size; written: the largest",
            )
        if len(stream["listeners"]) > 1:
            notes.lost(
                f"the tree of {stream['name']}",
                "tsnkit's streams have one listener; written: one stream for each",
            )
        period = pattern["period_ns"]
        required = stream.get("requirements", {})
        deadline = required.get("delay_ns", period)
        if deadline > period:
            notes.lost(
                f"the deadline of {stream['name']} ({deadline} ns)",
                "tsnkit's deadlines are within the period; written: the period",
            )
        limits = [one["limit_ns"] for one in required.get("jitter", [])]
        for listener in stream["listeners"]:
            row = (
                len(found),
                stream["talker"],
                f"[{listener['node']}]",
                max(frame_octets(stream["size"])) + WIRE_OCTETS,
                period,
                min(deadline, period),
                min([*limits, period]),
            )
            found.append((stream, listener, row))
    return found


def _way(stream: dict[str, Any], last: int) -> list[int]:
    way: list[int] = []
    place: int | None = last
    while place is not None:
        way.append(place)
        place = stream["route"][place].get("parent")
    return way[::-1]


def windows(gates: dict[str, Any], number: int) -> list[tuple[int, int]]:
    """When the gate of a class is open within a cycle that begins at a multiple of the cycle time."""
    cycle, at = gates["cycle_ns"], gates["base_time_ns"] % gates["cycle_ns"]
    spans: list[tuple[int, int]] = []
    for entry in gates["entries"]:
        if entry["open"] >> number & 1:
            end = at + entry["interval_ns"]
            spans += [(at, min(end, cycle))] + ([(0, end - cycle)] if end > cycle else [])
        at = (at + entry["interval_ns"]) % cycle
    joined: list[tuple[int, int]] = []
    for begin, end in sorted(spans):
        if joined and joined[-1][1] == begin:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((begin, end))
    return joined


def _gates(network: Network, number: int, notes: Notes) -> list[tuple[object, ...]]:
    port = network.ports[number]
    if "gates" not in port:
        return []
    gates = port["gates"]
    if gates.get("changes") or gates.get("initial") is not None or gates.get("unguarded"):
        notes.lost(
            f"what {port['name']} has beyond one list of gates",
            "tsnkit's gates have one cycle, from the beginning on",
        )
    return [
        (_link(network, number), one, begin, end, gates["cycle_ns"])
        for one in range(len(port["classes"]))
        for begin, end in windows(gates, one)
    ]


def _tell(network: Network, notes: Notes) -> None:
    notes.parts(
        network, "tsnkit's files have no word for them", "faults", "clocks", "policing", "hosts", "taps"
    )
    for port in network.ports:
        if any("cbs" in one for one in port["classes"]):
            notes.lost(f"the shapers of {port['name']}", "tsnkit has gates only")
        if "preemption" in port:
            notes.lost(f"the pre-emption of {port['name']}", "tsnkit has gates only")
    for stream in network.redundant():
        notes.lost(
            f"the other ways of {stream['name']}", "tsnkit's streams have one way; written: the first one"
        )
    for node in network.nodes:
        if "further" in node or "cut_through_octets" in node:
            notes.lost(
                f"how {node['name']} forwards beyond a constant time",
                "tsnkit stores, waits a constant time, and forwards",
            )
