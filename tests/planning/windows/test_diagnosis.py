"""Which requirements windows do not meet, by hand: 1 Gbit/s, 8 ns an octet, cycles of 20 us."""

from __future__ import annotations

from typing import Any

import pytest

from planning.windows.test_propagation import LINE, NS, asked, delays, window
from tsnbench.planning.draft import Draft
from tsnbench.planning.windows.diagnosis import (
    Violation,
    _apart,
    _asked,
    _full,
    _late,
    _rest,
    left_to_rest,
    needs_window,
    report_too_full,
    report_violations,
    violations,
)
from tsnbench.planning.windows.propagation import FlowDelays, Outcome
from tsnbench.planning.windows.sizing import Window
from tsnbench.scenario import model

US = 1_000
CYCLE = 20 * US
LIMIT = 10 * US
JITTER = (model.JitterLimit(kind="delay-step-abs", limit=LIMIT),)
INTERVAL = (model.JitterLimit(kind="interval", limit=LIMIT),)
PATH = "streams.x.requires"


def line(more: str = "", **requires: Any) -> Draft:
    """The line with other requirements of its stream, and more streams."""
    one, _ = asked(LINE.replace("windows:", f"{more}windows:"))
    stream = one.flows[0].stream
    one.flows[0].stream = stream.model_copy(update={"requires": model.Requirements(**requires)})
    return one


@pytest.mark.parametrize(
    ("requires", "needs"),
    [
        ({}, False),
        ({"rate": 1}, False),
        ({"loss_ppm": 0}, False),
        ({"delay": 1}, True),
        ({"release_delay": 1}, True),
        ({"percentiles": {990_000: 1}}, True),
        ({"jitter": JITTER}, True),
    ],
)
def test_what_needs_a_window(requires: dict[str, Any], needs: bool) -> None:
    one = line(**requires)
    assert needs_window(one.flows[0]) is needs
    # Without windows at all ports nothing is known of the delay.
    expected = [
        Violation(
            PATH,
            "windows at all ports on its path, or something else that bounds the wait there",
            "one without",
            "write gates: plan for all ports on its path and on the paths of streams in its class",
        )
    ]
    assert _late(one.flows[0], FlowDelays(None, 0, 0)) == (expected if needs else [])


@pytest.mark.parametrize(
    ("requires", "name"),
    [
        ({"delay": LIMIT}, "delay"),
        ({"release_delay": LIMIT}, "delay from release"),
        ({"percentiles": {999_000: LIMIT}}, "delay p99.9"),
    ],
)
def test_a_delay_is_as_long_as_its_limit_or_longer(requires: dict[str, Any], name: str) -> None:
    """A picosecond more is told as the next nanosecond. Windows do not help if no frame is so quick."""
    flow, limit = line(**requires).flows[0], LIMIT * NS
    assert _late(flow, FlowDelays(limit, 0, limit, limit)) == []
    told = (f"{PATH}.{name}", "windows that bring it within 10 us", "up to 10.001 us")
    assert _late(flow, FlowDelays(limit + 1, 0, limit, limit + 1)) == [
        Violation(*told, "a shorter cycle, an offset at the window, or fewer streams in its class")
    ]
    assert _late(flow, FlowDelays(limit + 1, 0, limit + 1, limit + 1)) == [
        Violation(*told, "no window helps: it takes 10.001 us at least; a faster link or smaller frame")
    ]
    # Of another one nothing is known.
    other = FlowDelays(1, 0, 0, None) if name == "delay from release" else FlowDelays(1, 0, 0, 2 * limit)
    assert _late(flow, other) == []


@pytest.mark.parametrize("jitter", [JITTER, INTERVAL])
def test_a_jitter_is_as_long_as_its_limit_or_longer(jitter: tuple[model.JitterLimit, ...]) -> None:
    """Delays of two frames, or the time between two arrivals and the period."""
    flow = line(jitter=jitter).flows[0]

    def found(varies: int) -> list[Violation]:
        if jitter is JITTER:
            return _late(flow, FlowDelays(7 * NS + varies, 7 * NS, 0, 0, (0, 90_000 * NS)))
        return _late(flow, FlowDelays(90_000 * NS, 0, 0, 0, (-3 * NS, varies - 3 * NS)))

    assert found(LIMIT * NS) == []
    assert found(LIMIT * NS + 1) == [
        Violation(
            f"{PATH}.jitter",
            "windows that keep its jitter within 10 us",
            "up to 10.001 us",
            "fewer streams in its class, frames of one size, or scheduled: true",
        )
    ]


def test_frames_of_one_data_unit_are_less_than_a_period_apart() -> None:
    one = line()
    (flow,) = one.flows
    assert _apart(flow, delays(None, 0, 0, since_due=(3, 8))) == 5 * NS
    assert _apart(flow, delays(None, 0, 0, since_due=(3, 3))) == 0
    assert _apart(flow, FlowDelays(None, 0, 0)) is None
    flow.size = {"kind": "units", "octets": [10, 2_000], "most_per_frame": 1_000, "overhead": 50}
    # 500 us is the period; a difference of more than it counts.
    assert _apart(flow, delays(None, 0, 0, since_due=(3, 8))) == 500_000 * NS
    assert _apart(flow, delays(None, 0, 0, since_due=(3, 500_004))) == 500_001 * NS
    flow.stream = flow.stream.model_copy(update={"pattern": model.Saturating()})
    assert _apart(flow, delays(None, 0, 0, since_due=(3, 8))) is None


LOW = "  low: {from: a, to: b, pcp: 0, frame: 500 B, period: 10 us}\n"
"""4160 ns with preamble and gap."""


def rest(one: Draft, *windows: Window) -> list[tuple[str, str]]:
    """What is violated at ``a -> m``."""
    outcome = Outcome(CYCLE, {(0, 1 + number): own for number, own in enumerate(windows)})
    # Those of other ports do not count.
    outcome.windows[2, 1] = window(0, 0, CYCLE)
    found = _rest(one, outcome, one.ports[0], {1})
    assert {each.path for each in found} <= {"shapers.all.gates"} | {"shapers.a -> m.gates"}
    assert {each.hint for each in found} <= {"a longer cycle, or fewer streams with windows"}
    return [(each.expected, each.found) for each in found]


def test_room_for_a_frame_of_the_others() -> None:
    frame = "4.16 us for a frame of the other classes at a -> m"
    one = line(LOW)
    assert rest(one, window(0, 0, 15_840)) == []
    assert rest(one, window(0, 0, 15_841)) == [(frame, "4.159 us")]
    # The longest pause counts.
    assert rest(one, window(0, 0, 1_000), window(5_160, 5_160, 19_000)) == []
    assert rest(one, window(0, 0, 1_000), window(5_159, 5_159, 19_000)) == [(frame, "4.159 us")]
    assert rest(one, window(0, 0, CYCLE)) == [(frame, "0 ns")]
    # Without other streams there is nothing to transmit.
    assert rest(line(), window(0, 0, CYCLE)) == []
    # A guard of one frame.
    own = one.scenario.windows.model_copy(update={"guard_band": True})
    one.scenario = one.scenario.model_copy(update={"windows": own})
    assert rest(one, window(0, 0, 11_680)) == []
    assert rest(one, window(0, 0, 11_681)) == [(frame, "4.159 us")]
    assert rest(one, window(0, 0, 15_841)) == [(frame, "0 ns")]


@pytest.mark.parametrize("pcp", [0, 3])
def test_room_for_the_messages_of_ptp(pcp: int) -> None:
    """588 octets in a class without a window: 4704 ns."""
    one = line(LOW)
    clocks = model.Clocks(gptp=model.Gptp(grandmaster="a", pcp=pcp))
    one.scenario = one.scenario.model_copy(update={"clocks": clocks})
    assert rest(one, window(0, 0, 15_296)) == []
    told = [("4.704 us for PTP's messages at a -> m", "4.703 us")]
    assert rest(one, window(0, 0, 15_297)) == (told if pcp == 0 else [])
    assert ("4.704 us for PTP's messages at a -> m", "0 ns") in rest(one, window(0, 0, CYCLE)) or pcp == 3
    one.scenario = one.scenario.model_copy(update={"clocks": model.Clocks()})
    assert rest(one, window(0, 0, 15_297)) == []


@pytest.mark.parametrize("requires", ["rate: 400 Mbit/s", "loss: 0"])
def test_room_for_the_rates_of_the_others(requires: str) -> None:
    """520 octets on the wire every 10 us are 416 Mbit/s, 8.32 us of 20 us; 400 without 20 of them."""
    one = line(LOW.replace("10 us", f"10 us, requires: {{{requires}}}"))
    assert _asked(one, one.ports[0], {1}) == 416_000_000
    assert _asked(one, one.ports[0], {0, 1}) == 0
    assert rest(one, window(0, 0, 11_680)) == []
    told = "416 Mbit/s that streams of the other classes at a -> m require"
    assert rest(one, window(0, 0, 11_681)) == [(told, "415.95 Mbit/s")]
    # Two pauses together.
    assert rest(one, window(0, 0, 6_680), window(10_000, 10_000, 15_000)) == []
    assert rest(one, window(0, 0, 6_681), window(10_000, 10_000, 15_000)) == [(told, "415.95 Mbit/s")]


def test_rates_of_several_streams_with_tags() -> None:
    """526 octets every 10 us are 420.8 Mbit/s on the first link; another one requires 4 of 500."""
    more = LOW.replace("10 us", "10 us, frer: {}, requires: {loss: 0}")
    more += LOW.replace("low", "also").replace("10 us", "1 ms, requires: {rate: 4 Mbit/s}")
    one, _ = asked(LINE.replace("[a -- m, ", "[a -- m, a -- m, ").replace("windows:", f"{more}windows:"))
    assert _asked(one, one.ports[0], {1}) == 420_800_000 + 4_160_000
    # A frame with its tag has 4208 ns.
    assert left_to_rest(one, one.ports[0], {1}) == left_to_rest(one, one.ports[0], {1}, 0) == 4_208 * NS
    assert left_to_rest(one, one.ports[0], {0}) == 8_160 * NS
    assert left_to_rest(one, one.ports[0], {0, 1}) == 12_336 * NS
    assert left_to_rest(one, one.ports[0], {0, 1}, 5) == 5


@pytest.mark.parametrize(("period", "told"), [("8161 ns", []), ("8160 ns", ["100% of its time"])])
def test_classes_that_ask_for_all_of_a_port(period: str, told: list[str]) -> None:
    """8160 ns of one stream; one of another class asks for 41 %."""
    one = line(LOW)
    pattern = model.Periodic(period=int(period.split()[0]))
    one.flows[0].stream = one.flows[0].stream.model_copy(update={"pattern": pattern})
    report_too_full(one, one.ports[0], {1})
    assert [each.found for each in one.problems] == told
    one.problems.clear()
    report_too_full(one, one.ports[0], {0, 1})
    assert [each.found for each in one.problems] == ["142% of its time"]


def test_a_window_without_room_is_the_only_violation() -> None:
    one = line(delay=1)
    outcome = Outcome(
        CYCLE,
        windows={(0, 0): window(0, 0, 1_000), (0, 2): window(5_000, 5_000, 8_000), (2, 1): window(0, 0, 500)},
        full={(0, 1): 24_480 * NS - 1},
        delays={(0, 1): FlowDelays(None, 0, 0)},
    )
    told = Violation(
        "shapers.a -> m.gates",
        "a window for class 1 at a -> m",
        "24.48 us that it needs of 20 us, of which other classes' windows take 4 us",
        "a cycle that is a multiple of the periods, fewer streams, or a faster link",
    )
    assert _full(one, outcome) == violations(one, outcome) == [told]
    del outcome.windows[0, 0], outcome.windows[0, 2]
    (alone,) = violations(one, outcome)
    assert alone.found == "24.48 us that it needs of 20 us"
    outcome.full.clear()
    assert [each.path for each in violations(one, outcome)] == [PATH]


def test_violations_of_streams_and_of_ports_are_told_once() -> None:
    one = line(LOW, delay=1)
    outcome = Outcome(
        CYCLE,
        windows={(0, 1): window(0, 0, CYCLE), (2, 1): window(0, 0, 1_000)},
        delays={(0, 1): delays(8_000, 0, 0), (0, 2): delays(8_000, 0, 0)},
    )
    wrong = violations(one, outcome)
    assert [each.path.split(".")[0] for each in wrong] == ["streams", "streams", "shapers"]
    report_violations(one, wrong, outcome)
    assert [each.found for each in one.problems] == [
        "up to 8 us, with a cycle of 20 us",
        "0 ns, with a cycle of 20 us",
    ]


def test_a_guard_takes_its_time_from_every_pause() -> None:
    """4160 ns of guard: pauses of 4160 and 12480 ns leave 8320, as much as 416 Mbit/s need."""
    one = line(LOW.replace("10 us", "10 us, requires: {loss: 0}"))
    own = one.scenario.windows.model_copy(update={"guard_band": True})
    one.scenario = one.scenario.model_copy(update={"windows": own})
    assert rest(one, window(0, 0, 1_680), window(5_840, 5_840, 7_520)) == []
    # A picosecond is missing, and a pause that is shorter than the guard does not count.
    for opens in (5_840, 5_839):
        longer = Window(opens * NS, opens * NS, 7_520 * NS + 1)
        ((expected, _),) = rest(one, window(0, 0, 1_680), longer)
        assert expected == "416 Mbit/s that streams of the other classes at a -> m require"


def test_streams_that_must_lose_nothing_send_together() -> None:
    """416 Mbit/s each; one that sends whenever it can has no rate."""
    more = LOW.replace("10 us", "10 us, requires: {loss: 0}")
    one = line(more + more.replace("low", "also") + more.replace("low", "last"))
    assert _asked(one, one.ports[0], {1}) == 3 * 416_000_000
    one.flows[3].pattern = {"kind": "saturating"}
    assert _asked(one, one.ports[0], {1}) == 2 * 416_000_000
