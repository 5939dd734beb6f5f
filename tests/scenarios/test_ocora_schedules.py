"""OCORA's schedules: the latency of a message at a gate, to the ns."""

from __future__ import annotations

import pytest

from support.papers.ocora import CYCLE, latencies, run

OCTET = 8  # ns at 1 Gbit/s
PREAMBLE, GAP, FULL = 8, 12, 1522
MESSAGE = OCTET * (PREAMBLE + 128)
STAMP = OCTET * PREAMBLE  # a stamp is taken after the preamble
APPLICATION = 5_000
PATH = MESSAGE + STAMP


@pytest.mark.parametrize("traffic", ["alone", "loaded"])
def test_schedule_1_makes_latency_a_constant(traffic: str) -> None:
    """Fig. 12, 13, 21 and 22: 50 us until the gate opens, and the path; best effort has no effect."""
    assert set(latencies(run("schedules", f"1 7 {traffic}"))) == {50_000 + PATH}


def test_schedule_2_adds_the_time_of_the_application() -> None:
    """Fig. 17, 23 and 24: the time of the application, and the path; best effort has no effect."""
    alone, loaded = (latencies(run("schedules", f"2 7 {traffic}")) for traffic in ("alone", "loaded"))
    assert alone.to_list() == loaded.to_list()
    assert PATH <= alone.min() < PATH + 0.05 * APPLICATION
    assert PATH + 0.95 * APPLICATION < alone.max() <= PATH + APPLICATION


def test_priority_2_shares_the_time_of_best_effort() -> None:
    """Fig. 14 equals Fig. 17; in Fig. 15 a message waits for one full frame in transmission."""
    alone, loaded = (latencies(run("schedules", f"1 2 {traffic}")) for traffic in ("alone", "loaded"))
    assert alone.to_list() == latencies(run("schedules", "2 7 alone")).to_list()
    waited = loaded - alone
    assert waited.min() >= 0
    assert 0.5 * OCTET * FULL < waited.max() <= OCTET * (PREAMBLE + FULL + GAP)


def test_a_late_message_is_held_for_a_cycle() -> None:
    """Fig. 29: "just slightly bigger than 1000 us" if the second switch holds the message."""
    found = latencies(run("late-messages", "0 ns"))
    held = found.filter(found > 60_000)
    assert set(held) == {CYCLE + STAMP, CYCLE + PATH}
    # At the hand-over, the remaining time of the 50 us must suffice for two transmissions.
    assert found.filter(found <= 60_000).max() <= 50_000 - MESSAGE + STAMP
    assert len(held) / len(found) == pytest.approx(2 * MESSAGE / 50_000, rel=0.35)


def test_a_shifted_schedule_passes_the_frames_of_the_first_switch() -> None:
    """The remedy of Section 3.3."""
    found = latencies(run("late-messages", "1088 ns"))
    held = found.filter(found > 60_000)
    assert set(held) == {CYCLE + PATH}
    assert found.filter(found <= 60_000).max() <= 50_000 + STAMP


def test_planned_windows_make_latency_the_second_one() -> None:
    """Fig. 35: 70 us, with the jitter of the last link only."""
    assert set(latencies(run("two-windows"))) == {70_000 + STAMP}
