"""INET 4.5.4 and the simulator: recordings of scenarios that tsnbench exported, compared packet by packet.

``inet/NAME.csv.xz`` has the first 200 packets of each stream in the order of arrival: instant and delay (ps).
They were recorded in INET 4.5.4 with OMNeT++ 6.1.0. The tests write them in OMNeT++'s format for vectors.
"""

from __future__ import annotations

import csv
import json
import lzma
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from support.commands import tsnbench
from support.planned import plan_of
from tsnbench.campaign.campaign import Options, run_one
from tsnbench.compare.inet import Beside, beside
from tsnbench.errors import InputError
from tsnbench.planning import plan
from tsnbench.scenario import load_variants

HERE = Path(__file__).parent / "inet"
MOST = 200
"""The number of packets of each stream in a recording."""
APART_NS = {"ex-ucc-odd": (-2, 2)}
"""The deviation with credit-based shapers: INET rounds the times of credit to whole picoseconds.

The other scenarios agree to the rounding.
"""
STREAMS = {
    "base-time": 4,
    "cut-through-18": 2,
    "drops-by-octets": 2,
    "ex-ucc-odd": 26,
    "host-line": 2,
    "recorded": 2,
    "two-ports": 2,
}


def recorded(name: str) -> dict[str, list[tuple[int, int]]]:
    """Instant and delay in ps of each stream's packets."""
    found: dict[str, list[tuple[int, int]]] = defaultdict(list)
    with lzma.open(HERE / f"{name}.csv.xz", "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            found[row["stream"]].append((int(row["arrival_ps"]), int(row["delay_ps"])))
    return found


def seconds(ps: int) -> str:
    return f"{ps // 10**12}.{ps % 10**12:012}"


def vectors(packets: dict[str, list[tuple[int, int]]], node: str = "b") -> str:
    """A file of vectors; their lines are interleaved, as OMNeT++ writes them."""
    lines = ["version 3", "run General-0-20261123-10:00:00-1", "attr configname General"]
    lines += [
        f'config *.{node}.app[{place}].display-name "\\"{name}\\""' for place, name in enumerate(packets)
    ]
    for place in range(len(packets)):
        lines += ["", f"vector {place} N.{node}.app[{place}].sink meanBitLifeTimePerPacket:vector ETV"]
    every = sorted((at, place, delay) for place, own in enumerate(packets.values()) for at, delay in own)
    lines += [
        f"{place}\t{event}\t{seconds(at)}\t{seconds(delay)}" for event, (at, place, delay) in enumerate(every)
    ]
    return "\n".join(lines) + "\n"


def ran(name: str, into: Path) -> Path:
    scenario = load_variants(HERE / f"{name}.yaml")[0]
    run_one(plan(scenario), into / "run", Options(report=False))
    return into / "run"


def compared(name: str, run: Path) -> list[Beside]:
    """The streams of a run beside INET's recording: every packet arrives when it arrives in INET."""
    theirs = recorded(name)
    vector = run.parent / "General-0.vec"
    vector.write_text(vectors(theirs), encoding="utf-8")
    found = beside(run, vector)
    assert len(found) == len(theirs) == STREAMS[name]
    low, high = APART_NS.get(name, (-1, 1))
    for one in found:
        assert one.difference is not None
        assert one.difference.count == one.theirs
        assert low <= one.difference.min <= one.difference.max <= high, one
    return found


@pytest.mark.parametrize("name", STREAMS)
def test_each_packet_arrives_when_it_arrives_in_inet(name: str, tmp_path: Path) -> None:
    for one in compared(name, ran(name, tmp_path)):
        # A recording ends after 200 packets; INET does not record the last packet of a run.
        if one.theirs < MOST:
            assert one.theirs in (one.frames, one.frames - 1)
            assert one.agrees


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ran("two-ports", tmp_path_factory.mktemp("inet"))


def held(run: Path, packets: dict[str, list[tuple[int, int]]], into: Path) -> dict[str, Beside]:
    (into / "x.vec").write_text(vectors(packets), encoding="utf-8")
    return {one.stream: one for one in beside(run, into / "x.vec")}


def test_a_packet_that_is_late_or_missing_differs(run: Path, tmp_path: Path) -> None:
    packets = recorded("two-ports")
    assert all(one.agrees for one in held(run, packets, tmp_path).values())
    at, delay = packets["x"][70]
    packets["x"][70] = (at + 3_000, delay + 3_000)
    found = held(run, packets, tmp_path)
    assert (found["x"].agrees, found["y"].agrees) == (False, True)
    assert found["x"].difference is not None
    assert found["x"].difference.max == 3
    packets = recorded("two-ports")
    # INET does not record the last packet; any other missing packet was lost.
    packets["y"] = packets["y"][: found["y"].frames - 2]
    assert not held(run, packets, tmp_path)["y"].agrees


def test_the_command_tells_it_in_words_json_and_csv(run: Path, tmp_path: Path) -> None:
    file = tmp_path / "General-0.vec"
    packets = recorded("two-ports")
    file.write_text(vectors(packets), encoding="utf-8")
    done = tsnbench("compare", run, file)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("2 of 2 streams agree with INET in each packet, within 2 ns\n")
    told: dict[str, Any] = json.loads(tsnbench("compare", run, file, "--json").stdout)
    assert (told["agrees"], [one["stream"] for one in told["streams"]]) == (True, ["x", "y"])
    rows = list(csv.DictReader(tsnbench("compare", run, file, "--csv").stdout.splitlines()))
    assert {row["run"] for row in rows} == {"run", "INET"}
    medians = [
        float(row["value"]) for row in rows if (row["quantity"], row["statistic"]) == ("delay", "median")
    ]
    assert len(medians) == 4
    assert medians[0] == pytest.approx(medians[1], abs=1)
    packets["x"] = [(at, delay + 9_000) for at, delay in packets["x"]]
    file.write_text(vectors(packets), encoding="utf-8")
    assert tsnbench("compare", run, file).returncode == 1
    assert tsnbench("compare", run, file, "--tolerance", "10ns").returncode == 0


def test_what_cannot_be_held_together_is_said(run: Path, tmp_path: Path) -> None:
    file = tmp_path / "General-0.vec"
    file.write_text(vectors({"other": [(5, 5)]}), encoding="utf-8")
    with pytest.raises(InputError, match=r"found other\n.*display-name"):
        beside(run, file)
    (tmp_path / "notes.vec").write_text("notes\n", encoding="utf-8")
    done = tsnbench("compare", run, tmp_path / "notes.vec")
    assert (done.returncode, done.stderr.count("\n")) == (2, 2)
    assert "found another file" in done.stderr
    assert tsnbench("compare", run, file, run).returncode == 2
    assert tsnbench("compare", file, run).returncode == 2
    text = (HERE / "two-ports.yaml").read_text(encoding="utf-8").replace("taps: {send: true}", "")
    run_one(plan_of(text), tmp_path / "plain", Options(report=False))
    with pytest.raises(InputError, match=r"write taps: \{send: true\} in the scenario"):
        beside(tmp_path / "plain", file)


def test_of_several_listeners_the_module_says_which(tmp_path: Path) -> None:
    text = (HERE / "two-ports.yaml").read_text(encoding="utf-8")
    text = text.replace("[a, b]", "[a, b, c-1]").replace("s2 -- b]", "s2 -- b, s1 -- c-1]")
    text = text.replace("x: {from: a, to: b, via: [s1],", "x: {from: a, to: [b, c-1],")
    run_one(plan_of(text), tmp_path / "run", Options(report=False))
    lines = ["version 3", "run R", "attr configname General"]
    for number, node in enumerate(("b_host", "c_1")):
        lines.append(f'config *.{node}.app[0].display-name "x"')
        lines.append(f"vector {number} N.{node}.app[0].sink meanBitLifeTimePerPacket:vector TV")
    lines += ["0\t0.1\t0.001", "1\t0.1\t0.002", "1\t0.2\t0.003"]
    (tmp_path / "x.vec").write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = {one.listener: one for one in beside(tmp_path / "run", tmp_path / "x.vec")}
    assert (found["b"].theirs, found["c-1"].theirs) == (1, 2)
