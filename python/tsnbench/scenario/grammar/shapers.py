"""The keys of shapers that are no value of :class:`~tsnbench.scenario.model.Shaper`."""

from __future__ import annotations

from tsnbench.scenario.grammar.gates import GATE_LIST
from tsnbench.scenario.kinds.combinators import (
    Either,
    Field,
    Fields,
    ListOf,
    MapOf,
    Record,
    fields_of,
    record_of,
)
from tsnbench.scenario.kinds.common import STREAM_RATE
from tsnbench.scenario.kinds.values import Choice, Quantity, Text
from tsnbench.scenario.model.shapers import CLASS_NAME, CbsClass, Shaper
from tsnbench.scenario.part import Values
from tsnbench.scenario.text.reading import Bad, Reading
from tsnbench.scenario.units import RATE


def _one_bandwidth(reading: Reading, fields: Fields, given: Values) -> Bad | None:
    """The bandwidth by either of its names."""
    if "idle-slope" not in fields:
        return None
    if "bandwidth" in fields:
        hint = "leave bandwidth out: both are the same"
        return fields.wrong(reading, "bandwidth", "idle-slope or bandwidth", "both", hint)
    given["bandwidth"] = fields["idle-slope"]
    return None


CBS_CLASS = record_of(
    CbsClass,
    "a CBS class",
    {"idle-slope": Field(Quantity(RATE, 1, 10**12, usual="kbit/s"), "another word for bandwidth")},
    empty=True,
    rule=_one_bandwidth,
)

_SLIPS = {
    **dict.fromkeys(
        ("idleSlope", "idleslope", "idle-slope", "idle_slope"),
        "write it under its class: cbs: {6: {idle-slope: 10 Mbit/s}}",
    ),
    **dict.fromkeys(
        ("tas", "gcl", "taprio", "transmission-gate", "gate-control-list", "qbv", "802.1qbv", "schedule"),
        "did you mean gates?",
    ),
    **dict.fromkeys(("qav", "802.1qav", "credit-based-shaper"), "did you mean cbs?"),
    **dict.fromkeys(("qbu", "802.1qbu", "frame-preemption", "pre-emption"), "did you mean preemption?"),
    **dict.fromkeys(
        ("strict-priority", "sp", "priority", "mqprio", "scheduler", "scheduling", "algorithm"),
        "leave it out: classes have strict priority, and queues: {classes: {6: 1, 0: 0}} names them",
    ),
    **dict.fromkeys(
        ("wrr", "wfq", "drr", "dwrr", "weights", "tbf", "htb", "red"),
        "write cbs: {6: 10 Mbit/s} or ats: {pcp: [6]}: ports have no weights, and strict priority decides",
    ),
    **dict.fromkeys(("guard-band", "guardband"), "leave it out: no frame begins that does not fit its gate"),
}

SHAPER = Record(
    "a shaper",
    {
        **fields_of(Shaper, "queues"),
        "cbs": Field(
            Either(
                "from-streams, a list of SR classes, or a mapping of classes to bandwidth",
                text=Choice(
                    {"from-streams": "from-streams"},
                    "where bandwidths come from",
                    dict.fromkeys(("auto", "automatic", "true", "on", "yes", "plan"), "from-streams"),
                ),
                listing=ListOf(
                    Text("an SR class: A, B, C or D", swept=False, pattern=f"^({CLASS_NAME.pattern})$"),
                    "SR classes",
                ),
                mapping=MapOf(
                    "a mapping of classes to bandwidth",
                    Either(
                        "a bandwidth, or {idle-slope: …, send-slope: …, hi-credit: …, lo-credit: …, phy: …}",
                        text=STREAM_RATE,
                        mapping=CBS_CLASS,
                        short="bandwidth",
                    ),
                    CLASS_NAME,
                    "an SR class (A, B, C, D) or a PCP from 0 to 7",
                    "write {A: 100 Mbit/s, B: {idle-slope: 75 Mbit/s}}, highest class first",
                    sample="6",
                    one=CBS_CLASS,
                ),
            ),
            "credit-based shapers: [A, B], from-streams, or {A: 100 Mbit/s}; highest class first",
            sample="{A: 100 Mbit/s}",
            clause="IEEE 802.1Q-2022, 8.6.8.2",
        ),
        "gates": Field(
            Either(
                "a gate control list",
                text=Text("the name of a catalogue gate list, or plan"),
                mapping=GATE_LIST,
            ),
            "gate control list: {cycle: …, entries: […]}, {pattern: flextest/gcl-2, slot: 45 us}, or plan",
            sample="{entries: [{open: [6], for: 45 us}, {open: [5, 0], for: 45 us}]}",
            clause="IEEE 802.1Q-2022, 8.6.8.4",
        ),
        **fields_of(Shaper),
    },
    makes=Shaper,
    common_mistakes=_SLIPS,
)
