"""Schedules with member streams, several queues, windows of release and limits of jitter, all together.

Other streams saturate the links; in the simulator every frame of a scheduled stream has its planned delay, to
the nanosecond.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from support.planned import plan_of, run_of
from tsnbench.plan.document import Plan
from tsnbench.planning.errors import PlanningErrors
from tsnbench.planning.scheduling.schedule import prove


def _text(seed: int) -> str:
    """A ring of bridges, which has two paths, and streams with all kinds of requests."""
    draw = random.Random(seed)
    bridges, stations = draw.randint(3, 5), draw.randint(3, 5)
    pcps = draw.choice([[7], [7, 6], [7, 6, 5]])
    lines = [f"name: together-{seed}", "duration: 8 ms", f"seed: {seed}", "network:", "  bridges:"]
    lines += [f"    b{n}: {{processing: {draw.choice([0, 500, 1_300, 4_000])} ns}}" for n in range(bridges)]
    lines += [f"  stations: [{', '.join(f's{n}' for n in range(stations))}]", "  links:"]
    for n in range(bridges):
        rate, cable = draw.choice(["1 Gbit/s", "1 Gbit/s", "100 Mbit/s", "2.5 Gbit/s"]), draw.choice([1, 100])
        lines.append(f"    - {{rate: {rate}, cable: {cable} m, between: [b{n} -- b{(n + 1) % bridges}]}}")
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
    """The Plan; none if the random links cannot carry the random streams."""
    try:
        return plan_of(text)
    except PlanningErrors as error:
        known = ("a schedule", "left to others")
        if all(any(words in problem.expected for words in known) for problem in error.problems):
            return None
        raise


def _last_bits(document: Mapping[str, Any], stream: Mapping[str, Any], entry: int) -> list[Fraction]:
    """The planned arrivals of a first frame's last bit behind a route's entry, in ps from its release."""
    hop = stream["route"][entry]
    port = document["ports"][hop["port"]]
    size = stream["size"]
    octets = size["octets"] if size["kind"] == "frame" else size["most_per_frame"] + size["overhead"]
    copies = stream.get("redundancy", {}).get("copies", [0] * len(stream["route"]))
    on_wire = Fraction((octets + 8 + (6 if copies[entry] else 0)) * 8 * 10**12, port["rate_bps"])
    return [start + on_wire + port["propagation_ps"] for start in stream["scheduled"]["starts_ps"][entry]]


def _planned(document: Mapping[str, Any], stream: Mapping[str, Any], listener: Mapping[str, Any]) -> Fraction:
    """The planned delay of a first frame over the path on which it arrives first."""
    merges = stream.get("redundancy", {}).get("merges", ())
    entries = next((m["from"] for m in merges if m["from"][0] == listener["route"]), [listener["route"]])
    return min(at for entry in entries for at in _last_bits(document, stream, entry))


def _delays(made: Plan, folder: Path) -> pl.DataFrame:
    rows = run_of(made, folder).observations()
    rows = rows.filter(pl.col("stream").str.starts_with("c"))
    sent = rows.filter(pl.col("stage") == "tx").group_by("stream", "seq").agg(sent=pl.col("t_ns").min())
    received = rows.filter(pl.col("stage") == "rx").select("stream", "seq", "tap", received="t_ns")
    return received.join(sent, on=["stream", "seq"]).with_columns(delay=pl.col("received") - pl.col("sent"))


@pytest.mark.parametrize("seed", range(40))
def test_every_frame_has_its_planned_delay(seed: int, tmp_path: Path) -> None:
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


def test_most_random_scenarios_have_a_schedule() -> None:
    made = [_made(_text(seed)) for seed in range(40)]
    found = [one.document for one in made if one is not None]
    assert len(found) >= 20
    streams = [stream for one in found for stream in one["streams"] if "scheduled" in stream]
    assert sum("redundancy" in stream for stream in streams) >= 10
    assert any(len(starts) > 1 for stream in streams for starts in stream["scheduled"]["starts_ps"])
    assert len({stream["pcp"] for stream in streams}) == 3


COPIES = """\
name: copies
duration: 10 ms
network:
  stations: [a, c]
  bridges: {s: {}, t: {}, u: {processing: 3 us}, v: {}}
  links: {rate: 1 Gbit/s, between: [a-s, s-t, s-u, t-v, u-v, v-c]}
streams:
  x:
    {from: a, to: c, pcp: 7, period: 1 ms, frame: 1000 B, scheduled: true,
     frer: {disjoint: 2, identification: {active: {vlan: 200, pcp: 5}}}, requires: {jitter: 5 us}}
  z: {from: a, to: c, pcp: 0, saturating: true, frame: 1500 B}
"""


def _wrong(change: Callable[[dict[str, Any]], None]) -> list[str]:
    made = plan_of(COPIES)
    document = json.loads(made.to_json())
    del document["hash"]
    change(document)
    return prove(document, json.dumps(document))


def test_the_proof_covers_both_member_streams() -> None:
    assert _wrong(lambda document: None) == []

    def less_jitter(document: dict[str, Any]) -> None:
        document["streams"][0]["requirements"]["jitter"][0]["limit_ns"] = 2_999

    assert _wrong(less_jitter) == ["stream x jitters by 3000 ns at node c, not within 2999 ns"]

    def one_copy_early(document: dict[str, Any]) -> None:
        for starts in document["streams"][0]["scheduled"]["starts_ps"]:
            if len(starts) > 1:
                starts[1] -= 1_000

    assert any("is planned to leave port v -> c" in words for words in _wrong(one_copy_early))

    def gate_for_one_copy(document: dict[str, Any]) -> None:
        port = next(port for port in document["ports"] if port["name"] == "u -> v")
        port["gates"]["base_time_ns"] += 2_000

    assert any("stream x passes port u -> v" in words for words in _wrong(gate_for_one_copy))

    def others_in_the_copies_class(document: dict[str, Any]) -> None:
        (other,) = (stream for stream in document["streams"] if stream["name"] == "z")
        other["pcp"] = 5

    # Member streams have class 5 between s and v, their stream has class 7.
    assert any("class 5" in words for words in _wrong(others_in_the_copies_class))


@pytest.mark.parametrize(
    ("schedule", "pcps", "behind"), [("margin: 0 ns", 2, 2), ("pcps: [7, 6, 5]", 4, 0)], ids=["one", "three"]
)
def test_frames_that_cannot_go_on_at_once_wait(schedule: str, pcps: int, behind: int, tmp_path: Path) -> None:
    """Frames wait in one queue if their order is certain, or at the gates of three queues."""
    text = """\
name: wait
duration: 10 ms
network:
  bridges: [s]
  stations: [a, b, c, d]
  links: {rate: 100 Mbit/s, between: [a-s, b-s, c-s, s-d]}
schedule: {SCHEDULE}
streams:
  c0: {from: a, to: d, pcp: 7, period: 1 ms, frame: 1000 B, scheduled: true, release: {latest: 0 us}}
  c1: {from: b, to: d, pcp: 7, period: 1 ms, frame: 1000 B, scheduled: true, release: {latest: 1 us}}
  c2: {from: c, to: d, pcp: 7, period: 1 ms, frame: 1000 B, scheduled: true, release: {latest: 2 us}}
  rest: {from: c, to: d, pcp: 0, saturating: true, frame: 1500 B}
"""
    # Frames that arrive within the margin of each other have no certain order.
    assert _made(text.replace("SCHEDULE", "margin: 1 us")) is None
    made = _made(text.replace("SCHEDULE", schedule))
    assert made is not None
    assert len({stream["pcp"] for stream in made.document["streams"]}) == pcps
    assert sum("behind" in stream.get("scheduled", ()) for stream in made.document["streams"]) == behind
    delays = (
        _delays(made, tmp_path)
        .group_by("stream")
        .agg(most=pl.col("delay").max(), least=pl.col("delay").min())
    )
    assert (delays["most"] - delays["least"]).max() <= 1
    # Two frames wait for one and for two frames of 1020 octets on the wire.
    waits = sorted(delay - delays["least"].min() for delay in delays["least"])
    assert all(wait >= least for wait, least in zip(waits, (0, 80_000, 160_000), strict=True)), waits
