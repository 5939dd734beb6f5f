"""A lease has one holder: a live process keeps its lease, a dead one loses it."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from tsnbench.studies import lease


def test_a_live_holder_keeps_its_lease(tmp_path: Path) -> None:
    mine = lease.take(tmp_path, "run")
    assert mine is not None
    assert lease.take(tmp_path, "run") is None
    assert lease.held(tmp_path) == ["run"]
    assert [one.name for one in tmp_path.iterdir()] == ["run"]
    mine.release()
    assert list(tmp_path.iterdir()) == []
    assert lease.take(tmp_path, "run") is not None


def test_the_lease_of_a_dead_process_is_taken_at_once(tmp_path: Path) -> None:
    program = "import sys; from pathlib import Path; from tsnbench.studies import lease; "
    program += "lease.take(Path(sys.argv[1]), 'run')"
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=True)
    assert [one.name for one in tmp_path.iterdir()] == ["run"]
    assert lease.held(tmp_path) == []
    mine = lease.take(tmp_path, "run")
    assert mine is not None
    assert json.loads((tmp_path / "run").read_text())["process"] == os.getpid()


@pytest.mark.parametrize(("age_s", "is_taken"), [(lease.STALE_S - 10, False), (lease.STALE_S + 10, True)])
def test_another_machine_loses_its_lease_only_after_a_while(
    tmp_path: Path, age_s: float, is_taken: bool
) -> None:
    path = tmp_path / "run"
    path.write_text(
        json.dumps({"token": "x", "host": platform.node() + "-other", "process": 1, "started": 1})
    )
    then = path.stat().st_mtime - age_s
    os.utime(path, (then, then))
    assert (lease.take(tmp_path, "run") is not None) == is_taken


def test_a_lease_that_another_worker_took_away_is_not_released(tmp_path: Path) -> None:
    mine = lease.take(tmp_path, "run")
    assert mine is not None
    (tmp_path / "run").write_text(json.dumps({"token": "other"}))
    mine.release()
    assert (tmp_path / "run").exists()


def test_a_maker_that_is_killed_before_its_lease_has_a_content_leaves_nothing(tmp_path: Path) -> None:
    program = "import os, sys; from pathlib import Path; from tsnbench.studies import lease; "
    program += "Path.write_text = lambda path, *_, **__: (path.touch(), os.kill(os.getpid(), 9)); "
    program += "lease.take(Path(sys.argv[1]), 'run')"
    assert subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=False).returncode == -9
    (left,) = tmp_path.iterdir()
    assert left.read_bytes() == b""
    live = tmp_path / left.name.replace(left.stem.rpartition("-")[2], str(os.getpid()))
    live.touch()
    foreign = tmp_path / "notes.txt"
    foreign.touch()
    lease.clear_dead(tmp_path)
    assert sorted(tmp_path.iterdir()) == sorted([live, foreign])


@pytest.mark.parametrize(("age_s", "is_left"), [(lease.STALE_S - 10, True), (lease.STALE_S + 10, False)])
def test_an_empty_lease_of_another_machine_is_removed_only_after_a_while(
    tmp_path: Path, age_s: float, is_left: bool
) -> None:
    path = tmp_path / "run.abc.00000000-1.new"
    path.touch()
    then = path.stat().st_mtime - age_s
    os.utime(path, (then, then))
    lease.clear_dead(tmp_path)
    assert path.exists() == is_left
