"""A comparison as tidy CSV: every figure of the JSON document has one row, which names its run."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from support.commands import tsnbench
from support.planned import plan_of
from tsnbench import Simulation, load

LINE = """
name: line
duration: DURATION
network:
  stations: [a, c]
  bridges: [b]
  links: {rate: 100 Mbit/s, cable: 5 m, between: [a -- b, b -- c]}
streams:
  loop: {from: a, to: c, pcp: 6, period: 1 ms, payload: 100 B}
shapers:
  b -> c:
    queues: {classes: {6: 1, 0: 0}}
    gates: {cycle: 1 ms, entries: [{open: [6], for: 600 us}, {open: [0], for: 400 us}]}
taps: [b -> c]
"""


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Two runs; the second one is twice as long."""
    folder = tmp_path_factory.mktemp("tidy")
    found = []
    for duration in ("10 ms", "20 ms"):
        plan_of(LINE.replace("DURATION", duration)).run(on=Simulation(), into=folder / duration[:2])
        found.append(str(folder / duration[:2]))
    return found


def test_every_figure_has_one_row(folders: list[str]) -> None:
    done = tsnbench("compare", *folders, "--csv")
    other = tsnbench("compare", *folders, "--json")
    document = json.loads(other.stdout)
    assert done.returncode == other.returncode
    table = list(csv.reader(done.stdout.splitlines()))
    assert table[0] == ["stream", "listener", "run", "quantity", "statistic", "value", "unit"]
    found = {(row[0], *row[2:5]): " ".join(row[5:]) for row in table[1:]}
    assert len(found) == len(table) - 1

    first, second = (run["label"] for run in document["runs"])
    assert found["loop", first, "frames", "sent"] == "10 frames"
    assert found["loop", second, "frames", "sent"] == "20 frames"
    # Two links at 100 Mbit/s without other traffic, so every frame has the same delay.
    delay = document["streams"][0]["delay"]
    assert found["loop", first, "delay", "min"] == found["loop", second, "delay", "max"]
    assert found["loop", first, "delay", "min"] == f"{delay['min']} ns"
    assert found["loop", second, "interval", "median"] == "1000000 ns"
    assert found["loop", first, "worst-case bound", "max"] == f"{document['bounds'][0]['upper_ns']} ns"
    gates = next(one for one in document["gates"] if one["side"] == 1 and one["frames"])
    row = f"{gates['port']} class {gates['traffic_class']}"
    assert found[row, second, "gates", "count"] == "20 frames"
    for one in document["agreements"]:
        assert found["loop", second, f"agreement {one['quantity']}", "agrees"].strip() == str(
            int(one["agrees"])
        )
    assert found["loop", second, "agreement delay min", "difference"] == "0.0 ns"
    # Two stamps of each run, each with a resolution of 1 ns.
    assert found["loop", second, "agreement delay min", "above"] == "4.0 ns"
    assert found["loop", second, "agreement delay min", "below"] == "4.0 ns"


def test_what_differs_does_not_agree(folders: list[str], tmp_path: Path) -> None:
    path = tmp_path / "far.yaml"
    path.write_text(LINE.replace("DURATION", "10 ms").replace("cable: 5 m", "cable: 2 km"))
    load(path).plan().run(on=Simulation(), into=tmp_path / "far")
    done = tsnbench("compare", folders[0], tmp_path / "far", "--csv")
    found = {(row[3], row[4]): row[5] for row in csv.reader(done.stdout.splitlines()) if row[0] == "loop"}
    # Two cables, each 1995 m longer than before, at 5 ns per metre.
    assert float(found["agreement delay min", "difference"]) == 2 * 1995 * 5
    assert found["agreement delay min", "agrees"] == "0"


def test_csv_and_json_exclude_each_other(folders: list[str]) -> None:
    done = tsnbench("compare", *folders, "--csv", "--json")
    assert done.returncode == 2
    assert "--csv: expected no --json" in done.stderr
