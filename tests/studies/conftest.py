"""A small scenario with a Poisson process, and studies of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.study_processes import made

SCENARIO = """name: port
duration: 2 ms
network:
  stations: [controller, disk, robot]
  bridges: [switch]
  links: {rate: 1 Gbit/s, cable: 5 m, between: [controller -- switch, disk -- switch, switch -- robot]}
  queues: {classes: {6: 1, 0: 0}}
streams:
  loop: {from: controller, to: robot, pcp: 6, period: 250 us, payload: 100 B, requires: {delay: 100 us}}
  files: {from: disk, to: robot, pcp: 0, poisson: 100 Mbit/s, payload: 1472 B}
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with this scenario, and with another one that has no randomness."""
    return _with_scenarios(tmp_path)


@pytest.fixture(scope="session")
def load(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A study with two loads, three seeds each, which no test changes: its folder, and what it printed."""
    folder = _with_scenarios(tmp_path_factory.mktemp("load"))
    vary = "{streams.files.poisson: [100 Mbit/s, 300 Mbit/s]}"
    printed, _ = made(folder, f"study: load\nscenario: port.yaml\nvary: {vary}\nrepeat: 3\n")
    return folder / "made", printed


def _with_scenarios(folder: Path) -> Path:
    (folder / "port.yaml").write_text(SCENARIO, encoding="utf-8")
    certain = SCENARIO.replace("poisson: 100 Mbit/s", "period: 300 us")
    (folder / "certain.yaml").write_text(certain, encoding="utf-8")
    return folder
