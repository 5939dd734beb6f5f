"""What a scenario promises of its clocks: bounds rely on it, and a run checks it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tsnbench import Simulation
from tsnbench.measure.headline import headline
from tsnbench.measure.verdict import verdict_of
from tsnbench.plan.bounds import bounds
from tsnbench.plan.bounds.promise import after_promise, broken
from tsnbench.report.parts.bounds import read_bounds
from tsnbench.runs.bounds import promise_of
from tsnbench.scenario import read_scenario

TEXT = """\
name: promised
duration: 1 s
network: {stations: [a, b], bridges: [s], links: {rate: 1 Gbit/s, between: [a -- s, s -- b]}}
streams: {video: {from: a, to: b, pcp: 5, period: 1 ms, frame: 200 B, requires: {delay: 100 us, loss: 0}}}
clocks: {default: {drift: 10 ppm}, b: {drift: -30 ppm}, within: WITHIN, gptp: {grandmaster: s}}
"""


@pytest.mark.parametrize("within", ["20 us", "2 us"])
def test_a_run_checks_what_its_bounds_rely_on(within: str, tmp_path: Path) -> None:
    """b loses 40 us a second until the servo steers it, after the second Sync: 5 us in 125 ms, some 10 in
    250."""
    (scenario,) = read_scenario(TEXT.replace("WITHIN", within), "promised.yaml")
    plan = scenario.plan()
    flow = bounds(plan)["flows"][0]
    assert flow["upper_ns"] is not None
    assert flow["source"] == f"analysis, if clocks differ by no more than {within}"
    run = plan.run(on=Simulation(), into=tmp_path / "run")
    verdict = verdict_of(run, run.measures())
    seen = verdict["clocks"]
    assert 2_000 < seen["apart_ns"] < 20_000
    assert seen["behind"] == "b"
    kept = within == "20 us"
    assert seen["kept"] is kept
    assert {row["proof"] for row in verdict["rows"]} == {"proved" if kept else "none"}
    assert not any(row["proof_condition"] for row in verdict["rows"])
    # Reports draw no bound that the run took away.
    (drawn,) = read_bounds(run.folder)[0].values()
    assert (drawn.upper_ns is not None, "promised" in drawn.reason) == (kept, not kept)
    said = headline(verdict)
    assert said.startswith("ALL MET (PROVED): " if kept else "ALL MET IN THIS RUN: ")
    if kept:
        assert "clocks" not in said
    else:
        assert said.endswith(f"; {broken(seen)}")
        assert broken(seen).endswith(" ahead of b), promised 2 us")


@pytest.mark.parametrize(
    ("apart_ps", "apart_ns", "kept"), [(3_001, 4, True), (4_000, 4, True), (4_001, 5, False)]
)
def test_clocks_are_compared_in_picoseconds(apart_ps: int, apart_ns: int, kept: bool) -> None:
    """What differs is rounded up, so that a broken promise shows."""
    seen = {"apart_ps": apart_ps, "at_ns": 9, "ahead": "a", "behind": "b"}
    clocks: dict[str, Any] = {"within_ns": 4}

    def run(document: Any, counters: Any) -> Any:
        return SimpleNamespace(plan=SimpleNamespace(document=document), counters=counters)

    told = {"within_ns": 4, "apart_ns": apart_ns, "at_ns": 9, "ahead": "a", "behind": "b", "kept": kept}
    assert promise_of(run({"clocks": clocks}, {"clocks": seen})) == told
    # Kernels and hosts do not read the true clocks, and most scenarios promise nothing.
    # Without a promise the counters are not read.
    for document, counters in (({"clocks": clocks}, {}), ({"clocks": {}}, {"clocks": seen}), ({}, None)):
        assert promise_of(run(document, counters)) is None


def _bounds(source: str) -> Any:
    flow = {
        "stream": "s",
        "source": source,
        "upper_ns": 7,
        "reason": None,
        "release_upper_ps": 8,
        "loss_reason": None,
        "upper_ps": 6,
        "jitter_ns": 5,
        "survives": [{"failures": 1, "reason": None, "carried": True}],
    }
    return {"flows": [flow]}


def test_only_bounds_that_rely_on_a_promise_end_with_it() -> None:
    promise: Any = {"within_ns": 1_000, "apart_ns": 15_800, "at_ns": 310_000_000, "ahead": "a", "behind": "b"}
    relies = _bounds("analysis, if clocks differ by no more than 1 us")
    other = _bounds("schedule's proof")
    why = "clocks differed by 15.8 us at 310 ms (a ahead of b), promised 1 us"
    lost = after_promise(relies, {**promise, "kept": False})["flows"][0]
    assert (lost["upper_ns"], lost["release_upper_ps"], lost["reason"]) == (None, None, why)
    assert (lost["release_reason"], lost["loss_reason"]) == (why, why)
    assert (lost["upper_ps"], lost["jitter_ns"]) == (None, None)
    assert lost["survives"] == [{"failures": 1, "reason": why, "carried": True}]
    without = {key: value for key, value in relies["flows"][0].items() if key != "survives"}
    assert (
        "survives"
        not in after_promise({**relies, "flows": [without]}, {**promise, "kept": False})["flows"][0]
    )
    kept = after_promise(relies, {**promise, "kept": True})["flows"][0]
    assert (kept["upper_ns"], kept["source"]) == (7, "analysis")
    assert after_promise(other, {**promise, "kept": False}) == other
    assert after_promise(relies, None) is relies
    assert relies["flows"][0]["upper_ns"] == 7, "what was given is unchanged"
