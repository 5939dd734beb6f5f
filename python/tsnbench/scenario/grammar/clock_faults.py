"""The keys of faults of clocks and PTP."""

from __future__ import annotations

from tsnbench.scenario.kinds.combinators import Field
from tsnbench.scenario.kinds.common import NODE
from tsnbench.scenario.kinds.values import Text

CLOCK_FAULTS = {
    "clock-step": Field(NODE, "a node whose clock is set forward or back: with by: 10 us"),
    "frequency-jump": Field(NODE, "a node whose oscillator runs faster or slower: with by: 5 ppm"),
    "grandmaster-lost": Field(NODE, "a node that neither sends nor takes PTP messages; its clock runs on"),
    "by": Field(
        Text("how much: 10 us, or 5 ppm"),
        "of clock-step a time, of frequency-jump a drift; may be negative",
        sample="10 us",
    ),
}
