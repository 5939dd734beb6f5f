"""Options of the planning of scheduled streams and of windows."""

from __future__ import annotations

import re
from typing import Literal

from tsnbench.scenario.kinds.combinators import Either, Field, Fields, ListOf, MapOf, record_of
from tsnbench.scenario.kinds.common import LINK_RATE, PCP, SPAN, TIME
from tsnbench.scenario.kinds.values import YES_NO, Choice, Count, Quantity
from tsnbench.scenario.model.names import Pcp
from tsnbench.scenario.part import Part, Values, key
from tsnbench.scenario.text.reading import Reading
from tsnbench.scenario.units import SHARE, BitRate, Duration

_ENTRIES = Count(2, 65_536, "a number of entries")


class Schedule(Part):
    """Options of the planning of scheduled streams."""

    margin: Duration = key(
        TIME, "kept free before and behind every frame, for clock errors; 0 by default", default=0
    )
    ways: Literal["shortest", "free"] = key(
        Choice({"shortest": "shortest", "free": "free"}, "ways"),
        "shortest (default), or free: the planner also chooses the paths of streams",
        default="shortest",
    )
    granularity: Duration = key(
        SPAN, "of releases and of entries of gate control lists; 1 ns by default", default=1
    )
    shortest_interval: Duration = key(SPAN, "of an entry of a gate control list; 1 ns by default", default=1)
    most_entries: int = key(_ENTRIES, "of a list; 1024 by default", default=1024)
    longest_cycle: Duration = key(SPAN, "of a list; 1 s by default", default=1_000_000_000)
    pcps: tuple[Pcp, ...] = key(
        ListOf(PCP, "priority code points"),
        "the queues of scheduled streams: each gets one of these PCPs in place of its own: [7, 6]",
        default=(),
    )
    keep_ppm: int | None = None
    """The bandwidth that every link with planned gates reserves for all other streams together."""
    keep_rates: dict[int, BitRate] = {}
    """The reserved bandwidth by PCP, on links that streams with this PCP use."""
    spare_windows: int = key(
        Count(0, 16, "a number of windows"),
        "more windows than frames at each port, in which queues drain after a disturbance; 0",
        default=0,
    )
    late: Literal["wait", "drop"] = key(
        Choice({"wait": "wait", "drop": "drop"}, "wait or drop"),
        "frames that miss their window: wait (default) for the next one, or drop",
        since="0.1",
        default="wait",
    )
    engine: Literal["heuristic", "exact", "both"] = key(
        Choice(
            {"heuristic": "heuristic", "exact": "exact", "both": "both"},
            "an engine",
            dict.fromkeys(("ortools", "or-tools", "cp-sat", "z3", "Z3", "smt", "SMT", "ilp", "ILP"), "exact"),
        ),
        "heuristic, exact (needs ortools), or both (default): exact where the heuristic is stuck",
        default="both",
    )
    time: Duration = key(
        SPAN,
        "of the exact engine, counted in work, not by a clock; 10 s by default",
        default=10_000_000_000,
    )
    objective: Literal["fewest-entries", "shortest-delay", "most-bandwidth-left"] | None = key(
        Choice(
            {word: word for word in ("fewest-entries", "shortest-delay", "most-bandwidth-left")},
            "an objective",
        ),
        "what the exact engine makes best: fewest-entries, shortest-delay or most-bandwidth-left",
        default=None,
    )


def _of_schedule(reading: Reading, fields: Fields, given: Values) -> None:
    pcps = given.get("pcps", ())
    if len(set(pcps)) < len(pcps):
        again = next(str(pcp) for place, pcp in enumerate(pcps) if pcp in pcps[:place])
        fields.wrong(reading, "pcps", "each priority code point once", f"{again} again")
    for word in ("objective", "time") if given.get("engine") == "heuristic" else ():
        if word in fields:
            expected, hint = f"the exact engine beside {word}", "leave engine: heuristic out"
            fields.wrong(reading, word, expected, "the heuristic alone", hint)
    if given.get("late") == "drop" and given.get("spare_windows"):
        expected = "late: drop or spare-windows"
        hint = "leave one of them out: frames that are dropped need no other window"
        fields.wrong(reading, "spare-windows", expected, "both", hint)
    keep = fields.get("keep")
    if isinstance(keep, dict):
        given["keep_rates"] = {int(pcp): rate for pcp, rate in keep.items()}
    elif keep is not None:
        given["keep_ppm"] = keep


SCHEDULE = record_of(
    Schedule,
    "how scheduled streams are planned",
    {
        "keep": Field(
            Either(
                "a share of every link, or rates by PCP",
                text=Quantity(SHARE, 0, 10**6, zero=True),
                mapping=MapOf(
                    "rates by PCP",
                    LINK_RATE,
                    re.compile("[0-7]"),
                    "a priority code point from 0 to 7",
                    "write keep: {0: 100 Mbit/s}, or keep: 20 % for all of them together",
                ),
            ),
            "what is left to all others on links with planned gates: 20 %, {0: 100 Mbit/s}",
        )
    },
    rule=_of_schedule,
    common_mistakes={
        **dict.fromkeys(("scheduler", "solver", "algorithm", "type", "method"), "did you mean engine?"),
        **dict.fromkeys(("optimize", "optimise", "minimize", "minimise", "goal"), "did you mean objective?"),
    },
    example="{margin: 500 ns}",
)


class Windows(Part):
    """Options of the planning of windows."""

    cycle: Duration | None = key(SPAN, "of all lists; chosen from the periods by default", default=None)
    margin: Duration = key(TIME, "by how much nodes' clocks may differ; 0 by default", default=0)
    guard_band: bool = key(
        YES_NO,
        "true: all gates close for a full frame before a window, for ports without a guard",
        default=False,
    )
    granularity: Duration = key(SPAN, "of entries of gate control lists; 1 ns by default", default=1)
    shortest_interval: Duration = key(SPAN, "of an entry; 1 ns by default", default=1)
    most_entries: int = key(_ENTRIES, "of a list; 1024 by default", default=1024)
    longest_cycle: Duration = key(SPAN, "of a list; 1 s by default", default=1_000_000_000)


WINDOWS = record_of(Windows, "how windows are planned", empty=True, example="{cycle: 1 ms, margin: 1 us}")
