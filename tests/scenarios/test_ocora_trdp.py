"""OCORA's tasks 2 and 3: arrivals of TRDP telegrams behind gates, and losses of a broken ring."""

from __future__ import annotations

import pytest

from support.shipped import MS, Result, simulated

DURATION = 1000 * MS
OCTET = 8  # ns at 1 Gbit/s
PREAMBLE, FULL, GAP = 8, 1522, 12
TSN, PD = 94, 114
"""Octets of the frames: tag, IPv4, UDP, TRDP's header of 20 or 40 octets, a data set of 24, and the FCS."""


def arrivals(result: Result, stream: str, period: int) -> list[int]:
    """From the beginning of the interval to the receiver's hardware, in ns."""
    found = result.frames.filter(result.frames["stream"] == stream).sort("seq")
    return [at - seq * period for at, seq in zip(found["t_rx_ns"], found["seq"], strict=True)]


@pytest.mark.parametrize("traffic", ["alone", "loaded"])
@pytest.mark.parametrize("sender", ["switch", "i210"])
def test_the_window_makes_the_time_of_arrival_a_constant(sender: str, traffic: str) -> None:
    """Tables 6 to 13: PCP 7 is open from 200 us of the interval on; then the telegram passes the trunk."""
    found = arrivals(simulated("papers/ocora/trdp-tsn", f"{sender} {traffic}", DURATION), "tsn", MS)
    assert len(found) == DURATION // MS
    assert set(found) == {200_000 + OCTET * (PREAMBLE + TSN) + OCTET * PREAMBLE}


def test_with_a_priority_alone_a_telegram_waits_for_one_frame_at_most() -> None:
    """Tables 22 and 23. The sender queues the ordinary telegram of the same program behind this one."""
    alone, loaded = (
        arrivals(simulated("papers/ocora/trdp-priority", f"i210 {traffic}", DURATION), "tsn", MS)
        for traffic in ("alone", "loaded")
    )
    waited = [more - less for more, less in zip(loaded, alone, strict=True)]
    assert min(waited) >= 0
    assert 0.9 * OCTET * FULL < max(waited) <= OCTET * (PREAMBLE + FULL + GAP)


@pytest.mark.parametrize(
    ("protocol", "traffic", "frames"),
    [("mrp-30", "loaded", 3), ("mrp-30", "alone", 3), ("mrp-200", "alone", 20), ("rstp", "alone", 100)],
)
def test_a_broken_ring_loses_ordinary_telegrams_alone(protocol: str, traffic: str, frames: int) -> None:
    """The period is 10 ms; the link is down from 1 s to 3 s; each change of path takes the same time.

    Telegram 100 is ready at 1 s, and is still in the host when the link goes down.
    """
    result = simulated("papers/ocora/trdp-ring", f"{protocol} {traffic}", 5000 * MS)

    def lost(stream: str, count: int) -> list[int]:
        own = result.frames.filter(result.frames["stream"] == stream)
        arrived = set(own.filter(own["t_rx_ns"].is_not_null())["seq"])
        return [seq for seq in range(count) if seq not in arrived]

    assert lost("tsn", 5000) == []
    assert lost("pd", 500) == [*range(100, 100 + frames), *range(300, 300 + frames)]
