"""What really varies in a network can be drawn: phases, clocks, sizes, loss, and the moments of faults."""

from __future__ import annotations

import json
from collections.abc import Callable
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest

from support.study_processes import made, rows_of
from tsnbench.planning import plan
from tsnbench.studies import study_file
from tsnbench.studies.design import Source, design

SCENARIO = """name: port
duration: 5 ms
network:
  stations: [controller, disk, robot]
  bridges: {switch: {processing: 2 us}}
  links: {rate: 1 Gbit/s, cable: 5 m, between: [controller -- switch, disk -- switch, switch -- robot]}
  queues: {classes: {6: 1, 0: 0}}
clocks: {controller: {offset: 0 us, drift: 0 ppm}}
streams:
  loop: {from: controller, to: robot, pcp: 6, period: 250 us, payload: 100 B}
  files: {from: disk, to: robot, pcp: 0, period: 260 us, payload: 1472 B}
faults:
  - {loss: 1 %, on: disk -> switch}
  - {down: switch -- robot, at: 1 ms, for: 500 us}
"""


def stream(document: Any, name: str) -> Any:
    return next(one for one in document["streams"] if one["name"] == name)


Draw = tuple[str, Callable[[Any], Any]]
DRAWN: dict[str, Draw] = {
    "a phase": (
        "streams.loop.offset: {uniform: [0 us, 249 us], step: 1 us}",
        lambda one: stream(one, "loop")["pattern"]["offset_ns"],
    ),
    "a size": (
        "streams.files.payload: {choose: [100 B, 700 B, 1472 B]}",
        lambda one: stream(one, "files")["size"],
    ),
    "a clock's offset": (
        "clocks.controller.offset: {normal: [5 us, 1 us], step: 1 ns}",
        itemgetter("clocks"),
    ),
    "a clock's drift": (
        "clocks.controller.drift: {normal: [0 ppm, 20 ppm], step: 1 ppb}",
        itemgetter("clocks"),
    ),
    "a share of losses": ("faults[0].loss: {uniform: [1 %, 20 %], step: 1 %}", lambda one: one["faults"][0]),
    "the moment of a fault": (
        "faults[1].at: {uniform: [0 ms, 4 ms], step: 10 us}",
        lambda one: one["faults"][1],
    ),
    "the length of a fault": (
        "faults[1].for: {uniform: [100 us, 1 ms], step: 100 us}",
        lambda one: one["faults"][1],
    ),
    "a processing time": (
        "network.bridges.switch.processing: {normal: [2 us, 500 ns], step: 10 ns}",
        itemgetter("nodes"),
    ),
    "a cable": ("network.links.cable: {uniform: [1 m, 100 m], step: 1 m}", itemgetter("ports")),
}


def documents(place: Path, vary: str, repeat: int) -> list[Any]:
    (place / "scenario.yaml").write_text(SCENARIO, encoding="utf-8")
    text = f"study: drawn\nscenario: scenario.yaml\nvary:\n  {vary}\nrepeat: {repeat}\n"
    asked = study_file.of_text(text, place / "study.yaml")
    whole = Source(asked, SCENARIO)
    runs = design(asked, SCENARIO).runs
    assert len(runs) == repeat
    return [plan(whole.scenario(run)).document for run in runs]


@pytest.mark.parametrize("what", DRAWN)
def test_each_repetition_draws_its_own_value(what: str, tmp_path: Path) -> None:
    vary, value = DRAWN[what]
    drawn = [value(one) for one in documents(tmp_path, vary, 12)]
    assert drawn == [value(one) for one in documents(tmp_path, vary, 12)]
    assert len({json.dumps(one) for one in drawn}) >= 3
    if what == "a phase":
        assert all(one % 1000 == 0 and 0 <= one < 250_000 for one in drawn)


def test_a_drift_may_be_negative(tmp_path: Path) -> None:
    drawn = documents(tmp_path, DRAWN["a clock's drift"][0], 20)
    signs = {"-" in json.dumps(one["clocks"]) for one in drawn}
    assert signs == {True, False}


def test_all_at_once_as_a_study(tmp_path: Path) -> None:
    (tmp_path / "scenario.yaml").write_text(SCENARIO, encoding="utf-8")
    lines = [
        DRAWN[what][0]
        for what in ("a phase", "a size", "a clock's offset", "a share of losses", "the moment of a fault")
    ]
    vary = "\n  ".join(lines)
    text = f"study: drawn\nscenario: scenario.yaml\nvary:\n  {vary}\nrepeat: 6\n"
    assert "drawn: 6 of 6 runs met all requirements" in made(tmp_path, text)[0]
    loop = [row for row in rows_of(tmp_path / "made/results.csv") if row["stream"] == "loop"]
    # The link is down at other moments, so other frames are lost; clocks shift the measured delays.
    assert len({row["delay mean"] for row in loop}) == 6
    assert all(1 <= int(row["lost"]) <= 3 for row in loop)
