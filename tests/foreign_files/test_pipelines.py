"""Tables of TSN-FlexTest and EnGINE, and the output of packet generators: figures by hand, and damaged files.

``flextest_*.csv`` are what the published evaluation of TSN-FlexTest made of a capture in which frame ``i`` of
the stream ``robotic`` arrives 20,000 + (37 i mod 1,000) ns after it was sent; ``tcpreplay_200.txt`` and
``trafgen_100.txt`` are output of tcpreplay 4.4.3 and trafgen 0.6.8.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from foreign_files.written import measured, named, written
from support.commands import tsnbench, uncoded
from tsnbench.errors import InputError
from tsnbench.foreign_files import measure_foreign, recognise
from tsnbench.foreign_files.sequence import unwrapped

RECORDED = Path(__file__).parents[1] / "captures"


def test_frames_of_flextests_evaluation() -> None:
    found = measure_foreign(RECORDED / "flextest_robotic.csv")
    assert (found["tool"], [one["stream"] for one in found["streams"]]) == ("TSN-FlexTest", ["robotic"])
    # Frames 600 to 639 of the capture: 37 * 600 mod 1,000 = 200, 37 * 601 mod 1,000 = 237, …
    delays = sorted(20_000 + 37 * frame % 1_000 for frame in range(600, 640))
    delay = named(found, "delay")
    assert (delay["count"], delay["min"], delay["max"]) == (40, delays[0], delays[-1])
    assert delay["mean"] == pytest.approx(sum(delays) / 40)
    assert named(found, "interval at the sender")["max"] == 10_000_000
    # From one frame to the next the delay grows by 37 ns, or falls by 963 ns.
    at_receiver = named(found, "interval at the receiver")
    assert (at_receiver["min"], at_receiver["max"]) == (9_999_037, 10_000_037)
    assert found["streams"][0]["counts"] == {"received": 40, "lost": 0, "duplicate": 0, "reordered": 0}


def test_statistics_of_flextests_evaluation() -> None:
    found = measure_foreign(RECORDED / "flextest_statistics.csv")
    assert [one["stream"] for one in found["streams"]] == ["robotic", "audio"]
    delay = named(found, "delay")
    assert (delay["min"], delay["max"], delay["mean"], delay["p99"]) == (20_012, 20_977, 20_501.5, 20_976)
    assert delay["std"] == pytest.approx(275.954, abs=0.001)
    # The table says neither how many frames there were, nor the 90th percentile.
    assert (delay["count"], delay["p90"]) == (None, None)


FLEXTEST = (
    ',"Timestamp Sender (Unix epoch, s)","Timestamp Receiver (Unix epoch, s)",Latency (ns),'
    "Inter Frame Gap Sender (ns),Inter Frame Gap Receiver (ns),Frame No.,Sender Cycle Time (us),"
    "Receiver Cycle Time (us),Source\n"
)
FRAME = "{0},1760000006.000000{0},1760000006.000020{0},{1},1000.0,1E+3,{2},,,audio\n"


def test_numbers_of_16_bits_begin_again(tmp_path: Path) -> None:
    assert unwrapped([65_534, 65_535, 1, 0, 3], 16) == [65_534, 65_535, 65_537, 65_536, 65_539]
    rows = [FRAME.format(100 + place, 20_000, number) for place, number in enumerate([65_534, 65_535, 1, 3])]
    found = measured(FLEXTEST + "".join(rows), tmp_path)
    # 65,536 and 65,538 are missing.
    assert found["streams"][0]["counts"] == {"received": 4, "lost": 2, "duplicate": 0, "reordered": 0}
    assert named(found, "interval at the receiver")["max"] == 1_000
    (warning,) = found["warnings"]
    assert warning.startswith("the evaluation leaves out the begin")


def test_a_delay_that_contradicts_its_timestamps_is_named(tmp_path: Path) -> None:
    rows = [FRAME.format(100, 20_000, 1), FRAME.format(101, 20_001, 2), FRAME.format(102, 20_002, 3)]
    found = measured(FLEXTEST + "".join(rows), tmp_path)
    assert found["warnings"][1:] == ["1 delays are not the difference of their two timestamps"]


T = 1_700_000_000_000_000_000
COMBINED = f""",timestamp_ns,delay_ns,timestamp_loss_ns
0,{T},30500.0,
1,{T + 1_000_000},,{T + 1_000_000}.0
2,{T + 2_000_000},30100.0,
3,{T + 3_000_000},31000.0,
"""


def test_delays_of_engines_processing(tmp_path: Path) -> None:
    found = measured(COMBINED, tmp_path, "csv-iperf-combined_5001_enp5s0.csv")
    assert (found["tool"], found["warnings"]) == ("EnGINE", [])
    assert found["streams"][0]["stream"] == "iperf-combined_5001_enp5s0"
    assert found["streams"][0]["counts"] == {"sent": 4, "received": 3, "lost": 1}
    delay = named(found, "delay")
    assert (delay["count"], delay["missing"], delay["min"], delay["max"]) == (3, 1, 30_100, 31_000)
    steps = named(found, "difference of successive delays")
    assert (steps["count"], steps["min"], steps["max"]) == (2, -400, 900)
    assert named(found, "interval at the first capture")["mean"] == 1_000_000


def test_newer_tables_of_engine_have_no_losses(tmp_path: Path) -> None:
    found = measured(f",timestamp_ns,delay_ns\n0,{T},30500\n", tmp_path)
    assert found["streams"][0]["counts"] == {"sent": None, "received": 1, "lost": None}
    assert found["warnings"][0].endswith(
        "losses are unknown (tsnbench measure --tx --rx of both captures counts them)"
    )


def test_packets_of_send_udp(tmp_path: Path) -> None:
    head = ",timestamp_ns,packet_size_bytes,udp_tai_nanoseconds,udp_tai_sequence\n"
    rows = [
        f"{place},{T + number * 500_000 + 80 + place},300,{T + number * 500_000},{number}\n"
        for place, number in enumerate([7, 8, 10])
    ]
    found = measured(head + "".join(rows), tmp_path)
    assert found["streams"][0]["counts"] == {"received": 3, "lost": 1, "duplicate": 0, "reordered": 0}
    since = named(found, "payload's time to timestamp")
    assert (since["min"], since["max"], found["warnings"]) == (80, 82, [])
    interval = named(found, "interval")
    assert (interval["min"], interval["max"]) == (500_001, 1_000_001)
    utc = [row.replace(f",{T + 3_500_000},", f",{T + 3_500_000 + 37 * 10**9},") for row in rows[:1]]
    found = measured(head + "".join(utc), tmp_path)
    (warning,) = found["warnings"]
    assert warning.endswith("apart: one is TAI and the other UTC")


def test_packets_of_iperf(tmp_path: Path) -> None:
    head = ",timestamp_ns,packet_size_bytes,iperf_ts_seconds,iperf_ts_microseconds,iperf_sequence\n"
    rows = [
        f"0,{T + 5_250_000},1470,1700000000,5000,1\n",
        f"1,{float(T + 6_250_001)!r},1470,1700000000,6000,2\n",
        # iperf ends with packets of negative numbers: -3 of 32 bits.
        f"2,{T + 9_000_000},1470,1700000000,7000,{(1 << 32) - 3}\n",
    ]
    found = measured(head + "".join(rows), tmp_path)
    assert found["streams"][0]["counts"]["received"] == 2
    assert named(found, "payload's time to timestamp")["min"] == 250_000
    # The floating-point number of 6,250,001 ns after T has lost its last ns.
    assert named(found, "payload's time to timestamp")["max"] == 250_000
    assert found["warnings"] == [
        "times are floating-point numbers: a time of today is a multiple of 256 ns",
        "1 packets with which iperf ends were left out",
    ]


def test_output_of_tcpreplay(tmp_path: Path) -> None:
    path = RECORDED / "tcpreplay_200.txt"
    found = measure_foreign(path)
    (one,) = found["streams"]
    assert (found["tool"], one["stream"], found["warnings"]) == ("tcpreplay", "v0", [])
    assert one["counts"] == {
        "sent": 200,
        "octets": 20_000,
        "failed": 0,
        "truncated": 0,
        "retried ENOBUFS": 0,
        "retried EAGAIN": 0,
    }
    # 2.22 s / 200 packets.
    assert named(found, "mean interval")["mean"] == pytest.approx(11_100_000)
    cut = measured(path.read_bytes().split(b"Test complete")[0], tmp_path)
    assert cut["streams"][0]["counts"] == {"sent": 181, "octets": 18_100}
    assert cut["warnings"] == ["the replay has no end: figures are those of its last line"]


def test_output_of_trafgen(tmp_path: Path) -> None:
    content = (RECORDED / "trafgen_100.txt").read_bytes()
    found = measure_foreign(RECORDED / "trafgen_100.txt")
    both, own = found["streams"]
    assert (both["counts"], own["counts"]) == ({"sent": 100, "octets": 10_000}, {"sent": 100})
    # 6 us in steps of 1 us are no measure of an interval.
    assert own["figures"] == []
    longer = measured(content.replace(b"0 sec, 6 usec", b"2 sec, 500000 usec"), tmp_path)
    assert named(longer, "mean interval", 1)["mean"] == 25_000_000


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (FLEXTEST, "expected frames of TSN-FlexTest, found none"),
        (FLEXTEST + FRAME.format(100, "nan", 1), r"line 2: expected a number in the column 'Latency \(ns\)'"),
        (FLEXTEST + FRAME.format(100, "1E+99", 1), "line 2: expected less than 2"),
        (FLEXTEST + FRAME.format(100, 20_000, 65_536), "line 2: expected a frame number of 16 bits"),
        (
            FLEXTEST + "1,2\n" + FRAME.format(100, 20_000, 1),
            "line 2: expected 10 cells of TSN-FlexTest, found 2",
        ),
        ("stream,measurement,minimum,maximum,mean,median\n", "expected rows with statistics"),
        (",timestamp_ns,delay_ns\n", "expected packets of EnGINE, found none"),
        (
            ",timestamp_ns,delay_ns\n0,x,1\n",
            "line 2: expected a number in the column 'timestamp_ns', found 'x'",
        ),
        (",timestamp_ns,udp_tai_nanoseconds,udp_tai_sequence\n0,1,,2\n", "'udp_tai_nanoseconds', found ''"),
        (b'a,timestamp_ns,delay_ns\n0,"\x00', "expected packets of EnGINE, found none|line"),
    ],
)
def test_damaged_tables_are_one_line(content: bytes | str, problem: str, tmp_path: Path) -> None:
    path = written(content, tmp_path)
    with pytest.raises(InputError, match=problem):
        measure_foreign(path)
    done = tsnbench("measure", path)
    assert (done.returncode, len(uncoded(done.stderr).splitlines())) == (2, 1)


def test_a_row_that_breaks_off_is_left_out(tmp_path: Path) -> None:
    found = measured(COMBINED + "4,1700000", tmp_path)
    assert found["streams"][0]["counts"]["received"] == 3


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_separators_and_byte_order_marks(separator: str, tmp_path: Path) -> None:
    content = b"\xef\xbb\xbf" + COMBINED.replace(",", separator).replace("\n", "\r\n").encode()
    path = written(content, tmp_path)
    assert getattr(recognise(path), "name", None) == "engine-delays"
    assert measure_foreign(path)["streams"][0]["counts"]["lost"] == 1
