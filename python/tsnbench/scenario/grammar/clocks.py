"""The keys of clocks: oscillators, timestamps, gPTP."""

from __future__ import annotations

from tsnbench.scenario.grammar.common import LONGEST, SPAN, TIME
from tsnbench.scenario.grammar.ptp import GPTP, PTP
from tsnbench.scenario.grammar.shapes import Field, KeyPattern, ListOf, Record
from tsnbench.scenario.grammar.signed import Signed
from tsnbench.scenario.grammar.values import Quantity, Text
from tsnbench.scenario.units import DRIFT, DURATION

_MOST_DRIFT = 10**9
"""1000 ppm, in parts of 10^12."""
_DRIFT = Signed(DRIFT, _MOST_DRIFT)
_STAMP = 10**6
CLOCK = Record(
    "a clock",
    {
        "drift": Field(_DRIFT, "how much faster than nominal its oscillator runs: 20 ppm, -3 ppb"),
        "drift-within": Field(
            Quantity(DRIFT, 1, _MOST_DRIFT), "instead: a draw between minus and plus this for each node"
        ),
        "offset": Field(Signed(DURATION, LONGEST), "what it shows when the run begins"),
        "changes": Field(
            ListOf(
                Record(
                    "a change of drift",
                    {
                        "at": Field(TIME, "when", "10 s"),
                        "drift": Field(_DRIFT, "drift from then on", "21 ppm"),
                    },
                ),
                "changes of drift",
            ),
            "later drifts, a temperature step or a measured trace: [{at: 10 s, drift: 21 ppm}]",
        ),
        "trace": Field(
            Text("the name of a file", swept=True),
            "instead of changes: a measured trace, a CSV file with t_s and drift_ppm or offset_ns",
        ),
        "wander": Field(
            Record(
                "wander",
                {
                    "step": Field(Quantity(DRIFT, 1, _MOST_DRIFT), "most that the drift changes", "1 ppb"),
                    "every": Field(Quantity(DURATION, 100_000, LONGEST), "time between steps", "10 ms"),
                },
            ),
            "a random walk of the drift: {step: 1 ppb, every: 10 ms}",
        ),
        "granularity": Field(
            Quantity(DURATION, 1, _STAMP), "ticks of PTP's timestamps: 8 ns for an I210; 1 ns unless given"
        ),
        "jitter": Field(
            Quantity(DURATION, 0, _STAMP), "a PTP timestamp is late by a uniform draw up to this: its PHY"
        ),
    },
    empty=True,
    slips={"ppm": "write drift: 20 ppm", "ppb": "write drift: 20 ppb"},
)
CLOCKS = Record(
    "clocks",
    {
        "default": Field(CLOCK, "every node's clock, where the node's own entry does not say otherwise"),
        "gptp": Field(GPTP, "what keeps the clocks together (IEEE 802.1AS); without it they run free"),
        "ptp": Field(PTP, "what keeps the clocks together (IEEE 1588); instead of gptp"),
        "record": Field(SPAN, "how often every clock's error is noted; 10 ms unless given"),
    },
    patterns=(
        KeyPattern(
            r"(?!(default|gptp|ptp|record)$)[A-Za-z][A-Za-z0-9_.+-]*",
            Field(CLOCK, "one node's clock, key by key"),
            "node1",
        ),
    ),
)
