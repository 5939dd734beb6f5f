"""The keys of faults."""

from __future__ import annotations

from dataclasses import replace

from tsnbench.scenario.grammar.clock_faults import CLOCK_FAULTS
from tsnbench.scenario.grammar.gates import GATE_LIST
from tsnbench.scenario.kinds.combinators import Either, Field, ListOf, Record, fields_of
from tsnbench.scenario.kinds.common import SPAN, TIME
from tsnbench.scenario.kinds.values import Choice, Text
from tsnbench.scenario.model.faults import CHANCE, KINDS, Delay, Loss, OfPort
from tsnbench.scenario.model.gates import Follow
from tsnbench.scenario.part import Part


def _optional(part: type[Part]) -> dict[str, Field]:
    """The keys of a fault, none of them required: the mapping has the keys of all kinds."""
    return {name: replace(one, example="", sample=one.example) for name, one in fields_of(part).items()}


FOLLOWS = fields_of(Follow)
"""The keys of a list that follows another one: a wrong schedule follows none."""
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
                        fields_of(Loss, "to_bad", "to_good", "in_good", "in_bad"),
                    ),
                ),
                "frames lost by chance: 1 %, or in bursts: {to-bad: 1 %, to-good: 20 %}",
            ),
            "bit-errors": Field(
                Text("a bit error rate such as 1e-9", pattern=r"^[0-9](\.[0-9]+)?e-[0-9]+$", number=True),
                "independent bit errors: 1e-9; the receiver drops a frame with one",
            ),
            "delay": Field(
                Either(
                    "a time, or {from: …, to: …}",
                    text=TIME,
                    mapping=Record(
                        "a delay by chance",
                        fields_of(Delay, "least_ns", "most_ns", "share_ppm", "keeps_order"),
                    ),
                ),
                "how much later frames arrive: 100 us, or {from: 10 us, to: 100 us, order: broken}",
            ),
            "reorder": Field(CHANCE, "share of the frames that is held back, so that others overtake: 1 %"),
            "by": Field(SPAN, "how long reorder holds them back"),
            "schedule": Field(
                Either(
                    "open, {shift: …}, or a gate control list",
                    text=Choice({"open": "open"}, "a wrong schedule"),
                    mapping=Record(
                        "a wrong schedule",
                        {
                            **{name: one for name, one in GATE_LIST.fields.items() if name not in FOLLOWS},
                            "shift": Field(TIME, "how much later its own list is obeyed"),
                        },
                    ),
                ),
                "ports that obey another list: {shift: 100 us}, {entries: …}, or open for none",
            ),
            **{key: field for part in (*KINDS.values(), OfPort) for key, field in _optional(part).items()},
            **CLOCK_FAULTS,
        },
        example="{down: sw1 -- sw2, at: 5 ms}",
        common_mistakes={
            **dict.fromkeys(("type", "kind"), "the kind is a key: down: sw1 -- sw2, or loss: 1 %"),
            **dict.fromkeys(("ber", "bit-error-rate"), "did you mean bit-errors?"),
            **dict.fromkeys(("packet-loss", "frame-loss", "drop"), "did you mean loss?"),
            **dict.fromkeys(("link", "cut", "link-down", "fail", "failure", "break"), "did you mean down?"),
            **dict.fromkeys(("from", "start"), "did you mean at?"),
            **dict.fromkeys(("duration", "until", "to"), "did you mean for?"),
            "port": "did you mean on?",
        },
    ),
    "faults",
    least=0,
)
