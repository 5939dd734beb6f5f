"""The keys of gate control lists: entries, patterns of the catalogue, changes, lists that follow another."""

from __future__ import annotations

from tsnbench.scenario.kinds.combinators import Field, ListOf, Record, fields_of
from tsnbench.scenario.kinds.common import SPAN
from tsnbench.scenario.kinds.values import YES_NO, Text
from tsnbench.scenario.model.gates import Follow, GateChange, Gates

OF_THE_FIRST = ("before", "guard", "credit_runs", "most_entries")
"""Values of :class:`~tsnbench.scenario.model.Gates` that count for all lists of a port."""
_ONE_LIST = {
    **fields_of(Gates, "cycle", "fit_entries", "base_time", "extension", "by", "entries"),
    "pattern": Field(
        Text("the name of a catalogue gate list"), "flextest/gcl-1 to flextest/gcl-4", sample="flextest/gcl-2"
    ),
    "slot": Field(SPAN, "length of one slot of the pattern"),
    "guard-band": Field(YES_NO, "whether the pattern's guard band closes the cycle"),
}
GATE_CHANGE = Record("a change of the gate control list", {**fields_of(GateChange), **_ONE_LIST})
_SLIPS = {
    **dict.fromkeys(("offset", "start", "begin"), "did you mean base-time?"),
    **dict.fromkeys(("cycle-time", "period", "hyperperiod"), "did you mean cycle?"),
    **dict.fromkeys(("list", "gcl", "schedule", "sched-entry", "windows"), "did you mean entries?"),
    **dict.fromkeys(
        ("durations", "initially-open", *"01234567"),
        "write entries: [{open: [6], for: 40 us}, {open: [0], for: 210 us}]",
    ),
}
GATE_LIST = Record(
    "a gate control list",
    {
        **_ONE_LIST,
        **fields_of(Gates, *OF_THE_FIRST),
        "changes": Field(
            ListOf(GATE_CHANGE, "changes of the gate control list", most=1024),
            "lists that replace it: [{at: 5 ms, base-time: 6 ms, entries: […]}]",
            sample="[{at: 5 ms, entries: [{open: [7], for: 45 us}]}]",
            clause="IEEE 802.1Q-2022, 8.6.9",
        ),
        **fields_of(Follow),
    },
    common_mistakes=_SLIPS,
)
