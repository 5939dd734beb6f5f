"""Planned windows by hand: lengths and places that follow from arithmetic, and why there are none."""

from __future__ import annotations

from typing import Any

import pytest

from support.networks import links, network, periodic, saturating
from support.planned import problems_of
from tsnbench.planning import plan
from tsnbench.scenario import model
from tsnbench.scenario.loader import read_scenario

US, MS = 1_000, 1_000_000
LINE = "a-s1 s1-s2 s2-b"
NODES = "a:station s1:bridge s2:bridge b:station"


def made(
    streams: dict[str, model.Stream], text: str = LINE, nodes: str = NODES, **changes: Any
) -> model.Scenario:
    windows = changes.pop("windows", model.Windows())
    values: dict[str, Any] = {
        "name": "windows",
        "duration": 10 * MS,
        "network": network(nodes, links(text)),
        "streams": streams,
        "shapers": {"*": model.Shaper(gates=model.Planned())},
        "windows": windows,
    }
    return model.Scenario(**(values | changes))


def lists(scenario: model.Scenario) -> dict[str, tuple[int, list[tuple[int, int]]]]:
    """Port: base time and entries, in ns."""
    return {
        port["name"]: (
            port["gates"]["base_time_ns"],
            [(entry["open"], entry["interval_ns"]) for entry in port["gates"]["entries"]],
        )
        for port in plan(scenario).document["ports"]
        if "gates" in port
    }


def requires(delay: int, jitter: int | None = None) -> model.Requirements:
    limits = () if jitter is None else (model.JitterLimit(kind="delay-step-abs", limit=jitter),)
    return model.Requirements(delay=delay, jitter=limits)


def test_hardware_has_its_say() -> None:
    own = periodic("a", "b", pattern=model.Periodic(period=MS, offset=1), requires=requires(200 * US))
    windows = model.Windows(granularity=10 * US, shortest_interval=30 * US)
    for base, entries in lists(made({"s": own, "rest": saturating("a", "b")}, windows=windows)).values():
        assert base % (10 * US) == 0
        assert [length % (10 * US) for _, length in entries] == [0, 0]
        assert entries[0][1] == 30 * US


def test_ptp_without_a_window_is_warned_of() -> None:
    entries = (
        model.GateEntry(open=(7,), duration=500 * US),
        model.GateEntry(open=(6, 5, 4, 3, 2, 1, 0), duration=500 * US),
    )
    streams = {"s": periodic("a", "b", pcp=3)}
    clocks = model.Clocks(gptp=model.Gptp(grandmaster="a"))

    def warned(first: int, pcps: tuple[int, ...]) -> dict[str, str]:
        own = (entries[0].model_copy(update={"open": pcps, "duration": first}), entries[1])
        shapers = {"s1 -> s2": model.Shaper(gates=model.Gates(entries=own))}
        found = plan(made(streams, shapers=shapers, clocks=clocks)).warnings
        return {warning.kind: warning.text for warning in found}

    assert not warned(500 * US, (7,)).keys() & {"ptp-no-window", "ptp-window-too-short"}
    assert warned(500 * US, ())["ptp-no-window"] == (
        "PTP's messages (PCP 7, class 7) have no window, clocks behind this port run free: "
        "open their class in some entry, or give them another PCP"
    )
    # 94 octets and a preamble.
    assert "take up to 816 ns, their longest window is 815 ns" in warned(815, (7,))["ptp-window-too-short"]
    assert "ptp-window-too-short" not in warned(816, (7,))


@pytest.mark.parametrize("requires", ["requires: {delay: 1 ms}", "offset: 100 us"])
def test_what_a_shaper_holds_back_without_a_bound_shares_no_window(requires: str) -> None:
    """Whoever comes from a credit-based shaper comes at any time, and so many at once as it has gathered."""
    text = """\
name: held
duration: 20 ms
network:
  {stations: [a, x, b], bridges: [s1, s2], links: [a -- s1, x -- s2, s1 -- s2, s2 -- b], rate: 100 Mbit/s}
streams:
  held: {from: a, to: b, pcp: 7, frame: 200 B, period: 500 us, REQUIRES}
  own: {from: x, to: b, pcp: 7, frame: 200 B, period: 500 us, requires: {delay: 500 us}}
shapers:
  s2 -> b: {gates: plan}
  s1 -> s2: {cbs: {7: {bandwidth: 3.4 Mbit/s}}}
"""
    found = {problem.path: problem.expected for problem in problems_of(text.replace("REQUIRES", requires))}
    assert "streams.own.requires" in found
    assert ("streams.held.requires" in found) == requires.startswith("requires")
    assert all(text.startswith("windows at all ports on its path") for text in found.values())


def test_frames_that_a_window_lets_go_together_count_where_there_is_none() -> None:
    """Three windows let ten frames each go at once, and a frame waits for them in a port without gates.

    Its delay was 740 us in the simulator, so that a limit of 500 us is refused.
    """
    text = """\
name: together
duration: 30 ms
network:
  stations: [a1, a2, a3, a4, b]
  bridges: [p1, p2, p3, p4, m]
  links: [a1 -- p1, a2 -- p2, a3 -- p3, a4 -- p4, p1 -- m, p2 -- m, p3 -- m, p4 -- m, m -- b]
  rate: 100 Mbit/s
streams:
"""
    for number in (1, 2, 3):
        text += f"  s{number}: {{from: a{number}, to: b, frame: 400 B, period: 250 us, SAME}}\n"
    text += "  rare: {from: a4, to: b, frame: 400 B, period: 2500 us, offset: 400 us, pcp: 7, REQUIRES}\n"
    text += "windows: {cycle: 2.5 ms}\nshapers:\n"
    text += "".join(f"  p{number} -> all: {{gates: plan}}\n" for number in (1, 2, 3, 4))
    text = text.replace("SAME", "pcp: 7, requires: {delay: 5 ms}")
    assert [
        problem.path for problem in problems_of(text.replace("REQUIRES", "requires: {delay: 500 us}"))
    ] == ["streams.rare.requires.delay"]
    lists(read_scenario(text.replace("REQUIRES", "requires: {delay: 2 ms}"))[0])
