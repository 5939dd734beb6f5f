"""EnGINE's list written by hand, with and without its shift per hop, beside the one that is planned."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from support.planned import frames_of, plan_of
from tsnbench import _native
from tsnbench.backends.simulation import Simulation
from tsnbench.plan.bounds import WINDOWS, bounds
from tsnbench.plan.document import Plan

# Section VI-A4: flows of 1250 B every 100 us through windows of 300, 300 and 400 us.
HEAD = """\
name: engine
duration: 10 ms
network:
  line: {hops: 4, kind: host, prefix: zgw, rate: 1 Gbit/s}
  queues: {classes: {3: 3, 2: 2, 1: 1, 0: 0}}
streams:
  a: {from: zgw1, to: zgw5, pcp: 3, phy: 1250 B, period: 100 us, requires: {delay: 2 ms}}
  b: {from: zgw1, to: zgw5, pcp: 2, phy: 1250 B, period: 100 us, requires: {delay: 2 ms}}
  rest: {from: zgw1, to: zgw5, pcp: 0, saturating: true, frame: 1500 B}
"""
ENTRIES = "entries: [{open: [3], for: 300 us}, {open: [2], for: 300 us}, {open: [1, 0], for: 400 us}]"


def _plan(shapers: str) -> Plan:
    return plan_of(HEAD + shapers)


def _by_hand(delta_us: int) -> Plan:
    gates = [
        f"  zgw{n} -> zgw{n + 1}: {{gates: {{base-time: {delta_us * (n - 1)} us, {ENTRIES}}}}}\n"
        for n in range(1, 5)
    ]
    return _plan("shapers:\n" + "".join(gates))


def _lists(made: Plan) -> list[tuple[int, list[int]]]:
    gates: list[dict[str, Any]] = [port["gates"] for port in made.document["ports"] if "gates" in port]
    return [(own["base_time_ns"], [e["interval_ns"] // 1_000 for e in own["entries"]]) for own in gates]


def _proved(made: Plan) -> dict[str, tuple[int, int]]:
    """From the first bit's stamp to the last bit, and from the release, ns; no frame of a run is later."""
    flows = {flow["stream"]: flow for flow in bounds(made)["flows"]}
    with tempfile.TemporaryDirectory() as folder:
        delays = frames_of(Simulation().execute(made, Path(folder) / "run"))
    found = {}
    for name in "ab":
        assert flows[name]["source"] == WINDOWS
        found[name] = (flows[name]["upper_ns"], -(-flows[name]["release_upper_ps"] // 1_000))
        own = delays.filter(pl.col("stream") == name)
        longest, since = own["delay"].max(), (own["rx"] - 100_000 * own["seq"]).max()
        assert isinstance(longest, int)
        assert isinstance(since, int)
        assert longest <= found[name][0]
        # From the release it is met, but for the gap that the window may begin with.
        assert found[name][1] - 100 <= since <= found[name][1]
    return found


def test_windows_that_shift_by_more_than_a_hop_takes_only_delay() -> None:
    """Fig. 25's Delta is for software of 200 us per hop; hardware takes 10 us, and waits."""
    no_shift, shifted = _proved(_by_hand(0)), _proved(_by_hand(200))
    assert no_shift == {"a": (109_648, 739_712), "b": (109_648, 739_712)}
    assert shifted == {"a": (679_936, 1_310_000), "b": (679_936, 1_310_000)}


def test_planned_windows_are_as_long_as_what_comes() -> None:
    """Ten frames of 10 us a millisecond: 100 us for each class, and 800 us instead of 400 us for the rest."""
    shapers = "shapers: {zgw*: {gates: plan}}\n"
    long = _plan("windows: {cycle: 1 ms}\n" + shapers.replace("zgw*", "all"))
    assert _lists(long) == [(n * 100_000, [100, 100, 800]) for n in range(4)]
    assert _proved(long) == {"a": (399_936, 1_210_000), "b": (399_936, 1_210_000)}
    # Left to itself it takes the period: nobody waits for more than the other class.
    short = _plan(shapers.replace("zgw*", "all"))
    assert _lists(short) == [(n * 10_000, [10, 10, 80]) for n in range(4)]
    assert _proved(short) == {"a": (39_936, 40_000), "b": (39_936, 50_000)}


def test_a_window_a_nanosecond_shorter_is_not_proved() -> None:
    made = _plan("windows: {cycle: 1 ms}\nshapers: {all: {gates: plan}}\n")
    document = json.loads(made.to_json())
    document.pop("hash", None)
    for port in (port for port in document["ports"] if "gates" in port):
        changed = json.loads(json.dumps(document))
        entries = changed["ports"][document["ports"].index(port)]["gates"]["entries"]
        for place in (0, 1):
            entries[place]["interval_ns"] -= 1
            entries[2]["interval_ns"] += 1
            found = json.loads(_native.proven_windows(json.dumps(changed)))
            met = {one["stream"] for one in found["flows"] if one["met"]}
            # A frame stays behind in every cycle, and more and more of them.
            assert place not in met
            entries[place]["interval_ns"] += 1
            entries[2]["interval_ns"] -= 1


@pytest.mark.parametrize("seed", range(3))
def test_windows_hold_clocks_within_their_margin(seed: int) -> None:
    """Gates open by clocks that differ, and every frame passes the window that is meant for it."""
    windows = "windows: {cycle: 1 ms, margin: 2 us}\nshapers: {all: {gates: plan}}\n"
    clocks = (
        "clocks:\n"
        "  default: {drift-within: 20 ppm, offset: 100 us, granularity: 8 ns, jitter: 4 ns}\n"
        "  gptp: {grandmaster: zgw1, sync-interval: 1/32 s, pdelay-interval: 1/8 s, pcp: 0}\n"
    )
    # The servos need their time.
    text = HEAD.replace("10 ms", f"1.1 s\nseed: {seed}").replace("saturating: true", "period: 300 us")
    text = text.replace("pcp:", "start: 1 s, pcp:") + windows
    ideal, made = plan_of(text), plan_of(text + clocks)
    lists = _lists(made)
    assert lists[0] == (0, [102, 98, 102, 698])
    # Bounds are for one perfect time: it is said that nothing is proved of clocks.
    found = json.loads(_native.proven_windows(made.to_json()))
    assert not found["flows"]
    assert {one["stream"] for one in found["open"]} == {0, 1, 2}
    assert _lists(ideal) == lists
    upper = {flow["stream"]: flow["upper_ns"] for flow in bounds(ideal)["flows"]}
    with tempfile.TemporaryDirectory() as folder:
        run = Simulation().execute(made, Path(folder) / "run")
        assert all(s["dropped_in_network"] == 0 for s in run.counters["streams"] if s["name"] in "ab")
        delays = frames_of(run)
    for name in "ab":
        longest = delays.filter(pl.col("stream") == name)["delay"].max()
        assert isinstance(longest, int)
        # Talker and listener stamp by clocks that differ by no more than the margin, too.
        assert longest <= upper[name] + 2 * 2_000
