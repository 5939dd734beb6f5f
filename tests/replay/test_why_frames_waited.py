"""Each hop's time in parts: values by hand, and that the parts add up whatever the network."""

from __future__ import annotations

from pathlib import Path

import pytest

from tsnbench.backends.simulation import Simulation
from tsnbench.replay.passages import deepest_queues, passages
from tsnbench.replay.sightings import ReplayError, sightings_of
from tsnbench.replay.waiting import History, Reason
from tsnbench.replay.window import Journey, journey_named, slowest
from tsnbench.runs import Run
from tsnbench.scenario import load, load_variants

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
    file = folder / "scenario.yaml"
    file.write_text(text)
    run = load(file).plan().run(Simulation(), folder / "run")
    table = passages(run.plan.document, sightings_of(run))
    history = History(run.plan.document, table)
    return run, history, slowest(run.plan.document, history, table)


def parts(history: History, journey: Journey) -> list[tuple[str, int]]:
    return [(part.reason.value, part.length_ns) for one in journey.passages for part in history.parts(one)]


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


def test_gates_are_shut_and_frames_do_not_fit(tmp_path: Path) -> None:
    gates = "gates: {cycle: 250 us, entries: [{open: [7], for: 150 us}, {open: [0], for: 100 us}]}"
    text = BRIDGE.replace("0: 0}}}", f"0: 0}}}}, {gates}}}")
    run, history, journeys = replayed(text.replace("1242", "1117"), tmp_path)
    # slow: 1,125 octets with its preamble take 90 us. It is queued at 93.1 us, its gate opens at 150 us.
    assert parts(history, of_stream(run, journeys, "slow")) == [
        ("wire", 90_000),
        ("cable", 100),
        ("processing", 3_000),
        ("gate shut", 56_900),
        ("wire", 90_000),
        ("cable", 100),
    ]
    # A frame of 90 us that comes 70 us before its gate shuts waits for the next window.
    late = text.replace("1242", "1117").replace("slow: {", "slow: {offset: 86.9 us, ")
    (tmp_path / "late").mkdir()
    run, history, journeys = replayed(late, tmp_path / "late")
    assert parts(history, of_stream(run, journeys, "slow"))[3:5] == [
        ("gate shuts before the frame would end", 70_000),
        ("gate shut", 150_000),
    ]


def test_credit_and_frames_of_the_same_class(tmp_path: Path) -> None:
    text = BRIDGE.replace("{queues: {classes: {7: 1, 0: 0}}}", "{cbs: {A: 50 Mbit/s}}").replace("1242", "117")
    text = text.replace("offset: 100 us, ", "").replace("pcp: 0", "pcp: 3").replace("pcp: 7", "pcp: 3")
    run, history, journeys = replayed(text, tmp_path)
    # Two frames of 10 us join the queue at one instant. While the first one and its gap are sent, the credit
    # falls by 50 Mbit/s; it takes the same time to come back.
    assert parts(history, of_stream(run, journeys, "slow"))[3][0] == "wire"
    assert parts(history, of_stream(run, journeys, "fast"))[3:5] == [
        ("own class ahead", 10_960),
        ("credit", 10_960),
    ]


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
    frames = 0
    for number, scenario in enumerate(load_variants(SCENARIOS / "tutorial" / f"{name}.yaml")):
        run = scenario.plan().run(Simulation(), tmp_path / str(number))
        document = run.plan.document
        table = passages(document, sightings_of(run))
        history = History(document, table)
        for journey in slowest(document, history, table):
            lengths = [part.length_ns for one in journey.passages for part in history.parts(one)]
            assert sum(lengths) == journey.total_ns
            assert min(lengths) > 0
            frames += 1
        deepest = deepest_queues(table)
        for port, counted in enumerate(run.counters["ports"]):
            for one in counted["classes"]:
                if one["dropped_frames"] == 0:
                    assert deepest.get((port, one["class"]), 0) == one["most_frames"], counted["port"]
    assert frames


def test_what_cannot_be_replayed_is_refused(tmp_path: Path) -> None:
    text = BRIDGE + "clocks:\n  default: {drift: 20 ppm}\n"
    with pytest.raises(ReplayError, match="nodes with clocks of their own"):
        replayed(text, tmp_path)
    (tmp_path / "b").mkdir()
    run, history, _ = replayed(BRIDGE, tmp_path / "b")
    for name, found in [
        ("fast", "such as slow/0, found fast"),
        ("none/0", "one of the streams slow, fast, found none"),
        ("fast/77", "frame 77 of fast did not arrive"),
    ]:
        with pytest.raises(ReplayError, match=found):
            journey_named(run.plan.document, history, name)


def test_a_run_of_another_engine_is_told(tmp_path: Path) -> None:
    import polars as pl

    run, _, _ = replayed(BRIDGE, tmp_path)
    file = run.folder / "observations.parquet"
    kept = pl.read_parquet_metadata(file)
    pl.read_parquet(file).head(-1).write_parquet(file, metadata={"tsnbench.legend": kept["tsnbench.legend"]})
    with pytest.raises(ReplayError, match="gives other frames at"):
        sightings_of(run)


def test_reasons_are_words_of_reports() -> None:
    assert [reason.value for reason in Reason][:2] == ["processing", "gate shut"]
