"""The keys of streams over more than one path that are no value of the model's parts."""

from __future__ import annotations

from tsnbench.scenario.kinds.combinators import Either, Field, ListOf, Record, fields_of, record_of
from tsnbench.scenario.kinds.common import NODES
from tsnbench.scenario.kinds.values import Choice
from tsnbench.scenario.model.redundancy import ACTIVE, Failover, Frer

FROM_FAILURES = "from-failures"
FRER = Record(
    "seamless redundancy (FRER)",
    {
        "paths": Field(
            Either(
                "lists of hops, or from-failures",
                text=Choice({FROM_FAILURES: FROM_FAILURES}, "lists of hops, or from-failures"),
                listing=ListOf(NODES, "lists of hops", least=2, most=16),
            ),
            "[[sw1, sw2], [sw3, sw4]]: hops of each copy; from-failures: planned for requires: survives",
        ),
        **fields_of(Frer),
        "identification": Field(
            Either(
                "null, source-mac, ip, or {active: …}",
                text=Choice({"null": "null", "source-mac": "source-mac", "ip": "ip"}, "an identification"),
                mapping=Record(
                    "an identification",
                    {"active": Field(ACTIVE, "what copies show", "{}", clause="IEEE 802.1CB-2017, 6.6")},
                ),
            ),
            "null, source-mac or ip, the first that tells the stream apart; or {active: {vlan: 200}}",
            clause="IEEE 802.1CB-2017, 6",
        ),
    },
    empty=True,
    example="{disjoint: 2}",
)
FAILOVER = record_of(
    Failover,
    "a standby path",
    {"path": Field(NODES, "hops of the other path; a disjoint one by default", sample="[sw1, dut]")},
    example="{after: 1 s}",
)
