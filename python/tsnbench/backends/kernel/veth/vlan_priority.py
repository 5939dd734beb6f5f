"""Priorities in tags: copied to the kernel's priority, or read by a program.

Strict priority for kernels without ``prio`` and ``skbedit``: HTB's own priority, by a tag's priority.

HTB serves classes with tokens in the order of their ``prio``. Below the class for the MAC there is a second
HTB whose classes have more tokens than any port can use, so that only their order matters. A program of
classic BPF reads the tag, which is in the frame at its talker, and beside it after a reception. IEEE
802.1Q-2022, 8.6.6 and 9.6.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from tsnbench.backends.kernel.veth.htb import BpfFilter, Element, HtbClass
from tsnbench.linux.qdiscs import Qdisc

if TYPE_CHECKING:
    from tsnbench.plan.types import PlanDocument, Port

_LOAD_HALF, _LOAD_OCTET, _EQUAL, _SHIFT, _JUMP, _RETURN = 0x28, 0x30, 0x15, 0x74, 0x05, 0x06
_ASIDE = 0xFFFFF000
"""SKF_AD_OFF: the offset of the data that the kernel stores beside a frame."""
_TAG, _TAGGED = _ASIDE + 44, _ASIDE + 48
_ENDLESS = (
    ("rate", "100gbit"),
    ("ceil", "100gbit"),
    ("burst", "10mb"),
    ("cburst", "10mb"),
    ("quantum", "60000"),
)


def bytecode(answers: list[int]) -> str:
    """A program for ``tc`` that returns the answer for a frame's priority; untagged frames have priority
    0."""
    ladder = [
        one for pcp, answer in enumerate(answers) for one in ((_EQUAL, 0, 1, pcp), (_RETURN, 0, 0, answer))
    ]
    program = [
        (_LOAD_OCTET, 0, 0, _TAGGED),
        (_EQUAL, 5, 0, 1),
        (_LOAD_HALF, 0, 0, 12),
        (_EQUAL, 0, 5, 0x8100),
        (_LOAD_OCTET, 0, 0, 14),
        (_SHIFT, 0, 0, 5),
        (_JUMP, 0, 0, 2),
        (_LOAD_HALF, 0, 0, _TAG),
        (_SHIFT, 0, 0, 13),
        *ladder,
        (_RETURN, 0, 0, answers[0]),
    ]
    # An untagged frame jumps to the end of the program.
    program[3] = (_EQUAL, 0, len(program) - 1 - 4, 0x8100)
    return f"{len(program)}," + ",".join(" ".join(map(str, one)) for one in program)


def bands(port: Port, place: str) -> tuple[list[Element], list[str]]:
    """The second HTB of a port, and by class the place of its queue."""
    count = len(port["classes"])
    found: list[Element] = [Qdisc(place, "htb", (("default", f"{0x10:x}"),), "2:")]
    classes = [f"2:{0x10 + number:x}" for number in range(count)]
    found += [
        HtbClass("2:", own, (*_ENDLESS, ("prio", str(count - 1 - number))))
        for number, own in enumerate(classes)
    ]
    answers = [2 << 16 | 0x10 + port["pcp_to_class"][pcp] for pcp in range(8)]
    found.append(BpfFilter("2:", bytecode(answers)))
    return found, [f"parent {own}" for own in classes]


def priorities(plan: PlanDocument, node: int) -> dict[int, set[int]]:
    """By port of a bridge, the priorities in tags of frames that arrive there and are forwarded."""
    seen: dict[int, set[int]] = defaultdict(set)
    for stream in plan["streams"]:
        for hop in stream["route"]:
            parent = hop.get("parent")
            if parent is None or stream.get("vid") is None or plan["ports"][hop["port"]]["node"] != node:
                continue
            seen[plan["ports"][stream["route"][parent]["port"]]["peer"]].add(stream["pcp"])
    return seen


def tag_filters(device: str, priorities: set[int]) -> list[str]:
    """Filters that copy a tag's priority to the kernel's priority, which qdiscs use. IEEE 802.1Q-2022,
    6.9.3."""
    return [
        f"qdisc add dev {device} clsact",
        *(
            f"filter add dev {device} ingress protocol 802.1Q flower vlan_prio {pcp}"
            f" action skbedit priority {pcp}"
            for pcp in sorted(priorities)
            if pcp
        ),
    ]
