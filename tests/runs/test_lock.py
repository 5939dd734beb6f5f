"""A folder has one writer; a lock ends with its process."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from support.small_plan import small_plan
from tsnbench.backends.simulation import Simulation
from tsnbench.campaign.campaign import Options, run_one
from tsnbench.errors import BackendError
from tsnbench.measure import measure_run
from tsnbench.runs import lock
from tsnbench.runs.clearing import clear
from tsnbench.runs.lock import FolderBusyError, held, holder

HOLD = (
    "import sys; from pathlib import Path; from tsnbench.runs.lock import held\n"
    "with held(Path(sys.argv[1])):\n    print('held', flush=True); sys.stdin.read()"
)


@pytest.fixture
def other(tmp_path: Path):
    """A process that holds the lock of the folder."""
    (tmp_path / "run").mkdir(exist_ok=True)
    words = [sys.executable, "-c", HOLD, str(tmp_path / "run")]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_the_second_writer_gets_the_name_of_the_first_and_changes_nothing(tmp_path: Path, other) -> None:
    plan = small_plan(tmp_path)
    folder = tmp_path / "run"
    for what in (
        lambda: run_one(plan, folder, Options(force=True)),
        lambda: plan.run(on=Simulation(), into=folder),
        lambda: measure_run(folder),
    ):
        with pytest.raises(FolderBusyError, match=rf"process {other.pid} is writing into this folder"):
            what()
    assert [path.name for path in folder.iterdir()] == [lock.NAME]


def test_readers_get_an_error(tmp_path: Path, other) -> None:
    from tsnbench import report
    from tsnbench.compare import opened
    from tsnbench.runs.folder import half_written
    from tsnbench.runs.manifest import opening, write

    plan = small_plan(tmp_path)
    folder = tmp_path / "run"
    write(folder, opening(plan, "simulation", plan.hash) | {"state": "complete"})
    (folder / "plan.json").write_text(plan.to_json())
    for what in (lambda: report.write(folder), lambda: opened(folder), lambda: clear(folder)):
        with pytest.raises(FolderBusyError, match=f"process {other.pid}"):
            what()
    assert f"process {other.pid} is writing into it" in str(half_written(folder))


def test_a_lock_ends_with_its_process(tmp_path: Path, other) -> None:
    assert holder(tmp_path / "run") == f"process {other.pid}"
    other.kill()
    other.wait()
    assert (tmp_path / "run" / lock.NAME).exists()
    assert holder(tmp_path / "run") is None
    with held(tmp_path / "run"):
        assert json.loads((tmp_path / "run" / lock.NAME).read_text())["process"] == os.getpid()
    assert list((tmp_path / "run").iterdir()) == []


def test_two_threads_do_not_write_into_one_folder(tmp_path: Path) -> None:
    said: list[BackendError] = []

    def second() -> None:
        try:
            with held(tmp_path):
                pass
        except BackendError as error:
            said.append(error)

    with held(tmp_path):
        with held(tmp_path / "."):
            assert holder(tmp_path) is None
        thread = threading.Thread(target=second)
        thread.start()
        thread.join()
    assert f"process {os.getpid()}" in str(said[0])


@pytest.mark.parametrize(
    ("change", "busy"), [({}, True), ({"started": 1}, False), ({"host": "elsewhere"}, True)]
)
def test_where_the_file_system_has_no_locks_the_file_says_who(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other, change: dict[str, object], busy: bool
) -> None:
    path = tmp_path / "run" / lock.NAME
    path.write_text(json.dumps(json.loads(path.read_text()) | change))

    def flock(descriptor: int, how: int) -> None:
        raise OSError(lock.errno.ENOLCK, "no locks")

    monkeypatch.setattr(fcntl, "flock", flock)
    assert (holder(tmp_path / "run") is not None) == busy
    if busy:
        with pytest.raises(FolderBusyError), held(tmp_path / "run"):
            pass
    else:
        with held(tmp_path / "run"):
            assert path.exists()


def test_a_lock_that_leads_elsewhere_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("precious")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / lock.NAME).symlink_to(tmp_path / "precious")
    with pytest.raises(OSError, match="symbolic links"), held(tmp_path / "run"):
        pass
    assert (tmp_path / "precious").read_text() == "precious"
