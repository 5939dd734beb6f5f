"""``--pcap``: one capture per tap with real frames that other tools decode."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import polars as pl
import pytest

from support.small_plan import small_plan
from tsnbench.backends.simulation import Simulation
from tsnbench.runs import Run

FIELDS = ("frame.time_epoch", "frame.len", "vlan.priority", "ip.proto", "udp.dstport", "udp.checksum.status")


@pytest.fixture(scope="module")
def captured(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder: Path = tmp_path_factory.mktemp("captured")
    return Simulation().execute(small_plan(folder), folder / "run", pcap=True)


def test_there_is_a_file_per_tap(captured: Run) -> None:
    files = list((captured.folder / "captures").iterdir())
    assert len(files) == len(captured.plan.document["taps"])
    assert {file.suffix for file in files} == {".pcapng"}


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_another_tool_reads_every_frame(captured: Run) -> None:
    observations = captured.observations()
    seen = 0
    for file in (captured.folder / "captures").iterdir():
        command = ["tshark", "-r", file, "-T", "fields", "-o", "udp.check_checksum:TRUE"]
        for field in FIELDS:
            command += ["-e", field]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        rows = [line.split("\t") for line in done.stdout.splitlines()]
        tap = next(name for name in observations["tap"].unique() if _words(name) == _words(file.stem))
        expected = observations.filter(pl.col("tap") == tap)
        seen += len(rows)
        found = [(_nanoseconds(row[0]), int(row[1]) + 4, int(row[2] or 0)) for row in rows]
        assert found == expected.select("t_ns", "octets", "pcp").rows()
        # UDP with a correct checksum.
        assert {(row[3], row[5]) for row in rows} == {("17", "1")}
    assert seen == len(observations)


def _words(name: str) -> list[str]:
    return "".join(c if c.isalnum() or c in "_." else " " for c in name).split()


def _nanoseconds(epoch: str) -> int:
    seconds, _, fraction = epoch.partition(".")
    return int(seconds) * 10**9 + int(fraction.ljust(9, "0")[:9])
