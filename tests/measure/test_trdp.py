"""TRDP in captures: published and recorded figures exactly, and captures without telegrams as errors."""

from __future__ import annotations

import lzma
import os
from pathlib import Path

import pytest

from tsnbench.measure import MeasureError, measure_trdp, trdp_table

HERE = Path(__file__).resolve()
SAMPLES = Path(os.environ.get("TSNBENCH_SAMPLES", HERE.parents[3] / "shared/samples")) / "trdp"
"""Captures of others, which are read where they are and never kept here."""


def sample(name: str) -> Path:
    """One of them; the test is skipped where it is not."""
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


def test_message_data_over_both_transports() -> None:
    found = measure_trdp(sample("ndpi_trdp_14frames.pcapng"))
    kinds = [(stream["kind"], stream["transport"], stream["telegrams"]) for stream in found["streams"]]
    assert sorted(kinds) == [
        ("Mp", "tcp", 1), ("Mp", "udp", 1), ("Mr", "tcp", 1), ("Mr", "udp", 1), ("Pd", "udp", 2),
    ]  # fmt: skip
    assert (found["frames"], found["process_data"], found["message_data"]) == (14, 2, 4)


@pytest.mark.parametrize(
    ("name", "telegrams", "destination"),
    [("sendHello_unicast_49.pcap", 49, None), ("sendHello_multicast.pcap", 29, "239.1.1.2")],
)
def test_tcnopens_sender_sends_what_its_receiver_takes(
    name: str, telegrams: int, destination: str | None
) -> None:
    found = measure_trdp(sample(name))
    (stream,) = found["streams"]
    assert (found["process_data"], found["check_errors"]) == (telegrams, 0)
    assert (stream["com_id"], stream["kind"]) == (0, "Pd")
    assert destination in (None, stream["destination"])
    assert f"{telegrams} telegrams of process data" in trdp_table(found).captions[0]


def test_a_capture_without_telegrams_is_refused(tmp_path: Path) -> None:
    empty = tmp_path / "empty.pcap"
    empty.write_bytes(b"\xd4\xc3\xb2\xa1\x02\0\x04\0" + b"\0" * 8 + b"\xff\xff\0\0\x01\0\0\0")
    with pytest.raises(MeasureError, match="no TRDP telegram"):
        measure_trdp(empty)
    with pytest.raises(MeasureError, match="nowhere"):
        measure_trdp(tmp_path / "nowhere.pcap")
