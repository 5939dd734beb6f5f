"""A passage: one frame through one port, from its queue over the wire to the next node.

Sightings say when a frame was handed to a talker's port, when its first bit left a port and when its last bit
arrived. A frame joins a bridge's queue when it has arrived and has been processed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tsnbench.libraries import polars as pl
from tsnbench.replay.sightings import STAGES

if TYPE_CHECKING:
    from tsnbench.plan.types import PlanDocument

PREAMBLE_OCTETS = 8
"""Preamble and start of frame delimiter. IEEE 802.3, 3.1.1."""
GAP_OCTETS = 12
"""Interpacket gap. IEEE 802.3, 4.4.2."""


def octets_ns(octets: int, rate_bps: int) -> int:
    """The time of octets on a wire, rounded to ns."""
    return (octets * 8 * 10**9 + rate_bps // 2) // rate_bps


def passages(document: PlanDocument, sightings: pl.DataFrame) -> pl.DataFrame:
    """One row per frame and port, in the order in which frames begin to leave.

    Columns: ``port``, ``stream``, ``seq``, ``copy``, ``octets``, ``class`` (traffic class at that port),
    ``came_ns`` (the last bit reached the node; the hand-over at a talker), ``queued_ns`` (in the queue),
    ``start_ns`` (first bit of the preamble), ``end_ns`` (last bit sent), ``arrived_ns`` (last bit at the
    next node; null if the frame was lost on the link), ``came_event`` and ``event`` (the order of events at
    one instant: the hand-over, -1 for an arrival, and the beginning of the first bit).
    """
    # Rows are in the order of the simulator's events.
    table = sightings.with_row_index("event").select(
        "event", "stream", "seq", pl.col("copy") & 127, "t_ns", "octets", "pcp",
        port=pl.col("tap") // 3, step=pl.col("tap") % 3,
    )  # fmt: skip
    table = table.with_columns(pl.col("port").cast(pl.UInt16)).join(_facts(document), on="port")
    frame = ["stream", "seq"]
    sent = table.filter(pl.col("step") == STAGES.index("tx")).with_columns(
        start_ns=pl.col("t_ns") - pl.col("preamble"),
        bits=pl.col("octets").cast(pl.Int64) * 8 * 10**9,
    ).with_columns(
        end_ns=pl.col("t_ns") + (pl.col("bits") + pl.col("rate") // 2) // pl.col("rate"),
    )  # fmt: skip
    arrived = table.filter(pl.col("step") == STAGES.index("rx"))
    handed = table.filter(pl.col("step") == STAGES.index("send"))
    sent = sent.join(
        arrived.select(*frame, "copy", "port", arrived_ns="t_ns"), on=[*frame, "copy", "port"], how="left"
    ).unique([*frame, "copy", "port", "t_ns"], keep="first", maintain_order=True)
    # A frame may reach a node in one member stream and leave it in another one. So a sent frame is joined
    # with the latest earlier arrival.
    came = pl.concat(
        [
            arrived.select(*frame, node="next", came_ns="t_ns", came_event=pl.lit(-1, pl.Int64)),
            handed.select(*frame, "node", came_ns="t_ns", came_event=pl.col("event").cast(pl.Int64)),
        ]
    ).sort("came_ns")
    sent = sent.sort("t_ns").join_asof(
        came, left_on="t_ns", right_on="came_ns", by=[*frame, "node"], strategy="backward",
        check_sortedness=False, coalesce=False,
    )  # fmt: skip
    talkers = pl.Series([stream["talker"] for stream in document["streams"]], dtype=pl.UInt32)
    of_talker = pl.lit(talkers).gather(pl.col("stream")) == pl.col("node")
    queued = pl.col("came_ns") + pl.when(of_talker).then(0).otherwise(pl.col("processing"))
    return (
        sent.join(_classes(document), on=["port", "pcp"], how="left")
        .with_columns(came_ns=pl.col("came_ns").fill_null(pl.col("start_ns")))
        # Timestamps are whole ns: a frame that did not wait may seem to leave 1 ns before its arrival.
        .with_columns(queued_ns=pl.min_horizontal(queued, "start_ns"))
        # A frame that was interrupted ends later than its size says.
        .with_columns(
            end_ns=pl.when(pl.col("interrupts"))
            .then(pl.max_horizontal("end_ns", pl.col("arrived_ns") - pl.col("cable")))
            .otherwise(pl.col("end_ns"))
        )
        .select(
            "port", "stream", "seq", "copy", "octets", "class",
            "came_ns", "queued_ns", "start_ns", "end_ns", "arrived_ns", "came_event", "event",
        )
        .sort("start_ns", "port", maintain_order=True)
    )  # fmt: skip


def _facts(document: PlanDocument) -> pl.DataFrame:
    """What each port's node, rate, cable and preemption say of passages."""
    ports, nodes = document["ports"], document["nodes"]
    return pl.DataFrame(
        {
            "port": range(len(ports)),
            "node": [port["node"] for port in ports],
            "next": [ports[port["peer"]]["node"] for port in ports],
            "preamble": [octets_ns(PREAMBLE_OCTETS, port["rate_bps"]) for port in ports],
            "rate": [port["rate_bps"] for port in ports],
            "cable": [(ports[port["peer"]]["propagation_ps"] + 500) // 1000 for port in ports],
            "interrupts": ["preemption" in port for port in ports],
            "processing": [nodes[port["node"]]["processing_ns"] for port in ports],
        },
        schema={
            "port": pl.UInt16, "node": pl.UInt32, "next": pl.UInt32, "preamble": pl.Int64, "rate": pl.Int64,
            "cable": pl.Int64, "interrupts": pl.Boolean, "processing": pl.Int64,
        },
    )  # fmt: skip


def _classes(document: PlanDocument) -> pl.DataFrame:
    """The traffic class of each priority at each port."""
    ports = document["ports"]
    return pl.DataFrame(
        [(number, pcp, port["pcp_to_class"][pcp]) for number, port in enumerate(ports) for pcp in range(8)],
        schema={"port": pl.UInt16, "pcp": pl.UInt8, "class": pl.UInt8},
        orient="row",
    )
