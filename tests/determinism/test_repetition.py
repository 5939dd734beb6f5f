"""A scenario gives the same files, byte for byte, in two processes with other hash seeds and threads."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCENARIOS = Path(__file__).parents[2] / "scenarios" / "tutorial"
CODE = """
import sys
from tsnbench import Simulation, load_variants
for number, scenario in enumerate(load_variants(sys.argv[1])):
    scenario.plan().run(on=Simulation(), into=f"{sys.argv[2]}/{number}")
"""


def digests(scenario: Path, folder: Path, number: str) -> dict[str, str]:
    environment = {**os.environ, "PYTHONHASHSEED": number, "POLARS_MAX_THREADS": number}
    subprocess.run([sys.executable, "-c", CODE, scenario, folder], check=True, env=environment)
    return {
        str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in folder.rglob("*")
        if file.is_file() and file.name != "manifest.json"
    }


@pytest.mark.parametrize("scenario", sorted(SCENARIOS.glob("*.yaml")), ids=lambda path: path.stem)
def test_the_same_scenario_gives_the_same_bytes(scenario: Path, tmp_path: Path) -> None:
    once = digests(scenario, tmp_path / "one", "1")
    assert once == digests(scenario, tmp_path / "other", "4")
    assert "0/observations.parquet" in once
