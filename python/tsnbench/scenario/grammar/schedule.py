"""How scheduled streams are planned."""

from __future__ import annotations

import re

from tsnbench.scenario.grammar.common import LINK_RATE, PCP, SPAN, TIME
from tsnbench.scenario.grammar.shapes import Either, Field, ListOf, MapOf, Record
from tsnbench.scenario.grammar.values import Choice, Count, Quantity
from tsnbench.scenario.units import SHARE

_KEEP = Either(
    "a share of every link, or rates by PCP",
    text=Quantity(SHARE, 0, 10**6, zero=True),
    mapping=MapOf(
        "rates by PCP",
        LINK_RATE,
        re.compile("[0-7]"),
        "a priority code point from 0 to 7",
        "write keep: {0: 100 Mbit/s}, or keep: 20 % for all of them together",
    ),
)
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
        "pcps": Field(
            ListOf(PCP, "priority code points"),
            "the queues of scheduled streams: each gets one of these PCPs in place of its own: [7, 6]",
        ),
        "keep": Field(_KEEP, "what is left to all others on links with planned gates: 20 %, {0: 100 Mbit/s}"),
        "engine": Field(
            Choice({"heuristic": "heuristic", "exact": "exact", "both": "both"}, "an engine"),
            "heuristic, exact (needs ortools), or both (default): exact where the heuristic is stuck",
        ),
        "time": Field(SPAN, "of the exact engine, counted in work, not by a clock; 10 s unless given"),
        "objective": Field(
            Choice(
                {
                    "fewest-entries": "fewest-entries",
                    "shortest-delay": "shortest-delay",
                    "most-bandwidth-left": "most-bandwidth-left",
                },
                "an objective",
            ),
            "what the exact engine makes best: fewest-entries, shortest-delay or most-bandwidth-left",
        ),
    },
)
RELEASE = Record(
    "a window of release",
    {
        "earliest": Field(TIME, "earliest release in a period; 0 us unless given"),
        "latest": Field(TIME, "latest release; may lie behind the period's end"),
    },
)
