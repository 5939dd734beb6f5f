"""Demands of windows by hand: frames of a cycle at the talker, and times of software and links."""

from __future__ import annotations

import pytest

from tsnbench.planning.draft import Draft
from tsnbench.planning.passes import draft
from tsnbench.planning.windows.demand import (
    Unit,
    gap_ps,
    lateness,
    processing,
    released,
    sending,
    span,
    wire,
)
from tsnbench.scenario import model, read_scenario

US = 1_000_000
TALKER = (
    "a: {wakeup: 3 us, send: {from: 1 us, to: 2 us}, qdisc: 4 us, driver: 5 us, tx: {from: 6 us, to: 8 us}}"
)


def made(stream: str = "", hosts: str = "", shapers: str = "", node: str = "") -> Draft:
    """One stream from ``a`` over ``m`` to ``b``, 500 us unless ``stream`` says otherwise."""
    period = "" if "period" in stream else "period: 500 us, "
    size = "" if "frame" in stream or "size" in stream else "frame: 1000 B, "
    text = f"""\
name: demand
duration: 10 ms
network:
  {{stations: [a, b], hosts: [m], rate: 1 Gbit/s, links: [a -- m, m -- b],
   queues: {{classes: {{3: 1, 0: 0}}}}{node}}}
hosts: {{{hosts}}}
streams: {{x: {{from: a, to: b, pcp: 3, {period}{size}{stream}}}}}
shapers: {{{shapers}}}
"""
    return draft(read_scenario(text)[0])


@pytest.mark.parametrize(
    ("latency", "expected"),
    [
        (None, (0, 0)),
        (model.Constant(ns=3), (3, 3)),
        (model.Uniform(low=2, high=7), (2, 7)),
        # The last bin begins at 30 and is 5 wide; those without a value do not count.
        (model.Histogram(values=(5, 10, 30, 40), counts=(0, 3, 1, 0), width=5), (10, 35)),
    ],
)
def test_least_and_greatest_latency(latency: model.Latency | None, expected: tuple[int, int]) -> None:
    assert span(latency) == expected


def test_frames_of_a_cycle() -> None:
    """Of 500 us, the first 20 us behind each begin and up to 30 us late; the run ends at 10 ms."""
    one = made("offset: 20 us, jitter: 30 us")
    end = 10_000 * US
    assert released(one, 0, 1_000_000) == [
        Unit(0, 0, 20 * US, 50 * US, until=end, turn=0, released=20 * US),
        Unit(0, 0, 520 * US, 550 * US, until=end, turn=1, released=520 * US),
    ]
    assert released(one, 0, 500_000) == [Unit(0, 0, 20 * US, 50 * US, until=end, released=20 * US)]
    # Every other cycle has none.
    assert released(one, 0, 250_000) == [Unit(0, 0, 20 * US, 50 * US, released=20 * US)]
    # Cycles of 200 us fall anywhere: (200 + 30) / 500 us are one, of 750 us (750 + 30) / 500 two.
    assert released(one, 0, 200_000) == [Unit(0, 0, 0, 0, known=False, count=1)]
    assert released(one, 0, 750_000) == [Unit(0, 0, 0, 0, known=False, count=2)]
    # An offset brings no more.
    assert released(made("offset: 400 us"), 0, 200_000) == [Unit(0, 0, 0, 0, known=False, count=1)]


def test_a_jitter_may_bring_one_more() -> None:
    # 300 us and 200 us of jitter are one period, a nanosecond more two.
    assert released(made("jitter: 200 us"), 0, 300_000) == [Unit(0, 0, 0, 0, known=False, count=1)]
    assert released(made("jitter: 200 us"), 0, 300_001) == [Unit(0, 0, 0, 0, known=False, count=2)]


def test_a_cycle_of_too_many_frames_is_not_examined() -> None:
    one = made()
    assert len(released(one, 0, 1_000 * 500_000) or []) == 1_000
    assert released(one, 0, 1_001 * 500_000) is None
    assert released(one, 0, 1_000 * 500_000 - 1) == [Unit(0, 0, 0, 0, known=False, count=1_000)]
    assert released(one, 0, 1_000 * 500_000 + 1) is None


def test_a_start_and_a_stop_move_the_frames_and_their_end() -> None:
    (only,) = released(made("start: 2 ms, stop: 7 ms, offset: 1 us"), 0, 500_000) or []
    assert (only.first, only.last, only.released, only.until) == (
        2_001 * US,
        2_001 * US,
        2_001 * US,
        7_000 * US,
    )


def test_times_at_a_port() -> None:
    """1 Gbit/s: 8 ns an octet; 8 octets of preamble ahead and a gap of 12 behind; a tag has 6."""
    one = made()
    port = one.ports[one.flows[0].route[0].port]
    assert gap_ps(port) == 96_000
    plain, tagged = wire(one.flows[0], port, False), wire(one.flows[0], port, True)
    assert (plain.whole, plain.least, plain.first, plain.frame) == (
        1_020 * 8_000,
        1_020 * 8_000,
        1_008 * 8_000,
        1_008 * 8_000,
    )
    assert (tagged.whole, tagged.least, tagged.first, tagged.frame) == (
        1_026 * 8_000,
        1_026 * 8_000,
        1_014 * 8_000,
        1_014 * 8_000,
    )


def test_software_of_the_talker_is_late() -> None:
    """Wakeup 3, send 1 to 2, qdisc 4, driver 5, tx 6 to 8: 19 to 22 us; the timer is 10 us early."""
    one = made("jitter: 7 us", TALKER)
    assert lateness(one, one.flows[0]) == (19 * US, 29 * US)
    one = made("send: {advance: 10 us}", TALKER)
    assert lateness(one, one.flows[0]) == (9 * US, 12 * US)
    # Without a period there is no jitter.
    one.flows[0].stream = one.flows[0].stream.model_copy(update={"pattern": model.Saturating()})
    assert lateness(one, one.flows[0]) == (9 * US, 12 * US)
    # Others' software is no matter.
    one = made("", TALKER.replace("a:", "b:"))
    assert lateness(one, one.flows[0]) == (0, 0)


@pytest.mark.parametrize(
    ("send", "etf", "expected"),
    [
        # The card holds the frame until its instant: never early, and late by what the timer lacks.
        ("advance: 20 us, txtime: true", "offload: true, ", (0, 2)),
        ("advance: 30 us, txtime: true", "offload: true, ", (0, 0)),
        # Without the card, or without the instant in the frame, it is as early as the timer.
        ("advance: 20 us, txtime: true", "", (-1, 2)),
    ],
)
def test_a_card_that_holds_frames(send: str, etf: str, expected: tuple[int, int]) -> None:
    one = made(f"send: {{{send}}}", TALKER, f"a -> m: {{qdisc: {{etf: {{3: {{{etf}delta: 5 us}}}}}}}}")
    assert lateness(one, one.flows[0]) == (expected[0] * US, expected[1] * US)


def test_a_host_on_the_way_takes_its_reception_and_its_sending() -> None:
    stages = "m: {kernel-rx: {from: 1 us, to: 3 us}, qdisc: 4 us, driver: 5 us, tx: {from: 6 us, to: 8 us}}"
    one = made("", stages)
    port = one.ports[one.flows[0].route[1].port]
    assert processing(one, port) == (16 * US, 20 * US)
    assert processing(one, one.ports[one.flows[0].route[0].port]) == (0, 0)


def test_launch_times_are_later_and_the_card_keeps_them() -> None:
    """taprio's txtime-assist: only the queueing discipline before the gates, and its delay."""
    stages = "m: {kernel-rx: 1 us, qdisc: {from: 4 us, to: 6 us}, driver: 5 us, tx: 6 us}"
    gates = "gates: {entries: [{open: [1], for: 50 us}, {open: [0], for: 50 us}]}"
    for mode, expected in [
        ("software", (15_000, 17_000)),
        ("txtime-assist, txtime-delay: 100 us", (104_000, 106_000)),
    ]:
        one = made("", stages, f"m -> b: {{{gates}, qdisc: {{taprio: {mode}}}}}")
        port = one.ports[one.flows[0].route[1].port]
        assert sending(one.scenario.hosts["m"], one, port) == expected
        # The reception takes 1 us more.
        assert processing(one, port) == tuple((1_000 + each) * 1_000 for each in expected)
    # A delay of zero is none.
    own = model.Qdisc(taprio="txtime-assist", txtime_delay=0)
    port.shaper = port.shaper.model_copy(update={"qdisc": own})
    assert sending(one.scenario.hosts["m"], one, port) == (4_000, 6_000)
    # Software does not wait for launch times: 4 to 6, 5 and 6 us.
    own = model.Qdisc(taprio="software", txtime_delay=100_000)
    port.shaper = port.shaper.model_copy(update={"qdisc": own})
    assert sending(one.scenario.hosts["m"], one, port) == (15_000, 17_000)


def test_launch_times_of_a_talker() -> None:
    """Wakeup 3, send 1 to 2, qdisc 4, and 100 us of txtime-delay."""
    gates = "gates: {entries: [{open: [1], for: 50 us}, {open: [0], for: 50 us}]}"
    one = made("", TALKER, f"a -> m: {{{gates}, qdisc: {{taprio: txtime-assist, txtime-delay: 100 us}}}}")
    assert lateness(one, one.flows[0]) == (108 * US, 109 * US)
