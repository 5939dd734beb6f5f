"""Streams, requirements, shapers and taps in scenarios."""

from __future__ import annotations

from typing import Any

import pytest

from tsnbench.scenario import ScenarioErrors, model, read_scenario

US, MS = 1_000, 1_000_000


def scenario(streams: str, more: str = "") -> model.Scenario:
    text = f"""
name: one
duration: 1 s
network:
  rate: 1 Gbit/s
  hosts: [a, b, c, d]
  links: [a -- b, a -- b, b -- c, c -- d, a -- d]
streams:
{streams}
{more}
"""
    (found,) = read_scenario(text)
    return found


def stream(keys: str) -> model.Stream:
    return scenario(f"  s: {{from: a, to: c, {keys}}}").streams["s"]


@pytest.mark.parametrize(
    ("keys", "pattern"),
    [
        ("period: 1 ms", model.Periodic(period=MS)),
        (
            "period: 1 ms, offset: 50 us, jitter: 2 us",
            model.Periodic(period=MS, offset=50 * US, jitter=2 * US),
        ),
        ("poisson: 10 Mbit/s", model.Poisson(rate=10**7)),
        ("poisson: {rate: 10 Mbit/s}", model.Poisson(rate=10**7)),
        ("poisson: {mean-interval: 100 us}", model.Poisson(mean_interval=100 * US)),
        ("saturating: true", model.Saturating(backlog=2)),
        ("saturating: true, backlog: 5", model.Saturating(backlog=5)),
        ("saturating: false, period: 1 ms", model.Periodic(period=MS)),
    ],
)
def test_when(keys: str, pattern: Any) -> None:
    assert stream(f"{keys}, frame: 100 B").pattern == pattern


def test_units() -> None:
    assert stream("period: 1 ms, units: [3 kB, 100 B]").size == model.UnitSizes(octets=(100, 3000))
    found = stream("period: 1 ms, units: {sizes: 200 B, most-per-frame: 100 B}").size
    assert found == model.UnitSizes(octets=(200,), most_per_frame=100)
    spread = stream("period: 1 ms, units: {mean: 2000 B, deviation: 500 B}").size
    assert isinstance(spread, model.UnitSizes)
    assert len(spread.octets) == 1000


def test_defaults_and_plain_keys() -> None:
    found = stream("period: 1 ms, frame: 100 B")
    assert (found.pcp, found.sr_class, found.vid, found.count, found.via) == (0, None, 100, 1, None)
    found = stream("period: 1 ms, frame: 100 B, vlan: 7, pcp: 6, count: 3, start: 1 ms, stop: 2 ms")
    assert (found.pcp, found.vid, found.count, found.start, found.stop) == (6, 7, 3, MS, 2 * MS)
    assert stream("period: 1 ms, frame: 100 B, vlan: none").vid is None


@pytest.mark.parametrize(("name", "pcp"), [("A", 3), ("B", 2), ("C", 5), ("D", 5)])
def test_sr_classes(name: str, pcp: int) -> None:
    found = stream(f"class: sr/{name}, period: 1 ms, frame: 100 B")
    assert (found.sr_class, found.pcp, found.requires) == (name, pcp, model.Requirements())
    assert stream("class: sr/BE, period: 1 ms, frame: 100 B").sr_class is None


def test_multicast() -> None:
    found = scenario("  s: {from: a, to: [b, d], period: 1 ms, frame: 100 B}").streams["s"]
    assert found.listeners == ("b", "d")


@pytest.mark.parametrize(
    ("via", "hops", "links"),
    [
        ("[d]", ("a", "d", "c"), (None, None)),
        ("[a, d, c]", ("a", "d", "c"), (None, None)),
        ("b", ("a", "b", "c"), (None, None)),
        ("[b#2]", ("a", "b", "c"), (2, None)),
        ("['b #1', c]", ("a", "b", "c"), (1, None)),
    ],
)
def test_via(via: str, hops: tuple[str, ...], links: tuple[int | None, ...]) -> None:
    found = stream(f"period: 1 ms, frame: 100 B, via: {via}")
    assert (found.via, found.via_links) == (hops, links)


def test_requirements() -> None:
    limits = """{delay: 2 ms, delay p99.9: 500 us, delay p50: 100 us, jitter: 125 us, jitter interval: 9 us,
      loss: 0.1 %, rate: 1 Mbit/s}"""
    assert stream(f"period: 1 ms, frame: 100 B, requires: {limits}").requires == model.Requirements(
        delay=2 * MS,
        percentiles={999_000: 500 * US, 500_000: 100 * US},
        jitter=(
            model.JitterLimit(kind="delay-step-abs", limit=125 * US),
            model.JitterLimit(kind="interval", limit=9 * US),
        ),
        loss_ppm=1000,
        rate=10**6,
    )
    assert stream("period: 1 ms, frame: 100 B, requires: {loss: 0}").requires.loss_ppm == 0
    for key, kind in (("jitter", "delay-step-abs"), ("jitter interval", "interval")):
        found = stream(f"period: 1 ms, frame: 100 B, requires: {{{key}: 0}}").requires.jitter
        assert found == (model.JitterLimit(kind=kind, limit=0),)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("mean", "found"),
    [("{}", "none"), ("{rate: 1 Mbit/s, mean-interval: 1 ms}", "rate and mean-interval")],
)
def test_a_poisson_source_has_one_mean(mean: str, found: str) -> None:
    with pytest.raises(ScenarioErrors) as errors:
        stream(f"poisson: {mean}, frame: 100 B")
    (problem,) = errors.value.problems
    assert (problem.path, problem.found) == ("streams.s.poisson", found)


def test_requirements_of_a_class_overridden() -> None:
    found = stream("period: 1 ms, frame: 100 B, requires: {class: sr/A, delay: 1 ms}").requires
    assert found == model.Requirements(
        delay=MS, jitter=(model.JitterLimit(kind="delay-step-abs", limit=125 * US),), loss_ppm=0
    )
    assert stream("period: 1 ms, frame: 100 B, requires: {class: sr/A, loss: 1 %}").requires.loss_ppm == 10**4
    assert stream("period: 1 ms, frame: 100 B, requires: sr/BE").requires == model.Requirements()


STREAMS = """
  one: {from: a, to: c, class: sr/B, period: 1 ms, frame: 100 B}
  two: {from: a, to: c, class: sr/A, period: 1 ms, frame: 100 B}
  three: {from: a, to: c, class: sr/D, period: 1 ms, frame: 100 B}
"""


@pytest.mark.parametrize(
    ("written", "classes"),
    [
        ("from-streams", [(3, None, None), (2, None, None), (5, None, None)]),
        ("[A, B]", [(3, None, None), (2, None, None)]),
        ("[sr/B]", [(2, None, None)]),
        ("{A: 100 Mbit/s, 6: {}}", [(3, 10**8, None), (6, None, None)]),
        ("{B: {bandwidth: 75 Mbit/s, phy: 1500 B}}", [(2, 75 * 10**6, 1500)]),
    ],
)
def test_cbs(written: str, classes: list[tuple[int, int | None, int | None]]) -> None:
    found = scenario(STREAMS, f"shapers: {{all: {{cbs: {written}}}}}").shapers["*"].cbs
    assert found is not None
    assert [(each.pcp, each.bandwidth, each.most_frame) for each in found] == classes


def test_selectors() -> None:
    more = """
shapers:
  all: {real-rate: 900 Mbit/s}
  "*  -> b": {real-rate: 800 Mbit/s}
  a -> all: {real-rate: 700 Mbit/s}
  a -> b#2: {real-rate: 600 Mbit/s}
  b#1 -> a: {real-rate: 500 Mbit/s}
  b->c: {real-rate: 400 Mbit/s}
taps: {ports: [c -> b, a -> all], ends: false, send: true, rx-point: start, granularity: 8 ns}
"""
    found = scenario(STREAMS, more)
    assert list(found.shapers) == ["*", "* -> b", "a -> *", "a -> b #2", "b -> a #1", "b -> c"]
    assert [shaper.real_rate for shaper in found.shapers.values()] == [n * 10**8 for n in (9, 8, 7, 6, 5, 4)]
    assert found.taps == model.Taps(
        ends=False, ports=("c -> b", "a -> *"), send=True, rx_point="start", granularity=8
    )
    assert scenario(STREAMS, "taps: [b -> c]").taps.ports == ("b -> c",)
    assert scenario(STREAMS, "taps: b -> c").taps.ports == ("b -> c",)


def test_written_gates() -> None:
    more = """
shapers:
  b -> c:
    gates:
      cycle: 100 us
      base-time: 3 us
      by: class
      entries:
        - {open: [1, 7], for: 40 us}
        - {open: 2, for: 20 us}
        - {open: none, for: 10 us}
        - {open: all, for: 30 us}
"""
    gates = scenario(STREAMS, more).shapers["b -> c"].gates
    assert gates == model.Gates(
        by="class",
        base_time=3 * US,
        cycle=100 * US,
        entries=(
            model.GateEntry(open=(7, 1), duration=40 * US),
            model.GateEntry(open=(2,), duration=20 * US),
            model.GateEntry(open=(), duration=10 * US),
            model.GateEntry(open=(7, 6, 5, 4, 3, 2, 1, 0), duration=30 * US),
        ),
    )
