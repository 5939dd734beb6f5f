"""A run in the simulator in which 20 streams join and 10 leave: nothing that runs is harmed."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import polars as pl

from cnc.cell import base_of
from cnc.transitions import run_of
from tsnbench.backends.simulation import Simulation
from tsnbench.cnc.admission import Rules, decide, first
from tsnbench.cnc.changes import Change
from tsnbench.cnc.network import Base, Network
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
    # Of bounded streams each frame keeps the bound that was promised at any time.
    bounds: dict[str, int] = {}
    for _, network in networks:
        for flow in network.bounds["flows"]:
            upper = flow["upper_ns"]
            assert upper is not None
            bounds[flow["stream"]] = max(bounds.get(flow["stream"], 0), upper)
    assert with_others.keys() == bounds.keys()
    for stream, found in with_others.items():
        assert found, stream
        assert None not in found, f"{stream} lost a frame"
        both = found + one_by_one[stream]
        assert max(one for one in both if one is not None) <= bounds[stream]
    assert with_others["log1"] != without["log1"], "the others were there"
