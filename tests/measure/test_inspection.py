"""One capture alone: exact figures of recordings, missing and repeated numbers, files without a capture."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.captures import picked, recorded
from support.commands import tsnbench
from tsnbench.measure import MeasureError
from tsnbench.measure.inspection import inspect_capture


@pytest.fixture
def sent(tmp_path: Path) -> Path:
    """RTC-Testbench's frames, captured as they left A: four frames per 5 ms."""
    return recorded("rtc_out_A.pcap", tmp_path)


def test_a_recorded_capture_comes_out_exactly(sent: Path) -> None:
    found = inspect_capture(sent)
    assert (found["frames"], found["payloads"], found["warnings"]) == (5100, ["RTC-Testbench"], [])
    (one,) = found["streams"]
    assert (one["stream"], one["frames"], one["octets"]) == ("rtc vlan 100 pcp 6", 5100, (132, 132))
    interval = one["interval"]
    assert interval is not None
    # The published gaps between departures.
    assert (interval["median"], interval["p90"], interval["count"]) == (2884, 4993995, 5099)
    assert (one["span_ns"], one["burst_frames"]) == (interval["sum"], 4)
    assert (one["missing"], one["gaps"], one["duplicate"], one["reordered"]) == (0, [], 0, 0)
    assert inspect_capture(sent, 6_000_000)["streams"][0]["burst_frames"] == 8
    assert inspect_capture(sent, 1)["streams"][0]["burst_frames"] == 1


def test_missing_and_repeated_numbers(sent: Path, tmp_path: Path) -> None:
    places = [*range(10), *range(12, 40), 39, *range(45, 50)]
    found = inspect_capture(picked(sent, places, tmp_path / "gaps.pcap"))
    (one,) = found["streams"]
    assert one["frames"] == 43
    assert (one["missing"], one["duplicate"]) == (7, 1)
    assert one["gaps"] == [{"after": 9, "missing": 2}, {"after": 39, "missing": 5}]


def test_the_command(sent: Path, tmp_path: Path) -> None:
    done = tsnbench("inspect", sent)
    assert done.returncode == 0
    assert "845.294 kbit/s" in done.stdout
    found = tsnbench("inspect", "--json", "--window", "6ms", sent)
    assert json.loads(found.stdout)["streams"][0]["burst_frames"] == 8
    gaps = picked(sent, [0, 1, 2, 3, 6, 7], tmp_path / "gaps.pcap")
    assert "missing 2 at 4 to 5" in tsnbench("inspect", gaps).stdout
    assert tsnbench("inspect", "--window", "0ms", sent).returncode == 2


def test_what_is_no_capture_is_said(sent: Path, tmp_path: Path) -> None:
    path = tmp_path / "file"
    for content, problem in (
        (b"hello", "expected a capture (pcap or pcapng), found text"),
        (b"", "expected a capture (pcap or pcapng), found no format that tsnbench knows"),
        (sent.read_bytes()[:20], "breaks off"),
    ):
        path.write_bytes(content)
        done = tsnbench("inspect", path)
        assert done.returncode == 2
        assert problem in done.stderr
    path.write_bytes(sent.read_bytes()[:50_000])
    assert "breaks off" in inspect_capture(path)["warnings"][0]
    with pytest.raises(MeasureError, match="has no frame"):
        inspect_capture(picked(sent, [], path))


def test_a_window_ends_before_its_length(sent: Path, tmp_path: Path) -> None:
    two = picked(sent, [0, 1], tmp_path / "two.pcap")
    gap = inspect_capture(two)["streams"][0]["span_ns"]
    assert gap is not None
    assert [inspect_capture(two, gap + more)["streams"][0]["burst_frames"] for more in (0, 1)] == [1, 2]
