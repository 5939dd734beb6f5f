"""Figures from files of other tools: exact for recordings, one line of error for damaged files."""

from __future__ import annotations

import json
import random
import struct
from pathlib import Path

import pytest

from foreign_files.written import measured, named, written
from support.captures import recorded
from support.commands import tsnbench, uncoded
from tsnbench.errors import InputError
from tsnbench.foreign_files import measure_foreign


def test_netlatencys_recording_comes_out_exactly(tmp_path: Path) -> None:
    found = measure_foreign(recorded("netlatency_veth_1ms_2000.jsonl", tmp_path))
    (stream,) = found["streams"]
    assert stream["stream"] == "stream 3"
    assert stream["counts"] == {"received": 2000, "lost": 0, "duplicate": 0, "reordered": 0}
    sent = named(found, "interval-start to tx-program")
    assert (sent["min"], sent["median"], sent["p99"], sent["max"]) == (10859, 21076, 58579, 421904)
    assert (sent["mean"], sent["count"]) == (25021.6225, 2000)
    path = named(found, "tx-program to rx-program")
    assert (path["min"], path["median"], path["max"], path["mean"]) == (8027, 27956, 7992071, 226134.691)
    kernel = named(found, "tx-program to tx-kernel-netsched")
    assert (kernel["count"], kernel["missing"]) == (1999, 1)
    wire = named(found, "tx-kernel-hardware to rx-hardware")
    assert (wire["count"], wire["missing"], wire["min"], wire["mean"]) == (0, 2000, None, None)
    assert found["warnings"] == []


def test_netlatencys_edge_cases(tmp_path: Path) -> None:
    small = measure_foreign(recorded("netlatency_small_packet_mode.jsonl", tmp_path))
    assert named(small, "tx-program to rx-program")["missing"] == 3
    assert named(small, "between arrivals (rx-program)")["count"] == 2
    beyond = measure_foreign(recorded("netlatency_default_interval_overflow.jsonl", tmp_path))
    assert beyond["warnings"] == [
        "stream 0: interval-usec is 16960, but intervals begin every 1 s: the field has 16 bits"
    ]


def test_numbers_tell_losses_repeats_and_late_frames(tmp_path: Path) -> None:
    lines = recorded("netlatency_veth_1ms_2000.jsonl", tmp_path).read_text().splitlines()
    order = [lines[0], lines[2], lines[1], lines[2], lines[5], *lines[6:9]]
    found = measured("\n".join(order), tmp_path)
    assert found["streams"][0]["counts"] == {"received": 8, "lost": 2, "duplicate": 1, "reordered": 1}


def test_damaged_lines_of_netlatency(tmp_path: Path) -> None:
    lines = recorded("netlatency_veth_1ms_2000.jsonl", tmp_path).read_text().splitlines()
    broken = measured("\n".join([*lines[:5], lines[5][:99]]), tmp_path)
    assert broken["warnings"] == ["line 6 breaks off and was left out"]
    for damaged in (
        lines[1].replace("stream-id", "x"),
        lines[1].replace('"stream-id":3', '"stream-id":-3'),
        lines[1].replace("2026-11-21", "2026-13-21"),
        lines[1].replace('"values":[', '"values":["2026-11-21T03:56:17.271000000",'),
        lines[1][:-3],
        '{"type":"rx-packet","object":' + "[" * 100_000,
        "[]",
        '"x"',
    ):
        with pytest.raises(InputError, match=r"line 2: expected a record of netlatency, found .+$"):
            measured("\n".join([lines[0], damaged, lines[2]]), tmp_path)


HEADER = struct.Struct(">8sIIHHIqqqqqQQIIQ")
SENT, ARRIVED = struct.Struct(">IIqqqqq"), struct.Struct(">IIqqq")


def isochron(
    sent: list[tuple[int, ...]],
    arrived: list[tuple[int, ...]],
    planned: int,
    flags: int = 0,
    version: int = 4,
) -> bytes:
    """A log as ``isochron_log_save`` writes it; rows begin with the number."""
    tx = b"".join(SENT.pack(one[0], 0, *one[1:]) for one in sent)
    rx = b"".join(ARRIVED.pack(one[0], 0, *one[1:]) for one in arrived)
    head = HEADER.pack(
        b"ISOCHRON", version, planned, 64, flags, 0, 0, 300, 0, 1_000_000, 0,
        HEADER.size, HEADER.size + len(tx), len(tx), len(rx), 0,
    )  # fmt: skip
    return head + tx + rx


T = 1_700_000_000_000_000_000
FRAMES = [
    (1, T, T - 200, T + 50, T + 20, T + 10),
    (2, T + 1_000_000, T + 999_900, T + 1_000_060, T + 1_000_025, T + 1_000_012),
    (3, T + 2_000_000, T + 1_999_750, 0, T + 2_000_030, T + 2_000_011),
    (0, 0, 0, 0, 0, 0),
]
ARRIVALS = [
    (1, T + 900, T + 550, T + 600),
    (0, 0, 0, 0),
    (3, T + 2_000_950, T + 2_000_570, T + 2_000_620),
]


def test_isochrons_log(tmp_path: Path) -> None:
    found = measured(isochron(FRAMES, ARRIVALS, 4), tmp_path)
    assert found["streams"][0]["counts"] == {"sent": 3, "received": 2, "lost": 1, "duplicate": 0}
    assert found["warnings"] == ["the log ends after 3 of 4 frames"]
    delay = named(found, "path delay")
    assert (delay["count"], delay["missing"], delay["min"], delay["max"]) == (1, 2, 500, 500)
    wake = named(found, "wakeup latency")
    assert (wake["count"], wake["min"], wake["mean"], wake["max"]) == (3, 50, 350 / 3, 200)
    budget = named(found, "application latency budget")
    assert (budget["min"], budget["max"]) == (-60, -50)
    assert named(found, "arrival latency")["max"] == 380
    assert named(found, "driver latency")["median"] == 13
    at_launch = measured(isochron(FRAMES, ARRIVALS, 4, flags=1 << 3), tmp_path)
    assert named(at_launch, "MAC latency")["max"] == 60


def test_damaged_logs_of_isochron(tmp_path: Path) -> None:
    good = isochron(FRAMES, ARRIVALS, 4)
    for content, problem in (
        (good[:50], "expected 96 octets of isochron's header, found 50"),
        (good[:-1], "expected 96 octets of the receiver's log at octet 288, found a file of 383"),
        (isochron(FRAMES, ARRIVALS, 4, version=3), "version 4, found version 3"),
        (isochron([], [], 0), "found none"),
        (isochron([(1, -(1 << 63), 1, 1, 1, 1)], [], 1), "record 1 of the sender's log is damaged"),
    ):
        with pytest.raises(InputError, match=problem):
            measured(content, tmp_path)


RTC = (
    "[1763776000.000000001]: [INFO]: TsnHighSent={0} | TsnHighReceived=990 | TsnHighRttMin=410 [us] | "
    "TsnHighRttMax=730 [us] | TsnHighRttAvg=500.250000 [us] | TsnHighOnewayMin=-3 [us] | "
    "TsnHighOnewayMax=90 [us] | TsnHighOnewayAvg=12.500000 [us] | TsnHighRttOutliers=2 | "
    "TsnHighOnewayOutliers=0 | RtcSent=5 | RtcReceived=0 | RtcRttMin=18446744073709551615 [us] | "
    "RtcRttMax=0 [us] | RtcRttAvg=0.000000 [us] | RtcOnewayMin=9223372036854775807 [us] | "
    "RtcOnewayMax=-9223372036854775808 [us] | RtcOnewayAvg=0.000000 [us] | \n"
)
"""A line of the log, in the format of the program's source code."""


def test_rtc_testbenchs_log(tmp_path: Path) -> None:
    other = "[1763775999.000000001]: [WARNING]: something else\n"
    found = measured(other + RTC.format(500) + RTC.format(1000), tmp_path)
    high, rtc = found["streams"]
    assert high["stream"] == "TsnHigh"
    assert high["counts"] == {"sent": 1000, "received": 990, "RttOutliers": 2, "OnewayOutliers": 0}
    trip = named(found, "round trip")
    assert (trip["min"], trip["max"], trip["mean"], trip["median"]) == (410_000, 730_000, 500_250.0, None)
    assert named(found, "one way")["min"] == -3_000
    assert (rtc["stream"], named(found, "round trip", 1)["min"], named(found, "one way", 1)["max"]) == (
        "Rtc", None, None,
    )  # fmt: skip
    assert found["warnings"] == []
    reset = measured(RTC.format(1000) + RTC.format(995), tmp_path)
    assert reset["warnings"] == ["the statistics were reset 1 times: figures begin at the last reset"]
    cut = measured(RTC.format(1000) + RTC.format(2000)[:99], tmp_path)
    assert cut["streams"][0]["counts"]["sent"] == 1000
    assert cut["warnings"] == ["the last line breaks off and was left out"]
    for content, problem in (
        (other, "expected a line with statistics"),
        (RTC.format(1).replace("RttMax=730", "RttMax=many"), "damaged at 'TsnHighRttMax=many"),
        (RTC.format(1).replace("| RtcReceived", "| XReceived"), "damaged at 'XReceived=0'"),
    ):
        with pytest.raises(InputError, match=problem):
            measured(content, tmp_path)


def test_cyclictests_histogram_and_threads(tmp_path: Path) -> None:
    histogram = (
        "# /dev/cpu_dma_latency set to 0us\n# Histogram\n000003 000010\t000001\n000004 000005\t000000\n"
    )
    overflow = "# Histogram Overflows: {} 00000\n"
    found = measured(histogram + overflow.format("00000"), tmp_path)
    first = named(found, "wake-up latency")
    assert (first["count"], first["min"], first["max"], first["median"]) == (15, 3_000, 4_000, 3_000)
    assert first["mean"] == 50_000 / 15
    assert named(found, "wake-up latency", 1)["count"] == 1
    with pytest.raises(InputError, match="7 samples are beyond its last bin\nhint: "):
        measured(histogram + overflow.format("00007"), tmp_path)
    with pytest.raises(InputError, match="at most 1000000000000000 samples"):
        measured("# Histogram\n" + "000001 900000000000000\n" * 2, tmp_path)
    line = "T: {} ( 1234) P:80 I:1000 C: 10000 Min:      3 Act:    5 Avg:    4 Max:      {}\n"
    threads = measured(line.format(0, 19) + line.format(0, 20) + line.format(1, 8), tmp_path)
    one = named(threads, "wake-up latency")
    assert (one["count"], one["min"], one["mean"], one["max"], one["p99"]) == (
        10_000,
        3_000,
        4_000,
        20_000,
        None,
    )
    assert [stream["stream"] for stream in threads["streams"]] == ["thread 0", "thread 1"]
    with pytest.raises(InputError, match="expected threads or a histogram of cyclictest, found neither"):
        measured("# Histogram\n", tmp_path)


def test_the_command_prints_a_table_or_json(tmp_path: Path) -> None:
    path = recorded("netlatency_veth_1ms_2000.jsonl", tmp_path)
    table = tsnbench("measure", path)
    assert table.returncode == 0
    assert "7,992.071" in table.stdout
    assert "2,000 received, 0 lost" in table.stdout
    done = tsnbench("measure", "--json", path)
    assert json.loads(done.stdout) == measure_foreign(path)
    wrong = tsnbench("measure", "--timeout", "1s", path)
    said = "--timeout: expected one capture with TRDP telegrams\n"
    assert (wrong.returncode, uncoded(wrong.stderr)) == (2, said)


@pytest.mark.parametrize("seed", range(40))
def test_hostile_octets_end_in_one_line(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    sources = (
        isochron(FRAMES, ARRIVALS, 4),
        "\n".join(recorded("netlatency_veth_1ms_2000.jsonl", tmp_path).read_text().splitlines()[:4]).encode(),
        RTC.format(1000).encode(),
        b"# Histogram\n000003 000010\n",
    )
    content = bytearray(sources[seed % len(sources)])
    for _ in range(draw.randrange(1, 6)):
        content[draw.randrange(len(content))] = draw.randrange(256)
    if draw.random() < 0.3:
        del content[draw.randrange(len(content)) :]
    path = written(bytes(content), tmp_path)
    done = tsnbench("measure", path)
    assert done.returncode in (0, 2)
    if done.returncode == 2:
        assert len(uncoded(done.stderr).split("\nhint: ")[0].splitlines()) == 1
