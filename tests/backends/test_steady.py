"""Runs that repeat have the figures of runs in which every frame is simulated, octet by octet."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.commands import tsnbench
from support.shipped import MS, variants
from tsnbench import Run, Simulation, load
from tsnbench.measure import measure_run
from tsnbench.plan.document import Plan
from tsnbench.planning import plan as planned
from tsnbench.runs import file_names
from tsnbench.runs.errors import FolderError
from tsnbench.runs.tables import repeats

LINE = """\
name: line
duration: {duration}
network:
  bridges: [sw1, sw2]
  stations: [a, b, c]
  links: {{rate: 100 Mbit/s, between: [a -- sw1, b -- sw1, sw1 -- sw2, sw2 -- c]}}
streams:
  fast: {{from: a, to: c, pcp: 6, payload: 200 B, period: 1 ms, requires: {{delay: 1 ms, age: 3 ms}}}}
  slow: {{from: b, to: c, pcp: 3, payload: 1400 B, period: 2 ms, requires: {{delay: 400 us}}}}
{more}"""
GATED = """\
shapers:
  sw1 -> sw2:
    gates: {cycle: 500 us, entries: [{open: [6], for: 100 us}, {open: [3, 0], for: 400 us}]}
"""
SHAPED = "shapers: {sw1 -> sw2: {cbs: {6: 20 Mbit/s, 3: 30 Mbit/s}}}\n"


def both(plan: Plan, folder: Path) -> tuple[Run, Run]:
    """The run of every frame, and the one that repeats."""
    exact = Simulation().execute(plan, folder / "exact")
    repeated = Simulation(whole_below=0).execute(plan, folder / "repeated")
    for run in (exact, repeated):
        measure_run(run.folder)
    return exact, repeated


def assert_alike(exact: Run, repeated: Run) -> None:
    for name in (file_names.COUNTERS, file_names.MEASURES):
        assert (repeated.folder / name).read_bytes() == (exact.folder / name).read_bytes(), name
    assert repeated.observations().equals(exact.observations())
    order = ["path", "seq"]
    assert repeated.frames().sort(order).equals(exact.frames().sort(order))


@pytest.mark.parametrize("more", ["", GATED, SHAPED])
@pytest.mark.parametrize("duration", ["300 ms", "333.333 ms"])
def test_a_line_repeats(more: str, duration: str, tmp_path: Path) -> None:
    scenario = tmp_path / "line.yaml"
    scenario.write_text(LINE.format(duration=duration, more=more), encoding="utf-8")
    exact, repeated = both(load(scenario).plan(), tmp_path)
    found = repeats.steady(repeated.folder)
    assert found is not None
    assert found["repeated"] > 100
    assert repeats.steady(exact.folder) is None
    size = (repeated.folder / file_names.OBSERVATIONS).stat().st_size
    assert size < (exact.folder / file_names.OBSERVATIONS).stat().st_size
    assert_alike(exact, repeated)
    assert repeats.told(found).startswith("steady from ")
    # A table that stands for more rows than memory may hold is told, with what to do.
    largest, repeats.MOST_ROWS = repeats.MOST_ROWS, 100
    try:
        with pytest.raises(FolderError, match="more than 100 are not held in memory"):
            repeated.frames()
    finally:
        repeats.MOST_ROWS = largest


@pytest.mark.parametrize(
    "name", ["bench/frer-ring", "papers/engine/ex-cs1", "papers/engine/ex-ucc-f", "twin/hops"]
)
def test_shipped_scenarios_repeat(name: str, tmp_path: Path) -> None:
    scenario = next(iter(variants(name).values()))
    exact, repeated = both(planned(scenario.model_copy(update={"duration": 100 * MS})), tmp_path)
    found = repeats.steady(repeated.folder)
    assert found is not None
    assert "repeated" in found, found
    assert_alike(exact, repeated)


def test_a_run_that_repeats_is_not_used_again_where_each_frame_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "line.yaml").write_text(LINE.format(duration="600 s", more=""))
    words = ("run", "line.yaml", "--no-report")
    assert "were not simulated" in tsnbench(*words, cwd=tmp_path).stderr
    assert "is used again" in tsnbench(*words, cwd=tmp_path).stderr
    named = tsnbench(*words, "--exact", "--into", "runs/line", cwd=tmp_path)
    assert (named.returncode, "or without each frame" in named.stderr) == (2, True)
    done = tsnbench(*words, "--exact", cwd=tmp_path)
    assert done.returncode == 0
    assert "is used again" not in done.stderr
    assert "were not simulated" not in done.stderr
    # A run of every frame is as good as one that repeats.
    assert "is used again" in tsnbench(*words, cwd=tmp_path).stderr
