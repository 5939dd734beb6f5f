"""The states of a run folder: new, interrupted, refused, emptied, read while half-written."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.planned import run_of
from support.small_plan import small_plan
from tsnbench.backends.simulation import Simulation
from tsnbench.errors import BackendError, InputError
from tsnbench.plan.document import Plan
from tsnbench.runs import FolderError, Run, State
from tsnbench.runs.folder import begin, half_written


def test_a_run_may_replace_a_run(tmp_path: Path) -> None:
    plan = small_plan(tmp_path)
    folder = tmp_path / "deep" / "run"
    first = Simulation().execute(plan, folder, pcap=True)
    assert (folder / "captures").is_dir()
    (folder / "verdict.json").write_text("{}")
    second = Simulation().execute(plan, folder)
    assert second.state is State.COMPLETE
    assert sorted(entry.name for entry in folder.iterdir()) == [
        "counters.json",
        "manifest.json",
        "observations.parquet",
        "plan.json",
        "scenario.yaml",
    ]
    assert first.counters == second.counters


@pytest.mark.parametrize("name", ["thesis.tex", "manifest.txt", "plan.yaml"])
def test_a_folder_of_something_else_stays_as_it_is(tmp_path: Path, name: str) -> None:
    plan = small_plan(tmp_path)
    folder = tmp_path / "other"
    folder.mkdir()
    (folder / name).write_text("precious")
    with pytest.raises(FolderError, match="expected an empty folder or a run folder"):
        Simulation().execute(plan, folder)
    assert [entry.name for entry in folder.iterdir()] == [name]
    assert (folder / name).read_text() == "precious"


def test_a_run_folder_with_notes_in_it_stays_as_it_is(tmp_path: Path) -> None:
    plan = small_plan(tmp_path)
    run = run_of(plan, tmp_path)
    (run.folder / "notes.md").write_text("precious")
    before = {entry.name for entry in run.folder.iterdir()}
    with pytest.raises(FolderError, match=r"holds files that no run has written: notes\.md"):
        plan.run(on=Simulation(), into=run.folder)
    assert {entry.name for entry in run.folder.iterdir()} == before


def test_a_manifest_of_something_else_is_not_ours(tmp_path: Path) -> None:
    plan = small_plan(tmp_path)
    folder = tmp_path / "extension"
    folder.mkdir()
    (folder / "manifest.json").write_text('{"manifest_version": 3}')
    with pytest.raises(FolderError, match=r"expected a manifest.json of format tsnbench-run/1"):
        plan.run(on=Simulation(), into=folder)
    assert (folder / "manifest.json").exists()


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    plan = small_plan(tmp_path)
    with pytest.raises(FolderError, match="expected a folder, found a file"):
        plan.run(on=Simulation(), into=tmp_path / "small.yaml")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (None, "found no manifest.json"),
        ("", "cannot be read"),
        ("{", "cannot be read"),
        ("[]", "found one without a format"),
        ('{"format": "tsnbench-run/2"}', "found tsnbench-run/2"),
        ('{"format": "tsnbench-run/1", "state": "cooking"}', "unknown state: cooking"),
        ("[" * 100_000, "cannot be read"),
    ],
)
def test_what_is_no_run_folder_is_an_error(tmp_path: Path, text: str | None, problem: str) -> None:
    if text is not None:
        (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(InputError, match=problem) as caught:
        Run.open(tmp_path)
    assert str(tmp_path) in str(caught.value)


def test_a_half_written_folder_is_recognised(tmp_path: Path) -> None:
    plan = small_plan(tmp_path)
    folder = tmp_path / "run"
    begin(plan, folder, backend="simulation")
    assert half_written(folder) == "its run was broken off: the manifest still says running"
    run = Run.open(folder)
    assert run.state is State.RUNNING
    with pytest.raises(FolderError, match=r"has no observations.parquet\nhint: its run was broken off"):
        run.observations()
    (folder / "observations.parquet").write_bytes(b"PAR1 cut")
    with pytest.raises(FolderError, match=r"(?s)observations.parquet cannot be read.*its run was broken off"):
        run.observations()
    # tsnbench may replace the folder of a crashed run.
    assert plan.run(on=Simulation(), into=folder).state is State.COMPLETE
    assert half_written(folder) is None
    (folder / "manifest.json").unlink()
    assert half_written(folder) == "it has no manifest.json"


def test_the_failure_of_a_backend_is_in_the_manifest(tmp_path: Path) -> None:
    plan = small_plan(tmp_path)
    broken = Plan({**plan.document, "duration_ns": 0})
    with pytest.raises(BackendError, match="duration_ns: must be more than 0"):
        run_of(broken, tmp_path)
    run = Run.open(tmp_path / "run")
    assert run.state is State.FAILED
    assert "duration_ns" in run.manifest["problem"]


def test_progress_that_raises_ends_the_run(tmp_path: Path) -> None:
    plan = small_plan(tmp_path, duration="20 min")

    def tell(simulated_ns: int, frame_hops: int) -> None:
        assert 0 < simulated_ns < 10**12
        assert frame_hops > 0
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        Simulation().execute(plan, tmp_path / "run", progress=tell)
    run = Run.open(tmp_path / "run")
    assert (run.state, run.manifest["problem"]) == (State.FAILED, "enough")
    assert run.counters["interrupted"]


@pytest.fixture
def ctrl_c_interrupts() -> Iterator[None]:
    """A shell starts background jobs with SIGINT ignored, and a test run may be such a job."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c_interrupts")
def test_ctrl_c_leaves_a_run_that_can_be_read(tmp_path: Path) -> None:
    plan = small_plan(tmp_path, duration="20 min")
    told: list[int] = []

    def interrupt() -> None:
        while not told:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        Simulation().execute(plan, tmp_path / "run", progress=lambda now, _: told.append(now))
    thread.join()
    run = Run.open(tmp_path / "run")
    assert run.state is State.INTERRUPTED
    assert run.counters["interrupted"]
    assert told[0] <= run.counters["simulated_ns"] < 1_200 * 10**9
    observations = run.observations()
    sent = sum(stream["released"] for stream in run.counters["streams"])
    assert 0 < observations["seq"].len() <= 2 * sent


def test_a_killed_run_is_half_written(tmp_path: Path) -> None:
    plan = small_plan(tmp_path, duration="20 min")
    (tmp_path / "plan.json").write_text(plan.to_json())
    code = (
        "import sys; from tsnbench import Plan, Simulation; "
        "Plan.read(sys.argv[1]).run(on=Simulation(), into=sys.argv[2])"
    )
    folder = tmp_path / "run"
    process = subprocess.Popen([sys.executable, "-c", code, tmp_path / "plan.json", folder])
    observations = folder / "observations.parquet"
    while not (observations.exists() and observations.stat().st_size > 0):
        assert process.poll() is None
        time.sleep(0.01)
    process.kill()
    process.wait()
    assert half_written(folder) is not None
    assert json.loads((folder / "manifest.json").read_text())["state"] == "running"
    assert Plan.read(folder / "plan.json").hash == plan.hash
