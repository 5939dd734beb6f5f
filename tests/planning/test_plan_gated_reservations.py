"""A reservation keeps its bandwidth where gates take time away: operIdleSlope, IEEE 802.1Q-2022, 8.6.8.2."""

from __future__ import annotations

from typing import Any

import pytest

from tsnbench.planning import PlanningErrors, plan
from tsnbench.scenario import read_scenario

TEXT = """\
name: gated
duration: 100 ms
network:
  stations: [a, b]
  bridges: [s]
  links: {rate: 1 Gbit/s, between: [a-s, s-b]}
  queues: {classes: {6: 2, 3: 1, 0: 0}}
streams:
  x: {from: a, to: b, class: sr/A, phy: 1250 B, period: 100 us, requires: sr/A}
shapers:
  s -> b:
    cbs: from-streams
    gates: {cycle: 500 us, entries: [{open: [6], for: CLOSED us}, {open: [3, 0], for: OPEN us}]}
"""


def document(closed: int) -> dict[str, Any]:
    text = TEXT.replace("CLOSED", str(closed)).replace("OPEN", str(500 - closed))
    return plan(read_scenario(text, "gated.yaml")[0]).document


def shaper(document: dict[str, Any]) -> dict[str, Any]:
    (port,) = (port for port in document["ports"] if port["name"] == "s -> b")
    found: dict[str, Any] = port["classes"][1]["cbs"]
    return found


def test_the_slope_grows_by_cycle_over_open_time_and_tc_keeps_the_reservation() -> None:
    cbs = shaper(document(closed=100))
    assert cbs["idle_slope_bps"] == 125_000_000
    assert cbs["send_slope_bps"] == -875_000_000
    assert cbs["lo_credit_bits"] == -8_750
    assert cbs["linux"] == {"idleslope": 100_000, "sendslope": -900_000, "hicredit": 155, "locredit": -1_125}


def test_no_warning_where_the_reservation_is_what_the_streams_need() -> None:
    text = TEXT.replace("CLOSED", "100").replace("OPEN", "400")
    assert not plan(read_scenario(text, "gated.yaml")[0]).warnings


def test_a_reservation_that_the_open_gate_has_no_room_for_is_refused() -> None:
    with pytest.raises(
        PlanningErrors, match=r"gated.yaml:12:5: .* below the 100 Mbit/s .* found 100 Mbit/s for class 1"
    ):
        document(closed=450)
