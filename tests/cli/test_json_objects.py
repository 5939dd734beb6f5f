"""``--json`` of every command prints one object with a ``format``, and ``runs`` where there are several."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.commands import SCENARIO, tsnbench

RUN = "runs/small"
FORMATS = {
    "check small.yaml": "tsnbench-check/1",
    "catalogue sr/": "tsnbench-catalogue/1",
    "plan small.yaml": "tsnbench-plan/1",
    "plan sweep.yaml": "tsnbench-plans/1",
    "plan small.yaml --bounds": "tsnbench-bounds/1",
    "plan sweep.yaml --bounds": "tsnbench-bounds/1",
    "plan small.yaml --tightest": "tsnbench-tightest/1",
    "plan sweep.yaml --tightest": "tsnbench-tightest/1",
    "run small.yaml --no-report": "tsnbench-runs/1",
    "tune sweep.yaml --first payload": "tsnbench-tune/1",
    f"measure {RUN}": "tsnbench-figures/1",
    f"report {RUN}": "tsnbench-report/1",
    f"report {RUN} --figure ccdf": "tsnbench-files/1",
    f"replay {RUN}": "tsnbench-replay/1",
    f"compare {RUN} {RUN}": "tsnbench-compare/1",
    "doctor": "tsnbench-doctor/1",
    "doctor --for small.yaml": "tsnbench-doctor/1",
    "restore": "tsnbench-restore/1",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two scenarios, and a run of the first."""
    here = tmp_path_factory.mktemp("json")
    text = SCENARIO.replace("requires: {delay: 17 us}", "requires: {delay: 1 ms}")
    (here / "small.yaml").write_text(text)
    (here / "sweep.yaml").write_text(text.replace("payload: 1000 B", "payload: [900 B, 1000 B]"))
    assert tsnbench("run", "small.yaml", "--no-report", cwd=here).returncode == 0
    return here


@pytest.mark.parametrize("words", FORMATS)
def test_the_object_has_its_format(words: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TSNBENCH_STATE", str(folder / "states"))
    done = tsnbench(*words.split(), "--json", cwd=folder)
    found = json.loads(done.stdout)
    assert found["format"] == FORMATS[words]
    if "sweep" in words and "tune" not in words:
        assert len(found["runs"]) == 2
