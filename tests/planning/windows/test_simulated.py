"""Planned windows hold what they promise: random networks, simulated, beside bounds and a check of lists."""

from __future__ import annotations

import json
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
from hypothesis import HealthCheck, Phase, event, given
from hypothesis import strategies as st

from support.examples import examples
from support.networks import links
from support.planned import frames_of
from tsnbench import _native
from tsnbench.backends.simulation import Simulation
from tsnbench.plan.bounds import bounds
from tsnbench.plan.document import Plan
from tsnbench.planning import plan
from tsnbench.planning.errors import PlanningErrors
from tsnbench.scenario import model
from tsnbench.scenario.loader import read_scenario

MS = 1_000_000
RANDOM = examples(
    0.4,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.generate, Phase.shrink),
)
LINE = "a-s1 b-s1 s1-s2 s2-s3 s3-c s3-d s2-e"
LADDER = "a-s1 b-s1 s1-s2 s2-s3 s3-s4 s4-s1 s2-s4 c-s3 d-s3 e-s2"
RING = "a-s1 b-s2 c-s3 d-s4 s1-s2 s2-s3 s3-s4 s4-s1 e-s4"
STATIONS = "abcde"
LINE_NODES = sorted({end for pair in LINE.split() for end in pair.split("-")})


@st.composite
def networks(draw: st.DrawFn, shapes: tuple[str, ...] = (LINE, RING)) -> model.Network:
    text = draw(st.sampled_from(shapes))
    names = sorted({end for pair in text.split() for end in pair.split("-")})
    nodes = {}
    for name in names:
        if name in STATIONS:
            nodes[name] = model.Node(kind="station")
            continue
        further = draw(st.sampled_from([0, 0, 0, 700, 5_000]))
        nodes[name] = model.Node(
            kind="bridge",
            processing=draw(st.sampled_from([0, 1_500])),
            processing_jitter=model.ProcessingJitter(up_to=further) if further else None,
        )
    rate = draw(st.sampled_from([100_000_000, 1_000_000_000]))
    return model.Network(nodes=nodes, links=links(text, rate=rate, cable=draw(st.sampled_from([0, 10_000]))))


@st.composite
def streams(draw: st.DrawFn) -> dict[str, model.Stream]:
    made: dict[str, model.Stream] = {}
    for number in range(draw(st.integers(1, 6))):
        talker, listener = draw(st.permutations(STATIONS))[:2]
        period = draw(st.sampled_from([250_000, 500_000, 1_000_000, 2_000_000]))
        jitter = draw(st.sampled_from([0, 0, 3_000, 50_000]))
        wants_jitter = draw(st.sampled_from([None, None, None, None, None, 400, 40_000]))
        made[f"s{number}"] = model.Stream(
            talker=talker,
            listeners=(listener,),
            pcp=draw(st.sampled_from([7, 6, 5])),
            pattern=model.Periodic(period=period, jitter=jitter, offset=draw(st.integers(0, 200)) * 1_000),
            size=draw(
                st.sampled_from(
                    [
                        model.FixedSize(octets=128),
                        model.FixedSize(octets=600),
                        model.UnitSizes(octets=(100, 700)),
                        model.UnitSizes(octets=(3_000,)),
                    ]
                )
            ),
            requires=model.Requirements(
                delay=draw(st.sampled_from([300_000, 1_000_000, 3_000_000, 8_000_000])),
                jitter=()
                if wants_jitter is None
                else (
                    model.JitterLimit(
                        kind=draw(st.sampled_from(["delay-step-abs", "interval"])), limit=wants_jitter
                    ),
                ),
                loss_ppm=0,
            ),
        )
    if draw(st.booleans()):
        made["files"] = model.Stream(
            talker=draw(st.sampled_from("ab")),
            listeners=(draw(st.sampled_from("cde")),),
            pcp=0,
            pattern=model.Saturating(),
            size=model.FixedSize(octets=1522),
        )
    return made


def _lists_hold(document: dict[str, Any], windows: model.Windows) -> None:
    """No class is open in two kinds of entries, only the rest more than once; entries are the hardware's."""
    lists = [port["gates"] for port in document["ports"] if "gates" in port]
    assert lists
    assert len({gates["cycle_ns"] for gates in lists}) == 1
    for gates in lists:
        entries = [(entry["open"], entry["interval_ns"]) for entry in gates["entries"]]
        assert sum(interval for _, interval in entries) == gates["cycle_ns"]
        for _, interval in entries:
            assert interval >= windows.shortest_interval
            assert interval % windows.granularity == 0
        masks = {mask for mask, _ in entries if mask}
        assert all(one == other or not one & other for one in masks for other in masks)
        assert sum([mask for mask, _ in entries].count(mask) > 1 for mask in masks) <= 1
        assert all(one != other for (one, _), (other, _) in pairwise(entries))


def _through_windows(document: dict[str, Any]) -> set[str]:
    """Streams with a window on their way: what the others require is not planned."""
    gated = {number for number, port in enumerate(document["ports"]) if "gates" in port}
    return {
        stream["name"]
        for stream in document["streams"]
        if stream["name"] != "files" and any(hop["port"] in gated for hop in stream["route"])
    }


def _seen(made: Plan, lost: bool = False) -> pl.DataFrame:
    with tempfile.TemporaryDirectory() as folder:
        run = Simulation().execute(made, Path(folder) / "run")
        frames, counters = frames_of(run), run.counters
    proved = json.loads(_native.proven_windows(made.to_json()))["flows"]
    lossless = {made.document["streams"][one["stream"]]["name"] for one in proved if one["lossless"]}
    for stream in counters["streams"]:
        name = stream["name"]
        if not lost and not name.startswith("files"):
            assert stream["dropped_in_network"] == 0, stream
        if name in lossless:
            assert frames.filter(pl.col("stream") == name)["seq"].n_unique() == stream["released"], stream
    return frames


def _proved(made: Plan, every: dict[str, model.Stream], frames: pl.DataFrame) -> None:
    """What plans windows and what proves them share no code: nobody is left out, and no frame is later."""
    found = json.loads(_native.proven_windows(made.to_json()))
    names = [stream["name"] for stream in made.document["streams"]]
    for own in found["flows"]:
        name = names[own["stream"]]
        assert frames.filter(pl.col("stream") == name)["delay"].max() <= own["upper_ns"], name
        limit = every[name].requires.delay
        late = limit is not None and own["upper_ps"] > limit * 1_000
        event("proved" if own["met"] else "delay is not proved" if late else "jitter is not proved")
    for own in found["open"]:
        event(f"nothing is proved of {names[own['stream']][:1]}")


@RANDOM
@given(
    networks(),
    streams(),
    st.sampled_from([(1, 1), (1_000, 1), (100, 5_000)]),
    st.booleans(),
    st.sampled_from(["all", "s*", "s1 s2", "s1 s3 s4", "s2"]),
)
def test_what_is_required_is_kept(
    network: model.Network,
    every: dict[str, model.Stream],
    hardware: tuple[int, int],
    guard_band: bool,
    where: str,
) -> None:
    ports = (
        ["* -> *"]
        if where == "all"
        else [
            f"{node} -> *"
            for node, own in network.nodes.items()
            if own.kind == "bridge" and (where == "s*" or node in where.split())
        ]
    )
    scenario = model.Scenario(
        name="windows",
        duration=12 * MS,
        network=network,
        streams=every,
        shapers={port: model.Shaper(gates=model.Planned()) for port in ports},
        windows=model.Windows(granularity=hardware[0], shortest_interval=hardware[1], guard_band=guard_band),
    )
    try:
        made = plan(scenario)
    except PlanningErrors as error:
        event("refused: " + error.problems[0].path.split(".")[-1])
        return
    event("planned")
    _lists_hold(made.document, scenario.windows)
    frames = _seen(made)
    upper = {flow["stream"]: flow["upper_ns"] for flow in bounds(made)["flows"]}
    _proved(made, every, frames)
    planned = _through_windows(made.document)
    for name, stream in every.items():
        own = frames.filter(pl.col("stream") == name)
        if name not in planned:
            continue
        assert own.height
        requires = stream.requires
        greatest = own["delay"].max()
        assert requires.delay is None or greatest <= requires.delay, (name, greatest)
        if upper.get(name) is not None:
            assert greatest <= upper[name]
            event("bounded")
        for limit in requires.jitter:
            if limit.kind == "interval":
                apart = (own["rx"].diff() - stream.pattern.period).abs().drop_nulls()
            else:
                apart = own["delay"].diff().abs().drop_nulls()
            # A stamp is a whole nanosecond.
            assert not apart.len() or apart.max() <= limit.limit + 1, (name, limit.kind, apart.max())
            event(f"{limit.kind} kept")


@RANDOM
@given(
    networks(shapes=(RING, LADDER)),
    streams(),
    st.sampled_from([(), (), ("s2", "s4")]),
    st.sampled_from(["s1 -> s2", "s2 -> s3", "s4 -> s1"]),
    st.sampled_from([0, 0, 50_000, 500_000]),
)
def test_member_streams_keep_what_is_required_also_if_frames_are_lost(
    network: model.Network,
    every: dict[str, model.Stream],
    merging: tuple[str, ...],
    bad: str,
    loss_ppm: int,
) -> None:
    """By any path, and by another one for each frame; streams merge at the last bridge, or half-way, too."""
    frer = model.Frer(at=merging)
    scenario = model.Scenario(
        name="windows",
        duration=12 * MS,
        network=network,
        streams={
            name: own if name == "files" else own.model_copy(update={"frer": frer})
            for name, own in every.items()
        },
        shapers={"* -> *": model.Shaper(gates=model.Planned())},
        faults=(model.faults.Loss(port=bad, loss=loss_ppm),) if loss_ppm else (),
    )
    try:
        made = plan(scenario)
    except PlanningErrors as error:
        event("refused: " + error.problems[0].path.split(".")[-1])
        return
    event("planned")
    frames = _seen(made, lost=True)
    _proved(made, scenario.streams, frames)
    upper = {flow["stream"]: flow["upper_ns"] for flow in bounds(made)["flows"]}
    for name, stream in scenario.streams.items():
        if name == "files":
            continue
        own = frames.filter(pl.col("stream") == name)
        greatest = own["delay"].max()
        assert stream.requires.delay is None or greatest <= stream.requires.delay, (name, greatest)
        assert upper.get(name) is None or greatest <= upper[name]
        for limit in stream.requires.jitter:
            if limit.kind == "delay-step-abs":
                apart = own["delay"].diff().abs().drop_nulls().max()
                assert apart is None or apart <= limit.limit + 1, (name, apart)
                event("jitter kept")


BOTH_WAYS = """\
name: both-ways
duration: 60 ms
network:
  stations: [t1, t2, l1]
  bridges: {b1: {processing: 2 us}, b2: {processing: 2 us}, b3: {processing: 2 us}}
  rate: 100 Mbit/s
  links: [t1 -- b1, t2 -- b1, b2 -- l1, b1 -- b3, b3 -- b2, b1 -- b2]
  queues: {classes: {4: 4, 3: 3, 0: 0}}
streams:
  bg: {from: t2, to: l1, pcp: 0, payload: 1000 B, period: 1 ms}
  be: {from: t1, to: l1, pcp: 3, payload: 500 B, period: 1 ms, requires: {delay: 20 ms, loss: 0}}
  red: {from: t1, to: l1, pcp: 4, payload: 150 B, period: 1 ms, frer: {}, requires: {delay: 5 ms, loss: 0}}
shapers: {all: {gates: plan}}
"""


def test_member_streams_wait_for_no_more_than_their_windows() -> None:
    """A frame of 196 octets, 202 with its tag, stays 71.6 us on the slow path. At each of four windows it may
    wait for a gap, and for less than a microsecond of the list."""
    made = plan(read_scenario(BOTH_WAYS)[0])
    red = {flow["stream"]: flow for flow in bounds(made)["flows"]}["red"]
    assert red["source"] == "windows' proof"
    assert (red["loss_reason"], red["most_arrivals"]) == (None, 1)
    down = plan(read_scenario(BOTH_WAYS + "faults: [{down: b1 -- b2}]\n")[0])
    slowest = _seen(down, lost=True).filter(pl.col("stream") == "red")["delay"].max()
    assert 71_600 <= slowest <= red["upper_ns"] <= 71_600 + 4 * 1_960


RING_BOTH_WAYS = """\
name: ring
duration: 30 ms
network:
  stations: [s1, s2, s3]
  bridges: {b1: {processing: 2 us}, b2: {processing: 2 us}, b3: {processing: 2 us}}
  rate: 1 Gbit/s
  links: [s1 -- b1, s2 -- b2, s3 -- b3, b1 -- b2, b2 -- b3, b3 -- b1]
  queues: {classes: {5: 5, 0: 0}}
streams:
  r0: {from: s1, to: s2, FRER}
  r1: {from: s2, to: s3, FRER}
  r2: {from: s3, to: s1, FRER}
shapers: {all: {gates: plan}}
""".replace(
    "FRER",
    "pcp: 5, payload: 400 B, period: 1 ms, frer: {}, requires: {delay: 5 ms, loss: 0, SURVIVES}",
).replace("SURVIVES", "survives: {of: [bridge-links]}")


def test_streams_both_ways_round_a_ring_are_proved_although_no_port_is_first() -> None:
    """Each path of two links waits for one that waits for it, so that one window is a cycle late. The slow
    path of a frame of 446 octets, 452 with its tag, takes 22.3 us without waits. Each link fails once."""
    made = plan(read_scenario(RING_BOTH_WAYS)[0])
    found = {flow["stream"]: flow for flow in bounds(made)["flows"]}
    for link in ("b1 -- b2", "b2 -- b3", "b3 -- b1"):
        frames = _seen(plan(read_scenario(RING_BOTH_WAYS + f"faults: [{{down: {link}}}]\n")[0]), lost=True)
        for name, flow in found.items():
            own = frames.filter(pl.col("stream") == name)
            assert own["seq"].n_unique() == 30
            assert own["delay"].max() <= flow["upper_ns"]
            assert (flow["loss_reason"], flow["survives"][0]["reason"]) == (None, None)
    assert {found[name]["source"] for name in ("r0", "r1")} == {"windows' proof"}
    assert max(found[name]["upper_ns"] for name in ("r0", "r1")) <= 1_000_000 + 22_300


def test_a_jitter_limit_is_kept_beside_a_stream_the_other_way() -> None:
    """Gates at bridges alone, two streams between two stations, one each way: delays differ by a window."""
    nodes = {name: model.Node(kind="station" if name in STATIONS else "bridge") for name in LINE_NODES}
    own = model.Requirements(delay=300_000)
    limited = model.JitterLimit(kind="delay-step-abs", limit=40_000)
    made = {"size": model.FixedSize(octets=128), "pcp": 7}
    scenario = model.Scenario(
        name="windows",
        duration=12 * MS,
        network=model.Network(nodes=nodes, links=links(LINE, rate=100_000_000, cable=0)),
        streams={
            "s0": model.Stream(
                talker="a",
                listeners=("b",),
                pattern=model.Periodic(period=250_000),
                requires=own.model_copy(update={"jitter": (limited,)}),
                **made,
            ),
            "s1": model.Stream(
                talker="b", listeners=("a",), pattern=model.Periodic(period=500_000), requires=own, **made
            ),
        },
        shapers={f"s{n} -> *": model.Shaper(gates=model.Planned()) for n in (1, 2, 3)},
        windows=model.Windows(granularity=1, shortest_interval=1, guard_band=False),
    )
    delays = _seen(plan(scenario)).filter(pl.col("stream") == "s0")["delay"]
    assert delays.diff().abs().drop_nulls().max() <= limited.limit + 1
