"""How windows of gate control lists are planned."""

from __future__ import annotations

from tsnbench.scenario.grammar.common import SPAN, TIME
from tsnbench.scenario.grammar.shapes import Field, Record
from tsnbench.scenario.grammar.values import YES_NO, Count

WINDOWS = Record(
    "how windows are planned",
    {
        "cycle": Field(SPAN, "of all lists; chosen from the periods unless given"),
        "margin": Field(TIME, "by how much nodes' clocks may differ; 0 unless given"),
        "guard-band": Field(
            YES_NO, "true: all gates close for a full frame before a window, for ports without a guard"
        ),
        "granularity": Field(SPAN, "of entries of gate control lists; 1 ns unless given"),
        "shortest-interval": Field(SPAN, "of an entry; 1 ns unless given"),
        "most-entries": Field(Count(2, 65_536, "a number of entries"), "of a list; 1024 unless given"),
        "longest-cycle": Field(SPAN, "of a list; 1 s unless given"),
    },
    empty=True,
    example="{cycle: 1 ms, margin: 1 us}",
)
