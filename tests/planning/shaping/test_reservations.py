"""What is reserved at a port: bandwidths and credits of its classes, worked out by hand.

EnGINE eq. 2-6. At 1 Gbit/s, a frame of 1250 PHY octets every 100 us has 100 Mbit/s.
"""

from __future__ import annotations

from typing import Any

import pytest

from support.planned import document_of, refusal_text
from tsnbench.planning import PlanningErrors

TEXT = """\
name: reserved
duration: 10 ms
network:
  stations: [a, b]
  links: {rate: 1 Gbit/s, between: [a-b]}
  queues: {classes: {6: 2, 3: 1, 2: 1, 0: 0}}
streams:
  high: {from: a, to: b, pcp: 6, phy: 1250 B, period: 100 us}
  low: {from: a, to: b, pcp: 3, phy: 1250 B, period: 100 us}
  rest: {from: a, to: b, pcp: 0, phy: 1542 B, saturating: true}
shapers:
  a -> b:
    cbs: [6, 3]
"""


def reserved(text: str) -> dict[int, tuple[int, ...]]:
    """Slopes in Mbit/s, and credits in bit, of the first port's classes."""
    document: dict[str, Any] = document_of(text)
    shapers = {n: each["cbs"] for n, each in enumerate(document["ports"][0]["classes"]) if "cbs" in each}
    return {
        number: (
            cbs["idle_slope_bps"] / 1e6,
            cbs["send_slope_bps"] / 1e6,
            cbs["hi_credit_bits"],
            cbs["lo_credit_bits"],
        )
        for number, cbs in shapers.items()
    }


@pytest.mark.parametrize("listed", ["[6, 3]", "[3, 6]"])
def test_a_lower_class_waits_for_the_higher_one_whatever_the_order_in_the_scenario(listed: str) -> None:
    """1542 octets in the way: 12.336 us. Then 1.37 us of credit, and 10 us of the higher class's frame."""
    assert reserved(TEXT.replace("[6, 3]", listed)) == {
        2: (100, -900, 1_234, -9_000),  # 1233.6 bit
        1: (100, -900, 2_371, -9_000),  # 1233.6 bit, 137.07 bit and 1000 bit
    }


def test_a_class_without_periodic_streams_gets_no_shaper() -> None:
    assert set(reserved(TEXT.replace("[6, 3]", "[6, 3, 0]"))) == {1, 2}
    assert set(reserved(TEXT.replace("[6, 3]", "{6: 100 Mbit/s, 3: 1 Mbit/s, 0: 1 Mbit/s}"))) == {0, 1, 2}


def test_two_shapers_for_one_class_are_refused() -> None:
    words = r"a -> b\.cbs: expected one shaper per traffic class, found two for class 1\n"
    words += "  hint: give their priorities two classes, or write one of them here$"
    with pytest.raises(PlanningErrors, match=rf"^scenario\.yaml:13:5: shapers\.{words}"):
        reserved(TEXT.replace("[6, 3]", "[6, 3, 2]"))


def test_only_credit_of_a_preemptable_class_goes_as_deep_as_its_parts_cost() -> None:
    """1230 octets can be cut 19 times: (1250 + 19 * 24) * 8 bit at -0.9."""
    found = reserved(TEXT + "    preemption: {express: [6]}\n")
    assert (found[2][3], found[1][3]) == (-9_000, -12_284)


TWO_WAYS = """\
name: two-ways
duration: 10 ms
network:
  bridges: [s1, s2]
  stations: [a, b]
  links: {rate: 1 Gbit/s, between: [a-s1, a-s2, b-s1, b-s2]}
streams:
  x: {from: a, to: b, pcp: 6, phy: 1250 B, period: 100 us, frer: {}}
  y: {from: a, to: b, pcp: 0, phy: OTHER B, period: 1 ms, frer: {}}
shapers:
  a -> s1: {cbs: [6]}
"""


def test_an_r_tag_counts_in_the_rate_and_in_the_largest_frames() -> None:
    """1256 octets have 100.48 Mbit/s and 9038.4 bit at -0.89952; 1548 octets in the way, 1244.3 bit."""
    text = TWO_WAYS.replace("OTHER", "1542")
    assert reserved(text) == {6: (100.48, -899.52, 1_245, -9_039)}


def test_a_smaller_frame_in_the_way_counts_as_a_full_one() -> None:
    """1542 octets, 1239.5 bit: a frame of another stream may come, and be as large."""
    assert reserved(TWO_WAYS.replace("OTHER", "500")) == {6: (100.48, -899.52, 1_240, -9_039)}


def test_the_largest_frame_of_a_shaped_class_is_not_in_its_own_way() -> None:
    """The streams of both have 1548 octets; 1542 are in the way of the first one."""
    text = TWO_WAYS.replace("1250 B, period: 100 us", "1542 B, period: 1 ms").replace("OTHER", "500")
    (found,) = reserved(text).values()
    # 1548 octets every ms are 12.384 Mbit/s; 12.336 us of them are 152.8 bit, and 12.384 us would be 153.4.
    assert found == (12.384, -987.616, 153, -12_231)


def test_a_class_that_opens_twice_loses_two_frames_time_in_every_cycle() -> None:
    """50 us of frames in 500 us, and twice 22.336 us: 1250 octets that do not fit, and 1542 in the way."""
    gates = "    gates: {cycle: 500 us, entries: [{open: [6], for: FIRST us}, {open: [3, 0], for: 200 us}, "
    gates += "{open: [6], for: 25 us}, {open: [3, 0], for: REST us}]}\n"
    text = TEXT.replace("[6, 3]", "[6]") + gates
    problem, hint = refusal_text(reserved, text.replace("FIRST", "25").replace("REST", "250")).splitlines()
    assert problem.endswith(
        "expected class 2 open for at least 94.672 us of 500 us, for its reservation of 100 Mbit/s, "
        "found 50 us, which leave 100 Mbit/s"
    )
    assert hint == "  hint: write for: 70 us in this entry and for: 205 us in entries[3]"
    assert reserved(text.replace("FIRST", "70").replace("REST", "205"))[2][0] == 526.315790
