"""TRDP in captures: exact figures of published and own recordings; captures without telegrams are errors."""

from __future__ import annotations

import lzma
import os
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from support.captures import recorded
from tsnbench import Simulation, load
from tsnbench.measure import MeasureError, exchanges_table, measure_trdp, trdp_table
from tsnbench.measure.inspection import inspect_capture

HERE = Path(__file__).resolve()
SAMPLES = Path(os.environ.get("TSNBENCH_SAMPLES", HERE.parents[3] / "shared/samples")) / "trdp"
"""Captures of other projects, which are read at their place and not copied into the repository."""


def sample(name: str) -> Path:
    """One of these captures; the test is skipped if it is missing."""
    path = SAMPLES / name
    if not path.exists():
        pytest.skip(f"needs {name} (TSNBENCH_SAMPLES, or shared/samples beside the repository)")
    return path


def test_tcnopens_published_recording_comes_out_exactly(tmp_path: Path) -> None:
    capture = tmp_path / "recording.pcapng"
    capture.write_bytes(lzma.decompress(sample("PacketDistribution1-10s.pcapng.xz").read_bytes()))
    found = measure_trdp(capture, time_out_ns=10**10)
    assert (found["frames"], found["process_data"], found["message_data"]) == (59_362, 58_968, 0)
    assert (found["check_errors"], found["protocol_errors"]) == (0, 0)
    assert (found["span_ns"], found["data_set_octets"]) == (10_004_611_000, 18_163_024)
    spreading = found["spreading"]
    assert spreading is not None
    assert (spreading["min"], spreading["max"], spreading["windows"]) == (48, 72, 1000)
    assert f"{spreading['mean']:.0f} {spreading['variance']:.3f}" == "59 8.794"
    streams = {stream["com_id"]: stream for stream in found["streams"]}
    assert len(streams) == len(found["streams"]) == 96
    counted = [stream["subscription"] for stream in found["streams"]]
    assert all(one and one["gaps"] + one["repeated"] + one["old"] + one["restarted"] == 0 for one in counted)
    for com_id, telegrams, least, median, most in (
        (1000, 2500, 3700, 4000, 6097),
        (1011, 2501, 3450, 4001, 5944),
    ):
        interval = streams[com_id]["interval"]
        assert interval is not None
        figures = [interval[name] / 1000 for name in ("min", "median", "max")]
        assert (streams[com_id]["telegrams"], figures) == (telegrams, [least, median, most])
    assert sum(stream["telegrams"] == 1 for stream in found["streams"]) == 4
    assert {tuple(stream["data_set_octets"]) for stream in found["streams"]} == {
        (octets, octets) for octets in (16, 64, 128, 1024)
    }
    # Octet by octet: type of service 0xA0, version 0x0101, type Pd.
    header = rb"\x45\xa0.{20}\x43\x48.{4}.{4}\x01\x01Pd"
    assert len(re.findall(header, capture.read_bytes(), re.DOTALL)) == 58_968


def test_process_data_between_tcnopen_and_tsnbench(tmp_path: Path) -> None:
    """1.5 s of the patterns of TCNopen's test program at 10.0.0.2. Packets were cut to 200 octets."""
    found = measure_trdp(recorded("trdp/process_data.pcap", tmp_path), time_out_ns=10**9)
    assert (found["process_data"], found["check_errors"], found["protocol_errors"]) == (388, 0, 0)
    assert found["data_set_octets"] == 310_288
    numbers: dict[tuple[str, str], int] = {}
    for stream in found["streams"]:
        key = stream["source"], stream["kind"]
        numbers[key] = numbers.get(key, 0) + stream["telegrams"]
        counted = stream["subscription"]
        assert counted is not None
        assert counted["taken"] == stream["telegrams"], stream["name"]
        assert counted["missed"] + counted["restarted"] + counted["time_outs"] == 0, stream["name"]
    assert numbers == {
        ("10.0.0.2", "Pd"): 168, ("10.0.0.1", "Pd"): 166, ("10.0.0.2", "Pr"): 12, ("10.0.0.1", "Pr"): 12,
        ("10.0.0.2", "Pp"): 12, ("10.0.0.1", "Pp"): 18,
    }  # fmt: skip
    assert len(found["streams"]) == 48


def test_confirmed_replies_between_tcnopen_and_tsnbench(tmp_path: Path) -> None:
    """Five requests over each transport; TCNopen's replier is 10.0.0.2."""
    found = measure_trdp(recorded("trdp/message_data.pcap", tmp_path))
    kinds = {(one["transport"], one["source"], one["kind"]): one["telegrams"] for one in found["streams"]}
    assert kinds == {
        (transport, source, kind): 5
        for transport in ("udp", "tcp")
        for source, kind in (("10.0.0.1", "Mr"), ("10.0.0.2", "Mq"), ("10.0.0.1", "Mc"))
    }
    assert (found["frames"], found["message_data"], found["protocol_errors"]) == (70, 30, 0)
    exchanges = {one["transport"]: one for one in found["exchanges"]}
    for transport, (least, most) in {"udp": (5_145_000, 9_613_000), "tcp": (5_212_000, 5_419_000)}.items():
        one = exchanges[transport]
        assert (one["name"], one["requests"], one["replies"]) == ("trdp 1001 10.0.0.1 > 10.0.0.2", 5, 5)
        assert (one["queries"], one["confirmations"], one["confirm_time_outs"]) == (5, 5, 0)
        assert one["late"] + one["errors"] + one["time_outs"] + one["open"] + one["repeated"] == 0
        times = one["round_trip"]
        assert times is not None
        assert (times["min"], times["max"]) == (least, most)
    table = exchanges_table(found)
    assert [row[1:8] for row in table.rows] == [["5", "5", "0", "0", "0", "5", "0"]] * 2


def test_long_replies_over_one_connection_of_tcnopens_message_data_test(tmp_path: Path) -> None:
    """Notifications, requests, and requests with confirmations; each reply of TCNopen has 65,336 octets."""
    found = measure_trdp(recorded("trdp/message_data_test.pcap", tmp_path))
    streams = {
        (one["source"], one["kind"], one["com_id"], one["telegrams"], one["data_set_octets"][1])
        for one in found["streams"]
    }
    caller, replier = "10.97.0.1", "10.97.0.2"
    assert streams == {
        (caller, "Mn", 1000, 5, 64),
        (caller, "Mr", 4000, 5, 64), (replier, "Mp", 4001, 5, 65_336),
        (caller, "Mr", 8000, 5, 64), (replier, "Mq", 8001, 5, 65_336), (caller, "Mc", 0, 5, 0),
    }  # fmt: skip
    assert (found["frames"], found["message_data"], found["protocol_errors"]) == (74, 30, 0)
    times = {4000: (12_417_000, 21_600_000, 0), 8000: (11_537_000, 20_100_000, 5)}
    for one in found["exchanges"]:
        least, most, confirmed = times.pop(one["com_id"])
        assert (one["requests"], one["replies"], one["confirmations"]) == (5, 5, confirmed)
        assert one["late"] + one["errors"] + one["time_outs"] + one["open"] + one["repeated"] == 0
        assert one["round_trip"] is not None
        assert (one["round_trip"]["min"], one["round_trip"]["max"]) == (least, most)
    assert not times


def test_both_headers_of_version_2_are_recognised(tmp_path: Path) -> None:
    """20 telegrams with headers of 20 octets, which TCNopen accepts, and 20 with 16, which it rejects."""
    found = measure_trdp(recorded("trdp/version_2.pcap", tmp_path))
    (stream,) = found["streams"]
    assert (stream["com_id"], stream["kind"], stream["version"], stream["telegrams"]) == (1000, "TSN", 2, 40)
    assert stream["subscription"] is not None
    assert (stream["subscription"]["restarted"], stream["subscription"]["time_outs"]) == (1, 1)
    assert (found["check_errors"], stream["data_set_octets"]) == (0, [24, 24])


COUNTERS = ("taken", "gaps", "missed", "repeated", "old", "restarted", "time_outs")
Expected = tuple[int, ...]


@pytest.mark.parametrize(
    ("name", "time_out_ns", "streams"),
    [
        # Of ten telegrams of TCNopen's sender a relay lost one, repeated one, and swapped two.
        ("faults", 10**9, {(1000, "Pd", "10.97.0.2"): (16, 4, 4, 2, 2, 0, 0)}),
        # TCNopen's sender was killed and began again; the capture ends with the last telegram.
        ("restart", 2 * 10**8, {(1000, "Pd", "10.97.0.2"): (148, 0, 0, 0, 0, 1, 1)}),
        # Two times 20 telegrams to TCNopen's receiver: with topography counters that it ignored, and with 0.
        ("topography", 0, {(1000, "Pd", "10.97.0.1"): (40, 0, 0, 0, 0, 1, 0)}),
        (
            "version_2_from_tcnopen",
            10**9,
            {
                (1000, "TSN", "10.97.0.2"): (21, 0, 0, 0, 0, 0, 0),
                (0, "Pd", "10.97.0.2"): (2, 0, 0, 0, 0, 0, 0),
            },
        ),
        ("version_2_to_tcnopen", 10**9, {(1000, "TSN", "10.97.0.1"): (20, 0, 0, 0, 0, 0, 0)}),
    ],
)
def test_faults_and_version_2_between_tcnopen_and_tsnbench(
    name: str, time_out_ns: int, streams: dict[tuple[int, str, str], Expected], tmp_path: Path
) -> None:
    found = measure_trdp(recorded(f"trdp/{name}.pcap", tmp_path), time_out_ns=time_out_ns)
    counted = {}
    for one in found["streams"]:
        assert one["subscription"] is not None
        subscription: Mapping[str, object] = {**one["subscription"]}
        counted[one["com_id"], one["kind"], one["source"]] = tuple(subscription[key] for key in COUNTERS)
        assert one["data_set_octets"] == [24, 24]
    assert counted == streams
    assert (found["check_errors"], found["protocol_errors"], found["message_data"]) == (0, 0, 0)


@pytest.mark.parametrize(
    ("transport", "requests", "times"),
    [("udp", 12, (5_232_538, 8_542_012)), ("tcp", 9, (5_232_778, 8_018_638))],
)
def test_a_replier_of_tcnopen_that_was_killed_and_began_again(
    transport: str, requests: int, times: tuple[int, int], tmp_path: Path
) -> None:
    """Three of twelve calls met no replier: over UDP they timed out, over TCP there was no connection."""
    found = measure_trdp(recorded(f"trdp/replier_restart_{transport}.pcap", tmp_path))
    (one,) = found["exchanges"]
    assert (one["transport"], one["requests"], one["replies"]) == (transport, requests, 9)
    assert (one["time_outs"], one["late"], one["open"], one["errors"]) == (requests - 9, 0, 0, 0)
    assert one["round_trip"] is not None
    assert (one["round_trip"]["min"], one["round_trip"]["max"]) == times


def test_message_data_over_both_transports() -> None:
    found = measure_trdp(sample("ndpi_trdp_14frames.pcapng"))
    kinds = [(stream["kind"], stream["transport"], stream["telegrams"]) for stream in found["streams"]]
    assert sorted(kinds) == [
        ("Mp", "tcp", 1), ("Mp", "udp", 1), ("Mr", "tcp", 1), ("Mr", "udp", 1), ("Pd", "udp", 2),
    ]  # fmt: skip
    assert (found["frames"], found["process_data"], found["message_data"]) == (14, 2, 4)
    frames = {"tcp": 0, "udp": 0, "trdp": 0}
    for inspected in inspect_capture(sample("ndpi_trdp_14frames.pcapng"))["streams"]:
        frames[inspected["stream"].split()[0]] += inspected["frames"]
    # Ten frames of the connection, two datagrams of message data, two telegrams of process data.
    assert frames == {"tcp": 10, "udp": 2, "trdp": 2}


@pytest.mark.parametrize(
    ("name", "telegrams", "destination"),
    [("sendHello_unicast_49.pcap", 49, None), ("sendHello_multicast.pcap", 29, "239.1.1.2")],
)
def test_published_recordings_of_tcnopens_sender(name: str, telegrams: int, destination: str | None) -> None:
    found = measure_trdp(sample(name))
    (stream,) = found["streams"]
    assert (found["process_data"], found["check_errors"]) == (telegrams, 0)
    assert (stream["com_id"], stream["kind"]) == (0, "Pd")
    assert destination in (None, stream["destination"])
    assert f"{telegrams} telegrams of process data" in trdp_table(found).captions[0]


def test_a_capture_without_telegrams_is_refused(tmp_path: Path) -> None:
    empty = tmp_path / "empty.pcap"
    empty.write_bytes(b"\xd4\xc3\xb2\xa1\x02\0\x04\0" + b"\0" * 8 + b"\xff\xff\0\0\x01\0\0\0")
    with pytest.raises(MeasureError, match=r"empty\.pcap has no frame"):
        measure_trdp(empty)
    other = tmp_path / "other.pcap"
    other.write_bytes(empty.read_bytes() + b"\0" * 8 + b"\x3c\0\0\0" * 2 + b"\2" * 60)
    with pytest.raises(MeasureError, match="no TRDP telegram"):
        measure_trdp(other)
    with pytest.raises(MeasureError, match="nowhere"):
        measure_trdp(tmp_path / "nowhere.pcap")


def test_a_simulated_capture_holds_telegrams(tmp_path: Path) -> None:
    """Frames of talkers and captures contain the Plan's values of telegrams."""
    plan = load(HERE.parents[1] / "plans/trdp.yaml").plan()
    run = Simulation().execute(plan, tmp_path / "run", pcap=True)
    found = measure_trdp(tmp_path / "run/captures/control-switch-tx.pcapng", time_out_ns=10**9)
    streams = {stream["com_id"]: stream for stream in found["streams"]}
    kinds = [(one["kind"], one["destination"], one["data_set_octets"][0]) for one in streams.values()]
    assert kinds == [("Pd", "239.1.1.2", 256), ("TSN", "10.0.0.3", 24)]
    assert [streams[com_id]["telegrams"] for com_id in (1000, 1001)] == [25, 50]
    assert (found["check_errors"], found["protocol_errors"]) == (0, 0)
    rows = [row for row in run.verdict()["rows"] if row["requirement"] == "time-out"]
    assert {row["met"] for row in rows} == {"yes"}
    assert {(row["stream"], row["listener"]): row["found"] for row in rows}["command", "door"] == 20_000_000
