"""OCORA's Fig. 34 and 35: two windows planned from requirements, and the jitter of the last link alone."""

from __future__ import annotations

import pytest

from support.papers.ocora import latencies, run
from support.shipped import variants
from tsnbench.planning import plan
from tsnbench.scenario import model

US = 1_000
STAMP = 64  # a stamp is taken after the preamble
FULL = 8 * (8 + 1522)


def windows(scenario: model.Scenario) -> dict[str, tuple[int, int]]:
    """By port, the opening and the closing of the window of PCP 7."""
    found = {}
    for port in plan(scenario).document["ports"]:
        if "gates" in port:
            first = port["gates"]["entries"][0]
            assert first["open"] == 1 << 7
            opens = port["gates"]["base_time_ns"]
            found[port["name"]] = (opens, opens + first["interval_ns"])
    return found


def shipped() -> model.Scenario:
    return variants("papers/ocora/planned-windows")[""]


def ticking(scenario: model.Scenario, ns: int) -> model.Scenario:
    return scenario.model_copy(update={"windows": model.Windows(granularity=ns)})


def test_two_windows_come_out() -> None:
    """A window holds a full frame and its gap; the second window opens when the last bit can arrive."""
    first, second = windows(shipped()).values()
    assert first == (50 * US, 50 * US + FULL + 96)
    assert second == (first[1] + 2 * US, first[1] + 2 * US + FULL + 96)


def test_latency_is_that_of_the_last_window() -> None:
    """As in Fig. 35, only the last link has jitter, for any delay of the first switch."""
    opens, _ = windows(shipped())["kbox2 -> i210"]
    assert set(latencies(run("planned-windows"))) == {opens + STAMP}


def test_ticks_of_10_us_would_make_the_printed_windows() -> None:
    """Fig. 34: 50 to 70 us at the sender, 70 to 90 us at the receiver. The paper does not print ticks."""
    assert windows(ticking(shipped(), 10 * US)) == {
        "kbox1 -> kbox2": (50 * US, 70 * US),
        "kbox2 -> i210": (70 * US, 90 * US),
    }


@pytest.mark.parametrize("frame", [64, 128, 600, 1000, 1522])
def test_windows_are_as_long_as_messages(frame: int) -> None:
    message = shipped().streams["message"].model_copy(update={"size": model.FixedSize(octets=frame)})
    own = ticking(shipped().model_copy(update={"streams": {"message": message}}), 10 * US)
    long = 8 * (8 + frame + 12)
    ticks = -(-long // (10 * US)) * 10 * US
    assert [closes - opens for opens, closes in windows(own).values()] == [ticks, ticks]
