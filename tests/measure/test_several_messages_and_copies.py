"""Numbers of several messages together with copies, clocks of their own, cut frames and odd captures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.measure.test_industrial_captures import (
    DELAY_NS,
    FAMILIES,
    PERIOD_NS,
    SEVERAL,
    Family,
    Several,
    datagrams,
    rtps_samples,
)

from support.written_captures import Stamped, hsr, pcap, prp, udp
from tsnbench.measure import MeasureError, measure_captures
from tsnbench.measure.inspection import inspect_capture

OFFSET_NS = 37 * 10**9
EVERY = pytest.mark.parametrize("several", SEVERAL.values(), ids=SEVERAL)


@EVERY
def test_both_copies_of_prp_against_a_clock_that_is_ahead(several: Several, tmp_path: Path) -> None:
    """LAN A arrives first; frame 7 by LAN B alone, frame 30 by neither."""
    sent = [(n * PERIOD_NS, several.frame(n)) for n in range(40)]
    arrived: list[Stamped] = []
    for n in range(40):
        for lan, delay_ns in ((10, DELAY_NS), (11, 2 * DELAY_NS)):
            if n != 30 and (n, lan) != (7, 10):
                at_ns = n * PERIOD_NS + delay_ns + OFFSET_NS
                arrived.append((at_ns, prp(several.frame(n), n, lan)))
    tx, rx = pcap(tmp_path / "tx.pcap", sent), pcap(tmp_path / "rx.pcap", arrived)
    found = measure_captures(tx, rx, offset="auto")
    assert len(found["paths"]) == len(several.numbers)
    for path in found["paths"]:
        count, delay = path["count"], path["delay"]
        assert (count["sent"], count["received"], count["lost"], count["duplicate"]) == (40, 39, 1, 38)
        assert delay is not None
        assert (delay["min"], delay["median"], delay["max"]) == (DELAY_NS, DELAY_NS, 2 * DELAY_NS)


def test_both_directions_of_hsr_at_one_tap(tmp_path: Path) -> None:
    """A ring shows both copies of each frame at one place."""
    family = FAMILIES["sampled values"]

    def tagged(n: int, path: int) -> bytes:
        frame = family.frame(n)
        return frame[:16] + hsr(n, path) + frame[16:]

    frames = [
        (n * PERIOD_NS + later, tagged(n, path)) for n in range(40) for path, later in ((0, 0), (1, 9_000))
    ]
    (one,) = inspect_capture(pcap(tmp_path / "a.pcap", frames))["streams"]
    assert (one["frames"], one["missing"], one["duplicate"]) == (40, 0, 40)


@EVERY
@pytest.mark.parametrize("snap", [18, 40, 64])
def test_cut_frames_give_measures_or_a_reason(several: Several, snap: int, tmp_path: Path) -> None:
    frames = [(n * PERIOD_NS, several.frame(n)) for n in range(20)]
    path = pcap(tmp_path / "a.pcap", frames, snap=snap)
    found = inspect_capture(path)
    assert found["frames"] == 20
    # No frame is lost or invented, whatever of it is left.
    assert all(one["missing"] in (None, 0) and one["frames"] <= 20 for one in found["streams"])


WHOLE = 65_535
CUT = {
    "rtps": (SEVERAL["rtps"].frame, 86),
    "some/ip": (SEVERAL["some/ip"].frame, 58),
    "uadp": (SEVERAL["uadp"].frame, 56),
    "sampled values": (SEVERAL["sampled values"].frame, 45),
    "ethercat": (datagrams, 26),
}
"""Frames, and the octets of each up to the end of its first number."""


@pytest.mark.parametrize(("frame", "numbered"), CUT.values(), ids=CUT)
def test_messages_behind_a_cut_are_not_lost(
    frame: Callable[[int], bytes], numbered: int, tmp_path: Path
) -> None:
    """Frames 7 and 30 are lost; one capture, or both, cut every frame at each possible place."""
    sent = [(n * PERIOD_NS, frame(n)) for n in range(40)]
    arrived = [(at + DELAY_NS, octets) for n, (at, octets) in enumerate(sent) if n not in (7, 30)]
    for snap in range(numbered, max(len(octets) for _, octets in sent), 5):
        for tx_snap, rx_snap in ((WHOLE, snap), (snap, WHOLE), (snap, snap)):
            tx = pcap(tmp_path / "tx.pcap", sent, snap=tx_snap)
            rx = pcap(tmp_path / "rx.pcap", arrived, snap=rx_snap)
            found = measure_captures(tx, rx)
            assert found["paths"]
            for path in found["paths"]:
                count, delay = path["count"], path["delay"]
                assert (count["lost"], count["sent"]) == (2, 40), (snap, path["stream"])
                assert delay is not None
                assert (delay["min"], delay["max"]) == (DELAY_NS, DELAY_NS)
        assert all(one["missing"] in (None, 0) for one in inspect_capture(tx)["streams"]), snap


def test_numbers_behind_a_cut_are_unknown_and_told(tmp_path: Path) -> None:
    """Two samples of one writer in each frame, of which the capture keeps one; frame 11 is missing."""
    head = b"RTPS\x02\x03\x01\x0f" + bytes(range(1, 13))
    frames = [(n, udp(head + rtps_samples(2 * n + 1, 2), 7411)) for n in range(40) if n != 11]
    whole = inspect_capture(pcap(tmp_path / "whole.pcap", frames))
    assert [(one["missing"], len(one["gaps"])) for one in whole["streams"]] == [(2, 1)]
    assert whole["warnings"] == []
    found = inspect_capture(pcap(tmp_path / "cut.pcap", frames, snap=100))
    (one,) = found["streams"]
    assert (one["frames"], one["missing"], one["gaps"]) == (39, None, [])
    (warning,) = found["warnings"]
    assert "the capture cut 39 frames between their messages" in warning
    # Frames that end with the data that the capture cut have nothing behind it.
    single = [(n, udp(head + rtps_samples(n + 1, 1), 7411)) for n in range(40) if n != 11]
    found = inspect_capture(pcap(tmp_path / "single.pcap", single, snap=100))
    assert ([one["missing"] for one in found["streams"]], found["warnings"]) == ([1], [])
    # The capture keeps a time and no sample of some frames: their numbers are not known, either.
    time = b"\x09\x01\x08\0" + bytes(8)
    late = [(n, udp(head + (time if n == 11 else b"") + rtps_samples(n + 1, 1), 7411)) for n in range(40)]
    found = inspect_capture(pcap(tmp_path / "late.pcap", late, snap=90))
    assert [one["missing"] for one in found["streams"]] == [None, None]
    assert "the capture cut 1 frames between their messages" in found["warnings"][0]
    # Another stream's cut says nothing about these.
    other = [(at + 9, udp(head + rtps_samples(at + 1, 2, writer=0x33), 7412)) for at in range(0, 80, 2)]
    found = inspect_capture(pcap(tmp_path / "two.pcap", sorted([*single, *other]), snap=100))
    assert {one["stream"].split(" > ")[1]: one["missing"] for one in found["streams"]} == {
        "10.0.0.2:7411": 1,
        "10.0.0.2:7412": None,
    }


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_one_frame_none_and_times_that_go_back(family: Family, tmp_path: Path) -> None:
    first = family.first
    (one,) = inspect_capture(pcap(tmp_path / "one.pcap", [(0, family.frame(first))]))["streams"]
    assert (one["frames"], one["missing"] or 0) == (1, 0)
    with pytest.raises(MeasureError, match="has no frame"):
        inspect_capture(pcap(tmp_path / "none.pcap", []))
    back = [(-n * PERIOD_NS, family.frame(first + n)) for n in range(20)]
    (one,) = inspect_capture(pcap(tmp_path / "back.pcap", back))["streams"]
    assert (one["frames"], one["missing"] or 0) == (20, 0)
