"""The parts of each hop's time: values by hand, and sums of parts in any network."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import polars as pl
import pytest

from support.journeys import disagreements
from support.planned import plan_of, run_of
from tsnbench.backends.simulation import Simulation
from tsnbench.replay.passages import ReplayError, recorded
from tsnbench.replay.waiting import COLUMNS, OPTIONAL, History, Reason
from tsnbench.replay.window import Journey, around, journey_named, slowest
from tsnbench.runs import Run
from tsnbench.scenario import load_variants

if TYPE_CHECKING:
    from tsnbench.plan.types import PlanDocument

SCENARIOS = Path(__file__).parents[2] / "scenarios"

# A frame of 117 octets takes 10 us at 100 Mbit/s with its preamble of 8 octets: 125 * 80 ns; a gap of 12
# octets takes 0.96 us.
BRIDGE = """
name: wait
duration: 2 ms
network:
  stations: [low, high, sink]
  bridges: {sw: {processing: 3 us}}
  links: {rate: 100 Mbit/s, cable: 20 m, between: [low -- sw, high -- sw, sw -- sink]}
streams:
  slow: {from: low, to: sink, pcp: 0, period: 1 ms, frame: 1242 B}
  fast: {from: high, to: sink, pcp: 7, period: 1 ms, offset: 100 us, frame: 117 B}
shapers:
  sw -> sink: {queues: {classes: {7: 1, 0: 0}}}
"""


def replayed(text: str, folder: Path) -> tuple[Run, History, list[Journey]]:
    run = run_of(plan_of(text), folder)
    history = History.of(run)
    return run, history, slowest(history)


def parts(history: History, journey: Journey) -> list[tuple[str, int]]:
    return [(part.reason.value, part.length_ns) for _, own in history.hops(journey.passages) for part in own]


def of_stream(run: Run, journeys: list[Journey], name: str) -> Journey:
    number = [stream["name"] for stream in run.plan.document["streams"]].index(name)
    return next(one for one in journeys if one.stream == number)


def test_another_frame_is_in_the_way(tmp_path: Path) -> None:
    run, history, journeys = replayed(BRIDGE, tmp_path)
    # slow: 1,250 octets with its preamble, 100 us on each link; the switch begins to send it at 103.1 us.
    # fast: handed over at 100 us, complete at 110.1 us, in the queue at 113.1 us; slow ends at 203.1 us,
    # and the gap after it at 204.06 us.
    assert parts(history, of_stream(run, journeys, "fast")) == [
        ("wire", 10_000),
        ("cable", 100),
        ("processing", 3_000),
        ("other frames", 90_960),
        ("wire", 10_000),
        ("cable", 100),
    ]


def test_a_frame_that_comes_in_the_gap_waits_for_its_end(tmp_path: Path) -> None:
    text = BRIDGE.replace("offset: 100 us", "offset: 190.5 us")
    run, history, journeys = replayed(text, tmp_path)
    # slow ends at 203.1 us, fast is in the queue at 203.6 us, the gap ends at 204.06 us.
    assert parts(history, of_stream(run, journeys, "fast"))[2:4] == [
        ("processing", 3_000),
        ("other frames", 460),
    ]


def test_gates_are_shut_and_frames_do_not_fit(tmp_path: Path) -> None:
    gates = "gates: {cycle: 250 us, entries: [{open: [7], for: 150 us}, {open: [0], for: 100 us}]}"
    text = BRIDGE.replace("0: 0}}}", f"0: 0}}}}, {gates}}}")
    run, history, journeys = replayed(text.replace("1242", "1117"), tmp_path)
    # slow: 1,125 octets with its preamble take 90 us. It is queued at 93.1 us, its gate opens at 150 us.
    assert parts(history, of_stream(run, journeys, "slow")) == [
        ("wire", 90_000),
        ("cable", 100),
        ("processing", 3_000),
        ("gate closed", 56_900),
        ("wire", 90_000),
        ("cable", 100),
    ]
    # A frame of 90 us that arrives 70 us before its gate closes waits for the next window.
    late = text.replace("1242", "1117").replace("slow: {", "slow: {offset: 86.9 us, ")
    (tmp_path / "late").mkdir()
    run, history, journeys = replayed(late, tmp_path / "late")
    assert parts(history, of_stream(run, journeys, "slow"))[3:5] == [
        ("gate closes before the frame would end", 70_000),
        ("gate closed", 150_000),
    ]


def test_credit_and_frames_of_the_same_class(tmp_path: Path) -> None:
    text = BRIDGE.replace("{queues: {classes: {7: 1, 0: 0}}}", "{cbs: {A: 50 Mbit/s}}").replace("1242", "117")
    text = text.replace("offset: 100 us, ", "").replace("pcp: 0", "pcp: 3").replace("pcp: 7", "pcp: 3")
    run, history, journeys = replayed(text, tmp_path)
    # Two frames of 10 us join the queue at the same instant. During the first one and its gap the credit
    # falls by
    # 50 Mbit/s; it needs the same time to return to zero.
    assert parts(history, of_stream(run, journeys, "slow"))[3][0] == "wire"
    assert parts(history, of_stream(run, journeys, "fast"))[3:5] == [
        ("own class ahead", 10_960),
        ("credit", 10_960),
    ]


# One port of 1 Gbit/s: a frame of 117 octets takes 1 us with its preamble, the gap after it 96 ns.
def by_hand(
    gates: dict[str, Any] | None, frames: list[tuple[int, ...]], cbs: bool = False, **more: object
) -> History:
    """The history of one port; ``frames``: class, queued, start and, if later, eligible of each, in ns."""
    port: dict[str, Any] = {
        "rate_bps": 10**9,
        "peer": 1,
        "node": 0,
        "pcp_to_class": [0] * 8,
        "classes": [{}, {"cbs": {}} if cbs else {}],
    }
    port |= {} if gates is None else {"gates": gates}
    document: dict[str, object] = {
        "ports": [port, {"rate_bps": 10**9, "peer": 0, "node": 1, "classes": [{}]}],
        "streams": [],
    }
    document |= more
    rows = [
        dict.fromkeys(COLUMNS, 0)
        | dict.fromkeys(OPTIONAL)
        | {"number": place, "stream": place, "octets": 117, "class": traffic_class, "came_ns": queued}
        | {"queued_ns": queued, "eligible_ns": (*later, queued)[0]}
        | {"start_ns": start, "end_ns": start + 1000, "arrived_ns": start + 1010}
        for place, (traffic_class, queued, start, *later) in enumerate(frames)
    ]
    schema = dict.fromkeys(COLUMNS, pl.Int64)
    return History(cast("PlanDocument", document), pl.DataFrame(rows, schema=schema))


def waits_of(history: History, place: int) -> list[tuple[str, int, int | None]]:
    (frame,) = history._of_frame(place, 0)
    return [(part.reason.value, part.length_ns, part.stream) for part in history.ports[0].waits(frame)]


def gate_list(*entries: tuple[int, int], base: int = 0) -> dict[str, Any]:
    cycle = sum(interval for _, interval in entries)
    listed = [{"open": mask, "interval_ns": interval} for mask, interval in entries]
    return {"base_time_ns": base, "cycle_ns": cycle, "entries": listed}


GUARD = "gate closes before the frame would end"
# Class 0 is open from 8 us to 13 us, across the end of the cycle of 10 us; class 1 from 3 to 8 us.
ACROSS = gate_list((0b01, 3_000), (0b10, 5_000), (0b01, 2_000))


@pytest.mark.parametrize(
    ("gates", "queued", "start", "expected"),
    [
        # 1 us fits exactly: no observation gives a reason why the port did not send.
        (
            gate_list((0b01, 5_000), (0b10, 5_000)),
            3_990,
            10_000,
            [("unknown", 10), (GUARD, 1_000), ("gate closed", 5_000)],
        ),
        (gate_list((0b01, 5_000), (0b10, 5_000)), 4_001, 10_000, [(GUARD, 999), ("gate closed", 5_000)]),
        (
            gate_list((0b01, 5_000), (0b10, 5_000), base=1_000),
            5_001,
            11_000,
            [(GUARD, 999), ("gate closed", 5_000)],
        ),
        # Without another list, and without states before it, the list also repeats before its base time.
        (gate_list((0b10, 5_000), (0b01, 5_000), base=40_000), 1_000, 2_000, [("gate closed", 1_000)]),
        (ACROSS, 9_500, 11_000, [("unknown", 1_500)]),
        (ACROSS, 11_500, 18_000, [("unknown", 500), (GUARD, 1_000), ("gate closed", 5_000)]),
        (None, 0, 700, [("unknown", 700)]),
    ],
)
def test_gates_by_hand(
    gates: dict[str, Any] | None, queued: int, start: int, expected: list[tuple[str, int]]
) -> None:
    # Stamps are whole ns, so the last two ns before the guard begins may count as guard.
    found = [(reason, length) for reason, length, _ in waits_of(by_hand(gates, [(0, queued, start)]), 0)]
    assert [reason for reason, _ in found] == [reason for reason, _ in expected]
    assert [length for _, length in found] == pytest.approx([length for _, length in expected], abs=2)


def test_reasons_at_one_instant_have_an_order() -> None:
    # Class 1 leaves first, an older frame of class 0 after a pause, and the waiting frame last.
    history = by_hand(None, [(1, 0, 0), (0, 0, 2_000), (0, 500, 3_096)])
    assert waits_of(history, 2) == [
        ("other frames", 596, 0),
        ("own class ahead", 904, None),
        ("own class ahead", 1_096, 1),
    ]
    history = by_hand(None, [(1, 0, 0), (1, 100, 2_000)], cbs=True)
    assert waits_of(history, 1) == [("own class ahead", 996, 0), ("credit", 904, None)]
    # A closed gate also counts while another frame is on the wire.
    history = by_hand(gate_list((0b10, 3_000), (0b01, 3_000)), [(1, 2_500, 2_500), (0, 2_600, 3_596)])
    assert waits_of(history, 1) == [("gate closed", 400, None), ("other frames", 596, 0)]


def test_a_frame_that_is_not_eligible_waits_for_its_shaper() -> None:
    # The second frame came first, but the other one of its class was eligible earlier.
    assert waits_of(by_hand(None, [(0, 500, 500), (0, 100, 3_000, 2_900)]), 1) == [
        ("asynchronous shaper", 400, None),
        ("own class ahead", 1_096, 0),
        ("asynchronous shaper", 1_304, None),
        ("unknown", 100, None),
    ]
    assert waits_of(by_hand(None, [(0, 500, 500), (0, 100, 3_000)]), 1) == [
        ("own class ahead", 400, None),
        ("own class ahead", 1_096, 0),
        ("unknown", 1_404, None),
    ]


@pytest.mark.parametrize(("own", "cyclic"), [({"streams": [0]}, {0}), ({}, {0, 1})])
def test_the_turn_is_awaited_by_streams_whose_gate_chooses_the_queue(
    own: dict[str, Any], cyclic: set[int]
) -> None:
    filters = [{"gate": 0, **own}, {"streams": [1]}]
    policing = [{"node": 0, "filters": filters, "gates": [{"entries": [{"ipv": 0}, {}]}]}]
    frames = [(0, 0, 3_000), (0, 0, 4_100)]
    lists = gate_list((0b10, 3_000), (0b01, 3_000))
    history = by_hand(lists, frames, policing=policing, streams=[{}, {}])
    for place in (0, 1):
        turn = "not the turn of its cyclic queue" if place in cyclic else "gate closed"
        assert waits_of(history, place)[0] == (turn, 3_000, None)


def test_a_journey_ends_with_the_first_arrival_that_was_accepted() -> None:
    table = by_hand(None, [(0, 0, 0), (0, 0, 2_000), (0, 0, 4_000)]).table
    table = table.with_columns(stream=pl.lit(0), accepted=pl.Series([0, 1, 1]))
    (passage,) = History(by_hand(None, []).document, table).journey(0, 0, 1)
    assert passage.number == 1


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [("6-ats-or-cqf", "ats", Reason.SHAPER), ("4-preemption", "preemption", Reason.INTERRUPTED)],
)
def test_no_wait_is_unknown_with_shapers_and_preemption(
    name: str, value: str, reason: Reason, tmp_path: Path
) -> None:
    every = load_variants(SCENARIOS / "tutorial" / f"{name}.yaml")
    run = next(one for one in every if value in one.variant.values()).plan().run(Simulation(), tmp_path / "r")
    history = History.of(run)
    found = {part.reason for one in history.all() for part in history.parts(one)}
    assert reason in found
    assert Reason.UNKNOWN not in found


def test_without_the_counters_of_the_run_a_list_that_changes_gives_no_reason(tmp_path: Path) -> None:
    gates = "gates: {entries: [{open: [7], for: 500 us}, {open: [0, 7], for: 500 us}], changes: [CHANGE]}"
    change = "{at: 1 ms, base-time: 1 ms, entries: [{open: [0, 7], for: 500 us}, {open: [7], for: 500 us}]}"
    text = BRIDGE.replace("0: 0}}}", f"0: 0}}}}, {gates.replace('CHANGE', change)}}}")
    run, history, journeys = replayed(text, tmp_path)
    assert "gate closed" in {reason for one in journeys for reason, _ in parts(history, one)}
    history = History(run.plan.document, history.table)
    found = [part for one in journeys for part in parts(history, one)]
    assert "unknown" in {reason for reason, _ in found}
    assert not {"gate closed", GUARD} & {reason for reason, _ in found}
    assert sum(length for _, length in found) == sum(one.total_ns for one in journeys)


def test_of_a_replicated_frame_the_first_arrival_counts(tmp_path: Path) -> None:
    # The second path has a cable of 2 km, 10 us; both member streams reach the listener. With its R-TAG of 6
    # octets,
    # a frame takes (117 + 6 + 8) * 8 ns on each link.
    text = """name: dual
duration: 1 ms
network:
  bridges: [b1, b2]
  stations: [t, l]
  rate: 1 Gbit/s
  links: [t -- b1, t -- b2, b1 -- l, {between: [b2 -- l], cable: 2 km}]
streams: {s: {from: t, to: l, pcp: 5, period: 100 us, frame: 117 B, frer: {}}}
"""
    run, _, (journey,) = replayed(text, tmp_path)
    names = [run.plan.document["ports"][one.port]["name"] for one in journey.passages]
    assert (names, journey.total_ns) == (["t -> b1", "b1 -> l"], 2 * 1_048)


def test_a_window_does_not_begin_before_the_run(tmp_path: Path) -> None:
    run, _, journeys = replayed(BRIDGE, tmp_path)
    assert [around(of_stream(run, journeys, name))[0] for name in ("slow", "fast")] == [0, 0]


@pytest.mark.parametrize(
    "name",
    [
        "2-gates",
        "3-cbs-line",
        "4-preemption",
        "5-policing",
        "7-frer-and-faults",
        "10-trace-replay",
        "11-scheduled",
    ],
)
def test_parts_add_up_and_queues_are_as_deep_as_counted(name: str, tmp_path: Path) -> None:
    scenarios = load_variants(SCENARIOS / "tutorial" / f"{name}.yaml")
    runs = [one.plan().run(Simulation(), tmp_path / str(number)) for number, one in enumerate(scenarios)]
    assert sum(explained(run) for run in runs)


def explained(run: Run) -> int:
    """The number of journeys whose parts add up, in a run whose queues are as deep as they were counted."""
    frames = 0
    document = run.plan.document
    history = History.of(run)
    assert list(disagreements(run, history)) == []
    for journey in slowest(history):
        for one in journey.passages:
            rate = document["ports"][one.port]["rate_bps"]
            wire = [part.length_ns for part in history.parts(one) if part.reason is Reason.WIRE]
            # Each further mPacket has a preamble, and a check sequence stands before it.
            octets = one.octets + 8 + 12 * (len(wire) - 1)
            assert sum(wire) == pytest.approx(octets * 8e9 / rate, abs=2 * len(wire))
            cable = [part.length_ns for part in history.parts(one) if part.reason is Reason.CABLE]
            assert cable == [
                pytest.approx(
                    document["ports"][document["ports"][one.port]["peer"]]["propagation_ps"] / 1000, abs=2
                )
            ]
        frames += 1
    # A talker that saturates hands over the next frame at the instant at which one leaves, after it.
    first, last = (deepest_queues(history.table, before) for before in (False, True))
    for port, counted in enumerate(run.counters["ports"]):
        for one in counted["classes"]:
            if one["dropped_frames"] == 0:
                key = (port, one["class"])
                assert first.get(key, 0) <= one["most_frames"] <= last.get(key, 0), counted["port"]
                talks = document["nodes"][document["ports"][port]["node"]]["kind"] != "bridge"
                assert talks or last.get(key, 0) == one["most_frames"], counted["port"]
    return frames


def drawn(seed: int) -> str:
    """A random tree of bridges with stations, streams of all patterns, and shapers at some of its ports."""
    draws = random.Random(seed)
    bridges = [f"s{number}" for number in range(draws.randint(1, 5))]
    stations = [f"t{number}" for number in range(draws.randint(2, 6))]
    links = [(draws.choice(bridges[:number]), name) for number, name in enumerate(bridges) if number]
    links += [(draws.choice(bridges), name) for name in stations]
    lines = [f"name: drawn-{seed}", "duration: 4 ms", f"seed: {seed}", "network:"]
    lines.append(f"  stations: [{', '.join(stations)}]")
    took = [f"{name}: {{processing: {draws.choice([0, 1, 5])} us}}" for name in bridges]
    lines += [f"  bridges: {{{', '.join(took)}}}", "  links:"]
    for a, b in links:
        rate, cable = draws.choice(["100 Mbit/s", "1 Gbit/s"]), draws.randint(1, 100)
        lines.append(f"    - {{rate: {rate}, cable: {cable} m, between: [{a} -- {b}]}}")
    lines += ["  queues: {classes: {6: 2, 3: 1, 0: 0}}", "streams:"]
    for number in range(draws.randint(2, 8)):
        talker, listener = draws.sample(stations, 2)
        period, frame = draws.choice([125, 250, 500, 1000]), draws.randint(64, 1522)
        pattern = draws.choice(
            [f"period: {period} us", f"period: {period} us", f"poisson: {draws.randint(1, 40)} Mbit/s"]
        )
        if "period" in pattern:
            pattern += f", offset: {draws.randrange(period)} us"
        pcp = draws.choice([6, 3, 0])
        lines.append(
            f"  x{number}: {{from: {talker}, to: {listener}, pcp: {pcp}, frame: {frame} B, {pattern}}}"
        )
    shapers = []
    for a, b in links:
        port = draws.choice([f"{a} -> {b}", f"{b} -> {a}"])
        first = draws.randint(200, 300)
        entries = f"[{{open: [6, 0], for: {first} us}}, {{open: [3], for: {500 - first} us}}]"
        gates = f"gates: {{cycle: 500 us, entries: {entries}}}"
        cbs = "cbs: {1: {bandwidth: 30 Mbit/s}}"
        if kinds := draws.choice([[], [gates], [cbs], [gates, cbs]]):
            shapers.append(f"  {port}: {{{', '.join(kinds)}}}")
    return "\n".join([*lines, *(["shapers:", *shapers] if shapers else []), ""])


@pytest.mark.parametrize("seed", range(20))
def test_parts_add_up_in_random_networks(seed: int, tmp_path: Path) -> None:
    run, _, journeys = replayed(drawn(seed), tmp_path)
    assert explained(run) == len(journeys) > 0


def test_what_cannot_be_replayed_is_refused(tmp_path: Path) -> None:
    run, history, _ = replayed(BRIDGE, tmp_path)
    run.manifest["backend"] = "vm"
    with pytest.raises(ReplayError, match="found one by vm"):
        recorded(run)
    for name, found in [
        ("fast", "such as slow/0, found fast"),
        ("none/0", "one of the streams slow, fast, found none"),
        ("fast/77", "frame 77 of fast did not arrive"),
    ]:
        with pytest.raises(ReplayError, match=found):
            journey_named(history, name)


def test_a_run_of_another_engine_is_named(tmp_path: Path) -> None:
    run, _, _ = replayed(BRIDGE, tmp_path)
    file = run.folder / "observations.parquet"
    kept = pl.read_parquet_metadata(file)
    pl.read_parquet(file).head(-1).write_parquet(file, metadata={"tsnbench.legend": kept["tsnbench.legend"]})
    with pytest.raises(ReplayError, match="gives other frames"):
        recorded(run)
    # An interrupted run has the first sightings only.
    run.manifest["state"] = "interrupted"
    assert len(recorded(run).passages) == 8


def test_reasons_are_words_of_reports() -> None:
    assert [reason.value for reason in Reason][:2] == ["processing", "gate closed"]


def deepest_queues(table: pl.DataFrame, before: bool) -> dict[tuple[int, int], int]:
    """The most frames that waited at a time, per port and class; a frame that begins at once counts, too.

    ``before``: whether the frames of an instant come before others leave; a bridge chooses among all of them.
    """
    keys = ["port", "class"]
    came = table.select(*keys, t="queued_ns", by=1)
    left = table.select(*keys, t="start_ns", by=-1)
    depth = pl.col("by").cum_sum().over(keys)
    counted = pl.concat([came, left]).sort("t", "by", descending=[False, before]).with_columns(depth=depth)
    return {
        (port, traffic_class): depth
        for port, traffic_class, depth in counted.group_by(keys).agg(pl.col("depth").max()).iter_rows()
    }
