"""Runs with frames beyond a proof: they are never met, and the last line says what is wrong."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from support import commands
from tsnbench.campaign.campaign import Options, run_one
from tsnbench.measure import headline, judge, runs_table, sweep_headline
from tsnbench.measure.headline import overall
from tsnbench.measure.outcome import Outcome
from tsnbench.measure.refuted import BADGES, Seen, lines
from tsnbench.planning import plan
from tsnbench.scenario import read_scenario

DRAIN = 1_000_000
PROOF = "schedule's proof, if clocks differ by no more than its margin"


def bound(**parts: Any) -> dict[str, Any]:
    """A flow whose delay is between 100 and 900 ns, and that loses no frame."""
    return {
        "stream": "s",
        "listener": "sink",
        "upper_ns": 900,
        "lower_ns": 100,
        "jitter_ns": 850,
        "reason": None,
        "release_upper_ps": 950_000,
        "release_reason": None,
        "loss_reason": None,
    } | parts


def measured(least: int = 100, most: int = 900, lost: int = 0, **more: Any) -> dict[str, Any]:
    path = {
        "stream": "s",
        "listener": "sink",
        "delay": {"min": least, "mean": 300.0, "median": 300, "max": most, "max_seq": 7},
        "jitter": {"deviation": {"max": 400, "max_seq": 3, "mean": 10.0, "median": 5}},
        "spread": 30.5,
        "count": {"sent": 4 + lost, "received": 4, "lost": lost},
        "rate": {"received_bps": 2e6},
    } | more
    return {"paths": [path], "groups": [path]}


def frames(*delays: int | None, unsure: int | None = None) -> pl.DataFrame:
    """Frames of path 0 every 10 us, and one of another path that nobody asks for."""
    rows = [(0, seq, 10_000 * seq, delay, unsure) for seq, delay in enumerate(delays)]
    columns = {"path": int, "seq": int, "t_tx_ns": int, "delay_ns": int, "uncertainty_ns": int}
    return pl.DataFrame([*rows, (1, 0, 0, 10**9, 0)], schema=columns, orient="row")


def judged(
    measures: dict[str, Any],
    own: dict[str, Any] | None = None,
    required: dict[str, Any] | None = None,
    table: pl.DataFrame | None = None,
    more: dict[str, Any] | None = None,
    **seen: Any,
) -> dict[str, Any]:
    stream = {"name": "s", "group": "s", "listeners": [{"node": 0}], "requirements": required or {}}
    stream["scheduled"] = {"margin_ps": 1_000_000}
    document = {"nodes": [{"name": "sink"}], "streams": [stream], "drain_ns": DRAIN} | (more or {})
    reads = None if table is None else lambda: table
    return judge(document, measures, {"flows": [own or bound()]}, Seen(frames=reads, **seen))  # type: ignore[arg-type, return-value]


APART = {"most_ps": 15_800_000, "at_ns": 310_000_000}
"""Clocks that differ by 15.8 us, where the schedule allows 1 us."""
WITHIN = {"most_ps": 1_000_000, "at_ns": 310_000_000}


@pytest.mark.parametrize(
    ("measures", "own", "seen", "cause"),
    [
        (measured(), {}, {}, None),
        (measured(most=901), {}, {}, "defect"),
        (measured(least=99), {}, {}, "defect"),
        (measured(lost=1), {}, {}, "defect"),
        (measured(release_delay={"max": 950}), {}, {}, None),
        (measured(release_delay={"max": 951}), {}, {}, "defect"),
        # A run that was interrupted may count frames under way as lost.
        (measured(lost=1), {}, {"complete": False}, None),
        (measured(lost=1), {"loss_reason": "a fault may drop frames"}, {}, None),
        (measured(most=10**9), {"upper_ns": None, "reason": "Poisson"}, {}, None),
        (measured(most=901), {}, {"backend": "hosts"}, "network"),
        (measured(lost=1), {}, {"backend": "vm"}, "network"),
        # On a kernel a timestamp may be later than the frame.
        (measured(least=99), {}, {"backend": "netns"}, None),
        # A delay that may be wrong by 2 ns is certainly beyond 900 ns from 903 ns on.
        (measured(most=902, uncertainty={"delay_ns": 2}), {}, {"backend": "hosts"}, None),
        (measured(most=903, uncertainty={"delay_ns": 2}), {}, {"backend": "hosts"}, "network"),
        # In a simulation the bounds are those of the stamps, whatever the clocks show.
        (measured(most=901, uncertainty={"delay_ns": 2}), {}, {}, "defect"),
        # The proof assumes that clocks stay within the margin; where they did, the proof is wrong.
        (measured(most=901), {"source": PROOF}, {"clocks": APART}, "clocks"),
        (measured(most=901), {"source": PROOF}, {"clocks": WITHIN}, "defect"),
        (measured(least=99), {"source": PROOF}, {"clocks": APART}, "clocks"),
        (
            measured(release_delay={"max": 953}, uncertainty={"delay_ns": 2, "release_delay_ns": 3}),
            {},
            {"backend": "vm"},
            None,
        ),
    ],
)
def test_frames_that_refute_a_proof(
    measures: dict[str, Any], own: dict[str, Any], seen: dict[str, Any], cause: str | None
) -> None:
    """Also without requirements: a run is met only if no frame contradicts what is proved."""
    found = judged(measures, bound(**own), **seen)
    assert [one["cause"] for one in found["refuted"]] == ([] if cause is None else [cause])
    assert found["met"] == (cause is None)
    assert overall(found) is (None if cause is None else Outcome.EXCEEDED)


@pytest.mark.parametrize(
    ("measures", "table", "seen", "line"),
    [
        (
            measured(most=1_200),
            frames(900, 901, None, 1_200),
            {},
            "DEFECT OF TSNBENCH: 2 of 4 frames of s at sink beyond 900 ns (up to 1.2 us), "
            "first frame 1 at 10 us; "
            "a proof or the simulator is wrong; please report it with this run folder",
        ),
        (
            measured(least=90),
            frames(500, 100, 99, 90),
            {},
            "DEFECT OF TSNBENCH: 2 of 4 frames of s at sink below 100 ns (down to 90 ns), "
            "first frame 2 at 20 us; "
            "a proof or the simulator is wrong; please report it with this run folder",
        ),
        (
            measured(most=1_200, uncertainty={"delay_ns": 100}),
            frames(901, 1_000, 1_001, 1_200, unsure=100),
            {"backend": "vm"},
            "THE PLAN DOES NOT DESCRIBE THIS NETWORK: 2 of 4 frames of s at sink beyond 900 ns "
            "(up to 1.2 us), first frame 2 at 20 us; nothing that is proved of the Plan holds for it",
        ),
        (
            # Without an uncertainty of its own a frame counts as it is.
            measured(most=901),
            frames(900, 901),
            {"backend": "vm"},
            "THE PLAN DOES NOT DESCRIBE THIS NETWORK: 1 of 4 frames of s at sink beyond 900 ns "
            "(up to 901 ns), first frame 1 at 10 us; nothing that is proved of the Plan holds for it",
        ),
        (
            measured(most=901),
            frames(900),
            {},
            "DEFECT OF TSNBENCH: 0 of 4 frames of s at sink beyond 900 ns (up to 901 ns); "
            "a proof or the simulator is wrong; please report it with this run folder",
        ),
        (
            measured(most=1_200, lost=1),
            None,
            {},
            "DEFECT OF TSNBENCH: 1 of 5 frames of s at sink lost, and it is proved that none is and 1 more; "
            "a proof or the simulator is wrong; please report it with this run folder; "
            "1 of 5 frames lost of s",
        ),
    ],
)
def test_the_last_line_says_how_many_frames(
    measures: dict[str, Any], table: pl.DataFrame | None, seen: dict[str, Any], line: str
) -> None:
    assert headline(judged(measures, table=table, **seen)) == line


def test_what_is_told_of_each_refutation() -> None:
    """The one with the most frames first; a requirement of what is told already adds nothing."""
    many = measured(most=901, lost=1)
    more = {**many["paths"][0], "stream": "t", "count": {"sent": 4, "received": 2, "lost": 2}}
    both = {"paths": [*many["paths"], more], "groups": [*many["paths"], more]}
    document: Any = {"nodes": [{"name": "sink"}], "drain_ns": DRAIN, "streams": []}
    for name in ("s", "t"):
        required = {"delay_ns": 2_000, "loss_ppm": 10**6}
        document["streams"].append(
            {"name": name, "group": "s", "listeners": [{"node": 0}], "requirements": required}
        )
    found = judge(document, both, {"flows": [bound(), bound(stream="t")]}, Seen())  # type: ignore[arg-type, typeddict-item]
    told = found["refuted"]
    assert found["lost"] == [
        {"stream": "t", "listener": "sink", "lost": 2, "sent": 4},
        {"stream": "s", "listener": "sink", "lost": 1, "sent": 5},
    ]
    delay = {
        "listener": "sink", "quantity": "delay", "below": False, "bound": 900, "unit": "ns", "worst": 901,
        "frames": None, "of": None, "first_seq": None, "first_ns": None, "cause": "defect",
    }  # fmt: skip
    lost = {**delay, "quantity": "loss", "bound": 0, "unit": "frames"}
    assert told == [
        {**lost, "stream": "t", "worst": 2, "frames": 2, "of": 4},
        {**lost, "stream": "s", "worst": 1, "frames": 1, "of": 5},
        {**delay, "stream": "s"},
        {**delay, "stream": "t"},
    ]
    clocks: Any = {**told[0], "cause": "clocks"}
    assert [line.partition(":")[0] for line in lines([clocks, *told])] == [BADGES["defect"], BADGES["clocks"]]
    assert " and 3 more; " in lines([clocks, *told])[0]
    (below,) = judged(measured(least=99))["refuted"]
    assert (below["quantity"], below["below"], below["bound"]) == ("delay", True, 100)


def test_a_least_delay_of_true_time_is_not_compared_with_timestamps() -> None:
    unknown = bound(upper_ns=None, reason="nodes have clocks of their own")
    assert judged(measured(least=99), unknown, more={"clocks": {}})["met"]
    assert not judged(measured(least=99), bound(), more={"clocks": {}})["met"]
    assert not judged(measured(least=99), unknown)["met"]


@pytest.mark.parametrize(
    ("backend", "most", "uncertainty", "proof"),
    [
        ("vm", 902, {"uncertainty": {"delay_ns": 2}}, "proved"),
        ("vm", 903, {"uncertainty": {"delay_ns": 2}}, "exceeded"),
        ("vm", 901, {}, "exceeded"),
        ("simulation", 901, {"uncertainty": {"delay_ns": 2}}, "exceeded"),
    ],
)
def test_on_a_kernel_a_proof_is_exceeded_beyond_the_error(
    backend: str, most: int, uncertainty: Any, proof: str
) -> None:
    found = judged(measured(most=most, **uncertainty), required={"delay_ns": 2_000}, backend=backend)
    assert [row["proof"] for row in found["rows"]] == [proof]


@pytest.mark.parametrize(
    ("allowed", "told"), [({}, False), ({"allowed_ps": 5}, False), ({"allowed_ps": 4}, True)]
)
def test_clocks_beyond_what_is_allowed_are_told(allowed: dict[str, int], told: bool) -> None:
    clocks = {"most_ps": 5, "at_ns": 0, **allowed}
    assert judged(measured(), clocks=clocks).get("clocks_apart") == (clocks if told else None)
    assert "clocks_apart" not in judged(measured())


def test_a_schedule_without_a_margin_allows_no_difference() -> None:
    stream = {"name": "s", "group": "s", "listeners": [{"node": 0}], "requirements": {}, "scheduled": {}}
    for most, cause in ((0, "defect"), (1, "clocks")):
        clocks = {"most_ps": most, "at_ns": 0}
        found = judged(measured(most=901), bound(source=PROOF), more={"streams": [stream]}, clocks=clocks)
        assert [one["cause"] for one in found["refuted"]] == [cause]


def test_failed_requirements_are_counted_beside_a_refuted_proof() -> None:
    required = {"delay_ns": 1_000, "loss_ppm": 0, "rate_bps": 10**9}
    found = judged(measured(most=1_200), required=required)
    assert [row["met"] for row in found["rows"]] == ["mean-and-median", "yes", "no"]
    assert headline(found).endswith("; 2 of 3 requirements not met")


def test_a_jitter_beyond_its_proof_is_one_of_them() -> None:
    required = {"jitter": [{"kind": "deviation", "limit_ns": 500}]}
    found = judged(measured(), bound(jitter_ns=399), required)
    assert [row["met"] for row in found["rows"]] == ["exceeded"]
    assert "jitter deviation of s at sink beyond 399 ns: 400 ns" in headline(found)
    assert judged(measured(), bound(jitter_ns=400), required)["met"]
    for clocks, cause in ((APART, "clocks"), (WITHIN, "defect")):
        found = judged(measured(), bound(jitter_ns=399, source=PROOF), required, clocks=clocks)
        assert [one["cause"] for one in found["refuted"]] == [cause]


def test_a_sweep_names_the_run_with_the_refuted_proof() -> None:
    good, bad = judged(measured(), required={"delay_ns": 900}), judged(measured(most=901))
    assert sweep_headline(["a 1", "a 2"], [good, bad]) == (
        "DEFECT OF TSNBENCH in 1 of 2 runs: a 2: delay of s at sink beyond 900 ns: 901 ns; "
        "a proof or the simulator is wrong; please report it with this run folder"
    )
    table = runs_table(["a 1", "a 2"], [(good, False), (bad, False)])
    assert [row[-1] for row in table.rows] == ["met (proved)", "BEYOND PROOF"]


SCENARIO = """
name: kept
duration: 10 ms
network:
  stations: [a, z]
  bridges: [b]
  links: {rate: 100 Mbit/s, between: [a -- b, b -- z]}
streams:
  s: {from: a, to: z, pcp: 6, frame: 100 B, period: 1 ms}
"""


@pytest.mark.parametrize(
    ("backend", "words"),
    [("simulation", "DEFECT OF TSNBENCH"), ("vm", "THE PLAN DOES NOT DESCRIBE THIS NETWORK")],
)
def test_a_run_is_judged_by_the_bounds_of_its_folder(tmp_path: Path, backend: str, words: str) -> None:
    """A run whose kept bound is 1 ns less than the delay of its frames: 1 of 10 ns on each of two links."""
    folder = tmp_path / "run"
    outcome = run_one(plan(read_scenario(SCENARIO)[0]), folder, Options(report=False))
    assert outcome.verdict["met"]
    bounds = json.loads((folder / "bounds.json").read_text())
    bounds["flows"][0]["upper_ns"] = outcome.run.measures()["paths"][0]["delay"]["max"] - 1  # type: ignore[index]
    (folder / "bounds.json").write_text(json.dumps(bounds))
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps(manifest | {"backend": backend}))
    measure = partial(commands.tsnbench, "measure", folder, columns=200)
    done = measure()
    assert done.returncode == 1
    last = done.stdout.splitlines()[-1]
    assert last.startswith(f"{words}: 10 of 10 frames of s at z beyond ")
    (one,) = json.loads((folder / "verdict.json").read_text())["refuted"]
    assert (one["frames"], one["first_seq"], one["first_ns"]) == (10, 0, 640)
