"""Studies on a real Dask cluster of this machine: the same tables, also if a worker is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.study_processes import ended, made, rows_of, runs_of, start, study, wait_for
from tsnbench.errors import InputError
from tsnbench.studies.clusters.dask import address_of

STUDY = """study: spread
scenario: {scenario}
vary: {{network.links.cable: [5 m, 10 m, 50 km]}}
repeat: 6
"""
TABLES = ("results.csv", "results.parquet", "intervals.csv")


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """A scheduler and two workers on loopback, each in a process of its own and in another folder."""
    folder = tmp_path / "cluster"
    folder.mkdir()
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0"]
    file = folder / "scheduler.json"
    processes: list[subprocess.Popen[bytes]] = []

    def begin(*words: str) -> None:
        with (folder / f"{len(processes)}.log").open("wb") as log:
            processes.append(subprocess.Popen(words, cwd=folder, stdout=log, stderr=log))

    try:
        begin(*command, "--no-dashboard", "--scheduler-file", str(file))
        wait_for(lambda: file.exists() and file.read_text(encoding="utf-8"))
        address = json.loads(file.read_text(encoding="utf-8"))["address"]
        worker = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--no-nanny"]
        for _ in range(2):
            begin(*worker, "--no-dashboard", "--nthreads", "1", "--host", "127.0.0.1")
        yield address, processes
    finally:
        for one in processes:
            one.kill()
            one.wait()


def test_a_killed_worker_costs_nothing(
    place: Path, cluster: tuple[str, list[subprocess.Popen[bytes]]]
) -> None:
    address, processes = cluster
    # Streams are in a table beside the scenario; no file of it is in the workers' folder.
    head, _, _ = (place / "port.yaml").read_text(encoding="utf-8").partition("streams:")
    text = head.replace("duration: 2 ms", "duration: 300 ms") + "streams: {table: streams.csv}\n"
    (place / "table.yaml").write_text(text, encoding="utf-8")
    (place / "streams.csv").write_text(
        "name,from,to,pcp,period,poisson,payload,requires.delay\n"
        "loop,controller,robot,6,250 us,,100 B,100 us\n"
        "files,disk,robot,0,,100 Mbit/s,1472 B,\n",
        encoding="utf-8",
    )
    (place / "spread.yaml").write_text(STUDY.format(scenario="table.yaml"), encoding="utf-8")
    study(place, "run", "spread.yaml", "--into", "here", code=1)
    begun = start(place, "run", "spread.yaml", "--into", "there", "--cluster", f"dask:{address}")
    wait_for(lambda: len(runs_of(place / "there")) > 1, begun)
    processes[1].send_signal(signal.SIGKILL)
    assert "13 runs made, 0 were there already" in ended(begun, code=1)
    for name in TABLES:
        assert (place / "there" / name).read_bytes() == (place / "here" / name).read_bytes()
    workers = {json.loads(one)["worker"] for one in runs_of(place / "there").values()}
    numbers = {int(one.rpartition("/")[2]) for one in workers}
    assert processes[2].pid in numbers
    assert numbers <= {one.pid for one in processes[1:]}
    assert os.getpid() not in numbers
    # A combination without a Plan has the message that it has here, with the place in the study.
    here, there = (
        [row["problem"] for row in rows_of(place / into / "runs.csv")] for into in ("here", "there")
    )
    assert any("expected a limit of at least 502464 ns" in one for one in here)
    assert there == [one.replace("here/", "there/") for one in here]
    begun = start(place, "run", "spread.yaml", "--into", "there", "--cluster", f"dask:{address}")
    assert "0 runs made, 13 were there already" in ended(begun, code=1)


def test_addresses() -> None:
    assert address_of("dask:tcp://10.0.0.1:8786") == "tcp://10.0.0.1:8786"
    assert address_of("dask:head.cluster:8786") == "head.cluster:8786"
    for wrong in ("slurm", "dask:", "dask:head", "dask:http://head:80/x"):
        with pytest.raises(InputError, match="expected dask:ADDRESS"):
            address_of(wrong)


def test_a_scheduler_that_is_not_there(place: Path) -> None:
    text = STUDY.format(scenario="port.yaml")
    _, said = made(place, text, "--workers", "2", "--cluster", "dask:127.0.0.1:1", code=2)
    assert "--workers: not with --cluster" in said
