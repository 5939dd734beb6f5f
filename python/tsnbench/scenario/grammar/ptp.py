"""The keys of gPTP and PTP that are no value of :class:`~tsnbench.scenario.model.Gptp`."""

from __future__ import annotations

from tsnbench.scenario.kinds.combinators import Field, KeyPattern, Record, fields_of, record_of
from tsnbench.scenario.model.ptp import Bmca, ClockQuality, Gptp, Ieee1588

QUALITY = record_of(ClockQuality, "how good a clock says it is")
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
_BMCA = Field(
    BMCA,
    "elect the grandmaster instead: {node1: {priority1: 100}}",
    clause="IEEE 802.1AS-2020, 10.3; IEEE 1588-2019, 9.3",
)
GPTP = Record(
    "gPTP",
    {**fields_of(Gptp, "grandmaster"), "bmca": _BMCA, **fields_of(Gptp), **fields_of(Bmca)},
    example="{grandmaster: node1}",
    common_mistakes={
        "domain": "leave it out: there is one domain",
        "delay": "gPTP measures link by link; write ptp: instead of gptp: for IEEE 1588",
    },
)
_INTERVAL = Gptp._keys["pdelay_interval"].kind
_OF_GPTP_ALONE = ("pdelay-interval", "sync-receipt-timeout")
PTP = Record(
    "PTP (IEEE 1588)",
    {
        **{key: field for key, field in GPTP.fields.items() if key not in _OF_GPTP_ALONE},
        **fields_of(Ieee1588),
        "delay-interval": Field(_INTERVAL, "time between measurements of the delay; 1 s by default"),
    },
    example="{grandmaster: node1}",
)
