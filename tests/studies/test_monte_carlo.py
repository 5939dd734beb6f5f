"""What really varies in a network can be drawn: phases, clocks, sizes, loss, and the moments of faults."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.study_processes import study
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


DRAWN: dict[str, tuple[str, Callable[[Any], Any], Callable[[int], bool]]] = {
    "a phase": (
        "streams.loop.offset: {uniform: [0 us, 249 us], step: 1 us}",
        lambda one: stream(one, "loop")["pattern"]["offset_ns"],
        lambda value: value % 1000 == 0 and 0 <= value < 250_000,
    ),
    "a size": (
        "streams.files.payload: {choose: [100 B, 700 B, 1472 B]}",
        lambda one: stream(one, "files")["size"],
        lambda value: True,
    ),
    "a clock's offset": (
        "clocks.controller.offset: {normal: [5 us, 1 us], step: 1 ns}",
        lambda one: json.dumps(one["clocks"]),
        lambda value: True,
    ),
    "a clock's drift": (
        "clocks.controller.drift: {normal: [0 ppm, 20 ppm], step: 1 ppb}",
        lambda one: json.dumps(one["clocks"]),
        lambda value: True,
    ),
    "a share of losses": (
        "faults[0].loss: {uniform: [1 %, 20 %], step: 1 %}",
        lambda one: json.dumps(one["faults"][0]),
        lambda value: True,
    ),
    "the moment of a fault": (
        "faults[1].at: {uniform: [0 ms, 4 ms], step: 10 us}",
        lambda one: json.dumps(one["faults"][1]),
        lambda value: True,
    ),
    "the length of a fault": (
        "faults[1].for: {uniform: [100 us, 1 ms], step: 100 us}",
        lambda one: json.dumps(one["faults"][1]),
        lambda value: True,
    ),
    "a processing time": (
        "network.bridges.switch.processing: {normal: [2 us, 500 ns], step: 10 ns}",
        lambda one: json.dumps(one["nodes"]),
        lambda value: True,
    ),
    "a cable": (
        "network.links.cable: {uniform: [1 m, 100 m], step: 1 m}",
        lambda one: json.dumps(one["ports"]),
        lambda value: True,
    ),
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
    vary, value, allowed = DRAWN[what]
    made = [value(one) for one in documents(tmp_path, vary, 12)]
    again = [value(one) for one in documents(tmp_path, vary, 12)]
    assert made == again
    assert len({json.dumps(one) for one in made}) >= 3
    assert all(allowed(one) for one in made)


def test_a_drift_may_be_negative(tmp_path: Path) -> None:
    made = documents(tmp_path, "clocks.controller.drift: {normal: [0 ppm, 20 ppm], step: 1 ppb}", 20)
    signs = {"-" in json.dumps(one["clocks"]) for one in made}
    assert signs == {True, False}


def test_all_at_once_as_a_study(tmp_path: Path) -> None:
    (tmp_path / "scenario.yaml").write_text(SCENARIO, encoding="utf-8")
    lines = [
        DRAWN[what][0]
        for what in ("a phase", "a size", "a clock's offset", "a share of losses", "the moment of a fault")
    ]
    vary = "\n  ".join(lines)
    text = f"study: drawn\nscenario: scenario.yaml\nvary:\n  {vary}\nrepeat: 6\n"
    (tmp_path / "study.yaml").write_text(text, encoding="utf-8")
    out, _ = study(tmp_path, "run", "study.yaml")
    assert "drawn: 6 of 6 runs met all requirements" in out
    table = (tmp_path / "studies/drawn/results.csv").read_text(encoding="utf-8").splitlines()
    header = table[0].split(",")
    loop = [dict(zip(header, line.split(","), strict=True)) for line in table[1:] if ",loop," in line]
    # The link is down at other moments, so other frames are lost; clocks shift the measured delays.
    assert len({row["delay mean"] for row in loop}) == 6
    assert all(1 <= int(row["lost"]) <= 3 for row in loop)
