"""The keys of shapers that are no value of :class:`~tsnbench.scenario.model.Shaper`."""

from __future__ import annotations

from tsnbench.scenario.grammar.gates import GATE_LIST
from tsnbench.scenario.kinds.combinators import Either, Field, ListOf, MapOf, Record, fields_of, record_of
from tsnbench.scenario.kinds.common import STREAM_RATE
from tsnbench.scenario.kinds.values import Choice, Text
from tsnbench.scenario.model.shapers import CLASS_NAME, CbsClass, Shaper

SHAPER = Record(
    "a shaper",
    {
        **fields_of(Shaper, "queues"),
        "cbs": Field(
            Either(
                "from-streams, a list of SR classes, or a mapping of classes to bandwidth",
                text=Choice({"from-streams": "from-streams"}, "where bandwidths come from"),
                listing=ListOf(
                    Text("an SR class: A, B, C or D", swept=False, pattern=f"^({CLASS_NAME.pattern})$"),
                    "SR classes",
                ),
                mapping=MapOf(
                    "a mapping of classes to bandwidth",
                    Either(
                        "a bandwidth, or {bandwidth: …, phy: …}",
                        text=STREAM_RATE,
                        mapping=record_of(CbsClass, "a CBS class", empty=True),
                        short="bandwidth",
                    ),
                    CLASS_NAME,
                    "an SR class (A, B, C, D) or a PCP from 0 to 7",
                    "write {A: 100 Mbit/s, B: 75 Mbit/s}, highest class first",
                ),
            ),
            "credit-based shapers: [A, B], from-streams, or {A: 100 Mbit/s}; highest class first",
        ),
        "gates": Field(
            Either(
                "a gate control list",
                text=Text("the name of a catalogue gate list, or plan"),
                mapping=GATE_LIST,
            ),
            "gate control list: {cycle: …, entries: […]}, {pattern: flextest/gcl-2, slot: 45 us}, or plan",
        ),
        **fields_of(Shaper),
    },
    makes=Shaper,
)
