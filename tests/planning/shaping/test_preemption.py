"""Express classes of ports, by hand, and when a port is held for them. IEEE 802.3-2022, clause 99."""

from __future__ import annotations

from typing import Any

import pytest

from support.planned import document_of
from tsnbench.planning.shaping.preemption import parts_overhead

TEXT = """\
name: express
duration: 10 ms
network:
  stations: [a, b]
  bridges: [s]
  links: [{rate: 1 Gbit/s, between: a-s}, {rate: 700 Mbit/s, between: s-b}]
streams:
  x: {from: a, to: b, pcp: 7, period: 1 ms, frame: 100 B}
shapers:
  s -> b: {preemption: PREEMPTION, queues: {classes: CLASSES}, gates: GATES}
"""
EIGHT = "{7: 7, 6: 6, 5: 5, 4: 4, 3: 3, 2: 2, 1: 1, 0: 0}"
THREE = "{7: 2, 6: 2, 5: 1, 4: 1, 0: 0}"
PLAIN = "entries: [{open: all, for: 500 us}, {open: [7], for: 500 us}]"
HELD = "entries: [{open: [7], for: 500 us, mac: hold}, {open: all, for: 500 us, mac: release}]"


def ports(preemption: str, classes: str = EIGHT, gates: str = PLAIN) -> dict[str, Any]:
    """Pre-emption of the ports that have it, by their names."""
    text = TEXT.replace("PREEMPTION", preemption).replace("CLASSES", classes)
    text = text.replace("GATES", f"{{{gates}}}")
    document: Any = document_of(text)
    return {port["name"]: port["preemption"] for port in document["ports"] if "preemption" in port}


def test_the_classes_of_express_priorities_are_express() -> None:
    assert ports("{express: [7, 5]}") == {"s -> b": {"express": 0b1010_0000}}
    # Both priorities are of class 2.
    assert ports("{express: [7, 6]}", THREE) == {"s -> b": {"express": 0b100}}
    assert ports("{express: [7, 6, 5, 4]}", THREE) == {"s -> b": {"express": 0b110}}
    # All other priorities are of class 0.
    assert ports("{express: [3, 2, 1, 0]}", THREE) == {"s -> b": {"express": 0b001}}


def test_the_advance_of_a_hold_is_the_time_of_what_cannot_be_cut() -> None:
    """123 octets and 20 around them are 1144 bit: 1634.3 ns at 700 Mbit/s, in whole ns 1635."""
    held = {"s -> b": {"express": 0b1000_0000, "hold_advance_ns": 1_635}}
    plain = {"s -> b": {"express": 0b1000_0000}}
    assert ports("{express: [7]}", gates=HELD) == held
    assert ports("{express: [7]}") == plain
    assert ports("{express: [7]}", gates=f"{PLAIN}, changes: [{{at: 2 ms, {HELD}}}]") == held
    assert ports("{express: [7]}", gates=f"{HELD}, changes: [{{at: 2 ms, {PLAIN}}}]") == held


@pytest.mark.parametrize("gates", [PLAIN, HELD])
def test_written_advances_stay(gates: str) -> None:
    express = {"express": 0b1000_0000}
    both = ports("{express: [7], hold-advance: 2 us, release-advance: 3 us}", gates=gates)
    assert both == {"s -> b": express | {"hold_advance_ns": 2_000, "release_advance_ns": 3_000}}
    assert ports("{express: [7], hold-advance: 0 us}", gates=gates) == {"s -> b": express}


@pytest.mark.parametrize(
    ("phy", "more"), [(84, 0), (143, 0), (144, 24), (203, 24), (204, 48), (1542, 24 * 24)]
)
def test_each_60_octets_after_a_smallest_frame_may_be_a_part_with_24_octets_around_it(
    phy: int, more: int
) -> None:
    """Of 1542 octets 20 are around the frame and 64 its least: 1458 octets are 24 parts and 18 octets."""
    assert parts_overhead(phy) == more
