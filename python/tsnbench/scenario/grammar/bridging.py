"""The keys of what a node does with frames between its ports: the time it takes, and shared memory."""

from __future__ import annotations

from tsnbench.scenario.grammar.common import TIME
from tsnbench.scenario.grammar.shapes import Either, Field, ListOf, Record
from tsnbench.scenario.grammar.values import Quantity, Text
from tsnbench.scenario.units import SIZE

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
                Text("the name of a csv or parquet file"),
                "measured times, with their counts where it has them",
            ),
        },
        slips={
            **dict.fromkeys(("min", "from"), "did you mean least?"),
            **dict.fromkeys(("max", "to"), "did you mean most?"),
            **dict.fromkeys(("list", "table"), "did you mean values?"),
            "histogram": "did you mean file?",
        },
    ),
)
BUFFER = Either(
    "a size, or {size: …, alpha: …}",
    text=Quantity(SIZE, 64, 1 << 40),
    mapping=Record(
        "a shared buffer",
        {
            "size": Field(Quantity(SIZE, 64, 1 << 40), "memory of all ports together", "512 KiB"),
            "alpha": Field(
                Text("a factor such as 1, 0.5 or 1/4"), "each class holds at most so much of what is free"
            ),
        },
    ),
)
