"""PTP frames of scenarios that observe them: in observations, and in captures for other tools."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import polars as pl
import pytest

from tsnbench.backends.simulation import Simulation
from tsnbench.measure import measure_run
from tsnbench.planning import plan
from tsnbench.runs import Run
from tsnbench.scenario import read_scenario

SCENARIO = """
name: visible
duration: 3 s
network:
  stations: [a, d]
  bridges: [b]
  links: {rate: 1 Gbit/s, between: [a-b, b-d]}
streams: {s: {from: a, to: d, period: 100 ms, frame: 500 B}}
clocks: {default: {drift: 5 ppm}, gptp: {bmca: {b: {priority1: 1}}, visible: true}}
faults: [{grandmaster-lost: b, at: 2 s}]
"""
TYPES = {"0x00": "sync", "0x08": "follow-up", "0x0b": "announce", "0x02": "pdelay-req", "0x03": "pdelay-resp"}


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder: Path = tmp_path_factory.mktemp("ptp")
    (scenario,) = read_scenario(SCENARIO)
    return Simulation().execute(plan(scenario), folder / "run", pcap=True)


def test_observations_name_them(seen: Run) -> None:
    streams = set(seen.observations()["stream"].unique())
    assert {"s", "ptp/sync", "ptp/follow-up", "ptp/announce", "ptp/pdelay-req"} <= streams


def test_measures_leave_them_out(seen: Run) -> None:
    assert {path["stream"] for path in measure_run(seen.folder)["paths"]} == {"s"}


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_another_tool_decodes_them(seen: Run) -> None:
    observations = seen.observations()
    (file,) = [file for file in (seen.folder / "captures").iterdir() if "rx" in file.stem]
    fields = ("ptp.v2.messagetype", "_ws.malformed", "frame.len")
    command = ["tshark", "-r", file, "-T", "fields", "-Y", "ptp"]
    for field in fields:
        command += ["-e", field]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert not any(row[1] for row in rows)
    here = observations.filter(pl.col("stage") == "rx")
    for number, kind in TYPES.items():
        expected = here.filter(pl.col("stream") == f"ptp/{kind}")["octets"].to_list()
        assert [int(row[2]) + 4 for row in rows if row[0] == number] == expected
        assert expected
