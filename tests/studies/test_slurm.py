"""A study on a real SLURM cluster: a worker is killed, the array is cancelled, and submitted again."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from support.slurm_cluster import cluster, missing
from support.study_processes import study

STUDY = """study: cluster
scenario: port.yaml
vary: {streams.loop.period: [100 us, 200 us, 250 us, 500 us]}
repeat: 5
"""
RUNS = 20
TABLES = ("results.csv", "results.parquet", "intervals.csv", "differences.csv")


@pytest.mark.skipif(bool(missing()), reason=missing())
def test_an_array_that_is_killed_cancelled_and_submitted_again(place: Path, tmp_path: Path) -> None:
    text = (place / "port.yaml").read_text(encoding="utf-8").replace("duration: 2 ms", "duration: 300 ms")
    (place / "port.yaml").write_text(text, encoding="utf-8")
    (place / "study.yaml").write_text(STUDY, encoding="utf-8")
    study(place, "run", "study.yaml", "--into", "here")
    _, said = study(place, "run", "study.yaml", "--into", "there", "--workers", "0")
    assert f"{RUNS} runs listed, 0 were there already" in said
    script, _ = study(place, "slurm", "there", "--workers", "4", "--time", "00:10:00")
    (place / "job.sh").write_text(script, encoding="utf-8")

    def made() -> int:
        return len(list(place.glob("there/runs/*.json")))

    def wait_for(runs: int) -> None:
        until = time.monotonic() + 120
        while made() < runs:
            assert time.monotonic() < until, running.logs()
            time.sleep(0.02)

    with cluster(tmp_path / "slurm") as running:
        assert "Submitted batch job" in running.run("sbatch", place / "job.sh", cwd=place)
        wait_for(2)
        # A lease's process number is one of the cluster's namespace.
        lease = next(iter(place.glob("there/leases/*[0-9a-f]")))
        killed = json.loads(lease.read_text(encoding="utf-8"))["process"]
        running.run("kill", "-9", str(killed))
        wait_for(6)
        running.run("scancel", "--user=root")
        until = time.monotonic() + 60
        while running.jobs():
            assert time.monotonic() < until, running.logs()
            time.sleep(0.1)
        before = made()
        assert 6 <= before < RUNS
        running.run("sbatch", place / "job.sh", cwd=place)
        wait_for(RUNS)
        while running.jobs():
            assert time.monotonic() < until + 120, running.logs()
            time.sleep(0.1)
        listening = running.run("ss", "--no-header", "--listening", "--tcp", "--numeric")
        assert listening
        assert all("127.0.0.1:68" in line for line in listening.splitlines())
    study(place, "export", "there")
    for name in TABLES:
        assert (place / "there" / name).read_bytes() == (place / "here" / name).read_bytes()
    records = [json.loads(one.read_text(encoding="utf-8")) for one in place.glob("there/runs/*.json")]
    workers = {one["worker"] for one in records}
    assert len(workers) > 2
    assert all(one.startswith("localhost/") for one in workers)
    _, said = study(place, "run", "study.yaml", "--into", "there")
    assert f"0 runs made, {RUNS} were there already" in said
    assert not list((place / "there/leases").iterdir())
    assert not list((place / "there/scratch").iterdir())
