"""States of runs in namespaces: only processes and files that belong to a run are ended or removed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from tsnbench.backends.netns import state
from tsnbench.backends.netns.sandbox import MARK
from tsnbench.errors import BackendError

NAME = "tsnb-0123456789ab"


@pytest.fixture
def states(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    where = tmp_path / "states"
    where.mkdir(mode=0o700)
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "thesis.tex").write_text("precious")
    monkeypatch.setenv("TSNBENCH_STATE", str(where))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.chdir(tmp_path / "here")
    return where


def _forged(states: Path, **other: object) -> Path:
    path = states / f"{NAME}.json"
    told = state.State(NAME, process=1, started=1, scratch=f"/tmp/{NAME}", run_folder="/tmp/run")
    path.write_text(json.dumps(asdict(told) | other))
    return path


@pytest.mark.parametrize(
    "other",
    [
        {"mark": "", "scratch": ""},
        {"mark": ".", "scratch": "."},
        {"mark": "here", "scratch": "../here"},
        {"scratch": NAME},
        {"scratch": f"../{NAME}"},
        {"mark": "tsnb-ffffffffffff"},
        {"mark": None},
        {"mark": 5, "scratch": 5},
        {"scratch": ["/"]},
        {"run_folder": "run"},
        {"process": True},
        {"more": 1},
    ],
)
def test_a_state_that_no_run_wrote_removes_nothing(states: Path, tmp_path: Path, other: dict) -> None:
    (tmp_path / "here" / NAME).mkdir()
    (tmp_path / "here" / NAME / "notes").write_text("precious")
    (tmp_path / NAME).mkdir(mode=0o700)
    path = _forged(states, **other)
    (done,) = state.restore()
    assert (done.mark, done.files) == (NAME, [str(path)])
    assert (tmp_path / "here" / "thesis.tex").read_text() == "precious"
    assert (tmp_path / "here" / NAME / "notes").read_text() == "precious"
    assert (tmp_path / NAME).is_dir()
    assert not states.exists()


def test_only_a_private_folder_that_is_no_link_is_removed(states: Path, tmp_path: Path) -> None:
    """A state names a folder that is named as a run's, but others may use the folder, or it is a link."""
    for kind in ("open", "link"):
        states.mkdir(mode=0o700, exist_ok=True)
        scratch = tmp_path / kind / NAME
        scratch.parent.mkdir()
        if kind == "open":
            scratch.mkdir(mode=0o755)
        else:
            scratch.symlink_to(tmp_path / "here")
        _forged(states, scratch=str(scratch))
        state.restore()
        assert scratch.is_dir(), kind
    assert (tmp_path / "here" / "thesis.tex").exists()


@pytest.mark.parametrize("mode", [0o755, 0o720, 0o777, 0o701])
def test_a_folder_of_states_that_others_may_use_is_refused(states: Path, mode: int) -> None:
    path = _forged(states)
    states.chmod(mode)
    for what in (state.restore, lambda: state.begin(None)):
        with pytest.raises(BackendError, match=r"expected a folder that is yours alone \(mode 0700\)"):
            what()
    assert path.exists()


def test_a_folder_of_states_behind_a_link_or_of_others_is_refused(
    states: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "link").symlink_to(states)
    monkeypatch.setenv("TSNBENCH_STATE", str(tmp_path / "link"))
    with pytest.raises(BackendError, match="yours alone"):
        state.restore()
    if os.geteuid() == 0:
        monkeypatch.setenv("TSNBENCH_STATE", str(states))
        os.chown(states, 65534, 65534)
        with pytest.raises(BackendError, match="yours alone"):
            state.restore()


def test_files_of_others_in_the_folder_of_states_stay(states: Path) -> None:
    for name in ("tsnb-notes.json", "tsnb-0123456789AB.json", "tsnb-notes.part", "tsnb-0123456789ab0.json"):
        (states / name).write_text("{}")
        os.utime(states / name, (1, 1))
    assert state.restore() == []
    assert len(list(states.iterdir())) == 4


def test_processes_of_a_run_are_ended_also_where_its_state_is_damaged(states: Path) -> None:
    sleeping = [sys.executable, "-c", "import sys; print('up', flush=True); sys.stdin.read()"]
    found = {}
    for mark in (NAME, ""):
        process = subprocess.Popen(
            sleeping, env={**os.environ, MARK: mark}, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert process.stdout is not None
        process.stdout.readline()
        found[mark] = process
    (states / f"{NAME}.json").write_text('{"mark": "", "scratch": ""}')
    (done,) = state.restore()
    assert done.processes == [found[NAME].pid]
    assert found[""].poll() is None
    for process in found.values():
        process.kill()
        process.communicate()


def test_a_run_that_cannot_begin_leaves_no_state(states: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "gone"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    with pytest.raises(Exception, match="cannot be written"):
        state.begin(None)
    assert list(states.iterdir()) == []
