"""Waits at ports without windows, ahead of a port with windows, by hand: 1 Gbit/s, 8 ns an octet."""

from __future__ import annotations

import pytest

from tsnbench.planning import PlanningErrors
from tsnbench.planning.passes import draft
from tsnbench.planning.windows.planner import FORWARDING, _demands
from tsnbench.planning.windows.propagation import Outcome, lay_out
from tsnbench.scenario import model, read_scenario

NS = 1_000
HIGH, OWN = range(2)


def laid_out(high: str = "", low: str = "period: 500 us", shapers: str = "") -> Outcome:
    """Three classes from ``a`` over ``m`` to ``b``: 500, 1000 and 1500 octets; windows only behind ``m``."""
    text = f"""\
name: propagation
duration: 10 ms
network:
  {{stations: [a, b], bridges: {{m: {{processing: {{least: 1 us, most: 3 us}}}}}}, rate: 1 Gbit/s,
   links: [a -- m, m -- b], queues: {{classes: {{3: 2, 2: 1, 0: 0}}}}}}
streams:
  high: {{from: a, to: b, pcp: 3, frame: 500 B, period: 500 us{high}, requires: {{delay: 1 ms}}}}
  own: {{from: a, to: b, pcp: 2, frame: 1000 B, period: 500 us, requires: {{delay: 1 ms}}}}
  low: {{from: a, to: b, pcp: 0, frame: 1500 B, {low}}}
shapers: {{m -> b: {{gates: plan}}{shapers}}}
"""
    one = draft(read_scenario(text)[0])
    ports = [port for port in one.ports if isinstance(port.shaper.gates, model.Planned)]
    demands = _demands(one, ports)
    assert demands is not None
    outcome = lay_out(one, demands, 500_000, FORWARDING[0])
    assert outcome is not None
    return outcome


def waits(outcome: Outcome) -> list[int | None]:
    """At the talker's port, ns."""
    found = [outcome.waits.get((number, 0)) for number in (HIGH, OWN)]
    return [None if one is None else one // NS for one in found]


def test_a_lower_frame_and_all_higher_ones_are_ahead() -> None:
    """With preamble and gap 4160, 8160 and 12160 ns; of each periodic stream one is late and one is due."""
    assert waits(laid_out()) == [12_160 + 2 * 4_160, 12_160 + 2 * 4_160 + 2 * 8_160]


def test_a_jitter_of_more_than_a_period_brings_one_more() -> None:
    """36.8 us of waiting and 963.2 us of jitter are two periods."""
    assert waits(laid_out(high=", jitter: 963199 ns"))[OWN] == 36_800
    assert waits(laid_out(high=", jitter: 963200 ns"))[OWN] == 36_800 + 4_160


@pytest.mark.parametrize(
    "shaper",
    [
        "cbs: {2: 100 Mbit/s, 3: 100 Mbit/s}",
        "gates: {entries: [{open: [2, 1, 0], for: 100 us}]}",
        "ats: {pcp: [2, 3], rate: 100 Mbit/s, burst: 3 kB}",
    ],
)
def test_other_shapers_have_no_bound_here(shaper: str) -> None:
    with pytest.raises(PlanningErrors, match="windows at all ports"):
        laid_out(shapers=f", a -> m: {{{shaper}}}")
