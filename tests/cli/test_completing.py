"""A shell completes scenario files, run folders, and names of streams, nodes and parameters."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from support.commands import SCENARIO, started, tsnbench
from tsnbench.cli.console.completing import MOST


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Scenarios, a run, and files that are neither."""
    here = tmp_path_factory.mktemp("completing")
    (here / "deep/er").mkdir(parents=True)
    (here / "small.yaml").write_text(SCENARIO)
    (here / "deep/er/sweep.yaml").write_text(SCENARIO.replace("payload: 1000 B", "payload: [900 B, 1000 B]"))
    (here / "other.yaml").write_text("hosts: {}\n")
    (here / "wrong.yaml").write_text("network: [\n")
    (here / ".hidden.yaml").write_text(SCENARIO)
    os.mkfifo(here / "pipe.yaml")
    (here / ".many").mkdir()
    for number in range(MOST + 1):
        (here / f".many/{number}").touch()
    (here / ".many/last.yaml").write_text(SCENARIO)
    assert tsnbench("run", "small.yaml", "--no-report", cwd=here).returncode in (0, 1)
    return here


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("check ", ["deep/er/sweep.yaml", "small.yaml", "wrong.yaml"]),
        ("plan sm", ["small.yaml"]),
        ("run deep/", ["deep/er/sweep.yaml"]),
        ("measure ", ["runs/small"]),
        ("report small.yaml ru", ["runs/small"]),
        ("replay runs/small --frame ", ["x/0", "y/0"]),
        ("tune small.yaml --count ", ["x", "y"]),
        ("send small.yaml --node ", ["a", "b", "c", "s"]),
        ("tune deep/er/sweep.yaml --first ", ["payload"]),
        ("plan deep/er/sweep.yaml --only ", ["payload=900 B", "payload=1000 B"]),
        ("tune wrong.yaml --count ", []),
        ("tune none.yaml --count ", []),
        ("check nothing-", []),
        ("check .many/la", [".many/last.yaml"]),
        ("plan --boun", ["--bounds"]),
    ],
)
def test_a_shell_completes(line: str, found: list[str], folder: Path) -> None:
    words = f"tsnbench {line}"
    place = len(words.split()) - (not words.endswith(" "))
    env = os.environ | {"_TSNBENCH_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(place)}
    done = started(cwd=folder, env=env)
    assert done.stderr == ""
    assert sorted(filter(None, done.stdout.splitlines())) == sorted(found)
