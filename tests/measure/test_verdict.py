"""Requirements against figures: whether each is met, its margin, and its worst frame."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from support.planned import plan_of, run_of
from tsnbench.measure import judge, verdict_rows, verdict_table
from tsnbench.measure.verdict import verdict_of
from tsnbench.runs.manifest import State


def stat(**figures: Any) -> dict[str, Any]:
    return {"min": 1, "mean": 500.0, "median": 400, "max": 900, "max_seq": 7} | figures


def path(**parts: Any) -> dict[str, Any]:
    return {
        "stream": "s.1",
        "group": "s",
        "listener": "sink",
        "delay": stat(),
        "delay_percentiles": [{"share_ppm": 999_000, "delay_ns": 850}],
        "jitter": {"delay-step-abs": stat(max=80, mean=10.0, median=5), "interval": None},
        "spread": 30.5,
        "count": {"sent": 1000, "received": 999, "lost": 1},
        "rate": {"received_bps": 2e6},
        "arrivals": stat(),
        "silence_ns": 900,
        "age": stat(max=1_400, max_seq=8),
        "round_trip": stat(max=1_800, max_seq=2),
    } | parts


def judged(requirements: dict[str, Any], *paths: dict[str, Any]) -> list[dict[str, Any]]:
    streams = [
        {
            "name": name,
            "group": "s",
            "listeners": [{"node": 0}],
            "pattern": {"kind": "poisson"},
            "requirements": requirements,
        }
        for name in {one["stream"] for one in paths} or {"s.1"}
    ]
    plan = {"drain_ns": 0, "nodes": [{"name": "sink"}], "streams": streams}
    verdict = judge(plan, {"paths": list(paths)})
    assert verdict["format"] == "tsnbench-verdict/1"
    assert verdict["met"] == all(row["met"] == "yes" for row in verdict["rows"])
    rows: list[dict[str, Any]] = verdict["rows"]
    return rows


@pytest.mark.parametrize(
    ("requirements", "name", "found", "margin", "worst", "met"),
    [
        ({"delay_ns": 900}, "delay", 900, 0, 7, "yes"),
        ({"delay_ns": 899}, "delay", 900, -1, 7, "mean-and-median"),
        ({"delay_ns": 500}, "delay", 900, -400, 7, "mean-and-median"),
        ({"delay_ns": 499}, "delay", 900, -401, 7, "no"),
        (
            {"delay_percentiles": [{"share_ppm": 999_000, "delay_ns": 850}]},
            "delay p99.9",
            850,
            0,
            None,
            "yes",
        ),
        (
            {"delay_percentiles": [{"share_ppm": 999_000, "delay_ns": 849}]},
            "delay p99.9",
            850,
            -1,
            None,
            "no",
        ),
        (
            {"delay_percentiles": [{"share_ppm": 990_000, "delay_ns": 9}]},
            "delay p99",
            None,
            None,
            None,
            "no-data",
        ),
        (
            {"jitter": [{"kind": "delay-step-abs", "limit_ns": 100}]},
            "jitter delay-step-abs",
            80,
            20,
            7,
            "yes",
        ),
        (
            {"jitter": [{"kind": "delay-step", "limit_ns": 20}]},
            "jitter delay-step",
            80,
            -60,
            7,
            "mean-and-median",
        ),
        ({"jitter": [{"kind": "spread", "limit_ns": 30}]}, "jitter spread", 30.5, -0.5, None, "no"),
        ({"jitter": [{"kind": "interval", "limit_ns": 9}]}, "jitter interval", None, None, None, "no-data"),
        ({"loss_ppm": 1000}, "loss", 1000.0, 0.0, None, "yes"),
        ({"loss_ppm": 999}, "loss", 1000.0, -1.0, None, "no"),
        ({"loss_ppm": 0}, "loss", 1000.0, -1000.0, None, "no"),
        ({"rate_bps": 2_000_000}, "rate", 2e6, 0.0, None, "yes"),
        ({"rate_bps": 2_000_001}, "rate", 2e6, -1.0, None, "no"),
        # After the last frame it is silent for no longer than before.
        ({"time_out_ns": 900}, "time-out", 900, 0, 7, "yes"),
        ({"age_ns": 1_399}, "age", 1_400, -1, 8, "mean-and-median"),
        ({"round_trip_ns": 1_800}, "round-trip", 1_800, 0, 2, "yes"),
    ],
)
def test_one_requirement(
    requirements: dict[str, Any],
    name: str,
    found: float | None,
    margin: float | None,
    worst: int | None,
    met: str,
) -> None:
    (row,) = judged(requirements, path())
    assert (row["requirement"], row["found"], row["margin"], row["worst_seq"], row["met"]) == (
        name,
        found,
        margin,
        worst,
        met,
    )
    assert row["limit_unit"] == {"loss": "ppm", "rate": "bit/s"}.get(name, "ns")


@pytest.mark.parametrize(
    ("arrivals", "silence", "uncertainty", "found", "met"),
    [
        (stat(), 901, None, 901, "no"),
        (stat(), 899, None, 900, "yes"),
        # A single frame has no time between arrivals.
        (None, 1, None, 1, "yes"),
        (None, None, None, None, "no-data"),
        # It lasts from an arrival to the last departure: two clocks at two times, so both errors count.
        (stat(), 1_019, {"delay_ns": 100, "arrivals_ns": 20}, 1_019, "uncertain"),
        (stat(), 1_020, {"delay_ns": 100, "arrivals_ns": 20}, 1_020, "no"),
    ],
)
def test_the_silence_after_the_last_frame(
    arrivals: Any, silence: int | None, uncertainty: Any, found: int | None, met: str
) -> None:
    own = path(arrivals=arrivals, silence_ns=silence, uncertainty=uncertainty)
    (row,) = judged({"time_out_ns": 900}, own)
    assert (row["requirement"], row["limit"], row["limit_unit"]) == ("time-out", 900, "ns")
    assert (row["found"], row["met"]) == (found, met)


def test_what_was_not_measured_is_not_met() -> None:
    every = {"delay_ns": 1, "jitter": [{"kind": "spread", "limit_ns": 1}], "loss_ppm": 0, "rate_bps": 1}
    every |= {"delay_percentiles": [{"share_ppm": 500_000, "delay_ns": 1}]}
    found = judged(every)
    assert {row["met"] for row in found} == {"no-data"}
    assert [row["limit_unit"] for row in found] == ["ns", "ns", "ns", "ppm", "bit/s"]
    never = path(delay=None, count={"sent": 0, "received": 0, "lost": 0}, rate={"received_bps": None})
    assert {row["met"] for row in judged({"delay_ns": 1, "loss_ppm": 0, "rate_bps": 1}, never)} == {"no-data"}
    assert judged({}, path()) == []


def test_mean_and_median_may_be_the_limit() -> None:
    (row,) = judged({"delay_ns": 400}, path(delay=stat(mean=400.0)))
    assert row["met"] == "mean-and-median"


ONE_FRAME = """
name: n
duration: 1 ms
network: {stations: [a, b], links: {rate: 1 Gbit/s, between: [a -- b]}}
streams: {s: {from: a, to: b, period: 1 ms, frame: 100 B}}
"""


@pytest.mark.parametrize(("state", "refuted"), [(State.COMPLETE, ["loss"]), (State.INTERRUPTED, [])])
def test_lost_frames_refute_the_proof_of_a_whole_run(
    tmp_path: Path, state: State, refuted: list[str]
) -> None:
    """In a run that was interrupted, frames under way count as lost."""
    run = run_of(plan_of(ONE_FRAME), tmp_path)
    measures = run.measures()
    measures["paths"][0]["count"]["lost"] = 1
    other: Any = SimpleNamespace(
        folder=run.folder, plan=run.plan, counters=run.counters, manifest={}, state=state, frames=run.frames
    )
    found = verdict_of(other, measures)
    assert [one["quantity"] for one in found["refuted"]] == refuted
    # Nothing is promised of clocks, and nothing is kept unless a caller asks for it.
    assert "clocks" not in found
    assert not (run.folder / "bounds.json").exists()


@pytest.mark.parametrize(
    ("ports", "late"),
    [
        ([[{"longest_wait_ns": 5}]], 7),
        ([[{}, {"longest_wait_ns": 5}], [{}]], 7),
        # Without a longest time no queue drops late frames, whatever its counters are called.
        ([[{}], [{}]], None),
    ],
)
def test_frames_that_waited_too_long_are_counted(tmp_path: Path, ports: Any, late: int | None) -> None:
    made = plan_of(ONE_FRAME)
    run = run_of(made, tmp_path)
    measures = run.measures()
    document: Any = {**made.document, "ports": [{"classes": classes} for classes in ports]}
    dropped = ({"classes": [{"delay_exceeded_frames": 3}, {}]}, {"classes": [{"delay_exceeded_frames": 4}]})
    other: Any = SimpleNamespace(
        folder=run.folder, plan=SimpleNamespace(document=document), counters={"ports": dropped},
        manifest=run.manifest, state=run.state, frames=run.frames,
    )  # fmt: skip
    assert verdict_of(other, measures).get("dropped_late") == late


def test_a_group_shows_its_worst_flow() -> None:
    flows = [path(stream="s.1"), path(stream="s.2", delay=stat(max=950, max_seq=3))]
    rows = judged({"delay_ns": 1000}, *flows)
    (worst,) = verdict_rows({"rows": rows})
    assert (worst["stream"], worst["margin"], worst["worst_seq"], worst["flows"]) == ("s.2", 50, 3, 2)


def test_the_table_names_failed_requirements_with_figures() -> None:
    import io

    from rich.console import Console

    rows = judged({"delay_ns": 899, "rate_bps": 1, "loss_ppm": 0}, path())
    console = Console(width=160, file=io.StringIO(), record=True)
    console.print(verdict_table({"rows": rows}))
    text = console.export_text()
    for words in (
        "FAILED*",
        "met in this run",
        "899 ns",
        "-1 ns",
        "2 Mbit/s",
        "1,000 ppm",
        "YES* in EnGINE's Table 14",
        "does not count",
    ):
        assert words in text, text
    narrow = Console(width=60, file=io.StringIO(), record=True)
    narrow.print(verdict_table({"rows": rows}))
    assert {line.rstrip()[-8:] for line in narrow.export_text().splitlines()} >= {"this run", " FAILED*"}
    order = [row[-1] for row in verdict_table({"rows": rows}).rows]
    assert order == ["FAILED", "FAILED*", "met in this run"]
