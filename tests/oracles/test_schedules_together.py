"""Schedules with copies, several queues, windows of release, limits of jitter and kept bandwidth: all in the simulator.

Links are saturated by others; every frame of a scheduled stream takes what was planned, to the nanosecond.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tsnbench.backends.simulation import Simulation
from tsnbench.planning import plan
from tsnbench.planning.document import Plan
from tsnbench.planning.errors import PlanningErrors
from tsnbench.scenario import read_scenario


def _text(seed: int) -> str:
    """A ring of bridges, so that there are two ways, and everything that streams can ask for."""
    draw = random.Random(seed)
    bridges, stations = draw.randint(3, 5), draw.randint(3, 5)
    pcps = draw.choice([[7], [7, 6], [7, 6, 5]])
    lines = [f"name: together-{seed}", "duration: 8 ms", f"seed: {seed}", "network:", "  bridges:"]
    lines += [f"    b{n}: {{processing: {draw.choice([0, 500, 1_300, 4_000])} ns}}" for n in range(bridges)]
    lines += [f"  stations: [{', '.join(f's{n}' for n in range(stations))}]", "  links:"]
    for n in range(bridges):
        rate, cable = draw.choice(["1 Gbit/s", "1 Gbit/s", "100 Mbit/s", "2.5 Gbit/s"]), draw.choice([1, 100])
        lines.append(
            f"    - {{rate: {rate}, cable: {cable} m, between: [b{n} -- b{(n + 1) % bridges}]}}"
        )
    at = [draw.randrange(bridges) for _ in range(stations)]
    lines += [f"    - {{rate: 1 Gbit/s, between: [s{n} -- b{at[n]}]}}" for n in range(stations)]
    offered = f", pcps: {pcps}" if draw.random() < 0.5 else ""
    ways = draw.choice(["shortest", "free"])
    granularity = draw.choice(["1 ns", "1 ns", "100 ns"])
    lines += [f"schedule: {{ways: {ways}, granularity: {granularity}, keep: 1 %{offered}}}", "streams:"]
    for n in range(draw.randint(2, 9)):
        talker, *listeners = draw.sample(range(stations), draw.choice([2, 2, 3]))
        size = draw.choice(["frame: 64 B", "frame: 700 B", "frame: 1500 B", "units: [4000 B]"])
        period = draw.choice([1, 1, 2])
        more = ""
        if at[talker] != at[listeners[0]] and draw.random() < 0.4:
            listeners = listeners[:1]
            more += ", frer: {disjoint: 2}"
        if draw.random() < 0.4:
            earliest = draw.choice([0, 200, 900])
            more += f", release: {{earliest: {earliest} us, latest: {earliest + draw.choice([10, 90])} us}}"
        if draw.random() < 0.3:
            more += ", requires: {jitter: 300 us}"
        to = ", ".join(f"s{to}" for to in listeners)
        pcp = draw.choice(pcps)
        lines.append(
            f"  c{n}: {{from: s{talker}, to: [{to}], pcp: {pcp}, {size}, period: {period} ms, "
            f"scheduled: true{more}}}"
        )
    for n in range(stations):
        other = draw.choice([other for other in range(stations) if other != n])
        lines.append(f"  rest{n}: {{from: s{n}, to: s{other}, pcp: 0, saturating: true, frame: 1500 B}}")
    return "\n".join(lines) + "\n"


def _made(text: str) -> Plan | None:
    """None where the links that were drawn cannot carry the streams that were drawn."""
    try:
        return plan(read_scenario(text)[0])
    except PlanningErrors as error:
        known = ("a schedule", "left to others")
        if all(any(words in problem.expected for words in known) for problem in error.problems):
            return None
        raise


def _last_bits(document: Mapping[str, Any], stream: Mapping[str, Any], entry: int) -> list[Fraction]:
    """When a first frame is in at the end of a route's entry, by way; ps from its release, from the planned times."""
    hop = stream["route"][entry]
    port = document["ports"][hop["port"]]
    size = stream["size"]
    octets = size["octets"] if size["kind"] == "frame" else size["most_per_frame"] + size["overhead"]
    copies = stream.get("redundancy", {}).get("copies", [0] * len(stream["route"]))
    on_wire = Fraction((octets + 8 + (6 if copies[entry] else 0)) * 8 * 10**12, port["rate_bps"])
    return [start + on_wire + port["propagation_ps"] for start in stream["scheduled"]["starts_ps"][entry]]


def _planned(document: Mapping[str, Any], stream: Mapping[str, Any], listener: Mapping[str, Any]) -> Fraction:
    """A first frame's delay: by whichever way is first."""
    merges = stream.get("redundancy", {}).get("merges", ())
    entries = next((m["from"] for m in merges if m["from"][0] == listener["route"]), [listener["route"]])
    return min(at for entry in entries for at in _last_bits(document, stream, entry))


def _delays(made: Plan, folder: Path) -> pl.DataFrame:
    rows = made.run(on=Simulation(), into=folder / "run").observations()
    rows = rows.filter(pl.col("stream").str.starts_with("c"))
    sent = rows.filter(pl.col("stage") == "tx").group_by("stream", "seq").agg(sent=pl.col("t_ns").min())
    received = rows.filter(pl.col("stage") == "rx").select("stream", "seq", "tap", received="t_ns")
    return received.join(sent, on=["stream", "seq"]).with_columns(delay=pl.col("received") - pl.col("sent"))


@pytest.mark.parametrize("seed", range(40))
def test_every_frame_takes_what_was_planned(seed: int, tmp_path: Path) -> None:
    made = _made(_text(seed))
    if made is None:
        return
    document = made.document
    delays = _delays(made, tmp_path)
    planned = {stream["name"]: stream for stream in document["streams"] if "scheduled" in stream}
    assert {str(name) for name in delays["stream"].unique()} == set(planned)
    taps = {}
    for (name, tap), rows in delays.group_by("stream", "tap"):
        taps[name] = taps.get(name, 0) + 1
        size = planned[str(name)]["size"]
        units = -(-size["octets"][0] // size["most_per_frame"]) if size["kind"] == "units" else 1
        for place in range(units):
            same = rows.filter(pl.col("seq") % units == place)
            assert same.height >= 2
            assert same["delay"].max() - same["delay"].min() <= 1, (name, tap, place)
        stream = planned[str(name)]
        first = rows.filter(pl.col("seq") == 0)["received"][0] - stream["pattern"]["offset_ns"]
        expected = {_planned(document, stream, listener) for listener in stream["listeners"]}
        assert any(abs(first - delay / 1_000) <= 1 for delay in expected), (name, tap, first, expected)
    assert all(taps[name] == len(stream["listeners"]) for name, stream in planned.items())


def test_what_is_drawn_is_not_refused_as_a_rule() -> None:
    made = [_made(_text(seed)) for seed in range(40)]
    found = [one.document for one in made if one is not None]
    assert len(found) >= 20
    streams = [stream for one in found for stream in one["streams"] if "scheduled" in stream]
    assert sum("redundancy" in stream for stream in streams) >= 10
    assert any(len(starts) > 1 for stream in streams for starts in stream["scheduled"]["starts_ps"])
    assert len({stream["pcp"] for stream in streams}) == 3
