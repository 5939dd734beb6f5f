"""Tables and box plots of stages: OCORA's definitions, on numbers computed by hand, and on a run."""

from __future__ import annotations

import csv
import io
import json
import statistics

import polars as pl
import pytest
from rich.console import Console

from support.commands import tsnbench
from support.planned import plan_of, run_of
from tsnbench.errors import InputError
from tsnbench.measure.stages import Stage, StreamStages, by_stage, stages_table, wakeups_table
from tsnbench.report.figures.stages import box

SCENARIO = """
name: stages
duration: 20 ms
network: {stations: [a, b], links: {rate: 1 Gbit/s, cable: 10 m, between: [a -- b]}}
hosts:
  a: {wakeup: {values: [2 us, 4 us], counts: [1, 1]}, send: 3 us, qdisc: 1 us, driver: 2 us, tx: 5 us}
  b: {kernel-rx: 7 us, app-rx: 30 us}
streams: {loop: {from: a, to: b, period: 1 ms, payload: 100 B, vlan: none}}
taps: {stages: [interval-start, wakeup, send, qdisc, driver, kernel-rx, app-rx]}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("stages")
    run_of(plan_of(SCENARIO), place)
    return place / "run"


def test_latency_is_from_the_intervals_start_and_jitter_the_mean_deviation(folder):
    (one,) = by_stage(folder)
    assert (one.reference, one.frames) == ("interval-start", 20)
    mean = {stage.name: stage.mean_ns for stage in one.stages}
    assert list(mean) == [
        "interval-start", "wakeup", "send", "qdisc", "driver", "tx", "rx", "kernel-rx", "app-rx",
    ]  # fmt: skip
    # The latencies of the scenario, in their order.
    for early, late, ns in [
        ("wakeup", "send", 3_000), ("send", "qdisc", 1_000), ("qdisc", "driver", 2_000),
        ("rx", "kernel-rx", 7_000), ("kernel-rx", "app-rx", 30_000),
    ]:  # fmt: skip
        assert mean[late] - mean[early] == pytest.approx(ns, abs=1)
    wakeup = next(stage for stage in one.stages if stage.name == "wakeup")
    assert set(wakeup.latencies) == {2_000, 4_000}
    middle = statistics.fmean(wakeup.latencies)
    assert wakeup.jitter_ns == pytest.approx(statistics.fmean(abs(ns - middle) for ns in wakeup.latencies))
    # After a constant latency the jitter is the same as before.
    assert all(
        stage.jitter_ns == pytest.approx(wakeup.jitter_ns, abs=1)
        for stage in one.stages
        if stage.name not in ("interval-start", "wakeup")
    )
    assert set(one.wakeups) == {2, 4}
    assert sum(one.wakeups.values()) == 20


def test_the_command_prints_tables_and_draws_the_box_plot(folder):

    said = tsnbench("measure", folder, "--stages")
    assert said.returncode == 0, said.stderr
    assert "mean jitter" in said.stdout
    assert "app-rx" in said.stdout
    assert (folder / "stages.svg").read_bytes().startswith(b"<?xml")
    assert (folder / "stages.png").read_bytes().startswith(b"\x89PNG")
    found = tsnbench("measure", folder, "--stages", "--json")
    (one,) = json.loads(found.stdout)["streams"]
    assert one["stages"][0] == {
        "stage": "interval-start", "tap": "a -> b interval-start", "frames": 20, "mean_latency_ns": 0.0,
        "mean_jitter_ns": 0.0, "min_latency_ns": 0, "max_latency_ns": 0,
    }  # fmt: skip


def test_a_stage_without_stamps_says_why(folder, tmp_path):
    path = folder / "observations.parquet"
    legend = json.loads(pl.read_parquet_metadata(path)["tsnbench.legend"])
    number = next(n for n, tap in enumerate(legend["taps"]) if tap["stage"] == "driver")
    legend["taps"][number]["missing"] = "the driver does not stamp"
    table = pl.read_parquet(path).filter(pl.col("tap") != number)
    table.write_parquet(tmp_path / "observations.parquet", metadata={"tsnbench.legend": json.dumps(legend)})
    (one,) = by_stage(tmp_path)
    gone = one.stages[-1]
    assert (gone.name, gone.mean_ns, gone.missing) == ("driver", None, "the driver does not stamp")


PHC = "its clock is the hardware's, which has no common zero here"
TAPS = [
    {"stage": "wakeup", "name": "w"},
    {"stage": "interval-start", "name": "i"},
    {"stage": "driver", "name": "d", "missing": "no stamps"},
    {"stage": "tx", "name": "t", "clock": "phc"},
    {"stage": "wakeup", "name": "unused", "missing": "another one is there"},
    {"stage": "rx", "name": "r"},
    {"stage": "app-rx", "name": "p"},
    {"stage": "qdisc", "name": "q"},
]
SEEN = [
    # Tap, stream, number and time: frame 0 is seen twice at tap 0, and frame 2 has no start.
    (0, 0, 0, 3_000), (0, 0, 0, 9_000), (1, 0, 0, 1_000), (3, 0, 0, 50), (0, 0, 1, 5_400), (1, 0, 1, 2_000),
    (0, 0, 2, 7_000), (1, 0, 3, None),
    (1, 1, 0, 0), (0, 1, 0, 10),
]  # fmt: skip


def observed(into, rows):
    columns = {"tap": pl.Int64, "stream": pl.Int64, "seq": pl.Int64, "t_ns": pl.Int64}
    legend = json.dumps(
        {"taps": TAPS, "streams": [{"name": name} for name in ("z", "a", "one tap", "arrives")]}
    )
    table = pl.DataFrame(rows, schema=columns, orient="row")
    table.write_parquet(into / "observations.parquet", metadata={"tsnbench.legend": legend})


def shown(table):
    console = Console(width=120, file=io.StringIO(), record=True)
    console.print(table)
    return [" ".join(line.split()) for line in console.export_text().splitlines() if line.strip(" ─━")]


def test_stages_by_hand(tmp_path):
    # Streams without two stages, or without one of a talker, have no latencies.
    nothing = [(1, 2, 0, 0), (5, 3, 0, 0), (6, 3, 0, 10)]
    observed(tmp_path, SEEN + nothing)
    a, z = by_stage(tmp_path)
    gone = Stage("driver", "d", (), "no stamps")
    own = (Stage("interval-start", "i", (0,)), Stage("wakeup", "w", (10,)), gone)
    assert a == StreamStages("a", "interval-start", own, 1)
    wakeup = Stage("wakeup", "w", (2_000, 3_400))
    missing = (gone, Stage("tx", "t", (), PHC))
    assert z == StreamStages(
        "z", "interval-start", (Stage("interval-start", "i", (0, 0)), wakeup, *missing), 2
    )
    figures = {
        "mean_latency_ns": 2_700.0,
        "mean_jitter_ns": 700.0,
        "min_latency_ns": 2_000,
        "max_latency_ns": 3_400,
    }
    assert wakeup.as_dict() == {"stage": "wakeup", "tap": "w", "frames": 2, **figures}
    assert gone.as_dict() == {
        "stage": "driver", "tap": "d", "frames": 0, "mean_latency_ns": None, "mean_jitter_ns": None,
        "missing": "no stamps",
    }  # fmt: skip
    assert z.as_dict() == {
        "stream": "z", "reference": "interval-start", "frames": 2, "wakeup_histogram_us": {"2": 1, "3": 1},
        "stages": [stage.as_dict() for stage in z.stages],
    }  # fmt: skip
    table = stages_table(z)
    assert table.caption == f"driver: no stamps: no stamps\ntx: no stamps: {PHC}"
    assert shown(table)[:4] == [
        "z: 2 frames, from interval-start; us", "stage tap mean latency mean jitter min max frames",
        "interval-start i 0.0 0.0 0.0 0.0 2", "wakeup w 2.7 0.7 2.0 3.4 2",
    ]  # fmt: skip
    assert stages_table(StreamStages("s", "tx", (wakeup,), 2)).caption is None
    assert shown(wakeups_table(z)) == ["z", "woken late by, us wakeups", "2 1", "3 1"]
    observed(tmp_path, nothing)
    with pytest.raises(
        InputError, match="expected stamps of at least two stages, found none\nhint: name stages"
    ):
        by_stage(tmp_path)


def test_a_folder_without_stages_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"expected observations\.parquet"):
        by_stage(tmp_path)
    (tmp_path / "run-1").mkdir()
    (tmp_path / "run-1" / "manifest.json").write_text("{}")
    with pytest.raises(InputError, match="run-1"):
        by_stage(tmp_path)


def test_boxes_have_ocoras_definition():
    # Quartiles are medians of the halves; whiskers end at the last value within 1.5 interquartile ranges.
    drawn = box([n * 1_000 for n in (1, 2, 3, 4, 5, 6, 7, 8, 16)])
    assert (drawn["q1"], drawn["med"], drawn["q3"]) == (2.5, 5, 7.5)
    assert (drawn["whislo"], drawn["whishi"], drawn["fliers"]) == (1, 8, [16])
    assert drawn["mean"] == pytest.approx(52 / 9)
    assert box([5_000])["q1"] == 5


def test_no_histogram_without_the_starts_of_intervals():
    stage = Stage("wakeup", "tap", (5_000, 6_000))
    assert StreamStages("s", "wakeup", (stage,), 2).wakeups == {}
    assert StreamStages("s", "interval-start", (stage,), 2).wakeups == {5: 1, 6: 1}


def test_stages_as_tidy_csv(folder):

    done = tsnbench("measure", folder, "--stages", "--csv")
    assert done.returncode == 0, done.stderr
    head, *rows = list(csv.reader(done.stdout.splitlines()))
    assert head == ["stream", "listener", "quantity", "statistic", "value", "unit"]
    found = {(row[2], row[3]): (float(row[4]), row[5]) for row in rows if row[0] == "loop"}
    assert len(found) == len(rows)
    # The scenario's wake-ups are 2 us or 4 us after the begin of the interval.
    wakeup = "stage wakeup from interval-start"
    assert found[wakeup, "count"] == (20, "samples")
    assert found[wakeup, "min"] == (2_000, "ns")
    assert found[wakeup, "max"] == (4_000, "ns")
    (one,) = by_stage(folder)
    for stage in one.stages:
        name = f"stage {stage.name} from interval-start"
        assert found[name, "mean"] == (pytest.approx(stage.mean_ns), "ns")
        assert found[f"{name}, jitter", "mean"] == (pytest.approx(stage.jitter_ns), "ns")
