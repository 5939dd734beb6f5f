"""Logs of ptp4l and phc2sys: exact figures of recordings; the synchronisation gate opens as on real hosts."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from pathlib import Path

import pytest

from support.commands import tsnbench, uncoded
from tsnbench.errors import InputError
from tsnbench.foreign_files.linuxptp import SyncMeasures, measure_sync

RECORDED = Path(__file__).parents[1] / "captures"
"""Two instances of ptp4l (linuxptp 3.1.1) over a virtual link: software stamps, free-running clocks."""


def written(lines: Iterable[str], folder: Path) -> SyncMeasures:
    path = folder / "log"
    path.write_text("\n".join(lines) + "\n")
    return measure_sync(path)


def test_a_free_running_clock_comes_out_exactly() -> None:
    (one,) = measure_sync(RECORDED / "ptp4l_free_running.log")["clocks"]
    offset, delay = one["offset"], one["path_delay"]
    assert (offset["count"], offset["min"], offset["median"], offset["max"]) == (8, -184, -47, 584)
    assert (delay["min"], delay["max"], delay["missing"]) == (1800, 2020, 0)
    assert one["unlocked"] == 8
    assert one["grandmasters"] == ["2a22b2.fffe.26d810", "565742.fffe.582d88"]
    assert [state["after"] for state in one["states"] if state["port"] == 1] == ["LISTENING", "UNCALIBRATED"]
    assert one["gate"] is not None
    assert (one["gate"]["open"], one["gate"]["why"]) == (False, "its servo is not locked (s0)")


def test_summaries_count_with_their_largest_offset() -> None:
    (one,) = measure_sync(RECORDED / "ptp4l_summaries.log")["clocks"]
    assert one["offset"]["name"] == "largest offset per summary"
    assert (one["offset"]["min"], one["offset"]["max"], one["path_delay"]["max"]) == (583, 714, 1840)
    assert one["gate"] is not None
    assert one["gate"]["why"] == "its port is UNCALIBRATED, and follows no master"


def test_a_grandmaster_has_no_offsets_to_judge() -> None:
    (one,) = measure_sync(RECORDED / "ptp4l_grandmaster.log")["clocks"]
    assert one["gate"] is None
    assert one["offset"]["count"] == 0
    assert one["states"][-1]["after"] == "MASTER"


START = [
    "ptp4l[100.000]: port 1: INITIALIZING to LISTENING on INIT_COMPLETE",
    "ptp4l[101.000]: selected best master clock 001122.fffe.334455",
    "ptp4l[101.000]: port 1: LISTENING to UNCALIBRATED on RS_SLAVE",
    "ptp4l[102.000]: master offset      30000 s0 freq      +0 path delay       500",
    "ptp4l[103.000]: master offset      29000 s1 freq    -100 path delay       500",
    "ptp4l[104.000]: port 1: UNCALIBRATED to SLAVE on MASTER_CLOCK_SELECTED",
]


def offsets(first: int, last: int, ns: int = 12) -> list[str]:
    return [
        f"ptp4l[{second}.000]: master offset {ns * (-1) ** second:10d} s2 freq    -100 path delay       500"
        for second in range(first, last)
    ]


def test_the_gate_opens_and_closes(tmp_path: Path) -> None:
    (one,) = written([*START, *offsets(105, 120)], tmp_path)["clocks"]
    gate = one["gate"]
    assert gate is not None
    # The first good offset is at 105 s, 5 s after the first line of the log.
    assert (gate["open"], gate["first_open_ns"], gate["closed"]) == (True, 15 * 10**9, 0)
    assert gate["open_ns"] == 4 * 10**9
    bad = [*START, *offsets(105, 120), *offsets(120, 121, 400), *offsets(121, 125)]
    gate = written(bad, tmp_path)["clocks"][0]["gate"]
    assert gate is not None
    assert (gate["open"], gate["closed"], gate["open_ns"]) == (False, 1, 5 * 10**9)
    assert gate["why"] == "it is +400 ns from its master, more than 100 ns"
    boundary = [*START, *offsets(105, 120), "ptp4l[119.5]: port 2: LISTENING to MASTER on RS_MASTER"]
    gate = written(boundary, tmp_path)["clocks"][0]["gate"]
    assert gate is not None
    assert (gate["open"], gate["closed"]) == (True, 0)
    lost = [
        *START,
        *offsets(105, 120),
        "ptp4l[121.0]: port 1: SLAVE to LISTENING on ANNOUNCE_RECEIPT_TIMEOUT_EXPIRES",
    ]
    gate = written(lost, tmp_path)["clocks"][0]["gate"]
    assert gate is not None
    assert (gate["open"], gate["closed"], gate["why"]) == (False, 1, "its port is LISTENING")
    stepping = [line.replace(" s2 ", " s1 ") for line in offsets(105, 120)]
    gate = written([*START, *stepping], tmp_path)["clocks"][0]["gate"]
    assert gate is not None
    assert (gate["open"], gate["why"]) == (False, "its servo is not locked (s1)")
    short = written(offsets(105, 110), tmp_path)["clocks"][0]["gate"]
    assert short is not None
    assert (short["open"], short["why"]) == (
        False,
        "the log ends after 4 s, before offsets were good for 10 s",
    )


def test_phc2sys_and_the_prefixes_of_journals(tmp_path: Path) -> None:
    line = "phc2sys: [{}.000] CLOCK_REALTIME phc offset {:9d} s2 freq   -1234 delay   1500"
    journal = [f"Nov 22 10:00:00 host {line.format(second, 900)}" for second in range(100, 115)]
    mixed = ["Nov 22 10:00:00 host kernel: [99.0] eth0: up", *journal, *offsets(116, 118)]
    steered, ptp = written(mixed, tmp_path)["clocks"]
    assert (steered["clock"], steered["offset"]["max"], steered["path_delay"]["median"]) == (
        "phc2sys CLOCK_REALTIME", 900, 1500,
    )  # fmt: skip
    assert steered["gate"] is not None
    assert steered["gate"]["open"]
    assert (ptp["clock"], ptp["offset"]["count"]) == ("ptp4l", 2)


def test_times_that_go_back_are_said(tmp_path: Path) -> None:
    found = written([*offsets(105, 108), *offsets(100, 102)], tmp_path)
    assert found["warnings"] == ["times go back by 7 s: the log holds several runs, or lines out of order"]


def test_what_is_no_log_is_said(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("hello\n")
    with pytest.raises(
        InputError, match="expected a log of ptp4l, phc2sys, ts2phc or chronyd, found text\nhint: "
    ):
        measure_sync(path)
    path.write_text("ptp4l[1.0]: nothing of interest\n")
    with pytest.raises(
        InputError, match=r"expected offsets or port states of ptp4l, phc2sys, ts2phc or chronyd, found none$"
    ):
        measure_sync(path)


def test_the_command(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("\n".join([*START, *offsets(105, 120, 700)]))
    closed = tsnbench("measure", "--sync", path)
    assert closed.returncode == 1
    assert "the gate never opened (offsets of at most 100 ns for 10 s)" in " ".join(closed.stdout.split())
    assert "it is +700 ns from its master" in " ".join(closed.stdout.split()) or "-700" in closed.stdout
    opened = tsnbench("measure", "--sync", path, "--below", "1us", "--json")
    assert opened.returncode == 0
    assert json.loads(opened.stdout)["clocks"][0]["gate"]["first_open_ns"] == 15 * 10**9
    assert tsnbench("measure", path).stderr.splitlines()[1] == (
        f"hint: tsnbench measure --sync {path} prints offsets and states"
    )
    assert uncoded(tsnbench("measure", "--below", "1us").stderr) == "--below: expected --sync\n"
    assert tsnbench("measure", "--sync", path, "--tx", "a").returncode == 2


@pytest.mark.parametrize("seed", range(30))
def test_hostile_octets_end_in_words(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    content = bytearray((RECORDED / "ptp4l_free_running.log").read_bytes())
    for _ in range(draw.randrange(1, 60)):
        content[draw.randrange(len(content))] = draw.choice(b"09 -[]:.\n\xff\x00s")
    path = tmp_path / "log"
    path.write_bytes(content)
    done = tsnbench("measure", "--sync", path)
    assert done.returncode in (0, 1, 2)


def test_ts2phc_steers_clocks_by_pulses(tmp_path: Path) -> None:
    """ts2phc 3.1 writes "/dev/ptp1 master offset", version 4 "/dev/ptp1 offset". Each clock has a gate."""
    old = [
        f"ts2phc[{second}.5]: /dev/ptp1 master offset {7:10d} s2 freq      +3" for second in range(100, 112)
    ]
    new = [f"ts2phc[{second}.5]: /dev/ptp2 offset {-400:10d} s2 freq      -3" for second in range(112, 124)]
    first, second = written([*old, *new], tmp_path)["clocks"]
    assert (first["clock"], first["offset"]["max"], first["offset"]["count"]) == ("ts2phc /dev/ptp1", 7, 12)
    assert first["gate"] is not None
    assert (first["gate"]["open"], first["gate"]["below_ns"]) == (True, 100)
    assert (second["clock"], second["offset"]["min"], second["path_delay"]["count"]) == (
        "ts2phc /dev/ptp2",
        -400,
        0,
    )
    assert second["gate"] is not None
    assert second["gate"]["open"] is False
