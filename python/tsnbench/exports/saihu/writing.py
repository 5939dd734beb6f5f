"""A Plan as an output-port network of Saihu: ports as servers, streams as flows with token buckets.

All flows of a server share one queue. So each traffic class of a port is a server of its own:

* a port with a server: this server;
* the highest class of a port: the link's rate, after the longest frame of a lower class;
* a class with a credit-based shaper: the idle slope, after the time in which its highest credit gathers (De
  Azua & Boyer 2014).

The time in the node behind a port and on its cable is part of the server's latency. All of this is guaranteed
service, and every token bucket holds for its stream: what an analysis guarantees for the file holds for the
Plan.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING

from tsnbench.plan.bounds import bounds_of
from tsnbench.plan.frames import R_TAG, data_units
from tsnbench.plan.network import Network
from tsnbench.plan.notes import Notes
from tsnbench.plan.sizes import PHY_OVERHEAD
from tsnbench.plan.streams.paths import path_to

if TYPE_CHECKING:
    from tsnbench.plan.types import Stream

Queue = tuple[int, int]
"""A port and a traffic class; 0 where a server serves all classes."""
NO_LATENCY_NS = 1e-6
"""Saihu leaves out the parts of service curves whose latency is 0."""


@dataclass(frozen=True)
class Flow:
    """A stream as Saihu describes one."""

    stream: Stream
    burst: int
    """Octets on the wire."""
    rate: Fraction
    """bit/s."""
    largest: int
    """Octets on the wire."""
    paths: tuple[tuple[Queue, ...], ...]

    @property
    def queues(self) -> set[Queue]:
        return {queue for path in self.paths for queue in path}


@dataclass
class _Chosen:
    """The flows that are written, and the streams that are not."""

    flows: list[Flow] = field(default_factory=list)
    others: dict[Queue, str] = field(default_factory=dict)
    """A stream that is not written, by the queues that it passes."""


def files(network: Network, notes: Notes) -> dict[str, str]:
    """``saihu/network.json``, or no file where no stream can be written."""
    if "clocks" in network.document:
        notes.lost("the network", "Saihu has one time for all nodes, and its clocks differ")
        return {}
    notes.parts(network, "Saihu describes what is guaranteed without them", "faults")
    chosen = _chosen(network, notes)
    credits = _credits(network, chosen)
    _leave_out(network, chosen, credits, notes)
    if not chosen.flows:
        notes.lost("the network", "none of its streams can be written")
        return {}
    queues = list(dict.fromkeys(queue for flow in chosen.flows for path in flow.paths for queue in path))
    several = {port for port, _ in queues if sum(port == other for other, _ in queues) > 1}
    longest = _longest(network)
    names = {queue: _name(network, queue, queue[0] in several) for queue in queues}
    document = {
        "network": {
            "name": network.document["name"],
            "packetizer": True,
            "multiplexing": "FIFO",
            "analysis_option": ["IS"],
            "time_unit": "ns",
            "data_unit": "B",
            "rate_unit": "bps",
        },
        "flows": [_flow(flow, names) for flow in chosen.flows],
        "servers": [_server(network, queue, names[queue], credits, longest) for queue in sorted(queues)],
    }
    notes.warn("delays", "they count from the release of a frame to its last bit at the listener")
    return {"saihu/network.json": f"{json.dumps(document, indent=2, ensure_ascii=False)}\n"}


def _name(network: Network, queue: Queue, several: bool) -> str:
    name = network.ports[queue[0]]["name"]
    return f"{name} class {queue[1]}" if several else name


def _queue(network: Network, stream: Stream, port: int) -> Queue:
    own = network.ports[port]
    return port, 0 if "server" in own else own["pcp_to_class"][stream["pcp"]]


def _chosen(network: Network, notes: Notes) -> _Chosen:
    """The streams whose releases and paths Saihu can describe."""
    found = _Chosen()
    policed = {one["node"] for one in network.document.get("policing", ())}
    for stream in network.streams:
        reason = _other_releases(stream) or _other_path(network, stream, policed)
        if reason is None:
            found.flows.append(_bucket(network, stream))
            continue
        notes.lost("streams", f"{reason}, and Saihu has no such thing", stream["name"])
        # Filters and member streams can give frames another priority, and so any class.
        passed = {network.ports[hop["port"]]["node"] for hop in stream["route"]}
        changes = "redundancy" in stream or passed & policed
        for hop in [*stream["route"], *stream.get("flood", [])]:
            own = _queue(network, stream, hop["port"])
            classes = range(len(network.ports[own[0]]["classes"])) if changes else (own[1],)
            for one in classes:
                found.others.setdefault((own[0], one), stream["name"])
    return found


def _other_releases(stream: Stream) -> str | None:
    """Why no token bucket holds for a stream, if none does."""
    if "answers" in stream:
        return "they answer other streams"
    if stream["pattern"]["kind"] not in ("periodic", "token-bucket"):
        return f"their releases are {stream['pattern']['kind']}"
    if "redundancy" in stream:
        return "they have several paths"
    return None


def _other_path(network: Network, stream: Stream, policed: set[int]) -> str | None:
    """What on a stream's path no rate-latency server describes, if there is such a thing."""
    if "flood" in stream:
        return "bridges flood their frames"
    ends = {stream["talker"], *(one["node"] for one in stream["listeners"])}
    ports = [network.ports[hop["port"]] for hop in stream["route"]]
    passed = ends | {port["node"] for port in ports}
    if any("host" in network.nodes[node] for node in passed) or "socket" in stream:
        return "software of hosts is on their path"
    if passed & policed:
        return "filters are on their path"
    if any("further" in network.nodes[node] for node in passed):
        # Frames can leave the node closer to each other than its link let them arrive.
        return "a node whose processing time varies is on their path"
    if any("cut_through_octets" in network.nodes[node] for node in passed):
        return "a node that cuts through is on their path"
    for key, words in (
        ("gates", "gates are"),
        ("preemption", "pre-emption is"),
        ("transmit_buffer", "a transmit buffer is"),
        ("qdisc", "a queueing discipline is"),
    ):
        if any(key in port for port in ports):
            return f"{words} on their path"
    return None


def _bucket(network: Network, stream: Stream) -> Flow:
    """The token bucket of a stream. That of a periodic one: its largest data unit, and what may be late."""
    pattern = stream["pattern"]
    units = [sum(octets + PHY_OVERHEAD for octets in unit) for unit in data_units(stream["size"])]
    largest = max(octets for unit in data_units(stream["size"]) for octets in unit) + PHY_OVERHEAD
    if pattern["kind"] == "token-bucket":
        burst, rate = pattern["burst_octets"], Fraction(pattern["rate_bps"])
    else:
        assert pattern["kind"] == "periodic"
        late = Fraction(pattern["jitter_ns"], pattern["period_ns"])
        burst = ceil(max(units) * (1 + late))
        rate = Fraction(max(units) * 8 * 10**9, pattern["period_ns"])
    paths = {
        tuple(_queue(network, stream, port) for port in path_to(stream, place)): None
        for place in range(len(stream["listeners"]))
    }
    return Flow(stream, burst, rate, largest, tuple(paths))


def _credits(network: Network, chosen: _Chosen) -> dict[Queue, int]:
    """The highest credit in bits of every shaped class that loses none."""
    shaped = {
        (port, place): one["cbs"]
        for port, own in enumerate(network.ports)
        for place, one in enumerate(own["classes"])
        if "cbs" in one and "follows" not in one["cbs"]
    }
    if not any(flow.queues & shaped.keys() for flow in chosen.flows):
        return {}
    numbers = {port["name"]: number for number, port in enumerate(network.ports)}
    found = {}
    for port in bounds_of(json.dumps(network.document), hops=False)["ports"]:
        for one in port["classes"]:
            queue = (numbers[port["port"]], one["class"])
            highest = shaped[queue]["hi_credit_bits"] if queue in shaped else -1
            if one.get("credit_bits", highest + 1) <= highest:
                found[queue] = highest
    return found


def _leave_out(network: Network, chosen: _Chosen, credits: dict[Queue, int], notes: Notes) -> None:
    """Leaves flows out whose queue waits for more than a rate-latency server says, until none is left."""
    while True:
        highest: dict[int, int] = {}
        for port, own in (*chosen.others, *(queue for flow in chosen.flows for queue in flow.queues)):
            highest[port] = max(own, highest.get(port, own))
        kept = []
        for flow in chosen.flows:
            reason = next(
                filter(None, (_waits(network, queue, highest, chosen, credits) for queue in flow.queues)),
                None,
            )
            if reason is None:
                kept.append(flow)
                continue
            notes.lost("streams", reason, flow.stream["name"])
            for queue in flow.queues:
                chosen.others.setdefault(queue, flow.stream["name"])
        if len(kept) == len(chosen.flows):
            return
        chosen.flows = kept


def _waits(
    network: Network, queue: Queue, highest: dict[int, int], chosen: _Chosen, credits: dict[Queue, int]
) -> str | None:
    """Why a queue is no server of Saihu's, if it is none."""
    port, own = queue
    if queue in chosen.others:
        return f"they share a queue with {chosen.others[queue]}, which is not exported"
    if "server" in network.ports[port] or queue in credits:
        return None
    if "cbs" in network.ports[port]["classes"][own]:
        return "a shaper on their path loses credit, or has slopes of its own"
    if highest[port] > own:
        return "frames of higher classes go first at a port, and Saihu's servers have one class"
    return None


def _flow(flow: Flow, names: dict[Queue, str]) -> dict[str, object]:
    first, *further = [[names[queue] for queue in path] for path in flow.paths]
    more = [{"name": f"p{place}", "path": path} for place, path in enumerate(further, 1)]
    return {
        "name": flow.stream["name"],
        "path": first,
        **({"multicast": more} if more else {}),
        "arrival_curve": {"bursts": [flow.burst], "rates": [ceil(flow.rate)]},
        "max_packet_length": flow.largest,
    }


def _server(
    network: Network, queue: Queue, name: str, credits: dict[Queue, int], longest: dict[Queue, int]
) -> dict[str, object]:
    port = network.ports[queue[0]]
    far = network.far(queue[0])
    if "server" in port:
        rate, latency = port["server"]["rate_bps"], Fraction(port["server"]["latency_ns"])
    elif queue in credits:
        rate = port["classes"][queue[1]]["cbs"]["idle_slope_bps"]
        latency = Fraction(credits[queue] * 10**9, rate)
    else:
        rate = port["rate_bps"]
        lower = max((longest.get((queue[0], own), 0) for own in range(queue[1])), default=0)
        latency = Fraction(lower * 8 * 10**9, rate)
    latency += Fraction(port["propagation_ps"], 1000)
    if network.forwards(far):
        latency += network.nodes[far]["processing_ns"]
    return {
        "name": name,
        "service_curve": {"latencies": [ceil(latency) or NO_LATENCY_NS], "rates": [rate]},
        "capacity": port["rate_bps"],
    }


def _longest(network: Network) -> dict[Queue, int]:
    """Octets on the wire of the longest frame of any stream in each queue."""
    found: dict[Queue, int] = {}
    for stream in network.streams:
        octets = max(octets for unit in data_units(stream["size"]) for octets in unit) + PHY_OVERHEAD
        octets += R_TAG if "redundancy" in stream else 0
        for hop in [*stream["route"], *stream.get("flood", [])]:
            queue = _queue(network, stream, hop["port"])
            found[queue] = max(octets, found.get(queue, 0))
    return found
