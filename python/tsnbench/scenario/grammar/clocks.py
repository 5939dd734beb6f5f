"""The keys of clocks: each node's own, and their synchronisation."""

from __future__ import annotations

from tsnbench.scenario.grammar.ptp import GPTP, PTP
from tsnbench.scenario.kinds.combinators import Field, KeyPattern, Record, fields_of
from tsnbench.scenario.kinds.values import Text
from tsnbench.scenario.model.clocks import Clock, Clocks

CLOCK = Record(
    "a clock",
    {
        **fields_of(Clock, "drift", "drift_within", "offset", "changes"),
        "trace": Field(
            Text("the name of a file", swept=True),
            "instead of changes: a measured trace, a CSV file with t_s and drift_ppm or offset_ns",
            sample="drift.csv",
        ),
        **fields_of(Clock),
    },
    makes=Clock,
    empty=True,
    example="{drift: 20 ppm}",
    common_mistakes={"ppm": "write drift: 20 ppm", "ppb": "write drift: 20 ppb"},
)
CLOCKS = Record(
    "clocks",
    {
        "default": Field(CLOCK, "every node's clock, where the node's own entry does not say otherwise"),
        "gptp": Field(
            GPTP,
            "what keeps the clocks together (IEEE 802.1AS); without it they run free",
            clause="IEEE 802.1AS-2020",
        ),
        "ptp": Field(
            PTP, "what keeps the clocks together (IEEE 1588); instead of gptp", clause="IEEE 1588-2019"
        ),
        **fields_of(Clocks),
    },
    example="{gptp: {grandmaster: node1}}",
    common_mistakes={
        **dict.fromkeys(("accuracy", "precision", "sync-error", "error"), "did you mean within?"),
        **dict.fromkeys(
            (
                "protocol",
                "profile",
                "domain",
                "ptp4l",
                "802.1as",
                "grandmaster",
                "gm",
                "synchronisation",
                "sync",
            ),
            "write gptp: {grandmaster: node1}, or ptp: for IEEE 1588",
        ),
        **dict.fromkeys(
            ("drift", "offset", "wander", "ppm"), "write default: {drift: 20 ppm} for every node's clock"
        ),
    },
    patterns=(
        KeyPattern(
            r"(?!(default|gptp|ptp|record|within)$)[A-Za-z][A-Za-z0-9_.+-]*",
            Field(CLOCK, "one node's clock, key by key"),
            "node1",
        ),
    ),
)
