"""Frames of scheduled streams that wait behind others in one queue: planned, proved, simulated, kept."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import polars as pl
import pytest

from support.planned import frames_of, plan_of, refusal_text, run_of
from tsnbench.plan.bounds import bounds
from tsnbench.planning import plan
from tsnbench.planning.errors import PlanningErrors
from tsnbench.planning.scheduling import engines
from tsnbench.planning.scheduling.schedule import prove
from tsnbench.scenario import read_scenario

TWO = """\
name: two
duration: 20 ms
network: {{stations: [a, b, c], bridges: [s], links: {{rate: 100 Mbit/s, between: [a-s, b-s, s-c]}}}}
schedule: {{{schedule}}}
streams:
  x: {{from: a, to: c, pcp: 7, period: 1 ms, frame: 1000 B, scheduled: true,
      release: {{latest: 20 us}}, requires: {{delay: 250 us}}}}
  y: {{from: b, to: c, pcp: 7, period: 1 ms, frame: 1000 B, scheduled: true,
      release: {{latest: 30 us}}, requires: {{delay: 250 us}}}}
  rest: {{from: a, to: c, pcp: 0, saturating: true, frame: 1500 B}}
"""


@pytest.mark.parametrize(
    "schedule", ["", "engine: heuristic", "margin: 1 us", "margin: 1 us, engine: heuristic"]
)
def test_a_queue_sends_one_behind_the_other(schedule: str, tmp_path: Path) -> None:
    made = plan_of(TWO.format(schedule=schedule))
    assert prove(made.document, made.to_json()) == []
    waits = {stream["name"]: stream["scheduled"].get("behind") for stream in made.document["streams"][:2]}
    assert sorted(waits.values(), key=bool) == [None, [1]]
    second = next(name for name, behind in waits.items() if behind)
    frames = frames_of(run_of(made, tmp_path))
    stream = next(stream for stream in made.document["streams"] if stream["name"] == second)
    # 1000 octets and the preamble on the second link; the stamp at the talker is behind the preamble.
    planned = (stream["scheduled"]["starts_ps"][1][0] + 1008 * 80_000) // 1_000 - 640
    delays = frames.filter(pl.col("stream") == second)["delay"].to_list()
    assert len(delays) == 20
    assert set(delays) == {planned}
    (bound,) = [flow for flow in bounds(made)["flows"] if flow["stream"] == second]
    margin = 1_000 if "margin" in schedule else 0
    # In one common time the analysis needs no margin.
    assert planned <= bound["upper_ns"] <= planned + margin + 1
    # Alone it takes the time of two wires: as early it may be if nobody is ahead.
    assert bound["lower_ns"] <= 2 * 80_640 - 640


def test_the_order_has_to_be_certain() -> None:
    same = TWO.replace("release: {{latest: 20 us}}", "offset: 5 us").replace(
        "release: {{latest: 30 us}}", "offset: 5 us"
    )
    with pytest.raises(PlanningErrors):
        plan_of(same.format(schedule=""))
    apart = same.replace("offset: 5 us", "offset: 4 us", 1)
    plan_of(apart.format(schedule=""))
    # Clocks that differ by more than 500 ns may turn them around.
    with pytest.raises(PlanningErrors):
        plan_of(apart.format(schedule="margin: 501 ns"))


def test_a_jitter_limit_counts_the_wait() -> None:
    strict = TWO.replace("delay: 250 us}}}}\n  y", "delay: 250 us, jitter: 50 us}}}}\n  y").replace(
        "delay: 250 us}}}}\n  rest", "delay: 250 us, jitter: 50 us}}}}\n  rest"
    )
    with pytest.raises(PlanningErrors):
        plan_of(strict.format(schedule=""))
    plan_of(strict.replace("jitter: 50 us", "jitter: 81 us").format(schedule=""))


@pytest.mark.parametrize("engine", ["heuristic", "both"])
def test_who_waits_behind_others_is_kept(engine: str) -> None:
    text = TWO.format(schedule=f"engine: {engine}")
    before = plan_of(text)
    more = text.replace(
        "  rest:", "  z: {from: a, to: c, pcp: 7, period: 2 ms, frame: 500 B, scheduled: true}\n  rest:"
    )
    after = plan(read_scenario(more)[0], before)
    for old, new in zip(before.document["streams"][:2], after.document["streams"][:2], strict=True):
        assert (old["scheduled"], old["pattern"]) == (new["scheduled"], new["pattern"])


@pytest.mark.skipif(find_spec("ortools") is None, reason="ortools is missing: the extra `exact` brings it")
def test_a_proof_names_its_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "_shared", lambda text, earlier: None)
    assert "frames are forwarded at once, or wait alone in their queue" in refusal_text(
        TWO.format(schedule="")
    )


def test_three_that_fit_two_by_two_are_told_without_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError("the exact engine was asked")

    monkeypatch.setattr(engines, "solve", never)
    streams = "\n".join(
        f"  {name}: {{from: {talker}, to: c, pcp: 7, period: {period} us, frame: 480 B, scheduled: true}}"
        for name, talker, period in (("x", "a", 300), ("y", "b", 500), ("z", "b", 700))
    )
    network = (
        "network: {stations: [a, b, c], bridges: [s], links: {rate: 100 Mbit/s, between: [a-s, b-s, s-c]}}"
    )
    text = f"name: three\nduration: 10 ms\n{network}\nstreams:\n{streams}\n"
    with pytest.raises(PlanningErrors, match="no two may overlap modulo 100 us") as raised:
        plan_of(text)
    assert "they need 120 us of that (40 us, 40 us, 40 us)" in str(raised.value)
    # 33 us each are not too long.
    plan_of(text.replace("480 B", "380 B"))
