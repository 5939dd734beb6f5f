"""OCORA's pre-emption experiment: interruptions, and the waits of express frames."""

from __future__ import annotations

import pytest

from support.shipped import MS, Result, simulated

OCTET = 8  # ns at 1 Gbit/s
HIGH, FULL = 128, 1522
PREAMBLE, GAP = 8, 12
ALONE = OCTET * HIGH
WORST = OCTET * (123 + PREAMBLE + GAP)
CUTTABLE = (PREAMBLE + FULL - 64) / (PREAMBLE + FULL + GAP)


def run(express: str, traffic: str) -> Result:
    return simulated("papers/ocora/preemption", f"{express} {traffic}", 2000 * MS)


@pytest.mark.parametrize("express", ["none", "7"])
def test_alone_pre_emption_changes_nothing(express: str) -> None:
    """Fig. 25 and 26."""
    assert set(run(express, "alone").delays("high")) == {ALONE}


def test_nearly_every_express_frame_interrupts_one() -> None:
    """Fig. 28: the paper observed 80 to 85 %; at most 96 % are possible."""
    result = run("7", "loaded")
    trunk = next(port for port in result.counters["ports"] if port["port"] == "kbox1 -> kbox2")
    merged = trunk["preemption"]
    share = merged["preemptions"] / len(result.delays("high"))
    assert share == pytest.approx(CUTTABLE, abs=0.015)
    assert share <= 0.96
    assert merged["preemptions"] - merged["continuations"] in (0, 1)
    assert 0 < merged["fragmented_frames"] <= merged["continuations"]


@pytest.mark.parametrize(
    ("express", "least", "most"),
    [("none", 0.9 * OCTET * FULL, OCTET * (FULL + PREAMBLE + GAP)), ("7", 0, WORST)],
)
def test_express_frames_wait_for_a_part_at_most(express: str, least: float, most: int) -> None:
    """Fig. 27 and 28: up to 12.2 us and a gap without pre-emption; up to 123 octets and overhead with it."""
    found = max(run(express, "loaded").waits("high"))
    assert least <= found <= most
