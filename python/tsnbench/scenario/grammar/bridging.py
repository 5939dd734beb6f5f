"""The keys of a node's forwarding: its processing time, and shared memory."""

from __future__ import annotations

from tsnbench.scenario.kinds.combinators import Either, Field, ListOf, Record, record_of
from tsnbench.scenario.kinds.common import TIME
from tsnbench.scenario.kinds.values import FileBeside
from tsnbench.scenario.model.devices import PER_OCTET
from tsnbench.scenario.model.network import Buffer
from tsnbench.scenario.model.traffic import TABLES

PROCESSING = Either(
    "a time, {least: …, most: …}, {values: […]} or {file: …}",
    text=TIME,
    mapping=Record(
        "processing",
        {
            "least": Field(TIME, "least time; each frame takes as long or longer"),
            "most": Field(TIME, "longest time, all between equally likely"),
            "values": Field(ListOf(TIME, "times"), "equally likely times: [1 us, 1.2 us, 5 us]"),
            "file": Field(
                FileBeside("the name of a csv or parquet file", endings=TABLES),
                "measured times, with their counts where it has them",
            ),
            "per-octet": Field(
                PER_OCTET,
                "further time for each octet of the frame, destination address to FCS",
                sample="0.8 ns",
                range="0 ps to 1 us",
                clause="tsnbench",
                since="0.1",
            ),
        },
        common_mistakes={
            **dict.fromkeys(("min", "from"), "did you mean least?"),
            **dict.fromkeys(("max", "to"), "did you mean most?"),
            **dict.fromkeys(("list", "table"), "did you mean values?"),
            "histogram": "did you mean file?",
        },
    ),
)
BUFFER = Either(
    "a size, or {size: …, alpha: …}",
    text=Buffer._keys["size"].kind,
    mapping=record_of(Buffer, "a shared buffer"),
    short="size",
)
