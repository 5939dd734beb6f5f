"""Which cycles are tried, which streams are followed, and which plan is the best, by hand."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from planning.windows.test_propagation import LINE, asked, window
from support.planned import document_of, problems_of
from tsnbench.planning.windows.planner import (
    _check_qdisc,
    _cycles,
    _followed,
    _in_time,
    _left,
    _units,
)
from tsnbench.planning.windows.propagation import FlowDelays, Outcome, Queue
from tsnbench.scenario import model

US = 1_000


@pytest.mark.parametrize(
    ("periods", "windows", "expected"),
    [
        # The greatest common divisor is 120 us, the least common multiple 720 us.
        ((240, 360), "", [720, 360, 240, 120, 60, 30, 24, 15, 12, 7.5]),
        ((240, 360), "longest-cycle: 720 us", [720, 360, 240, 120, 60, 30, 24, 15, 12, 7.5]),
        ((240, 360), "longest-cycle: 719 us", [360, 240, 120, 60, 30, 24, 15, 12, 7.5]),
        ((240, 360), "granularity: 8 us", [720, 360, 240, 120, 24]),
        ((240, 360), "cycle: 100 us", [100]),
        # 2, 3, 4, 5, 8 and 10 times the divisor; a half, a quarter, a fifth, ... of it.
        ((80, 9_600), "", [9_600, 800, 640, 400, 320, 240, 160, 80, 40, 20, 16, 10, 8, 5]),
        # A sixteenth of 1000 ns is no whole number.
        ((1, 1), "", [1, 0.5, 0.25, 0.2, 0.125, 0.1]),
        # 399 and one data unit in 9975 us are examined, 400 and one in 10 ms are not.
        ((25, 9_975), "", [9_975, 75, 25, 12.5, 6.25, 5, 3.125, 2.5]),
        ((25, 10_000), "", [250, 200, 125, 100, 50, 25, 12.5, 6.25, 5, 3.125, 2.5]),
    ],
)
def test_cycles_that_are_tried(periods: tuple[int, int], windows: str, expected: list[float]) -> None:
    text = LINE.replace("margin: 100 ns", windows).replace(", offset: 20 us", "").replace("1000 B", "64 B")
    lines = text.splitlines(keepends=True)
    (place,) = (place for place, line in enumerate(lines) if line.startswith("  x: "))
    lines[place : place + 1] = [
        lines[place].replace("  x: ", f"  x{period}: ").replace("500 us", f"{period} us")
        for period in sorted(set(periods))
    ]
    assert _cycles(*asked("".join(lines))) == [own * US for own in expected]


def test_data_units_of_a_cycle() -> None:
    """At least one of each periodic stream."""
    patterns = [model.Periodic(period=100), model.Periodic(period=300), model.Saturating()]
    assert _units(patterns, 250) == 2 + 1
    assert _units(patterns, 299) == 2 + 1
    assert _units(patterns, 300) == 3 + 1


CROSSING: dict[Queue, list[tuple[int, int]]] = {
    (0, 1): [(0, 0), (1, 0)],
    (0, 2): [(2, 0)],
    (0, 0): [(3, 0)],
    (1, 2): [(2, 1), (4, 0)],
    (1, 1): [(5, 0)],
    (2, 1): [(0, 1)],
    (3, 1): [(6, 0)],
}


@pytest.mark.parametrize("inside", [{0}, {0, 2}])
def test_streams_that_may_precede_others_are_followed(inside: set[int]) -> None:
    """At port 0, ``0`` waits for ``1`` in its class and for ``2`` above it; ``2`` waits at port 1 for ``4``.

    Lower classes, and streams that only cross other ports, are not followed.
    """
    assert _followed(inside, CROSSING, {(2, 1)}) == {0, 1, 2, 4}
    # A window keeps others away.
    assert _followed({0}, CROSSING, {(0, 1), (2, 1)}) == {0}


@pytest.mark.parametrize(
    ("qdisc", "hosts", "refused"),
    [
        ({"taprio": "software"}, ["a"], True),
        ({"taprio": "software"}, [], False),
        ({"taprio": "full-offload"}, ["a"], False),
        ({"taprio": None}, ["a"], False),
        (None, ["a"], False),
        ({"taprio": "txtime-assist"}, ["a"], True),
        ({"taprio": "txtime-assist", "etf": {3: model.Etf(delta=5_000, offload=True)}}, ["a"], False),
        ({"taprio": "txtime-assist", "etf": {3: model.Etf(delta=5_000)}}, ["a"], True),
        ({"taprio": "txtime-assist", "etf": {0: model.Etf(delta=5_000, offload=True)}}, ["a"], True),
        ({"taprio": "software", "etf": {3: model.Etf(delta=5_000, offload=True)}}, ["a"], True),
    ],
)
def test_kernels_whose_windows_are_not_exact(
    qdisc: dict[str, Any] | None, hosts: list[str], refused: bool
) -> None:
    one, _ = asked(LINE)
    one.scenario = one.scenario.model_copy(update={"hosts": dict.fromkeys(hosts, model.Host())})
    own = None if qdisc is None else model.Qdisc(**qdisc)
    one.ports[0].shaper = one.ports[0].shaper.model_copy(update={"qdisc": own})
    _check_qdisc(one, one.ports[0], {1})
    assert bool(one.problems) is refused


def test_only_the_windows_of_its_own_port_are_a_kernels() -> None:
    """The windows of ``y``, in another class, are only at ``m``."""
    text = LINE.replace("[a, b]", "[a, b, c]").replace("{3: 1, 0: 0}", "{3: 2, 2: 1, 0: 0}")
    text = text.replace("m -- b]", "m -- b, c -- m]")
    text = text.replace("windows:", "  y: {from: c, to: b, pcp: 2, SAME\nhosts: {a: {qdisc: 1 us}}\nwindows:")
    text = text.replace("SAME", "frame: 1000 B, period: 500 us, requires: {delay: 1 ms}}")
    kernel = "qdisc: {taprio: txtime-assist, txtime-delay: 100 us, etf: {3: {delta: 5 us, offload: true}}}"
    asked(text.replace("gates: plan}}", f"gates: plan}}, a -> m: {{{kernel}}}}}"))


def test_the_delay_from_the_release_is_in_time() -> None:
    """The limit is 1 ms."""
    one, _ = asked(LINE)

    def in_time(since_release: int | None) -> bool:
        return _in_time(one, Outcome(1, delays={(0, 1): FlowDelays(0, 0, 0, since_release)}))

    assert in_time(1_000_000_000)
    assert not in_time(1_000_000_001)
    assert not in_time(None)
    one.flows[0].stream = one.flows[0].stream.model_copy(update={"requires": model.Requirements()})
    assert in_time(None)


def test_what_is_left_to_others() -> None:
    """50 of 100 us less a full frame of 12.336 us; 10 us are too few for one; another port has 80 us."""
    one, _ = asked(LINE)
    own = {(0, 1): window(0, 0, 50_000), (2, 1): window(10_000, 10_000, 100_000)}
    assert _left(one, Outcome(100_000, own)) == Fraction(37_664, 100_000)
    own[2, 1] = window(10_000, 10_000, 30_000)
    assert _left(one, Outcome(100_000, own)) == Fraction(37_664 + 67_664, 100_000)
    assert _left(one, Outcome(100_000)) == 0


def test_of_equal_plans_the_first_rule_is_taken() -> None:
    """A frame of 8160 ns comes from 0 to 2 us in every cycle of 20 us.

    Windows are 8160 ns if they gather, and 10160 ns if they pass. Neither leaves room for a full frame of
    12336 ns, so they leave equally little to others, and the first rule gathers.
    """
    text = LINE.replace("period: 500 us, offset: 20 us", "period: 20 us, jitter: 2 us")
    document = document_of(text.replace("margin: 100 ns", "cycle: 20 us"))
    assert document["ports"][0]["gates"] == {
        "base_time_ns": 2_000,
        "cycle_ns": 20_000,
        "entries": [{"open": 0b10, "interval_ns": 8_160}, {"open": 0b01, "interval_ns": 11_840}],
    }


def test_the_load_is_of_the_classes_with_windows_at_a_port() -> None:
    """Only ``m -> b`` has windows: 8160 ns every 8 us."""
    text = LINE.replace("500 us, offset: 20 us", "8 us").replace("all: {gates", "m -> b: {gates")
    assert [one.found for one in problems_of(text)] == ["102% of its time"]
