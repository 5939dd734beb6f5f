"""The keys of faults, and of streams with more than one way."""

from __future__ import annotations

from tsnbench.scenario.grammar.clock_faults import CLOCK_FAULTS
from tsnbench.scenario.grammar.common import NODE, NODES, PCP, SELECTOR, SPAN, TIME
from tsnbench.scenario.grammar.shapers import GATE_LIST
from tsnbench.scenario.grammar.shapes import Either, Field, ListOf, Record
from tsnbench.scenario.grammar.values import YES_NO, Choice, Count, Quantity, Text
from tsnbench.scenario.units import SHARE

CHANCE = Quantity(SHARE, 0, 10**6, zero=True)
DOWN = Text("a link such as node1 -- node2, or the name of a node", swept=False)
FAULTS = ListOf(
    Record(
        "a fault",
        {
            "down": Field(
                DOWN,
                "a link that is cut, both directions: sw1 -- sw2, or one of its ports: sw1 -> sw2; or a node",
            ),
            "loss": Field(
                Either(
                    "a share, or {to-bad: …, to-good: …}",
                    text=CHANCE,
                    mapping=Record(
                        "losses in bursts (Gilbert-Elliott)",
                        {
                            "to-bad": Field(CHANCE, "chance per frame to go from good to bad", "1 %"),
                            "to-good": Field(CHANCE, "chance per frame to go from bad to good", "20 %"),
                            "in-good": Field(CHANCE, "share lost while good; 0 unless given"),
                            "in-bad": Field(CHANCE, "share lost while bad; 100 % unless given"),
                        },
                    ),
                ),
                "frames lost by chance: 1 %, or in bursts: {to-bad: 1 %, to-good: 20 %}",
            ),
            "bit-errors": Field(
                Text("a bit error rate such as 1e-9", pattern=r"^[0-9](\.[0-9]+)?e-[0-9]+$"),
                "independent bit errors: 1e-9; a frame with one is dropped by who receives it",
            ),
            "delay": Field(
                Either(
                    "a time, or {from: …, to: …}",
                    text=TIME,
                    mapping=Record(
                        "a delay by chance",
                        {
                            "from": Field(TIME, "the shortest; 0 us unless given"),
                            "to": Field(SPAN, "the longest; each in between is as likely", "100 us"),
                            "share": Field(CHANCE, "share of the frames that is held back; all unless given"),
                            "order": Field(
                                Choice({"kept": True, "broken": False}, "an order"),
                                "kept (default: what is behind waits, too) or broken",
                            ),
                        },
                    ),
                ),
                "how much later frames arrive: 100 us, or {from: 10 us, to: 100 us, order: broken}",
            ),
            "reorder": Field(CHANCE, "share of the frames that is held back, so that others overtake: 1 %"),
            "by": Field(SPAN, "how long reorder holds them back"),
            "duplicate": Field(CHANCE, "share of the frames that arrives twice: 1 %"),
            "after": Field(TIME, "how long after the first one the second one arrives; 10 us unless given"),
            "schedule": Field(
                Either(
                    "open, {shift: …}, or a gate control list",
                    text=Choice({"open": "open"}, "a wrong schedule"),
                    mapping=Record(
                        "a wrong schedule",
                        {**GATE_LIST.fields, "shift": Field(TIME, "how much later its own list is obeyed")},
                    ),
                ),
                "ports that obey another list: {shift: 100 us}, {entries: …}, or open for none",
            ),
            "on": Field(SELECTOR, "the port whose frames (or gates) have the fault: sw1 -> sw2"),
            "babble": Field(NODE, "a stream whose talkers send more than its pattern says"),
            "every": Field(SPAN, "between the data units that babbling adds"),
            **CLOCK_FAULTS,
            "at": Field(TIME, "when it begins; 0 us unless given"),
            "for": Field(SPAN, "how long; to the end unless given"),
        },
        slips={
            **dict.fromkeys(("link", "cut", "link-down"), "did you mean down?"),
            **dict.fromkeys(("from", "start"), "did you mean at?"),
            **dict.fromkeys(("duration", "until", "to"), "did you mean for?"),
            "port": "did you mean on?",
        },
    ),
    "faults",
    least=0,
)
ACTIVE = Record(
    "active identification",
    {
        "destination": Field(
            Text("a MAC address such as 02:cb:00:00:00:01"),
            "of copies; a locally administered one unless given",
        ),
        "vlan": Field(Count(1, 4094, "a VLAN identifier"), "of copies; the stream's unless given"),
        "pcp": Field(PCP, "of copies; the stream's unless given"),
    },
    slips={
        **dict.fromkeys(("mac", "address", "to"), "did you mean destination?"),
        **dict.fromkeys(("vid", "vlan-id"), "did you mean vlan?"),
        **dict.fromkeys(("priority", "prio"), "did you mean pcp?"),
    },
    empty=True,
)
FRER = Record(
    "seamless redundancy (FRER)",
    {
        "paths": Field(
            ListOf(NODES, "lists of hops", least=2, most=16), "[[sw1, sw2], [sw3, sw4]]: hops of each copy"
        ),
        "disjoint": Field(Count(2, 16, "a number of ways"), "so many ways that share no node or link; 2"),
        "at": Field(
            Either("a node, or a list of nodes", text=NODE, listing=NODES),
            "where copies meet: sw4, or [sw3, sw4]; the first node from which all ways are the same",
        ),
        "recovery": Field(Choice({"vector": "vector", "match": "match"}, "a recovery"), "vector or match"),
        "history": Field(Count(1, 32_767, "a history length"), "numbers that vector recovery remembers; 32"),
        "reset": Field(SPAN, "silence after which any number is taken; 2 s unless given"),
        "individual": Field(YES_NO, "true: each copy's way has a recovery function of its own as well"),
        "identification": Field(
            Either(
                "null, source-mac, ip, or {active: …}",
                text=Choice({"null": "null", "source-mac": "source-mac", "ip": "ip"}, "an identification"),
                mapping=Record("an identification", {"active": Field(ACTIVE, "what copies show", "{}")}),
            ),
            "null, source-mac or ip, the first that tells the stream apart; or {active: {vlan: 200}}",
        ),
        "latent-errors": Field(
            Record(
                "latent error detection",
                {
                    "period": Field(Quantity(SPAN.dimension, 10**6, SPAN.most), "between tests; 2 s"),
                    "reset": Field(Quantity(SPAN.dimension, 10**6, SPAN.most), "between resets; 30 s"),
                    "difference": Field(Count(0, 10**9, "a number of frames"), "may be missing; 10"),
                },
                empty=True,
            ),
            "an alarm when copies are missing: {period: 2 s, difference: 10}",
        ),
    },
    empty=True,
    example="{disjoint: 2}",
)
FAILOVER = Record(
    "a way that stands by",
    {
        "path": Field(NODES, "hops of the other way; a disjoint one unless given"),
        "after": Field(TIME, "from a link's failure until the other way forwards", "1 s"),
        "back": Field(TIME, "from its return until the first way forwards again; as after unless given"),
    },
    example="{after: 1 s}",
)
