"""A reservation keeps its bandwidth where gates take time away: operIdleSlope, IEEE 802.1Q-2022, 8.6.8.2."""

from __future__ import annotations

from typing import Any

import pytest

from tsnbench.plan.bounds import bounds
from tsnbench.planning import Plan, plan
from tsnbench.scenario import read_scenario

TEXT = """\
name: gated
duration: 100 ms
network:
  stations: [a, b, c]
  bridges: [s]
  links: {rate: 1 Gbit/s, between: [a-s, c-s, s-b]}
  queues: {classes: {6: 2, 3: 1, 0: 0}}
streams:
  x: {from: a, to: b, class: sr/A, phy: 1250 B, period: 100 us, requires: sr/A}
  rest: {from: c, to: b, phy: 1542 B, saturating: true}
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


def test_a_window_for_less_than_the_reservation_is_a_warning_whose_hint_helps() -> None:
    text = TEXT.replace("CLOSED", "445").replace("OPEN", "55")
    (warning,) = plan(read_scenario(text, "gated.yaml")[0]).warnings
    assert warning.kind == "gate-reservation"
    assert str(warning).startswith(
        "gated.yaml:14:5: shapers.s -> b.gates: warning: class 1 reserves 100 Mbit/s, "
    )
    assert warning.hint == "open it for 6 us more in every cycle, or reserve at most 90 Mbit/s"


def test_reservations_that_share_windows_have_to_fit_together() -> None:
    """100 Mbit/s each in windows of a fifth of the time: half of the rate while they are open, twice."""
    text = TEXT.replace("CLOSED", "400").replace("OPEN", "100").replace("{open: [3, 0]", "{open: [3, 2, 0]")
    text = text.replace("{6: 2, 3: 1, 0: 0}", "{6: 3, 3: 2, 2: 1, 0: 0}")
    second = "  y: {from: c, to: b, class: sr/B, phy: 1250 B, period: 100 us}\n"
    (warning,) = plan(read_scenario(text.replace("  rest:", f"{second}  rest:"), "gated.yaml")[0]).warnings
    assert warning.kind == "gate-reservation"
    assert (
        "class 1 reserves 100 Mbit/s, 80 Mbit/s are guaranteed to fit into its windows after class 2"
        in warning.text
    )
    assert warning.hint == "open it for 20 us more in every cycle, or reserve at most 80 Mbit/s"
    wider = text.replace("for: 400", "for: 375").replace("for: 100", "for: 125")
    assert not plan(read_scenario(wider.replace("  rest:", f"{second}  rest:"), "gated.yaml")[0]).warnings


@pytest.mark.parametrize("opened", [55 + 6, 73])
def test_what_the_hints_say_gives_a_bound(opened: int) -> None:
    """That of the warning, and that of the error below."""
    made = document(closed=500 - opened)
    assert bounds(Plan(made))["flows"][0]["upper_ns"] is not None
