"""Gate control lists of ports."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

from tsnbench.scenario.kinds.combinators import Either, ListOf, record_of
from tsnbench.scenario.kinds.common import RUN_TIME, SELECTOR, SPAN, TIME
from tsnbench.scenario.kinds.values import YES_NO, Choice, Count, Parsed
from tsnbench.scenario.model.names import PortSelector
from tsnbench.scenario.part import Part, key
from tsnbench.scenario.text.reading import Reading, meant
from tsnbench.scenario.text.tree import Value
from tsnbench.scenario.units import Duration

_GATES = ListOf(Count(0, 7, "a PCP or class"), "open gates", least=0, most=8)


@dataclass(frozen=True)
class Pcps(Either):
    """PCPs, or classes: a list, or a word for some of them; highest first, each once."""

    def read(self, reading: Reading, value: Value, path: str) -> Any:
        found = super().read(reading, value, path)
        return tuple(sorted(set(found), reverse=True)) if isinstance(found, list) else found


def pcps(what: str, closed: tuple[str, ...] = ()) -> Pcps:
    """PCPs: ``[6, 5]``, one of them, ``all`` or ``none``; ``closed``: words that are written for none."""

    def parse(text: str) -> tuple[int, ...]:
        if text.isdigit() and len(text) == 1 and int(text) < 8:
            return (int(text),)
        if text not in ("all", "none"):
            several = re.fullmatch(r"[0-7](\s*[,; ]\s*[0-7])+", text)
            listed = f"write [{', '.join(re.findall('[0-7]', text))}]" if several else ""
            # As tc, as binary digits, and as the standard's figures write it: o is open, C is closed.
            bits = text.replace("o", "1").replace("C", "0") if re.fullmatch("[oC]{8}", text) else text
            if mask := re.fullmatch("0x([0-9A-Fa-f]{1,2})|(?:0b)?([01]{8})", bits):
                states = int(mask[1] or mask[2], 16 if mask[1] else 2)
                listed = f"write [{', '.join(str(pcp) for pcp in range(7, -1, -1) if states >> pcp & 1)}]"
            if one := re.fullmatch(r"(?:TC|PCP|Q|class|queue|prio)[ -]?([0-7])", text, re.IGNORECASE):
                listed = f"write [{one[1]}]"
            raise ValueError("write none" if text in closed else listed)
        return tuple(range(7, -1, -1)) if text == "all" else ()

    words = Parsed(f"{what}: [6, 5], all or none", pattern="^([0-7]|all|none)$", parse=parse)
    return Pcps("PCPs (or classes) whose gates are open", text=words, listing=_GATES)


def _before(text: str) -> tuple[int, ...] | None:
    words = {"cycles": None, "open": tuple(range(7, -1, -1)), "closed": ()}
    if text.isdigit() and len(text) == 1 and int(text) < 8:
        return (int(text),)
    if text not in words:
        raise ValueError(meant(text, words))
    return words[text]


_ENTRY = {
    **dict.fromkeys(("duration", "time", "interval", "length", "time-interval"), "did you mean for?"),
    **dict.fromkeys("01234567", "write open: [6], a list of PCPs"),
    **dict.fromkeys(
        ("at", "from", "start", "to", "end", "until", "offset"),
        "write for: 40 us, its length; each entry begins where the one before it ends",
    ),
    **dict.fromkeys(
        ("mask", "gate-mask", "gates", "states", "gate-states", "classes", "pcp", "pcps"),
        "did you mean open?",
    ),
}


class GateEntry(Part):
    """An interval of a gate control list. ``open`` lists PCPs or class numbers as the list's ``by`` says."""

    open: tuple[int, ...] = key(
        pcps("PCPs whose gates are open", closed=("closed", "nothing", "[]", "-")),
        "PCPs or classes whose gates are open",
        "[6, 5]",
    )
    duration: Duration = key(SPAN, "how long", "45 us", written="for")
    mac: Literal["hold", "release"] | None = key(
        Choice({"hold": "hold", "release": "release"}, "what becomes of preemptable frames"),
        "hold or release: preemptable frames, from here on",
        default=None,
        clause="IEEE 802.1Q-2022, 8.6.8.4; IEEE 802.3-2022, 99.4",
    )


class Gates(Part):
    """A gate control list as written. ``by``: whether ``open`` counts PCPs or traffic classes."""

    cycle: Duration | None = key(SPAN, "the sum of the entries, to check them against", default=None)
    """Checked against the sum of entries where given, or what they are cut or made longer to."""
    fit_entries: bool = key(
        YES_NO,
        "whether entries are cut at the end of the cycle, or the last one goes on until it",
        default=False,
    )
    base_time: Duration = key(TIME, "when a cycle begins", default=0)
    extension: Duration = key(
        TIME,
        "by how much the last cycle before a change may be made longer; 0 by default",
        default=0,
        clause="IEEE 802.1Q-2022, 8.6.9",
    )
    by: Literal["pcp", "class"] = key(
        Choice({"pcp": "pcp", "class": "class"}, "what open counts"), "pcp (default) or class", default="pcp"
    )
    entries: tuple[GateEntry, ...] = key(
        ListOf(
            record_of(GateEntry, "a gate entry", common_mistakes=_ENTRY, example="{open: [6], for: 40 us}"),
            "gate entries",
            most=4096,
        ),
        "[{open: [6], for: 45 us}, {open: [5, 0], for: 45 us}]",
    )
    before: tuple[int, ...] | None = key(
        Pcps(
            "cycles, open, closed or a list of PCPs",
            text=Parsed(
                "cycles, open, closed or a list of PCPs",
                pattern="^([0-7]|cycles|open|closed)$",
                parse=_before,
            ),
            listing=_GATES,
        ),
        "gates before the base time: cycles (default), open, closed or [6, 5]",
        sample="closed",
        default=None,
    )
    """None: cycles extend to before the base time."""
    guard: bool = key(
        Choice({"length-aware": True, "none": False}, "a guard"),
        "length-aware (default): a frame begins only where all of it fits; or none",
        default=True,
    )
    credit_runs: bool = key(
        Choice({"frozen": False, "runs": True}, "what credit does while a gate is closed"),
        "frozen (default) or runs: credit of shapers while their gate is closed",
        written="credit",
        default=False,
    )
    most_entries: int = key(
        Count(1, 4096, "a number of entries"), "entries of a list; 1024 by default", default=1024
    )
    changes: tuple[GateChange, ...] = ()


class GateChange(Part):
    """Another list, requested at a time; only those values of ``gates`` count that belong to one list."""

    at: Duration = key(RUN_TIME, "when it is requested, on the node's clock", "5 ms")
    gates: Gates


class Follow(Part):
    """A gate control list made from another port's: open when frames that leave here find the gate there
    open.

    ``margin``: the time by which it opens later and closes earlier than with perfect clocks.
    """

    port: PortSelector = key(SELECTOR, "the port whose list this one follows: dut -> node0", written="follow")
    margin: Duration = key(
        TIME, "with follow: how much later to open and earlier to close; 0 by default", default=0
    )


class Planned(Part):
    """Windows that the planner makes from the streams' requirements."""

    kind: Literal["planned"] = "planned"
