"""The part of a run that is measured: from a time on, or from when on clocks have settled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tsnbench.backends.kernel.unsupported import unsupported
from tsnbench.campaign.campaign import Options, run_one
from tsnbench.exports import export
from tsnbench.hosts.returned import HostPorts
from tsnbench.measure import clock_notes
from tsnbench.measure.stamps import measured_from
from tsnbench.plan.streams.settling import margin_ps, settling_ns
from tsnbench.planning import plan
from tsnbench.report.data import gather
from tsnbench.runs import Run
from tsnbench.scenario import read_scenario

LINE = """
name: part
duration: 10 ms
{begin}
network:
  stations: [a, z]
  bridges: [b]
  links: {{rate: 100 Mbit/s, between: [a -- b, b -- z]}}
streams:
  s: {{from: a, to: z, pcp: 6, frame: 100 B, period: 1 ms, requires: {{loss: 0}}}}
faults: [{{loss: 100 %, on: a -> b, at: 2 ms, for: 2 ms}}]
"""


@pytest.mark.parametrize(
    ("begin", "sent", "lost"),
    [("", 10, 2), ("measure-from: 1 ns", 10, 2), ("measure-from: 3 ms", 7, 1), ("measure-from: 4 ms", 6, 0)],
)
def test_frames_that_leave_earlier_do_not_count(tmp_path: Path, begin: str, sent: int, lost: int) -> None:
    """Ten frames, at 0, 1, 2 ms and so on; those of 2 and 3 ms are lost."""
    outcome = run_one(
        plan(read_scenario(LINE.format(begin=begin))[0]), tmp_path / "run", Options(report=False)
    )
    count = outcome.run.measures()["paths"][0]["count"]
    assert (count["sent"], count["lost"], count["never_sent"]) == (sent, lost, 0)
    assert outcome.run.frames()["seq"].to_list() == list(range(10 - sent, 10))
    assert outcome.verdict["met"] == (lost == 0)


CLOCKS = """
name: settled
duration: {duration}
measure-from: settled
network:
  stations: [a, z]
  bridges: [b1, b2]
  links: {{rate: 1 Gbit/s, between: [a -- b1, b1 -- b2, b2 -- z]}}
clocks:
  default: {{granularity: 8 ns}}
  a: {{drift: {drift} ppm}}
  z: {{drift: -{drift} ppm}}
  gptp: {{grandmaster: b1, pcp: 7, sync-interval: {interval}}}
schedule: {{margin: {margin}}}
streams:
  s: {{from: a, to: z, pcp: 6, period: 2 ms, frame: 500 B, scheduled: true}}
"""


def clocked(**more: str) -> Any:
    values = {"duration": "10 s", "drift": "20", "interval": "1/8 s", "margin": "1 us"} | more
    return plan(read_scenario(CLOCKS.format(**values))[0])


@pytest.fixture(scope="module")
def settled(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return run_one(clocked(), tmp_path_factory.mktemp("settled") / "run", Options(report=False)).run


def test_clocks_have_settled_when_they_stay_within_the_margin(settled: Run) -> None:
    begin = measured_from(settled.folder)
    assert begin is not None
    assert begin["ns"] is not None
    moments = (
        settled.clock_errors().group_by("t_true_ns").agg(pl.col("error_ps").max() - pl.col("error_ps").min())
    )
    for after, late in ((begin["ns"], False), (begin["ns"] - 10_000_000, True)):
        assert (moments.filter(pl.col("t_true_ns") >= after)["error_ps"].max() > 1_000_000) == late
    assert settled.frames()["t_tx_ns"].min() >= begin["ns"]
    assert settled.measures()["measured_from"] == begin


def test_a_broken_promise_is_told_once(settled: Run) -> None:
    clocks = settled.verdict()["clocks_apart"]
    promise = {"within_ns": 1_000, "apart_ns": 9_000, "at_ns": 1, "ahead": "a", "behind": "z", "kept": False}
    for kept, notes in ((False, 1), (True, 2)):
        verdict = {**settled.verdict(), "clocks_apart": clocks, "clocks": {**promise, "kept": kept}}
        assert len(clock_notes(verdict, settled.measures())) == notes


def test_the_begin_of_what_counts_is_told() -> None:
    verdict: Any = {}
    for settled, since in ((False, ""), (True, ", from when on clocks stay within the margin")):
        measures: Any = {"measured_from": {"ns": 4_000, "settled": settled}}
        assert clock_notes(verdict, measures) == [f"frames count that leave at 4 us or later{since}"]


def test_terminal_and_report_say_how_far_clocks_differed(settled: Run) -> None:
    apart, since = clock_notes(settled.verdict(), settled.measures())
    clocks = settled.verdict()["clocks_apart"]
    assert clocks["most_ps"] > clocks["allowed_ps"] == 1_000_000
    assert apart.startswith("clocks differed by ")
    assert apart.endswith(" ms, the schedule allows 1 us")
    assert since.startswith("frames count that leave at ")
    assert [one[1:] for one in gather(settled.folder).warnings[-2:]] == [
        f"{one[1:]}." for one in (apart, since)
    ]


def test_clocks_that_never_settle_leave_no_frame(tmp_path: Path) -> None:
    made = clocked(duration="200 ms")
    outcome = run_one(made, tmp_path / "run", Options(report=False))
    assert outcome.run.measures()["measured_from"] == {"ns": None, "settled": True}
    assert outcome.run.frames().is_empty()
    assert clock_notes(outcome.verdict, outcome.run.measures())[-1].startswith("no frame counts: ")
    (warning,) = made.warnings
    assert (warning.kind, warning.path) == ("clocks-unsettled", "duration")


@pytest.mark.parametrize(
    ("values", "expected_s"),
    [
        # Two Syncs, in which clocks of +-20 ppm get 10 us apart; then log(10) / log(0.915) is 26.
        ({}, (2 + 26) / 8),
        ({"margin": "10 us"}, 2 / 8),
        # A first offset of more than 20 us is stepped away: log(20) / log(0.915) is 34.
        ({"drift": "100"}, (2 + 34) / 8),
        ({"interval": "1 s", "margin": "5 us"}, 2 + 3),
    ],
)
def test_the_time_that_servos_need(values: dict[str, str], expected_s: float) -> None:
    assert settling_ns(clocked(**values).document) == expected_s * 1e9


@pytest.mark.parametrize(
    ("clocks", "margins", "margin"),
    [
        ({}, [], None),
        ({}, [None], None),
        ({"within_ns": 7}, [], 7_000),
        ({"within_ns": 7}, [None], 7_000),
        ({"within_ns": 7}, [3_000, 2_000], 2_000),
        (None, [3_000], None),
    ],
)
def test_the_difference_of_clocks_that_a_plan_allows(
    clocks: Any, margins: list[Any], margin: int | None
) -> None:
    own = [{"scheduled": {} if ps is None else {"margin_ps": ps}} for ps in margins]
    document: Any = {"streams": [*own, {}]} | ({} if clocks is None else {"clocks": clocks})
    assert margin_ps(document) == margin
    if clocks is not None:
        # Without gPTP nothing settles, and without a margin nobody waits for it.
        assert settling_ns(document) is None
        gptp = {"gptp": {"sync_interval_ns": 1}, "nodes": [{"offset_ns": 0, "deviation_ppt": 0}]}
        document["clocks"] |= gptp
        assert settling_ns(document) == (None if margin is None else 2)


@pytest.mark.parametrize(
    ("offset_ns", "ppt", "intervals"),
    [
        (5_000, 0, 2),
        # After 8 s a deviation of 1 ppm is 8 us.
        (5_000, 1_000_000, 3),
        # Each Sync leaves the square root of 0.3: 18,257 ns are 9,999.8, and 18,258 are 10,000.3.
        (18_257, 0, 3),
        (18_258, 0, 4),
    ],
)
def test_the_time_of_a_long_interval(offset_ns: int, ppt: int, intervals: int) -> None:
    """4 s, for which linuxptp limits the gain of a servo, and a margin of 10 us."""
    nodes = [{"offset_ns": 0, "deviation_ppt": 0}, {"offset_ns": offset_ns, "deviation_ppt": ppt}]
    clocks = {"nodes": nodes, "gptp": {"sync_interval_ns": 4 * 10**9}}
    document: Any = {"clocks": clocks, "streams": [{"scheduled": {"margin_ps": 10_000_000}}]}
    assert settling_ns(document) == intervals * 4 * 10**9


def test_the_time_that_servos_need_is_about_that_of_a_run(settled: Run) -> None:
    begin = measured_from(settled.folder)
    needs = settling_ns(settled.plan.document)
    assert begin is not None
    assert begin["ns"] is not None
    assert needs is not None
    assert needs / 2 < begin["ns"] < needs * 2


def test_other_tools_get_the_time_or_a_note() -> None:
    """INET leaves out a warm-up, and knows no clocks; hosts do not record the errors of their clocks."""
    at = plan(read_scenario(LINE.format(begin="measure-from: 3 ms"))[0]).document
    assert "\nwarmup-period = 3000000ns\n" in export(at, ["inet"]).files["inet/omnetpp.ini"]
    settled = clocked().document
    done = export(settled, ["inet"])
    assert "warmup-period" not in done.files["inet/omnetpp.ini"]
    assert any("measure-from settled" in str(note) for note in done.notes)
    refused = unsupported(settled, HostPorts(frozenset()))
    assert [one for one in refused if one.startswith("measure-from settled: ")]
