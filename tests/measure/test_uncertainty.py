"""Delays with error bars: true delays are known in closed form, clocks have known errors.

Frames have 100 octets of payload on idle links, so the true delay is the same for every frame, and a run
without clocks shows it. In a run with clocks no delay may differ from it by more than its own uncertainty.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from support.commands import tsnbench
from tsnbench.backends.simulation import Simulation
from tsnbench.measure import (
    MeasureError,
    headline,
    judge,
    measure_run,
    measures_table,
    verdict_rows,
    verdict_table,
)
from tsnbench.measure import stamps as known
from tsnbench.runs import Run
from tsnbench.scenario import load

SCENARIO = """
name: bars
duration: 1 s
network:
  stations: [gm, st]
  bridges: [sw]
  links: {rate: 100 Mbit/s, cable: 10 m, between: [gm -- sw, sw -- st, gm -- sw, sw -- st]}
streams:
  beat: {from: gm, to: st, pcp: 3, period: 1 ms, offset: 300 us, payload: 100 B, via: [sw]
    LIMIT}
"""
IDEAL = ""
FREE = """
clocks:
  gm: {drift: 50 ppm, offset: 3 us}
  st: {drift: -30 ppm, offset: -5 us}
"""
STEPPED = """
clocks:
  gm: {drift: 50 ppm, offset: 3 us}
  st: {drift: 40 ppm, offset: -5 us, changes: [{at: 503 ms, drift: -80 ppm}]}
faults:
  - {clock-step: st, by: -100 us, at: 804 ms}
  - {frequency-jump: gm, by: 5 ppm, at: 301 ms, for: 200 ms}
"""
LED = """
clocks:
  default: {granularity: 8 ns, jitter: 4 ns}
  gm: {drift: 20 ppm, granularity: 8 ns}
  st: {drift: -35 ppm, granularity: 8 ns}
  gptp: {grandmaster: gm, sync-interval: 1/16 s, pdelay-interval: 1/4 s, pcp: 0,
         links: ["gm -> sw #2", "sw -> st #2"]}
"""


ELECTED = LED.replace("grandmaster: gm", "bmca: {st: {priority1: 10}}")


def run(into: Path, clocks: str, requires: str = "") -> Run:
    path = into / "bars.yaml"
    path.write_text(
        SCENARIO.replace("\n    LIMIT}", f", requires: {{{requires}}}}}" if requires else "}") + clocks
    )
    return Simulation().execute(load(path).plan(), into / "run")


@pytest.fixture(scope="module")
def true_ns(tmp_path_factory: pytest.TempPathFactory) -> int:
    """The delay of every frame, by perfect clocks."""
    delays = run(tmp_path_factory.mktemp("ideal"), IDEAL).frames()["delay_ns"]
    assert delays.n_unique() == 1
    assert len(delays) == 1000
    return int(delays[0])


def covered(one: Run, true_ns: int) -> pl.Series:
    """For each frame, whether the true delay is within the uncertainty of the measured delay."""
    frames = one.frames()
    return (frames["delay_ns"] - true_ns).abs() <= frames["uncertainty_ns"]


@pytest.mark.parametrize(("clocks", "least_ns"), [(FREE, 80_000), (STEPPED, 100_000), (LED, 0), (ELECTED, 0)])
def test_the_true_delay_is_within_the_bar_of_every_frame(
    tmp_path: Path, true_ns: int, clocks: str, least_ns: int
) -> None:
    one = run(tmp_path, clocks)
    frames = one.frames()
    assert frames["uncertainty_ns"].null_count() == 0
    assert covered(one, true_ns).all()
    # The clocks have real errors; the bar exceeds them only by some ticks and the drift between readings.
    worst = (frames["delay_ns"] - true_ns).abs().max()
    assert isinstance(worst, int)
    assert worst >= least_ns
    (path,) = one.measures()["paths"]
    assert path["uncertainty"]["delay_ns"] == frames["uncertainty_ns"].max()
    if clocks is FREE:
        assert path["uncertainty"]["delay_ns"] <= worst + 20, "clocks that drift evenly are known everywhere"


def test_without_readings_the_bars_are_too_short(
    tmp_path: Path, true_ns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The injected defect: clocks are assumed to have no error at any reading."""
    real = known.stamps

    def zero(folder: Path) -> Any:
        found = real(folder)
        assert found is not None
        return {
            name: {**own, "drift_ppb": 0, "readings": [(at, 0, 0) for at, _, _ in own["readings"]]}
            for name, own in found.items()
        }

    monkeypatch.setattr(known, "stamps", zero)
    assert not covered(run(tmp_path, FREE), true_ns).any()


def test_a_run_without_clocks_has_no_uncertainty(tmp_path: Path) -> None:
    one = run(tmp_path, IDEAL, "delay: 1 ms")
    measures = measure_run(one.folder)
    assert "uncertainty" not in json.dumps(measures)
    assert "uncertainty_ns" not in one.frames().columns
    assert "uncertainty" not in json.dumps(judge(one.plan.document, measures))


@pytest.mark.parametrize(
    ("over_ns", "outcome"),
    [(200_000, "yes"), (50_000, "uncertain"), (-50_000, "uncertain"), (-100_000, "no")],
)
def test_a_margin_that_is_smaller_than_the_bar_is_uncertain(
    tmp_path: Path, true_ns: int, over_ns: int, outcome: str
) -> None:
    """Measured delays are 8 us to 88 us too small (3 + 5 us, and 80 ppm of up to 1 s); the bar is 88 us."""
    one = run(tmp_path, FREE)
    measures = one.measures()
    found = measures["paths"][0]["delay"]
    assert found is not None
    document = json.loads(json.dumps(one.plan.document))
    document["streams"][0]["requirements"] = {"delay_ns": found["max"] + over_ns}
    (row,) = judge(document, measures)["rows"]
    assert row["met"] == outcome
    assert row["uncertainty"] == measures["paths"][0]["uncertainty"]["delay_ns"]
    measures["paths"][0].pop("uncertainty")
    (row,) = judge(document, measures)["rows"]
    assert row["met"] == ("yes" if over_ns >= 0 else "no"), "with the defect in, the edge passes in silence"


def test_uncertain_does_not_pass_silently(tmp_path: Path, true_ns: int) -> None:
    """Exit code, last line, table, JSON and report show the uncertainty."""
    path = tmp_path / "bars.yaml"
    path.write_text(SCENARIO.replace("\n    LIMIT}", f", requires: {{delay: {true_ns} ns}}}}") + FREE)
    done = tsnbench("run", path, "--into", tmp_path / "run", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    last = next(line for line in (done.stdout + done.stderr).splitlines() if "UNCERTAIN: 1" in line)
    assert "UNCERTAIN: 1 of 1 requirement" in last
    assert "±" in last
    assert json.loads((tmp_path / "run" / "verdict.json").read_text())["rows"][0]["met"] == "uncertain"
    page = (tmp_path / "run" / "report.html").read_text()
    assert 'class="verdict uncertain"' in page
    assert ".uncertain::before" in page
    assert "±" in page


def test_rows_and_tables_show_the_bars(tmp_path: Path, true_ns: int) -> None:
    from rich.console import Console

    one = run(tmp_path, FREE, f"delay: {true_ns} ns")
    verdict = one.verdict()
    assert "±" in headline(verdict)
    assert verdict_rows(verdict)[0]["met"] == "uncertain"
    console = Console(width=200, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    console.print(measures_table(one.measures()), verdict_table(verdict))
    text = console.export_text()
    assert "UNCERTAIN" in text
    assert "±" in text
    assert "it is unknown whether the limit was kept" in " ".join(text.split())


def test_uncertainties_of_every_requirement() -> None:
    unsure = {"delay_ns": 100, "difference_ns": 40, "arrivals_ns": 20, "release_delay_ns": 110}
    stat = {"min": 1, "mean": 5.0, "median": 4, "max": 1_000, "max_seq": 7}
    path = {
        "stream": "s", "group": "s", "listener": "l", "delay": stat, "release_delay": stat, "spread": 1_000.0,
        "delay_percentiles": [{"share_ppm": 999_000, "delay_ns": 1_000}],
        "jitter": {"delay-step-abs": stat, "deviation": stat, "interval": stat},
        "count": {"sent": 10, "received": 10, "lost": 0}, "uncertainty": unsure,
        "arrivals": stat, "age": stat,
    }  # fmt: skip
    kinds = ("delay-step", "delay-step-abs", "deviation", "interval", "spread")
    bars = {"delay": 100, "delay from release": 110, "delay p99.9": 100, "jitter spread": 20}
    # An age is the sum of a delay and a time between arrivals.
    bars |= {"time-out": 20, "age": 120}
    bars |= {f"jitter {kind}": 40 for kind in kinds[:3]} | {"jitter interval": 20}
    for sign in (-1, 1):
        for short, met in ((1, {"uncertain"}), (0, {"yes"} if sign > 0 else {"no", "mean-and-median"})):
            rows = []
            for name, bar in bars.items():
                limit = 1_000 + sign * (bar - short)
                required: dict[str, Any] = {}
                if name.startswith("jitter"):
                    required["jitter"] = [{"kind": name.partition(" ")[2], "limit_ns": limit}]
                elif "p99" in name:
                    required["delay_percentiles"] = [{"share_ppm": 999_000, "delay_ns": limit}]
                else:
                    keys = {"delay from release": "release_delay_ns", "time-out": "time_out_ns"}
                    required[keys.get(name, f"{name}_ns")] = limit
                stream = {"name": "s", "group": "s", "listeners": [{"node": 0}], "requirements": required}
                stream["pattern"] = {"kind": "poisson"}
                plan: Any = {"drain_ns": 0, "nodes": [{"name": "l"}], "streams": [stream]}
                measures: Any = {"paths": [path]}
                rows += judge(plan, measures)["rows"]
            assert {row["requirement"]: row["uncertainty"] for row in rows} == bars
            assert {row["met"] for row in rows} <= met, (sign, short, rows)


@pytest.mark.parametrize("nodes", ['["gm"]', '"gm"', "17"])
def test_errors_of_another_plans_clocks_are_refused(tmp_path: Path, nodes: str) -> None:
    one = run(tmp_path, FREE)
    path = one.folder / "clock_error.parquet"
    table = pl.read_parquet(path)
    table.write_parquet(path, metadata={"tsnbench.nodes": nodes})
    with pytest.raises(MeasureError, match=r"clock_error\.parquet"):
        measure_run(one.folder)
    (one.folder / "stamps.json").write_text('{"format": "another"}')
    with pytest.raises(MeasureError, match=r"stamps\.json: expected tsnbench-stamps/1"):
        measure_run(one.folder)
