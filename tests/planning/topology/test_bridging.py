"""Processing times that differ, shared memory, and shapers for another rate: from scenario to run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from support.planned import frames_of, problems_of, refusal_text
from tsnbench.backends.simulation import Simulation
from tsnbench.plan.document import Plan
from tsnbench.planning import plan
from tsnbench.planning.errors import PlanningErrors
from tsnbench.planning.topology import bridging
from tsnbench.scenario import load


def planned(folder: Path, options: str, more: str = "") -> Plan:
    file = folder / "s.yaml"
    file.write_text(
        "name: s\nduration: 10 ms\n"
        "network: {rate: 1 Gbit/s, stations: [a, b], links: [a -- dut, dut -- b], "
        f"bridges: {{dut: {{{options}}}}}}}\n"
        f"streams: {{s: {{from: a, to: b, pcp: 3, period: 100 us, phy: 1250 B}}}}\n{more}",
        encoding="utf-8",
    )
    return plan(load(file))


def dut(folder: Path, options: str) -> dict[str, Any]:
    (node,) = (node for node in planned(folder, options).document["nodes"] if node["name"] == "dut")
    return {key: node.get(key) for key in ("processing_ns", "further", "buffer")}


def test_every_way_to_say_it(tmp_path: Path) -> None:
    def of(options: str) -> tuple[Any, ...]:
        return tuple(dut(tmp_path, options).values())

    assert of("processing: 2 us") == (2_000, None, None)
    assert of("processing: {least: 1 us, most: 3 us}") == (
        1_000,
        {"kind": "uniform", "up_to_ns": 2_000},
        None,
    )
    assert of("processing: {most: 3 us}") == (0, {"kind": "uniform", "up_to_ns": 3_000}, None)
    assert of("processing: {values: [5 us, 1 us, 2 us]}") == (
        1_000,
        {"kind": "list", "values_ns": [0, 1_000, 4_000]},
        None,
    )
    (tmp_path / "m.csv").write_text("time_us,count\n3.5,2\n2,6\n3.5,1\n9,0\n", encoding="utf-8")
    measured = {"kind": "list", "values_ns": [0, 1_500], "counts": [6, 3]}
    assert of("processing: {file: m.csv}") == (2_000, measured, None)
    pl.DataFrame({"time_ns": [7, 9, 8]}).write_parquet(tmp_path / "m.parquet")
    assert of("processing: {file: m.parquet}") == (7, {"kind": "list", "values_ns": [0, 1, 2]}, None)
    assert of("buffer: 64 KiB") == (0, None, {"octets": 65_536})
    assert of("buffer: {size: 1 MB, alpha: 1/4}") == (0, None, {"octets": 10**6, "alpha_permille": 250})
    assert of("buffer: {size: 1 MB, alpha: 1.5}") == (0, None, {"octets": 10**6, "alpha_permille": 1500})


def test_the_limits_of_a_table_of_times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One time is enough, and so many different ones as the limit says. Rows that count 0 are none."""
    table = tmp_path / "m.csv"
    table.write_text("time_us,count\n5,3\n6,0\n", encoding="utf-8")
    assert dut(tmp_path, "processing: {file: m.csv}") == {
        "processing_ns": 5_000, "further": {"kind": "list", "values_ns": [0]}, "buffer": None,
    }  # fmt: skip
    monkeypatch.setattr(bridging, "MOST_VALUES", 3)
    table.write_text("time_us\n5\n6\n7\n7\n", encoding="utf-8")
    assert dut(tmp_path, "processing: {file: m.csv}")["further"] == {
        "kind": "list", "values_ns": [0, 1_000, 2_000], "counts": [1, 1, 2],
    }  # fmt: skip
    table.write_text("time_us\n", encoding="utf-8")
    assert "0 different times" in refusal_text(dut, tmp_path, "processing: {file: m.csv}")
    table.write_text("time_us\n5\n6\n7\n8\n", encoding="utf-8")
    (problem,) = problems_of(dut, tmp_path, "processing: {file: m.csv}")
    assert problem.path == "network.bridges.dut.processing"
    assert problem.expected == "a table of processing times"
    assert problem.found == "m.csv, which has 4 different times, not 1 to 3"


def test_it_reaches_the_wire(tmp_path: Path) -> None:
    """Of 100 frames some take each of the two times, and no other."""
    run = Simulation().execute(
        planned(tmp_path, "processing: {values: [1 us, 7 us]}, buffer: 1 MB"), tmp_path / "run"
    )
    both = frames_of(run)
    # 1230 octets, and again with a preamble.
    assert set((both["delay"] - 8 * (1230 + 1238)).to_list()) == {1_000, 7_000}
    assert run.counters["buffers"] == [
        {"node": "dut", "most_octets": 1230, "dropped_frames": 0, "dropped_octets": 0}
    ]


def test_shapers_are_computed_for_the_planned_rate(tmp_path: Path) -> None:
    """X552's numbers on a wire that is slower still; the wire is what it is."""
    more = (
        "shapers: {dut -> b: {cbs: {3: {bandwidth: 100 Mbit/s, phy: 1250 B}}, "
        "planned-rate: 9294196 kbit/s, real-rate: 9 Gbit/s}}\n"
    )
    ports = planned(tmp_path, "processing: 0 us", more).document["ports"]
    (port,) = (port for port in ports if port["name"] == "dut -> b")
    assert port["rate_bps"] == 9_000_000_000
    assert port["classes"][3]["cbs"]["linux"] == {
        "idleslope": 100_000,
        "sendslope": -9_194_196,
        "hicredit": 17,
        "locredit": -1237,
    }
    with pytest.raises(PlanningErrors, match="a reservation below the port's 90 Mbit/s"):
        planned(tmp_path, "processing: 0 us", more.replace("9294196 kbit/s", "90 Mbit/s"))
