"""The keys of clocks: oscillators, timestamps, gPTP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tsnbench.scenario.grammar.common import LONGEST, NODE, PCP, SPAN, TIME
from tsnbench.scenario.grammar.shapes import Field, KeyPattern, ListOf, Record
from tsnbench.scenario.grammar.values import Quantity, Schema, sweepable
from tsnbench.scenario.reading import BAD, Bad, Reading
from tsnbench.scenario.source import Value, shown
from tsnbench.scenario.units import DRIFT, DURATION, Dimension, UnitError


@dataclass(frozen=True)
class Signed:
    """A number with a unit that may be negative, as an integer in the dimension's base unit."""

    dimension: Dimension
    most: int

    @property
    def expected(self) -> str:
        return self.dimension.expected

    def read(self, reading: Reading, value: Value, path: str) -> int | Bad:
        scalar = reading.scalar(value, path, self.expected)
        if isinstance(scalar, Bad):
            return BAD
        text = scalar.text.strip()
        sign = -1 if text.startswith("-") else 1
        try:
            number = sign * self.dimension.parse(text.removeprefix("-" if sign < 0 else "+"))
        except UnitError as error:
            return reading.problem(scalar.place, path, error.expected, shown(text), error.hint)
        if abs(number) > self.most:
            most = self.dimension.text(self.most)
            expected = f"{self.dimension.article} {self.dimension.name} from -{most} to {most}"
            return reading.problem(scalar.place, path, expected, shown(text))
        return number

    def schema(self) -> Schema:
        one: dict[str, Any] = self.dimension.schema()
        return sweepable({**one, "pattern": one["pattern"].replace(r"^\s*", r"^\s*[+-]?", 1)})


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
_PACE = Quantity(DURATION, 100_000, 3600 * 10**9)
GPTP = Record(
    "gPTP",
    {
        "grandmaster": Field(NODE, "the node whose time all follow", "dut"),
        "sync-interval": Field(_PACE, "time between Sync messages; 1/8 s unless given"),
        "pdelay-interval": Field(_PACE, "time between measurements of a link's delay; 1 s unless given"),
        "pcp": Field(PCP, "decides the messages' traffic class; 7 unless given"),
        "wakeup": Field(
            Quantity(DURATION, 0, 10**9),
            "software hands a message over up to this late, a uniform draw; 50 us unless given",
        ),
    },
)
CLOCKS = Record(
    "clocks",
    {
        "default": Field(CLOCK, "every node's clock, where the node's own entry does not say otherwise"),
        "gptp": Field(GPTP, "what keeps the clocks together; without it they run free"),
        "record": Field(SPAN, "how often every clock's error is noted; 10 ms unless given"),
    },
    patterns=(
        KeyPattern(
            r"(?!(default|gptp|record)$)[A-Za-z][A-Za-z0-9_.+-]*",
            Field(CLOCK, "one node's clock, key by key"),
            "node1",
        ),
    ),
)
