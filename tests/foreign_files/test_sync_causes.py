"""The causes that logs of clocks state themselves, and delays that cannot be."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.commands import tsnbench, uncoded
from tsnbench.foreign_files.linuxptp import SyncMeasures, measure_sync

FAULTY = """\
ptp4l[100.001]: selected /dev/ptp0 as PTP clock
ptp4l[100.002]: port 1 (eth0): INITIALIZING to LISTENING on INIT_COMPLETE
ptp4l[101.000]: port 1 (eth0): new foreign master 020000.fffe.000001-1
ptp4l[105.001]: port 1 (eth0): LISTENING to UNCALIBRATED on RS_SLAVE
ptp4l[106.000]: master offset     -25000 s0 freq   -1000 path delay      -180
ptp4l[108.000]: port 1 (eth0): UNCALIBRATED to SLAVE on MASTER_CLOCK_SELECTED
ptp4l[108.001]: master offset         40 s2 freq   -2010 path delay       181
ptp4l[109.500]: clockcheck: clock jumped backward or running slower than expected!
ptp4l[109.600]: port 1 (eth0): SLAVE to UNCALIBRATED on SYNCHRONIZATION_FAULT
ptp4l[111.900]: timed out while polling for tx timestamp
ptp4l[111.901]: increasing tx_timestamp_timeout may correct this issue, but it is likely a driver bug
ptp4l[111.902]: port 1 (eth0): send delay request failed
ptp4l[111.903]: port 1 (eth0): SLAVE to FAULTY on FAULT_DETECTED (FT_UNSPECIFIED)
"""


def written(text: str, folder: Path) -> SyncMeasures:
    path = folder / "log"
    path.write_text(text)
    return measure_sync(path)


def test_causes_stand_beside_the_states_that_they_led_to(tmp_path: Path) -> None:
    found = written(FAULTY, tmp_path)
    (one,) = found["clocks"]
    assert [(cause["at_ns"], cause["text"]) for cause in one["causes"]] == [
        (109_500_000_000, "clockcheck: clock jumped backward or running slower than expected!"),
        (111_900_000_000, "timed out while polling for tx timestamp"),
        (111_902_000_000, "port 1 (eth0): send delay request failed"),
    ]
    (warning,) = found["warnings"]
    assert warning.startswith("ptp4l: 1 of 2 path delays are below 0, down to -180 ns, which is physically")
    done = tsnbench("measure", "--sync", tmp_path / "log")
    assert done.returncode == 1
    assert "physically impossible" in done.stderr
    said = " ".join(done.stdout.split())
    places = [
        said.index(text)
        for text in (
            "UNCALIBRATED to SLAVE",
            "clock jumped backward or running slower than expected! [109.500]",
            "SLAVE to UNCALIBRATED",
            "timed out while polling for tx timestamp [111.900]",
            "send delay request failed [111.902]",
            "SLAVE to FAULTY",
        )
    ]
    assert places == sorted(places)
    assert "tx_timestamp_timeout" not in said


@pytest.mark.parametrize(
    "line",
    [
        "ptp4l[9.5]: clockcheck: clock jumped forward or running faster than expected!",
        "ptp4l[9.5]: clockcheck: clock frequency changed unexpectedly!",
        "ptp4l[9.5]: port 1 (eth0): rogue peer delay response",
        "ptp4l[9.5]: port 1: received SYNC without timestamp",
        "ptp4l[9.5]: port 1 (eth0): quality received is greater than configured, ignoring master!",
        "ptp4l[9.5]: port 1 (eth0): missing timestamp on transmitted delay request",
        "ptp4l[9.5]: port 1 (eth0): link down",
        "phc2sys[9.5]: failed to adjust the clock: Invalid argument",
        "ts2phc[9.5]: nmea: unable to find utc time in leap second table",
        "ts2phc[9.5]: eth0 ignoring invalid master time stamp",
        "[ 9.500000] host chronyd[77]: Backward time jump detected!",
        "2026-11-28T10:00:00+0000 host chronyd[77]: System clock wrong by -0.512 seconds",
        "Nov 28 10:00:00 host chronyd[77]: Can't synchronise: no selectable sources",
    ],
)
def test_a_program_that_states_a_cause_alone_has_a_clock(line: str, tmp_path: Path) -> None:
    (one,) = written(line + "\n", tmp_path)["clocks"]
    (cause,) = one["causes"]
    assert line.endswith(cause["text"])
    assert (one["clock"], one["gate"]) == (cause["program"], None)


def test_a_cause_that_repeats_is_one_line(tmp_path: Path) -> None:
    lines = [f"ptp4l[{second}.0]: timed out while polling for tx timestamp" for second in range(10, 60)]
    (tmp_path / "log").write_text("\n".join(lines))
    said = " ".join(tsnbench("measure", "--sync", tmp_path / "log").stdout.split())
    assert said.count("timed out while polling") == 1
    assert "timed out while polling for tx timestamp [10.000], 50 times until 49 s" in said


def test_rows_of_chronys_tracking_log(tmp_path: Path) -> None:
    row = (
        "2026-11-28 10:00:{:02d} 192.0.2.{}     2     -3.541      0.075 {:.3e} N  2  2.940e-03 "
        "-2.084e-04  1.534e-02  3.472e-04  8.303e-03"
    )
    head = "=" * 40 + "\n   Date (UTC) Time     IP Address   St   Freq ppm   Skew ppm     Offset L Co\n"
    rows = [row.format(second, 1 + second // 20, (-1) ** second * 5e-7) for second in range(0, 40, 2)]
    found = written(head + "\n".join(rows) + "\n", tmp_path)
    (one,) = found["clocks"]
    assert (one["clock"], one["offset"]["count"], one["offset"]["max"]) == ("chronyd", 20, 500)
    assert (one["path_delay"]["median"], one["frequency"]["median"]) == (15_340_000, -3541)
    assert one["grandmasters"] == ["192.0.2.1", "192.0.2.2"]
    assert one["gate"] is not None
    assert (one["gate"]["open"], one["gate"]["below_ns"]) == (True, 1000)


def test_the_summary_of_isochron_names_the_option_for_a_file(tmp_path: Path) -> None:
    path = tmp_path / "report.txt"
    path.write_text("Summary:\nPath delay: min 2103 max 2157 mean 2131.404 stddev 12.7\n")
    done = tsnbench("measure", path)
    assert done.returncode == 2
    assert "found a summary of isochron" in done.stderr
    assert "isochron send --output-file isochron.dat" in uncoded(done.stderr)
