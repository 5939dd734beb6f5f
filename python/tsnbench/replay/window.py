"""The data of a player: a window of a run, with its network, frames, gates and slowest frames."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tsnbench.libraries import numpy as np
from tsnbench.libraries import polars as pl
from tsnbench.quantities import time
from tsnbench.replay.passages import ReplayError
from tsnbench.replay.waiting import History, Part, Passage, Reason, Rows, names_of_streams
from tsnbench.report.layout import MOST_NODES, place

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tsnbench.foreign import Json
    from tsnbench.plan.types import PlanDocument

MOST_PASSAGES = 20_000
"""A window ends early where it would have more frames at ports: a page of at most 5 MB."""
MOST_JOURNEYS = 100
"""Frames that a page offers to jump to."""
CONTEXT = 1
"""How much is shown before and after the frame that took longest, as a multiple of its delay."""
REASONS = list(Reason)
CLOCKS = (
    "Each node has a clock of its own. Times are true time, which only a simulator knows; its clock is what "
    "the clock of the node that sends shows at that instant. Gates open and close by that clock."
)
"""Where nodes have clocks: what the two times mean."""
COLUMNS = {name: name for name in ("port", "stream", "seq", "copy", "octets")} | {"class": "traffic_class"}
TIMES = {name: f"{name}_ns" for name in ("queued", "start", "end", "arrived")}


@dataclass(frozen=True)
class Journey:
    """A frame's path from its talker to one listener, with times."""

    stream: int
    seq: int
    listener: int
    passages: Sequence[Passage]

    @property
    def handed_ns(self) -> int:
        """The instant at which the talker's port got the frame."""
        return self.passages[0].came_ns

    @property
    def arrived_ns(self) -> int:
        """The instant at which the last bit reached the listener."""
        return self.passages[-1].arrived_ns or 0

    @property
    def total_ns(self) -> int:
        """From the hand-over to the arrival; the sum of all parts of all hops."""
        return self.arrived_ns - self.handed_ns

    @property
    def delay_ns(self) -> int:
        """The delay that is measured: from the timestamp point at the talker to the last bit at the listener.

        Each end is stamped by the clock of its node.
        """
        return (self.passages[-1].arrived_clock_ns or 0) - self.passages[0].sent_clock_ns


def as_document(history: History, journey: Journey) -> Json:
    """A frame's path for programs; all times in ns."""
    document = history.document
    names = names_of_streams(document)
    return {
        "stream": names[journey.stream],
        "seq": journey.seq,
        "listener": document["nodes"][journey.listener]["name"],
        "total_ns": journey.total_ns,
        "delay_ns": journey.delay_ns,
        **({"clocks": CLOCKS} if history.clocks else {}),
        "hops": [
            {
                "port": document["ports"][passage.port]["name"],
                "came_ns": passage.came_ns,
                "arrived_ns": passage.arrived_ns,
                "parts": [
                    {
                        "reason": part.reason.value,
                        "begin_ns": part.begin_ns,
                        "length_ns": part.length_ns,
                    }
                    | ({} if clock is None else {"begin_clock_ns": clock.shows(part.begin_ns)})
                    | ({} if part.stream is None else {"stream": names[part.stream]})
                    for part in parts
                ],
            }
            for passage, parts in history.hops(journey.passages)
            for clock in [history.clock_of(passage)]
        ],
    }


def slowest(
    history: History,
    most: int | None = None,
    handed: tuple[int | None, int | None] = (None, None),
) -> list[Journey]:
    """The frame of each stream and listener that took longest.

    Those closest to their stream's delay limit are first, streams without a limit last. ``most``: so
    many frames at most; ``handed``: only frames that their talkers hand over in this window, in ns.
    """
    document, table = history.document, history.table
    ports, streams = document["ports"], document["streams"]
    leads_to = pl.DataFrame(
        {"port": range(len(ports)), "listener": [ports[port["peer"]]["node"] for port in ports]},
        schema={"port": pl.UInt16, "listener": pl.UInt32},
    )
    wanted = pl.DataFrame(
        [
            (number, listener["node"], stream["requirements"].get("delay_ns"))
            for number, stream in enumerate(streams)
            for listener in stream["listeners"]
        ],
        schema={"stream": pl.UInt32, "listener": pl.UInt32, "limit": pl.Int64},
        orient="row",
    )
    frame = ["stream", "seq"]
    arrived = (
        table.filter(pl.col("accepted") == 1)
        .join(leads_to, on="port")
        .join(wanted, on=["stream", "listener"])
        .group_by(*frame, "listener", "limit")
        .agg(pl.col("arrived_ns").min())
    )
    begins = table.group_by(frame).agg(handed=pl.col("came_ns").min())
    first, last = handed
    if first is not None:
        begins = begins.filter(pl.col("handed") >= first)
    if last is not None:
        begins = begins.filter(pl.col("handed") < last)
    found = (
        arrived.join(begins, on=frame)
        .with_columns(total=pl.col("arrived_ns") - pl.col("handed"))
        .sort("total", "seq", descending=[True, False])
        .unique(["stream", "listener"], keep="first", maintain_order=True)
        .with_columns(share=(pl.col("total") / pl.col("limit")).fill_null(0.0))
        .sort("share", "total", "stream", "listener", descending=[True, True, False, False])
    )
    return [
        Journey(stream, seq, listener, history.journey(stream, seq, listener))
        for stream, seq, listener in found.select("stream", "seq", "listener").head(most or len(found)).rows()
    ]


def journey_named(history: History, name: str) -> list[Journey]:
    """The journeys of one frame to all of its listeners; ``name``: stream and sequence number, ``video/214``.

    Raises:
        ReplayError: there is no such stream, or the frame did not arrive anywhere.
    """
    document = history.document
    stream, slash, seq = name.rpartition("/")
    names = [one["name"] for one in document["streams"]]
    if not slash or not seq.isdecimal() or not seq.isascii() or len(seq) > 18:
        raise ReplayError(
            f"--frame: expected a stream and a sequence number such as {names[0]}/0, found {name}"
        )
    if stream not in names:
        raise ReplayError(f"--frame: expected one of the streams {', '.join(names[:8])}, found {stream}")
    number = names.index(stream)
    ways = [
        Journey(number, int(seq), listener["node"], way)
        for listener in document["streams"][number]["listeners"]
        if (way := history.journey(number, int(seq), listener["node"]))
    ]
    if not ways:
        why = _expired(history, number, int(seq))
        raise ReplayError(f"--frame: frame {seq} of {stream} did not arrive at a listener{why}")
    return ways


def _expired(history: History, stream: int, seq: int) -> str:
    """Where a frame waited for too long, in words; empty if it did nowhere."""
    if history.expired is None:
        return ""
    rows = history.expired.filter(pl.col("stream") == stream, pl.col("seq") == seq)
    ports = history.document["ports"]
    places = [
        f"{ports[port]['name']} dropped it at {time(dropped)}, after {time(dropped - queued)} in its queue, "
        "which is the longest time there"
        for port, queued, dropped in rows.select("port", "queued_ns", "dropped_ns").rows()
    ]
    return f": {'; '.join(places)}" if places else ""


def around(journey: Journey) -> tuple[int, int]:
    """A window around a frame, and the time before it."""
    margin = CONTEXT * journey.total_ns
    return max(0, journey.handed_ns - margin), journey.arrived_ns + margin


def refuse_large(document: PlanDocument) -> None:
    """Refuses networks that a page cannot draw, before anything is simulated.

    Raises:
        ReplayError: the network has too many nodes.
    """
    if len(document["nodes"]) > MOST_NODES:
        raise ReplayError(f"a network of {len(document['nodes'])} nodes: at most {MOST_NODES} can be drawn")


def window(
    history: History, table: pl.DataFrame, begin_ns: int, end_ns: int, chosen: Sequence[Journey]
) -> Json:
    """The content of a player: all times in ns from the window's beginning.

    Frames of ``chosen`` are listed as targets of the player, as far as they are in the window.
    """
    document = history.document
    within = table.filter(
        (pl.max_horizontal("end_ns", "arrived_ns") >= begin_ns) & (pl.col("queued_ns") <= end_ns)
    )
    if not len(within):
        raise ReplayError("no frame is in the network in this window")
    cut = len(within) > MOST_PASSAGES
    if cut:
        within = within.head(MOST_PASSAGES)
        end_ns = int(within["start_ns"][-1])
    rows = Rows(within).passages(np.arange(len(within)))
    index = {row.number: place for place, row in enumerate(rows)}
    ports, nodes = document["ports"], document["nodes"]
    links = sorted({tuple(sorted((port["node"], ports[port["peer"]]["node"]))) for port in ports})
    places = place(len(nodes), [(a, b) for a, b in links])

    shown = [one for one in chosen if all(row.number in index for row in one.passages)]
    return {
        "name": document["name"],
        "begin_ns": begin_ns,
        "length_ns": end_ns - begin_ns,
        "cut": cut,
        "reasons": [reason.value for reason in REASONS],
        "clocks": CLOCKS,
        "nodes": [
            {"name": node["name"], "kind": node["kind"], "x": x, "y": y}
            for node, (x, y) in zip(nodes, places, strict=True)
        ],
        "links": links,
        "ports": [
            {
                "name": port["name"],
                "node": port["node"],
                "next": ports[port["peer"]]["node"],
                "gates": _gates(history, number, begin_ns, end_ns),
            }
            for number, port in enumerate(ports)
        ],
        "streams": names_of_streams(document),
        "frames": _frames(rows, begin_ns),
        "journeys": [_journey(history, one, index, begin_ns) for one in shown],
    }


def _journey(history: History, one: Journey, index: Mapping[int, int], begin_ns: int) -> Json:
    """A frame that one can jump to; ``index``: the place of each passage among the window's frames."""
    hops = []
    for row, parts in history.hops(one.passages):
        clock = history.clock_of(row)
        shown = {} if clock is None else {"clock": [clock.shows(part.begin_ns) for part in parts]}
        hops.append({"frame": index[row.number], "parts": _parts(parts, begin_ns)} | shown)
    return {
        "stream": one.stream,
        "seq": one.seq,
        "listener": history.document["nodes"][one.listener]["name"],
        "total": one.total_ns,
        "delay": one.delay_ns,
        "hops": hops,
    }


def _frames(rows: Sequence[Passage], begin_ns: int) -> dict[str, list[int | None]]:
    """A column for each property of the frames at ports."""
    columns: dict[str, list[int | None]] = {
        name: [getattr(row, key) for row in rows] for name, key in COLUMNS.items()
    }
    for name, key in TIMES.items():
        columns[name] = [None if (ns := getattr(row, key)) is None else ns - begin_ns for row in rows]
    return columns


def _parts(parts: Sequence[Part], begin_ns: int) -> list[int]:
    """Four numbers for each part: its reason, beginning and end, and the stream that it waited for or -1."""
    return [
        value
        for part in parts
        for value in (
            REASONS.index(part.reason),
            part.begin_ns - begin_ns,
            part.end_ns - begin_ns,
            -1 if part.stream is None else part.stream,
        )
    ]


def _gates(history: History, number: int, begin_ns: int, end_ns: int) -> list[Json] | None:
    """The lists of a port with the times in which they are in force; None if its gates are always open."""
    gates = history.ports[number].gates
    return None if gates is None else gates.drawn(begin_ns, end_ns)
