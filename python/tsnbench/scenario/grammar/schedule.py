"""How scheduled streams are planned."""

from __future__ import annotations

from tsnbench.scenario.grammar.common import SPAN, TIME
from tsnbench.scenario.grammar.shapes import Field, Record
from tsnbench.scenario.grammar.values import Choice, Count

SCHEDULE = Record(
    "how scheduled streams are planned",
    {
        "margin": Field(
            TIME, "kept free before and behind every frame, for clocks that differ; 0 unless given"
        ),
        "ways": Field(
            Choice({"shortest": "shortest", "free": "free"}, "ways"),
            "shortest (default), or free: by which way streams go is planned, too",
        ),
        "granularity": Field(SPAN, "of releases and of entries of gate control lists; 1 ns unless given"),
        "shortest-interval": Field(SPAN, "of an entry of a gate control list; 1 ns unless given"),
        "most-entries": Field(Count(2, 65_536, "a number of entries"), "of a list; 1024 unless given"),
        "longest-cycle": Field(SPAN, "of a list; 1 s unless given"),
    },
)
