"""tsnkit's CSV files: a problem for its schedulers; gates, offsets, routes and queues for its simulator.

A size in tsnkit is the size on the wire, so it includes the 20 octets of preamble, delimiter and gap. In
tsnbench a bridge can forward a frame before the gap after it is over: ``t_proc`` is shorter than the
processing time by the gap. A deadline counts to the end of the gap and of the listener's ``t_proc``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import lcm
from typing import TYPE_CHECKING

from tsnbench.exports import tsnkit_times
from tsnbench.exports.tsnkit_rows import Link, first_instant, rows
from tsnbench.plan.frames import data_units
from tsnbench.plan.gates import clock_spans, joined
from tsnbench.plan.network import Network
from tsnbench.plan.notes import Notes
from tsnbench.plan.streams.paths import entries_to, parents_of
from tsnbench.sheet import csv_text

if TYPE_CHECKING:
    from tsnbench.plan.types import Destination, GateList, PeriodicPattern, Stream

WIRE_OCTETS = 20
"""Preamble, start frame delimiter, inter-frame gap."""
GAP_OCTETS = 12
RATES = {1_000_000_000: 1, 100_000_000: 10, 10_000_000: 100, 1_000_000: 1000}
"""bit/s to ns per bit; tsnkit supports no other rates."""
GRID_NS = 100
"""``T_SLOT`` of tsnkit: its times are whole multiples of it."""
SIMULATED_PROCESSING_NS = 2000
"""``T_PROC`` of tsnkit: the processing time of every node in its simulator, whatever ``t_proc`` is."""


def gap_ns(rate_bps: int) -> int:
    """Time of the inter-frame gap."""
    return -(-GAP_OCTETS * 8 * 1_000_000_000 // rate_bps)


@dataclass(frozen=True)
class Task:
    """A row of ``task.csv``: one frame in every period, to one listener."""

    stream: Stream
    pattern: PeriodicPattern
    listener: Destination
    octets: int
    """Octets on the wire."""
    before: int
    """Octets on the wire of the same data unit before this frame."""
    places: tuple[int, ...]
    """Entries of the stream's route, parents first."""
    deadline_ns: int
    jitter_ns: int

    @property
    def period_ns(self) -> int:
        return self.pattern["period_ns"]

    @property
    def release_ns(self) -> int:
        return self.stream["start_ns"] + self.pattern["offset_ns"]


def files(network: Network, notes: Notes) -> dict[str, str]:
    """Nodes are numbered in the order of the Plan (`nodes.csv`), streams in that of `task.csv`."""
    tasks = _tasks(network, notes)
    found = {
        "tsnkit/nodes.csv": csv_text(
            ("node", "name", "kind"), ((n, one["name"], one["kind"]) for n, one in enumerate(network.nodes))
        ),
        "tsnkit/topo.csv": csv_text(("link", "q_num", "rate", "t_proc", "t_prop"), _links(network, notes)),
        "tsnkit/task.csv": csv_text(
            ("stream", "src", "dst", "size", "period", "deadline", "jitter"),
            (
                (
                    number,
                    task.stream["talker"],
                    f"[{task.listener['node']}]",
                    task.octets,
                    task.period_ns,
                    task.deadline_ns,
                    task.jitter_ns,
                )
                for number, task in enumerate(tasks)
            ),
        ),
        "tsnkit/streams.csv": csv_text(
            ("stream", "name"), ((number, task.stream["name"]) for number, task in enumerate(tasks))
        ),
    }
    _tell(network, notes)
    return found | _schedule(network, tasks, notes)


def _link(network: Network, port: int) -> str:
    return f"({network.ports[port]['node']}, {network.far(port)})"


def _ready_ns(network: Network, port: int) -> tuple[int, int]:
    """``t_proc`` and ``t_prop`` of the link that begins at a port: whole ns, rounded up."""
    own = network.ports[port]
    # The processing time of the node at the far end precedes the frame's arrival in the next queue.
    processing = network.nodes[network.far(port)]["processing_ns"] - gap_ns(own["rate_bps"])
    return max(0, processing), -(-own["propagation_ps"] // 1000)


def _links(network: Network, notes: Notes) -> list[tuple[object, ...]]:
    found: dict[str, tuple[object, ...]] = {}
    for number, port in enumerate(network.ports):
        link = _link(network, number)
        if link in found:
            notes.lost("parallel links", "tsnkit names a link by its two nodes", port["name"])
            continue
        rate = RATES.get(port["rate_bps"])
        if rate is None:
            notes.lost(
                "rates of links",
                "tsnkit knows 1 Gbit/s, 100, 10 and 1 Mbit/s; written: the next slower one",
                f"{port['name']} ({port['rate_bps']} bit/s)",
            )
            rate = min((cost for bps, cost in RATES.items() if bps <= port["rate_bps"]), default=1000)
        found[link] = (link, len(port["classes"]), rate, *_ready_ns(network, number))
    return list(found.values())


def _tasks(network: Network, notes: Notes) -> list[Task]:
    found: list[Task] = []
    for stream in network.streams:
        name, pattern = stream["name"], stream["pattern"]
        if "answers" in stream:
            notes.lost("answers to other streams", "tsnkit's streams have a period", name)
            continue
        if pattern["kind"] != "periodic":
            notes.lost(
                "streams that are not periodic",
                "tsnkit's streams are periodic",
                f"{name} ({pattern['kind']})",
            )
            continue
        if pattern["jitter_ns"]:
            notes.lost("late releases", "tsnkit's talkers are on time", name)
        if len(set(stream["size"].get("octets", []) if stream["size"]["kind"] != "frame" else [0])) > 1:
            notes.lost("smaller frames", "tsnkit's streams have one size; written: the largest", name)
        limits = [one["limit_ns"] for one in stream.get("requirements", {}).get("jitter", [])]
        for listener in _listeners(stream, notes):
            before = 0
            for octets in _frames(stream):
                found.append(
                    Task(
                        stream,
                        pattern,
                        listener,
                        octets,
                        before,
                        entries_to(parents_of(stream), listener["route"]),
                        _deadline(network, stream, listener, pattern["period_ns"], notes),
                        min([*limits, pattern["period_ns"]]),
                    )
                )
                before += octets
    return found


def _listeners(stream: Stream, notes: Notes) -> list[Destination]:
    """The listeners of a stream in tsnkit: its reports and most schedulers support one listener."""
    listeners = stream["listeners"]
    if len(listeners) == 1:
        return listeners
    why = "tsnkit's streams have one listener"
    if "scheduled" in stream:
        # Written as two streams, the frames would occupy the shared links twice.
        notes.lost("further listeners of scheduled streams", f"{why}; written: the first one", stream["name"])
        return listeners[:1]
    notes.lost("trees", f"{why}; written: one stream for each", stream["name"])
    return listeners


def _frames(stream: Stream) -> list[int]:
    """Octets on the wire of all frames of a period, in sequence."""
    size = stream["size"]
    largest = max(data_units(size), key=sum)
    return [octets + WIRE_OCTETS for octets in largest]


def _deadline(network: Network, stream: Stream, listener: Destination, period: int, notes: Notes) -> int:
    """The deadline in tsnkit's definition: to the end of the gap after the frame, and of the listener's
    ``t_proc``."""
    limit = stream.get("requirements", {}).get("delay_ns")
    if limit is None:
        return period
    port = stream["route"][listener["route"]]["port"]
    deadline = int(limit + gap_ns(network.ports[port]["rate_bps"]) + _ready_ns(network, port)[0])
    if deadline > period:
        notes.lost(
            "deadlines beyond the period",
            "tsnkit's deadlines are within the period; written: the period",
            f"{stream['name']} ({limit} ns)",
        )
    return min(deadline, period)


def _schedule(network: Network, tasks: Sequence[Task], notes: Notes) -> dict[str, str]:
    """Offsets, routes, queues and, if there are gates, the gate control lists."""
    gated = any("gates" in port for port in network.ports)
    frames = [_frame(network, task) for task in tasks]
    starts = tsnkit_times.on_grid(
        [frame for frame, task in zip(frames, tasks, strict=True) if "scheduled" in task.stream]
    )
    if starts is None:
        notes.lost(
            "the schedule",
            "its frames are too close to each other for tsnkit's grid of 100 ns",
        )
        return {}
    planned = iter(starts)
    first_bits: list[list[int]] = [
        next(planned) if "scheduled" in task.stream else [tsnkit_times.up(frame.hops[0].planned_ps)]
        for frame, task in zip(frames, tasks, strict=True)
    ]
    _tell_grid(tasks, frames, first_bits, notes)
    lists, origin = _lists(network, tasks, frames, first_bits, notes) if gated else ([], 0)
    offsets, routes, queues = [], [], []
    for number, task in enumerate(tasks):
        offsets.append((number, 0, (first_bits[number][0] // 1000 - origin) % task.period_ns))
        for place in task.places:
            port = task.stream["route"][place]["port"]
            routes.append((number, _link(network, port)))
            queues.append((number, 0, _link(network, port), _queue(network, task, port)))
    found = {
        "tsnkit/schedule-OFFSET.csv": csv_text(("stream", "frame", "offset"), offsets),
        "tsnkit/schedule-ROUTE.csv": csv_text(("stream", "link"), routes),
        "tsnkit/schedule-QUEUE.csv": csv_text(("stream", "frame", "link", "queue"), queues),
    }
    if lists:
        found["tsnkit/schedule-GCL.csv"] = csv_text(("link", "queue", "start", "end", "cycle"), lists)
    return found


def _queue(network: Network, task: Task, port: int) -> int:
    return int(network.ports[port]["pcp_to_class"][task.stream["pcp"]])


def _frame(network: Network, task: Task) -> tsnkit_times.Frame:
    """A task with its planned times; for an unscheduled stream only the release is known."""
    hops = []
    planned = task.stream.get("scheduled", {}).get("starts_ps")
    for place in task.places:
        hop = task.stream["route"][place]
        parent = hop.get("parent")
        rate = network.ports[hop["port"]]["rate_bps"]
        # tsnkit rounds t_proc and t_prop up to its grid.
        ready = sum(-(-ns // GRID_NS) * GRID_NS for ns in _ready_ns(network, hop["port"]))
        behind = task.before * 8 * 1_000_000_000_000 // rate
        hops.append(
            tsnkit_times.Hop(
                port=hop["port"],
                parent=None if parent is None else task.places.index(parent),
                planned_ps=task.release_ns * 1000 + (planned[place][0] + behind if planned else 0),
                wire_ps=-(-task.octets * 8 * 1_000_000_000_000 // rate),
                ready_ps=ready * 1000,
            )
        )
    return tsnkit_times.Frame(task.period_ns * 1000, hops)


def _lists(
    network: Network,
    tasks: Sequence[Task],
    frames: Sequence[tsnkit_times.Frame],
    first_bits: Sequence[Sequence[int]],
    notes: Notes,
) -> tuple[list[tuple[object, ...]], int]:
    """Rows of all links with streams, and the instant of the Plan that is 0 in them."""
    placed: dict[int, list[tuple[int, int, int, int]]] = defaultdict(list)
    others: dict[int, set[int]] = defaultdict(set)
    for task, frame, bits in zip(tasks, frames, first_bits, strict=True):
        for place, hop in enumerate(frame.hops):
            queue = _queue(network, task, hop.port)
            if "scheduled" in task.stream:
                end = bits[place] + hop.wire_ps
                placed[hop.port].append((queue, bits[place] // 1000, -(-end // 1000), task.period_ns))
            else:
                others[hop.port].add(queue)
    hyperperiod = lcm(*(task.period_ns for task in tasks))
    links = {
        port: _opened(network.ports[port].get("gates"), placed[port], others[port], hyperperiod)
        for port in sorted({*placed, *others})
    }
    origin = first_instant(links.values(), GRID_NS, lcm(*(link.cycle_ns for link in links.values())))
    if origin is None:
        notes.lost(
            "frames across the end of a cycle",
            "at every instant of the grid some frame is on a link, and tsnkit's windows end with their cycle",
        )
        origin = 0
    if origin:
        notes.warn(
            "times", f"all are counted from {origin} ns on, where no frame is on a link, as cycles end there"
        )
    found: list[tuple[object, ...]] = []
    for port, link in links.items():
        opened, less = rows(link, origin)
        for queue in less:
            notes.lost(
                "windows that several queues share",
                "tsnkit's simulator opens one queue at a time; written: the highest",
                f"queue {queue} of {network.ports[port]['name']}",
            )
        name = _link(network, port)
        found += [(name, queue, begin, end, link.cycle_ns) for queue, (begin, end) in opened]
    return found, origin


def _opened(
    gates: GateList | None,
    placed: Sequence[tuple[int, int, int, int]],
    others: Iterable[int],
    hyperperiod: int,
) -> Link:
    """The cycle of a link: its planned frames, and the open gates of other queues."""
    queues = sorted(others, reverse=True)
    every = gates["cycle_ns"] if gates else hyperperiod
    link = Link(lcm(*(period for *_, period in placed), *([every] if queues else [])))
    for queue, begin, end, period in placed:
        link.frames += [(queue, (begin + at, end + at)) for at in range(0, link.cycle_ns, period)]
    turns = range(0, link.cycle_ns, every)
    for queue in queues:
        spans = clock_spans(gates, queue) if gates else [(0, every)]
        link.windows.append((queue, joined((begin + at, end + at) for at in turns for begin, end in spans)))
    return link


def _tell_grid(
    tasks: Sequence[Task],
    frames: Sequence[tsnkit_times.Frame],
    first_bits: Sequence[Sequence[int]],
    notes: Notes,
) -> None:
    """Notes the shifts by the grid, and the times that are not on it."""
    moved: dict[str, int] = {}
    for task, frame, bits in zip(tasks, frames, first_bits, strict=True):
        name = task.stream["name"]
        later = max(bit - hop.planned_ps for bit, hop in zip(bits, frame.hops, strict=False))
        moved[name] = max(later, moved.get(name, 0))
        if task.period_ns % GRID_NS:
            notes.lost(
                "periods that are no multiple of 100 ns",
                "tsnkit's simulator releases frames on its grid only",
                f"{name} ({task.period_ns} ns)",
            )
    for name, later in moved.items():
        if later:
            notes.warn(
                "first bits that are not on tsnkit's grid of 100 ns",
                "written: later, on the grid",
                f"{name} (up to {-(-later // 1000)} ns)",
            )


def _tell(network: Network, notes: Notes) -> None:
    notes.parts(
        network, "tsnkit's files have no word for them", "faults", "clocks", "policing", "hosts", "taps"
    )
    notes.stages(network, *["tsnkit has gates only"] * 3)
    for port in network.ports:
        if any("cbs" in one for one in port["classes"]):
            notes.lost("shapers", "tsnkit has gates only", port["name"])
        if "preemption" in port:
            notes.lost("pre-emption", "tsnkit has gates only", port["name"])
        gates = port.get("gates")
        if gates and (gates.get("changes") or gates.get("initial") is not None or gates.get("unguarded")):
            notes.lost(
                "gates other than one cyclic list",
                "tsnkit's gates have one cycle, from the beginning on",
                port["name"],
            )
    for stream in network.redundant():
        notes.lost("other paths", "tsnkit's streams have one path; written: the first one", stream["name"])
    for number, node in enumerate(network.nodes):
        if "further" in node or "cut_through_octets" in node:
            notes.lost(
                "forwarding beyond a constant time",
                "tsnkit stores, waits a constant time, and forwards",
                node["name"],
            )
        into = [network.ports[port]["peer"] for port in network.ports_of(number)]
        if network.forwards(number) and any(
            _ready_ns(network, port)[0] + GRID_NS <= SIMULATED_PROCESSING_NS for port in into
        ):
            notes.warn(
                "processing below 2 us",
                "tsnkit's simulator takes 2 us for every node: there frames come too late for their windows",
                node["name"],
            )
    for one, _ in network.links():
        if network.ports[one]["rate_bps"] != 1_000_000_000:
            notes.warn(
                "links that are not of 1 Gbit/s",
                "tsnkit's schedulers know their rate, its simulator takes 1 Gbit/s for all",
                network.ports[one]["name"],
            )
