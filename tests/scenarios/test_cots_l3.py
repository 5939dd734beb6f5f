"""L3 of the COTS lessons: credit-based shapers on a wire that is slower than the configured rate."""

from __future__ import annotations

from fractions import Fraction

import pytest

from support.papers.cots_l3 import SCENARIO, run
from support.shipped import planned, variants

WIRES = ("10 Gbit/s", "9294196 kbit/s", "9 Gbit/s")
MS = 1_000_000


def shapers(variant: str) -> dict[int, dict[str, int]]:
    document = planned(SCENARIO, variant).document
    (port,) = (port for port in document["ports"] if port["name"] == "n2 -> n3")
    return {number: part["cbs"] for number, part in enumerate(port["classes"]) if "cbs" in part}


@pytest.mark.parametrize("wire", WIRES)
def test_the_shapers_are_the_printed_ones_on_every_wire(wire: str) -> None:
    found = {number: tuple(cbs["linux"].values()) for number, cbs in shapers(f"100 Mbit/s {wire}").items()}
    assert found == {3: (100_000, -9_194_196, 17, -1237), 2: (100_000, -9_194_196, 31, -1237)}
    (most,) = {cbs["linux"]["idleslope"] for cbs in shapers(f"103 Mbit/s {wire}").values()}
    assert most == 103_000
    rates = [port["rate_bps"] for port in planned(SCENARIO, f"100 Mbit/s {wire}").document["ports"]]
    assert sorted(set(rates)) != [10**9], "the wire is what real-rate says"


def test_a_guarantee_of_the_demand_fails_on_a_slower_wire_alone() -> None:
    """On the slowest wire the backlog grows to more than 2 ms; on the other wires delays stay below 50 us."""
    for flow in ("f1", "f2"):
        slow = run("100 Mbit/s 9 Gbit/s").delays(flow)
        assert slow.max() > 2 * MS
        # The growth is steady: half of the delay after half of the time.
        assert slow[len(slow) // 2] == pytest.approx(slow[-1] / 2, rel=0.1)
        for wire in WIRES[:2]:
            assert run(f"100 Mbit/s {wire}").delays(flow).max() < 50_000


def test_what_a_slower_wire_costs_per_frame() -> None:
    """The cost is above that of loCredit alone, and below that plus one best-effort frame before each."""
    low = -shapers("100 Mbit/s 9 Gbit/s")[3]["lo_credit_bits"]
    lasts = Fraction(10_000 * 10**9, 9 * 10**9)
    alone = lasts + Fraction(low * 10**9, 10**8) - 100_000
    other = Fraction(1542 * 8 * 10**9, 9 * 10**9)
    delays = run("100 Mbit/s 9 Gbit/s").delays("f1")
    per_frame = Fraction(int(delays[-1] - delays[2000]), len(delays) - 1 - 2000)
    assert alone < per_frame < alone + other
    assert 2 * per_frame < 1_000, "1 % more guarantee is worth more than that"


@pytest.mark.parametrize("guarantee", ["101 Mbit/s", "102 Mbit/s", "103 Mbit/s"])
def test_any_reserve_is_enough(guarantee: str) -> None:
    assert {f"{guarantee} {wire}" for wire in WIRES} <= set(variants(SCENARIO))
    for wire in WIRES:
        for flow in ("f1", "f2"):
            assert run(f"{guarantee} {wire}").delays(flow).max() < 50_000
