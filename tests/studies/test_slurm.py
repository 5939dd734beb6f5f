"""A study on a real SLURM cluster: a worker is killed, the array is cancelled, and submitted again."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from support.slurm_cluster import cluster, missing
from support.study_processes import made, runs_of, study, wait_for

STUDY = """study: cluster
scenario: port.yaml
vary: {streams.loop.period: [100 us, 200 us, 250 us, 500 us]}
repeat: 5
"""
RUNS = 20
TABLES = ("results.csv", "results.parquet", "intervals.csv", "differences.csv")


def working(folder: Path) -> list[int]:
    """The processes that have leases: numbers of the cluster's namespace. Between two runs there is none."""
    found = []
    for lease in folder.glob("leases/*[0-9a-f]"):
        with suppress(FileNotFoundError):
            found.append(json.loads(lease.read_text(encoding="utf-8"))["process"])
    return found


@pytest.mark.skipif(bool(missing()), reason=missing())
def test_an_array_that_is_killed_cancelled_and_submitted_again(place: Path) -> None:
    text = (place / "port.yaml").read_text(encoding="utf-8").replace("duration: 2 ms", "duration: 300 ms")
    (place / "port.yaml").write_text(text, encoding="utf-8")
    made(place, STUDY)
    _, said = study(place, "run", "study.yaml", "--into", "there", "--workers", "0")
    assert f"{RUNS} runs listed, 0 were there already" in said
    script, _ = study(place, "slurm", "there", "--workers", "4", "--time", "00:10:00")
    (place / "job.sh").write_text(script, encoding="utf-8")

    def wait_until(happened: Callable[[], bool]) -> None:
        try:
            wait_for(happened, limit_s=180)
        except AssertionError:
            raise AssertionError(running.logs()) from None

    # The path of a socket has at most 108 octets.
    with tempfile.TemporaryDirectory(prefix="slurm") as short, cluster(Path(short) / "c") as running:
        assert "Submitted batch job" in running.run("sbatch", place / "job.sh", cwd=place)
        wait_until(lambda: len(runs_of(place / "there")) > 1)
        workers: list[int] = []

        def one_works() -> bool:
            workers.extend(working(place / "there"))
            return bool(workers)

        wait_until(one_works)
        running.run("kill", "-9", str(workers[0]))
        wait_until(lambda: len(runs_of(place / "there")) > 5)
        running.run("scancel", "--user=root")
        wait_until(lambda: not running.jobs())
        assert 6 <= len(runs_of(place / "there")) < RUNS
        running.run("sbatch", place / "job.sh", cwd=place)
        wait_until(lambda: len(runs_of(place / "there")) == RUNS)
        wait_until(lambda: not running.jobs())
        listening = running.run("ss", "--no-header", "--listening", "--tcp", "--numeric")
        assert listening
        assert all("127.0.0.1:68" in line for line in listening.splitlines())
    study(place, "export", "there")
    for name in TABLES:
        assert (place / "there" / name).read_bytes() == (place / "made" / name).read_bytes()
    names = {json.loads(one)["worker"] for one in runs_of(place / "there").values()}
    assert len(names) > 2
    assert all(one.startswith("localhost/") for one in names)
    _, said = study(place, "run", "study.yaml", "--into", "there")
    assert f"0 runs made, {RUNS} were there already" in said
    assert not list((place / "there/leases").iterdir())
    assert not list((place / "there/scratch").iterdir())
