"""The keys of gPTP and PTP: who tells time, how delays are measured, servos."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from tsnbench.scenario.grammar.common import LONGEST, NODE, NODES, PCP, SELECTOR
from tsnbench.scenario.grammar.shapes import Field, KeyPattern, ListOf, Record
from tsnbench.scenario.grammar.values import YES_NO, Choice, Count, Quantity, Schema, sweepable
from tsnbench.scenario.reading import BAD, Bad, Reading
from tsnbench.scenario.source import Value, shown
from tsnbench.scenario.units import DRIFT, DURATION

_NUMBER = re.compile(r"-?[0-9]{1,6}(\.[0-9]{1,3})?")


@dataclass(frozen=True)
class Thousandths:
    """A number with at most three decimals, in thousandths."""

    least: int
    most: int

    @property
    def expected(self) -> str:
        return f"a number from {self.least / 1000:g} to {self.most / 1000:g} with at most three decimals"

    def read(self, reading: Reading, value: Value, path: str) -> int | Bad:
        scalar = reading.scalar(value, path, self.expected)
        if isinstance(scalar, Bad):
            return BAD
        text = scalar.text.strip()
        number = Fraction(text) * 1000 if _NUMBER.fullmatch(text) else None
        if number is None or not self.least <= number <= self.most:
            return reading.problem(scalar.place, path, self.expected, shown(text))
        return int(number)

    def schema(self) -> Schema:
        return sweepable({"type": "number", "minimum": self.least / 1000, "maximum": self.most / 1000})


SERVO = Record(
    "a servo with linuxptp's options",
    {
        "pi_proportional_scale": Field(Thousandths(0, 10_000), "0.7 unless given"),
        "pi_proportional_exponent": Field(Thousandths(-1_000, 0), "-0.3 unless given"),
        "pi_proportional_norm_max": Field(Thousandths(1, 1_000), "0.7 unless given"),
        "pi_integral_scale": Field(Thousandths(1, 10_000), "0.3 unless given"),
        "pi_integral_exponent": Field(Thousandths(0, 2_000), "0.4 unless given"),
        "pi_integral_norm_max": Field(Thousandths(1, 2_000), "0.3 unless given"),
        "first_step_threshold": Field(
            Quantity(DURATION, 0, LONGEST, zero=True),
            "the first correction is a step where the offset is larger; 0 for never, 20 us unless given",
        ),
        "step_threshold": Field(
            Quantity(DURATION, 0, LONGEST, zero=True),
            "later ones are where the offset is larger; 0 for never, which it is unless given",
        ),
        "max_frequency": Field(
            Quantity(DRIFT, 1_000, 90_000 * 10**6), "by how much the clock is steered at most; 62499999 ppb"
        ),
    },
    slips={
        **{
            name.replace("_", "-"): f"did you mean {name}?"
            for name in ("first_step_threshold", "step_threshold", "max_frequency")
        },
        "kp": "write pi_proportional_scale, as linuxptp does",
        "ki": "write pi_integral_scale, as linuxptp does",
    },
)
_OCTET = Count(0, 255, "a number")
QUALITY = Record(
    "how good a clock says it is",
    {
        "priority1": Field(_OCTET, "255: never grandmaster; 246 in gPTP and 128 in PTP unless given"),
        "clock-class": Field(_OCTET, "248 unless given"),
        "clock-accuracy": Field(_OCTET, "254 (unknown) unless given"),
        "variance": Field(Count(0, 65_535, "a number"), "offsetScaledLogVariance; 17258 or 65535"),
        "priority2": Field(_OCTET, "248 in gPTP and 128 in PTP unless given"),
    },
)
BMCA = Record(
    "an election (BMCA)",
    {"default": Field(QUALITY, "every clock, where the node's own entry does not say otherwise")},
    patterns=(
        KeyPattern(
            r"(?!default$)[A-Za-z][A-Za-z0-9_.+-]*", Field(QUALITY, "one node's clock, key by key"), "node1"
        ),
    ),
    empty=True,
)
_PACE = Quantity(DURATION, 100_000, 3600 * 10**9)
_TIMEOUT = Count(2, 255, "a number of intervals")
_COMMON = {
    "grandmaster": Field(NODE, "the node whose time all follow, where it is not elected"),
    "bmca": Field(BMCA, "elect the grandmaster instead: {node1: {priority1: 100}}"),
    "sync-interval": Field(_PACE, "time between Sync messages; 1/8 s in gPTP, 1 s in PTP unless given"),
    "announce-interval": Field(_PACE, "time between Announce messages; 1 s in gPTP, 2 s in PTP unless given"),
    "announce-receipt-timeout": Field(_TIMEOUT, "so many intervals without one; 3 unless given"),
    "one-step": Field(YES_NO, "Sync messages carry their own time; false unless given"),
    "pcp": Field(PCP, "decides the messages' traffic class; 7 unless given. Untagged frames: 0"),
    "wakeup": Field(
        Quantity(DURATION, 0, 10**9),
        "software hands a message over up to this late, a uniform draw; 50 us unless given",
    ),
    "links": Field(ListOf(SELECTOR, "links"), "only these links carry PTP: [n1 -> n2 #2]; all unless given"),
    "visible": Field(YES_NO, "taps sight PTP's frames, as streams ptp/sync and so on; false unless given"),
    "servo": Field(SERVO, "linuxptp's options: {step_threshold: 20 us}"),
}
GPTP = Record(
    "gPTP",
    {
        **_COMMON,
        "pdelay-interval": Field(_PACE, "time between measurements of a link's delay; 1 s unless given"),
        "sync-receipt-timeout": Field(_TIMEOUT, "so many intervals without a Sync; 3 unless given"),
    },
    example="{grandmaster: node1}",
    slips={"delay": "gPTP measures link by link; write ptp: instead of gptp: for IEEE 1588"},
)
PTP = Record(
    "PTP (IEEE 1588)",
    {
        **_COMMON,
        "delay": Field(
            Choice({"e2e": "end-to-end", "p2p": "peer-to-peer"}, "a delay mechanism"), "e2e unless given"
        ),
        "delay-interval": Field(_PACE, "time between measurements of the delay; 1 s unless given"),
        "transparent": Field(NODES, "nodes with transparent clocks; the others are boundary clocks"),
    },
    example="{grandmaster: node1}",
)
