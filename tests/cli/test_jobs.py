"""``run --workers``: several runs of a sweep at the same time give the files that they give one by one."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path

import pytest

from support.commands import command, tsnbench
from tsnbench.runs import file_names

SWEEP = """\
name: load
duration: DURATION
network:
  stations: [a, b, c]
  bridges: [switch]
  links: {rate: 1 Gbit/s, between: [a -- switch, b -- switch, switch -- c]}
streams:
  x: {from: a, to: c, poisson: [RATES], payload: 100 B}
  y: {from: b, to: c, period: 1 ms, payload: 1000 B, requires: {delay: 100 us}}
"""


def written(folder: Path, duration: str, rates: list[int]) -> Path:
    path = folder / "load.yaml"
    listed = ", ".join(f"{rate} Mbit/s" for rate in rates)
    path.write_text(SWEEP.replace("DURATION", duration).replace("RATES", listed))
    return path


def test_runs_at_the_same_time_give_the_same_files(tmp_path: Path) -> None:
    written(tmp_path, "20 ms", [50, 100, 200])
    for words in ("--into with-1 --workers 1 --no-report", "--into with-2 --workers 2"):
        done = tsnbench("run", "load.yaml", *words.split(), "--json", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)["runs"]
        assert [one["variant"]["poisson"] for one in told] == [f"{rate} Mbit/s" for rate in (50, 100, 200)]
    one_by_one = sorted(path.parent for path in (tmp_path / "with-1").rglob(file_names.OBSERVATIONS))
    assert len(one_by_one) == 3
    for folder in one_by_one:
        other = tmp_path / "with-2" / folder.name
        for name in (file_names.OBSERVATIONS, file_names.MEASURES, file_names.VERDICT, file_names.PLAN):
            assert (folder / name).read_bytes() == (other / name).read_bytes(), (folder.name, name)
        assert (other / file_names.REPORT).exists()
    words = "--into with-2 --workers 2 --no-report"
    again = tsnbench("run", "load.yaml", *words.split(), cwd=tmp_path)
    assert again.stdout.endswith("; 3 runs used again\n")


def test_progress_names_the_run_of_each_line(tmp_path: Path) -> None:
    written(tmp_path, "2 ms", [50, 100])
    words = ("run", "load.yaml", "--no-report", "--workers", "2", "--progress", "json")
    done = tsnbench(*words, cwd=tmp_path)
    lines = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
    measured = sorted(line["number"] for line in lines if line.get("step") == "measuring")
    assert measured == [1, 2]
    assert {line["count"] for line in lines if "number" in line} == {2}
    assert [line["done"] for line in lines if line.get("step") == "done"] == [1, 2]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--workers", "0"), "--workers: expected at least 1, found 0"),
        (
            ("--workers", "2", "--on", "vm"),
            "--workers: only for --on simulation: runs on a kernel would disturb each other",
        ),
    ],
)
def test_jobs_that_cannot_be(words: tuple[str, ...], problem: str, tmp_path: Path) -> None:
    written(tmp_path, "2 ms", [50, 100])
    done = tsnbench("run", "load.yaml", *words, cwd=tmp_path)
    assert (done.returncode, done.stderr.splitlines()[0]) == (2, problem)


def test_a_failure_ends_the_other_runs(tmp_path: Path) -> None:
    """The folder of the first run holds somebody's file: one message, and no run is left ``running``."""
    written(tmp_path, "10 min", [100, 200, 300])
    foreign = tmp_path / "out" / "poisson=100_Mbit_s"
    foreign.mkdir(parents=True)
    (foreign / "thesis.tex").write_text("mine")
    done = tsnbench("run", "load.yaml", "--into", "out", "--workers", "2", "--no-report", cwd=tmp_path)
    assert done.returncode == 2
    assert "found other files" in done.stderr
    assert "Traceback" not in done.stderr
    assert (foreign / "thesis.tex").read_text() == "mine"
    states = [json.loads(path.read_text())["state"] for path in (tmp_path / "out").rglob(file_names.MANIFEST)]
    assert set(states) <= {"interrupted"}
    assert not list((tmp_path / "out").rglob(".tsnbench.lock"))


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_signals_leave_runs_that_can_be_read(tmp_path: Path, number: signal.Signals, code: int) -> None:
    written(tmp_path, "10 min", [100, 200, 300])
    process = subprocess.Popen(
        command("run", "load.yaml", "--no-report", "--workers", "2", "--progress", "json"), cwd=tmp_path,
        text=True, stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    with process:
        assert process.stderr is not None
        under_way: set[int] = set()
        while under_way != {1, 2}:
            line = process.stderr.readline()
            assert line, "it has ended"
            under_way |= {json.loads(line)["number"]} if '"frame_hops"' in line else set()
        process.send_signal(number)
        said = process.stderr.readlines()
        assert process.wait(60) == code, said
    assert said[-1] == "interrupted; what was measured until then is kept\n"
    folder = tmp_path / "runs/load"
    states = [json.loads(path.read_text())["state"] for path in folder.rglob(file_names.MANIFEST)]
    # The third run did not begin.
    assert states == ["interrupted", "interrupted"]
    assert not list(folder.rglob(".tsnbench.lock"))
