"""Scenarios give the same files, byte for byte, in two processes with other hash seeds and threads."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

SCENARIOS = sorted((Path(__file__).parents[2] / "scenarios" / "tutorial").glob("*.yaml"))
CODE = """
import sys
from pathlib import Path
from tsnbench import Simulation, load_variants
for name in sys.argv[2:]:
    for number, scenario in enumerate(load_variants(name)):
        scenario.plan().run(on=Simulation(), into=f"{sys.argv[1]}/{Path(name).stem}/{number}")
"""


def digests(folder: Path, number: str) -> dict[str, str]:
    environment = {**os.environ, "PYTHONHASHSEED": number, "POLARS_MAX_THREADS": number}
    subprocess.run([sys.executable, "-c", CODE, folder, *SCENARIOS], check=True, env=environment)
    return {
        str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in folder.rglob("*")
        if file.is_file() and file.name != "manifest.json"
    }


def test_the_same_scenarios_give_the_same_bytes(tmp_path: Path) -> None:
    once = digests(tmp_path / "one", "1")
    assert once == digests(tmp_path / "other", "4")
    assert {f"{path.stem}/0/observations.parquet" for path in SCENARIOS} <= set(once)
