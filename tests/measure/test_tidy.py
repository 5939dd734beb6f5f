"""Tidy CSV: every figure of the documents is in one row, and missing figures are empty cells."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from support.captures import RECORDED, recorded
from support.commands import tsnbench


def rows(*words: str) -> dict[tuple[str, str, str], str]:
    """Value and unit by stream, quantity and statistic."""
    done = tsnbench(*words, "--csv")
    assert done.returncode == 0, done.stderr
    table = list(csv.reader(done.stdout.splitlines()))
    assert table[0] == ["stream", "listener", "quantity", "statistic", "value", "unit"]
    found = {(row[0], row[2], row[3]): " ".join(row[4:]) for row in table[1:]}
    assert len(found) == len(table) - 1
    return found


def test_two_captures(tmp_path: Path) -> None:
    found = rows("measure", recorded("rtc_out_A.pcap", tmp_path), recorded("rtc_in_B.pcap", tmp_path))
    name = "rtc vlan 100 pcp 6"
    # The published figures of these recordings.
    assert found[name, "frames", "sent"] == "5100 frames"
    assert found[name, "delay", "min"] == "341 ns"
    assert found[name, "delay", "p99_9"] == "8102 ns"
    assert found[name, "delay", "count"] == "5100 samples"
    assert found[name, "jitter delay-step-abs", "max"] == "35643 ns"
    assert found[name, "frames", "late"] == " frames"


def test_one_capture(tmp_path: Path) -> None:
    found = rows("inspect", recorded("rtc_out_A.pcap", tmp_path))
    name = "rtc vlan 100 pcp 6"
    assert found[name, "interval", "p90"] == "4993995 ns"
    assert found[name, "frames", "missing"] == "0 frames"
    assert found[name, "burst", "max"] == "4 frames"


def test_a_log_of_another_tool(tmp_path: Path) -> None:
    found = rows("measure", recorded("netlatency_veth_1ms_2000.jsonl", tmp_path))
    assert found["stream 3", "tx-program to rx-program", "mean"] == "226134.691 ns"
    assert found["stream 3", "tx-kernel-hardware to rx-hardware", "missing"] == "2000 samples"
    assert found["stream 3", "tx-kernel-hardware to rx-hardware", "min"] == " ns"


def test_a_run(tmp_path: Path) -> None:
    scenario = tmp_path / "line.yaml"
    scenario.write_text(
        "name: line\nduration: 2 ms\n"
        "network: {stations: [a, b], links: {rate: 1 Gbit/s, cable: 5 m, between: [a -- b]}}\n"
        "streams: {loop: {from: a, to: b, period: 1 ms, payload: 100 B, requires: {delay: 1 ms}}}\n"
    )
    run = str(tmp_path / "run")
    assert tsnbench("run", scenario, "--into", run).returncode == 0
    told = tsnbench("measure", run, "--json")
    delay = json.loads(told.stdout)["measures"]["groups"][0]["delay"]
    assert rows("measure", run)["loop", "delay", "max"] == f"{delay['max']} ns"


def test_the_requirements_of_a_run(tmp_path: Path) -> None:
    scenario = tmp_path / "line.yaml"
    scenario.write_text(
        "name: line\nduration: 2 ms\n"
        "network: {stations: [a, b], links: {rate: 1 Gbit/s, cable: 5 m, between: [a -- b]}}\n"
        "streams: {loop: {from: a, to: b, count: 2, period: 1 ms, frame: 1000 B, "
        "requires: {delay: 8100 ns, loss: 0}}}\n"
    )
    run = str(tmp_path / "run")
    tsnbench("run", scenario, "--into", run)
    found = rows("measure", run)
    # 1000 octets after the preamble, and 25 ns of cable.
    assert found["loop.1", "requirement delay", "found"] == "8025 ns"
    assert found["loop.1", "requirement delay", "limit"] == "8100 ns"
    assert found["loop.1", "requirement delay", "margin"] == "75 ns"
    assert found["loop.1", "requirement delay", "worst_case"] == "8025 ns"
    assert (found["loop.1", "requirement delay", "met"], found["loop.1", "requirement delay", "proved"]) == (
        "1 ",
        "1 ",
    )
    assert found["loop.1", "requirement loss", "found"] == "0.0 ppm"


def test_telegrams_of_a_capture(tmp_path: Path) -> None:
    file = recorded("trdp/process_data.pcap", tmp_path)
    found = rows("measure", file)
    told = json.loads(tsnbench("measure", file, "--json").stdout)
    first = told["streams"][0]
    name = f"{first['name']} from {first['source']}"
    assert found[name, "telegrams", "count"] == f"{first['telegrams']} telegrams"
    assert found[name, "telegrams", "gaps"] == f"{first['subscription']['gaps']} telegrams"
    assert found["all", "telegrams", "process_data"] == f"{told['process_data']} telegrams"
    assert ("all", "telegrams in 10 ms", "variance") in found


def test_clocks_of_a_log() -> None:
    table = csv.reader(
        tsnbench("measure", "--sync", RECORDED / "ptp4l_free_running.log", "--csv").stdout.splitlines()
    )
    found = {(row[2], row[3]): (row[4], row[5]) for row in table}
    told = json.loads(tsnbench("measure", "--sync", RECORDED / "ptp4l_free_running.log", "--json").stdout)
    (clock,) = told["clocks"]
    assert found["offset", "max"] == (str(clock["offset"]["max"]), "ns")
    assert found["offset", "count"] == (str(clock["offset"]["count"]), "samples")
    assert found["frequency", "mean"] == (str(clock["frequency"]["mean"]), "ppb")
    assert found["gate", "open at the end"] == ("0", "")


def test_a_log_without_offsets_has_no_gate() -> None:
    done = tsnbench("measure", "--sync", RECORDED / "ptp4l_grandmaster.log", "--csv")
    assert done.returncode == 0
    (row,) = (row for row in csv.reader(done.stdout.splitlines()) if row[2:4] == ["gate", "closed"])
    assert row[4:] == ["", "times"]


def test_csv_beside_json(tmp_path: Path) -> None:
    done = tsnbench("measure", tmp_path, "--csv", "--json")
    assert done.returncode == 2
    assert "--csv: expected no --json" in done.stderr


def test_a_capture_without_telegrams_is_inspected(tmp_path: Path) -> None:
    done = tsnbench("measure", recorded("rtc_out_A.pcap", tmp_path), "--csv")
    assert done.returncode == 0
    assert "rtc vlan 100 pcp 6,,frames,count,5100,frames" in done.stdout.splitlines()
