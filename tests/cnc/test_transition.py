"""A run in the simulator in which 20 streams join and 10 leave: nothing that runs is harmed."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from cnc.cell import BOUNDED, SCENARIO, base_of
from cnc.cell import SCHEDULED as IN_WINDOWS
from cnc.cell import after as after_changes
from cnc.transitions import run_of
from tsnbench.backends.simulation import Simulation
from tsnbench.cnc.admission import Rules, decide, first
from tsnbench.cnc.changes import Change, NotAcceptedError
from tsnbench.cnc.changing.transition import _both, together
from tsnbench.cnc.network import Base, Network
from tsnbench.cnc.service import Service
from tsnbench.runs import Run

MS = 1_000_000
SCHEDULED = ("loop1", "loop2", "loop3")
PLANT = """\
name: plant
duration: 70 ms
network:
  stations: [a1, a2, a3, b1, b2, b3, c1, c2, c3]
  bridges: [s1, s2, s3, s4]
  links:
    rate: 1 Gbit/s
    between: [a1-s1, a2-s1, a3-s1, b1-s2, b2-s2, b3-s2, c1-s3, c2-s3, c3-s3, s1-s4, s2-s4, s3-s4, s1-s2]
streams:
  loop1: {from: a1, to: b1, period: 500 us, frame: 250 B, pcp: 7, scheduled: true, requires: {delay: 1 ms}}
  loop2: {from: b2, to: c1, period: 1 ms, payload: 400 B, pcp: 7, scheduled: true, requires: {delay: 200 us}}
  loop3: {from: c2, to: a3, period: 1 ms, payload: 1 kB, pcp: 7, scheduled: true, requires: {delay: 200 us}}
  log1: {from: a2, to: c3, pcp: 3, period: 1 ms, payload: 300 B, requires: {delay: 1 ms}}
  log2: {from: c3, to: b3, pcp: 3, period: 2 ms, payload: 1200 B, requires: {delay: 1 ms}}
"""


def changed(base: Base) -> list[tuple[int, Network]]:
    """The network before, and after each of five changes: 20 streams join and 10 leave, drawn by a seed."""
    drawn = random.Random(3)
    stations = [name for name, node in base.scenario.network.nodes.items() if node.kind == "station"]
    now = first(base)
    networks = [(0, now)]
    for number, leave in enumerate((0, 2, 2, 2, 4)):
        add: dict[str, Any] = {}
        for one in range(4):
            talker, listener = drawn.sample(stations, 2)
            scheduled = drawn.random() < 0.6
            add[f"j{number}{one}"] = {
                "from": talker,
                "to": listener,
                "period": drawn.choice(["500 us", "1 ms", "2 ms"]),
                "payload": f"{drawn.choice([100, 300, 700])} B",
                "pcp": 7 if scheduled else 3,
                "scheduled": scheduled,
                "requires": {"delay": "1 ms"},
            }
        now = decide(base, now, Change("a", add, drawn.sample(sorted(now.requested), leave)), Rules())
        networks.append((10 * MS * (number + 1), now))
    return networks


def delays(run: Run) -> dict[str, list[int | None]]:
    """The delays of every stream's frames in the order in which they were sent."""
    frames = run.frames().sort("seq")
    return {
        path["stream"]: frames.filter(pl.col("path") == number)["delay_ns"].to_list()
        for number, path in enumerate(run.measures()["paths"])
    }


def around(networks: list[tuple[int, Network]]) -> list[Network]:
    """The networks around each change."""
    found = []
    for (_, now), (_, after) in pairwise(networks):
        left = {name for name, one in now.requested.items() if after.requested.get(name) is not one}
        both = together(now, after, left)
        assert both is not None
        # Those that leave meet both lists, too, if bridges change before their talkers stop.
        flows: Any = [
            {**one, "stream": one["stream"].removesuffix(" before")} for one in both.bounds["flows"]
        ]
        found.append(replace(both, bounds={**both.bounds, "flows": flows}))
    return found


def _lists(port: Any) -> Any:
    return port.get("gates", {}).get("changes", ())


def by_name(networks: list[tuple[int, Network]], name: str) -> Any:
    """A stream that was there at any time."""
    flows = (one for _, network in networks for one in network.plan.document["streams"])
    return next(one for one in flows if one["name"] == name)


def test_delays_of_streams_in_place_stay_while_others_join_and_leave(tmp_path: Path) -> None:
    base = base_of(tmp_path, PLANT)
    networks = changed(base)
    joined = {name for _, network in networks for name in network.requested}
    left = joined - networks[-1][1].requested.keys()
    assert (len(joined), len(left)) == (20, 10)
    plan = run_of(networks, 70 * MS, 3 * MS)
    lists = [port["gates"] for port in plan.document["ports"] if "gates" in port]
    assert sum(len(gates.get("changes", ())) for gates in lists) > 10
    run = plan.run(on=Simulation(), into=tmp_path / "changing")
    alone = run_of(networks[:1], 70 * MS, 0).run(on=Simulation(), into=tmp_path / "alone")
    with_others, without = delays(run), delays(alone)
    for stream in SCHEDULED:
        assert with_others[stream] == without[stream]
    # Each device changes when it likes, early or late: only talkers that join have to wait for all.
    drawn = random.Random(5)
    apart = run_of(networks, 70 * MS, 3 * MS, lambda *_: drawn.randrange(-2 * MS, 2 * MS))
    assert len({change["at_ns"] for port in apart.document["ports"] for change in _lists(port)}) > 10
    one_by_one = delays(apart.run(on=Simulation(), into=tmp_path / "apart"))
    for stream, own in one_by_one.items():
        assert None not in own, f"{stream} lost a frame"
        if stream in SCHEDULED or "scheduled" in by_name(networks, stream):
            assert own == with_others[stream], stream
    # Of bounded streams each frame keeps the bound that was promised at any time, or around a change.
    bounds = worst(networks)
    assert with_others.keys() == bounds.keys()
    for stream, found in with_others.items():
        assert found, stream
        assert None not in found, f"{stream} lost a frame"
        both = found + one_by_one[stream]
        assert max(one for one in both if one is not None) <= bounds[stream]
    assert with_others["log1"] != without["log1"], "the others were there"


def worst(networks: list[tuple[int, Network]]) -> dict[str, int]:
    """The largest bound that each stream had at any time, or around a change."""
    bounds: dict[str, int] = {}
    for network in [one for _, one in networks] + around(networks):
        for flow in network.bounds["flows"]:
            if network.draft is None and "scheduled" in by_name(networks, flow["stream"]):
                continue
            upper = flow["upper_ns"]
            assert upper is not None
            bounds[flow["stream"]] = max(bounds.get(flow["stream"], 0), upper)
    return bounds


def test_gates_are_open_where_both_lists_open_them() -> None:
    def port(base_ns: int, cycle_ns: int, *entries: tuple[int, int]) -> Any:
        states = [{"open": mask, "interval_ns": ns} for mask, ns in entries]
        gates = {"base_time_ns": base_ns, "cycle_ns": cycle_ns, "entries": states}
        return {"name": "a -> b", "pcp_to_class": [*range(8)], "classes": [{}] * 8, "gates": gates}

    none: Any = {"name": "a -> b", "pcp_to_class": [*range(8)], "classes": [{}] * 8}
    before, after = port(90, 100, (128, 20), (127, 80)), port(30, 200, (128, 10), (127, 190))
    # All but class 7 may meet one frame that began by the other list.
    for pair in ((none, after), (after, none)):
        assert _both(*pair, [7]).get("gates") == {**after["gates"], "replaced": 127}
    assert _both(none, none, [7]) is none
    merged = _both(before, after, [7]).get("gates")
    assert merged is not None
    assert (merged["base_time_ns"], merged["cycle_ns"], merged.get("replaced")) == (0, 200, 127)
    # Class 7 is open where one of the lists opens it; 0 to 6 where both do.
    spans = [(128 + 0, 10), (127, 20), (128, 10), (127, 50), (128, 20), (127, 80), (128, 10)]
    seen = [(one["open"] & 127 and 127, one["interval_ns"]) for one in merged["entries"]]
    assert seen == [(mask & 127, ns) for mask, ns in spans]
    assert [one["open"] >> 7 for one in merged["entries"]] == [1, 0, 1, 0, 1, 0, 1]


def drawn_change(
    drawn: random.Random, base: Base, now: Network, number: int, leave: int, join: int
) -> Change:
    """Streams of the plant that join, with long frames and short periods, and some that leave."""
    stations = [name for name, node in base.scenario.network.nodes.items() if node.kind == "station"]
    add: dict[str, Any] = {}
    for one in range(join):
        talker, listener = drawn.sample(stations, 2)
        add[f"d{number}{one}"] = {
            "from": talker,
            "to": listener,
            "period": drawn.choice(["250 us", "500 us", "1 ms"]),
            "payload": f"{drawn.choice([100, 700, 1400])} B",
            "pcp": 7 if (scheduled := drawn.random() < 0.4) else drawn.choice([2, 3, 4]),
            "scheduled": scheduled,
            "requires": {"delay": "2 ms"},
        }
    return Change("a", add, drawn.sample(sorted(now.requested), min(leave, len(now.requested))))


@pytest.mark.parametrize("seed", [0, 1, 105, 118, 124])
def test_frames_around_drawn_changes_keep_the_bounds_of_both_networks(tmp_path: Path, seed: int) -> None:
    drawn = random.Random(seed)
    base = base_of(tmp_path, PLANT)
    networks = [(0, first(base))]
    mixed = larger = 0
    changes = [(0, 6), (4, 4), (3, 0), (3, 5), (0, 3), (4, 4)]
    for number, (leave, join) in enumerate(changes):
        now = networks[-1][1]
        try:
            made = decide(base, now, drawn_change(drawn, base, now, number, leave, join), Rules())
        except NotAcceptedError:
            continue
        networks.append((10 * MS * len(networks) + drawn.randrange(MS), made))
    assert len(networks) > 3
    # Of bounds before, after and around a change the largest one.
    promised: dict[str, int] = {}
    for ((_, now), (_, made)), both in zip(pairwise(networks), around(networks), strict=True):
        apart, own = _uppers(now, made), _uppers(both)
        streams = (*now.plan.document["streams"], *made.plan.document["streams"])
        waiting = {one["name"] for one in streams if "scheduled" not in one}
        more = {name for name in waiting if own[name] > apart[name]}
        left = now.requested.keys() - made.requested.keys()
        joined = made.requested.keys() - now.requested.keys()
        mixed, larger = mixed + bool(left and joined), larger + bool(more)
        for name in apart:
            promised[name] = max(promised.get(name, 0), apart[name], own[name] if name in waiting else 0)
    assert (mixed > 0, larger > 0) == (True, True)
    for apart_ns in (1, 2 * MS):
        plan = run_of(networks, 80 * MS, 3 * MS, lambda *_: drawn.randrange(-apart_ns, apart_ns))  # noqa: B023
        run = plan.run(on=Simulation(), into=tmp_path / str(apart_ns))
        for stream, found in delays(run).items():
            assert None not in found, f"{stream} lost a frame"
            assert max(one for one in found if one is not None) <= promised[stream], stream


def _uppers(*networks: Network) -> dict[str, int]:
    """The largest upper bound of each stream."""
    found: dict[str, int] = {}
    for network in networks:
        for flow in network.bounds["flows"]:
            found[flow["stream"]] = max(found.get(flow["stream"], 0), flow["upper_ns"] or 0)
    return found


def test_a_stream_in_place_keeps_its_limit_beside_both_networks(tmp_path: Path) -> None:
    text = SCENARIO.replace("cam, cam2,", "cam, cam2, cam3,").replace("cam2-sw1]", "cam2-sw1, cam3-sw1]")
    base = base_of(tmp_path, text)
    log = {**BOUNDED, "from": "cam", "payload": "100 B"}
    other = {**BOUNDED, "from": "cam3"}
    now = after_changes(base, Change("a", {"log2": log, "x": BOUNDED}))
    made = decide(base, now, Change("a", {"y": other}, ["x"]), Rules())
    both = together(now, made, ["x"])
    assert both is not None
    less, more = _uppers(now, made)["log2"], _uppers(both)["log2"]
    assert less < more
    tight = {**log, "requires": {"delay": f"{(less + more) // 2} ns"}}
    now = after_changes(base, Change("a", {"log2": tight, "x": BOUNDED}))
    with pytest.raises(NotAcceptedError) as refused:
        decide(base, now, Change("a", {"y": other}, ["x"]), Rules())
    problem = refused.value.problems[0]
    assert problem.path == "streams.log2"
    assert "while the network changes" in problem.expected
    assert problem.hint == "remove streams in one change, and add others in the next one"
    # What the hint says works.
    gone = decide(base, now, Change("a", {}, ["x"]), Rules())
    assert "y" in decide(base, gone, Change("a", {"y": other}), Rules()).requested


def test_streams_that_a_change_cannot_reach_keep_their_bounds_around_it(tmp_path: Path) -> None:
    text = SCENARIO.replace("cam, cam2,", "cam, cam2, x, y,").replace("cam2-sw1]", "cam2-sw1, x-sw1, y-sw1]")
    far = "  far: {from: x, to: y, pcp: 3, period: 1 ms, payload: 100 B, requires: {delay: 1 ms}}\n"
    base = base_of(tmp_path, text + far)
    now = after_changes(base, Change("a", {"one": IN_WINDOWS}))
    made = decide(base, now, Change("a", {"two": {**IN_WINDOWS, "from": "cam", "payload": "100 B"}}), Rules())
    both = together(now, made, ())
    assert both is not None
    assert both is not made
    assert _uppers(both)["far"] == _uppers(made)["far"] < _uppers(both)["log"]
    assert _uppers(made)["log"] < _uppers(both)["log"]


class Told:
    """Devices that remember what they were told."""

    lists_from_ns: int | None = 10**18

    def __init__(self) -> None:
        self.drains: list[int] = []

    def put(self, document: Any, *, together: bool = False, drain_ns: int = 0) -> list[str]:
        self.drains.append(drain_ns)
        return []

    def differences(self, document: Any) -> list[str]:
        return []

    def close(self) -> None:
        """Nothing is open."""


def test_an_answer_tells_when_the_last_frame_of_a_stream_that_leaves_is_gone(tmp_path: Path) -> None:
    devices = Told()
    service = Service(base_of(tmp_path), devices=devices)
    try:
        added = service.ask(Change("a", {"x": IN_WINDOWS})).result()
        worst = added.streams[0]["listeners"][0]["release_upper_ns"]
        assert worst > 0
        assert added.transition == {"drain_ns": 0, "until_ns": 10**18}
        again = service.ask(Change("a", {"x": IN_WINDOWS})).result()
        assert (again.accepted, again.transition) == (True, None)
        left = service.ask(Change("a", {}, ["x"])).result()
        assert left.transition == {"drain_ns": worst, "until_ns": 10**18 + worst}
        assert devices.drains == [0, worst]
        assert left.document()["transition"] == left.transition
    finally:
        service.close()


RING = """\
name: ring
duration: 10 ms
network:
  stations: [cam, cam2, ctl]
  bridges: [sw1, sw2, sw3]
  links: {rate: 1 Gbit/s, between: [cam-sw1, cam2-sw1, sw1-sw2, sw2-sw3, sw1-sw3, sw3-ctl]}
streams:
  log: {from: cam2, to: ctl, pcp: 3, period: 1 ms, payload: 100 B, requires: {delay: 2 ms}}
"""


def test_what_cannot_be_there_together_is_refused_together(tmp_path: Path) -> None:
    base = base_of(tmp_path, RING)
    redundant = {**BOUNDED, "from": "cam", "frer": {}}
    now = after_changes(base, Change("a", {"x": redundant}))
    with pytest.raises(NotAcceptedError) as refused:
        decide(base, now, Change("a", {"x": {**redundant, "payload": "200 B"}}, ["x"]), Rules())
    assert "share sequence numbers" in refused.value.problems[0].found
    assert "in one change" in refused.value.problems[0].hint
    # Lists whose common cycle takes long.
    lone = "".join(line for line in SCENARIO.splitlines(True) if "loop:" not in line)
    base = base_of(tmp_path, lone)
    one, other = ({**IN_WINDOWS, "payload": "46 B", "period": period} for period in ("997 ms", "991 ms"))
    now = after_changes(base, Change("a", {"x": one}))
    with pytest.raises(NotAcceptedError) as refused:
        decide(base, now, Change("a", {"y": other}, ["x"]), Rules())
    assert "common cycle of at most 1 s" in refused.value.problems[0].expected
    assert (
        "y" in decide(base, now, Change("a", {"y": {**other, "period": "997 ms"}}, ["x"]), Rules()).requested
    )
