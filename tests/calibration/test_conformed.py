"""Descriptions of devices that ``conform`` has tested: the times that the scenario states come back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.commands import tsnbench
from tsnbench.scenario.catalogue.devices import described

LAB = """\
name: lab
duration: 10 ms
network:
  stations: [talker, robot]
  bridges: {{switch: {{processing: {processing}}}}}
  links: {{rate: 100 Mbit/s, between: [talker -- switch, switch -- robot]}}
streams: {{loop: {{from: talker, to: robot, pcp: 6, payload: 100 B, period: 1 ms}}}}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A switch that should take 2 us, and takes 5 us."""
    made = tmp_path_factory.mktemp("conform")
    (made / "lab.yaml").write_text(LAB.format(processing="2 us"), encoding="utf-8")
    (made / "own.yaml").write_text(LAB.format(processing="5 us"), encoding="utf-8")
    words = "conform lab.yaml --dut switch --device own.yaml --suite forwarding --into tested --no-report"
    assert tsnbench(*words.split(), cwd=made).returncode == 1
    return made


def test_the_times_of_the_device_are_described(folder: Path) -> None:
    words = "calibrate tested --for switch --into switch.yaml"
    done = tsnbench(*words.split(), cwd=folder)
    assert done.returncode == 0, done.stderr
    found = described(str(folder / "switch.yaml"))
    assert found.processing is not None
    assert found.calibration is not None
    assert found.processing == pytest.approx(5_000, abs=20)
    assert found.calibration.sizes[0] == 64
    assert found.calibration.fixed[0] <= 5_000 <= found.calibration.fixed[1]
    assert "forwarding.residence" in found.source


@pytest.mark.parametrize(
    ("change", "words", "expected"),
    [
        ({}, "--for robot", "expected switch, the device of"),
        ({"tests": []}, "--for switch", "--suite forwarding"),
        ({"dut": 3}, "--for switch", "expected a result of conform"),
    ],
)
def test_other_folders_are_refused(
    folder: Path, tmp_path: Path, change: dict[str, object], words: str, expected: str
) -> None:
    content = json.loads((folder / "tested/conform.json").read_text(encoding="utf-8"))
    (tmp_path / "conform.json").write_text(json.dumps(content | change), encoding="utf-8")
    done = tsnbench("calibrate", tmp_path, *words.split(), "--into", tmp_path / "x.yaml")
    assert (done.returncode, expected in done.stderr) == (2, True), done.stderr
