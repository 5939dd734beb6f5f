"""OCORA 3.4: losses when links are pulled, with and without 802.1CB (Fig. 31 and 32)."""

from __future__ import annotations

import pytest

from support.shipped import MS, simulated

SECONDS = 30 * 1_000 * MS
FRAME = 10 * MS


def lost(variant: str) -> list[int]:
    """The numbers of the frames that did not arrive."""
    result = simulated("papers/ocora/frer", variant, SECONDS)
    arrived = set(result.frames.filter(result.frames["t_rx_ns"].is_not_null())["seq"])
    return [seq for seq in range(SECONDS // FRAME) if seq not in arrived]


@pytest.mark.parametrize(
    ("variant", "expected"),
    [
        ("with-cb np4", []),
        ("with-cb np5", []),
        ("with-cb both", [(800, 1100)]),
        # One second is lost at the failure, and one second at the return.
        ("without-cb np4", [(500, 600), (1500, 1600)]),
        ("without-cb np5", []),
        ("without-cb both", [(500, 600), (800, 1100), (1500, 1600)]),
    ],
)
def test_what_a_pulled_link_loses(variant: str, expected: list[tuple[int, int]]) -> None:
    assert lost(variant) == [seq for begin, end in expected for seq in range(begin, end)]


def test_the_tag_costs_its_octets() -> None:
    delays = [
        simulated("papers/ocora/frer", f"{variant} np5", SECONDS).delays("test").min()
        for variant in ("with-cb", "without-cb")
    ]
    assert delays == [7_791, 7_743]
