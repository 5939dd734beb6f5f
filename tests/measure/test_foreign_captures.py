"""Captures as people have them: FCS, padding, snaplen, tags of switches, copies, empty files."""

from __future__ import annotations

import struct
from itertools import chain
from pathlib import Path

import pytest

from support.commands import tsnbench, uncoded
from support.written_captures import A, Stamped, ethernet, fcs, hsr, pcap, pcapng, prp, r_tag, udp
from tsnbench.measure import MeasureError, measure_captures
from tsnbench.measure.inspection import InspectedStream, inspect_capture
from tsnbench.runs.measures import PathReport

PERIOD_NS, DELAY_NS = 1_000_000, 50_000
NUMBERS = range(20)


def content(number: int) -> bytes:
    """46 octets that differ from frame to frame."""
    return struct.pack(">I", number * 2_654_435_761 % 2**32) + bytes([number % 256]) * 42


def sent(**options: object) -> list[Stamped]:
    return [(n * PERIOD_NS, ethernet(0x88B5, content(n), **options)) for n in NUMBERS]  # type: ignore[arg-type]


def between(tx: Path, rx: Path) -> PathReport:
    (one,) = measure_captures(tx, rx)["paths"]
    return one


def counts(one: PathReport) -> tuple[int, int, int, int]:
    count = one["count"]
    return count["sent"], count["received"], count["lost"], count["duplicate"]


def delays(one: PathReport) -> tuple[int, int]:
    assert one["delay"] is not None
    return one["delay"]["min"], one["delay"]["max"]


def only(path: Path) -> InspectedStream:
    (one,) = inspect_capture(path)["streams"]
    return one


@pytest.fixture
def tx(tmp_path: Path) -> Path:
    return pcap(tmp_path / "tx.pcap", sent())


def arrived(frames: list[Stamped], delay_ns: int = DELAY_NS) -> list[Stamped]:
    return [(at_ns + delay_ns, octets) for at_ns, octets in frames]


@pytest.mark.parametrize("octets", [46, 300])
def test_the_fcs_that_a_packets_flags_declare_is_taken_off(octets: int, tmp_path: Path) -> None:
    frames = [(at_ns, frame + bytes([7]) * (octets - 46)) for at_ns, frame in sent()]
    tx = pcap(tmp_path / "tx.pcap", frames)
    flagged = [(at_ns, frame + fcs(frame), 4 << 5 | 1) for at_ns, frame in arrived(frames)]
    rx = pcapng(tmp_path / "rx.pcapng", flagged)
    one = between(tx, rx)
    assert (counts(one), delays(one)) == ((20, 20, 0, 0), (DELAY_NS, DELAY_NS))
    assert only(rx)["octets"] == (octets + 18, octets + 18)
    # A packet without flags has no FCS.
    mixed = [
        (at, frame[:-4] if n % 2 else frame, None if n % 2 else flags)
        for n, (at, frame, flags) in enumerate(flagged)
    ]
    assert counts(between(tx, pcapng(tmp_path / "mixed.pcapng", mixed))) == (20, 20, 0, 0)


def test_the_fcs_of_udp_is_no_octet_of_the_frame(tmp_path: Path) -> None:
    frames = [(n * PERIOD_NS, udp(content(n), 5000)) for n in NUMBERS]
    rx = pcapng(tmp_path / "rx.pcapng", [(at, frame + fcs(frame), 4 << 5) for at, frame in frames])
    assert only(rx)["octets"] == (92, 92)


def test_a_frame_before_its_padding_has_the_octets_of_the_wire(tx: Path, tmp_path: Path) -> None:
    short = [(at_ns, octets[:46]) for at_ns, octets in sent()]
    at_sender = pcap(
        tmp_path / "short.pcap",
        [(at_ns, ethernet(0x88B5, content(n)[:32], padded=False)) for n, (at_ns, _) in enumerate(short)],
    )
    at_receiver = pcap(
        tmp_path / "rx.pcap",
        arrived([(at_ns, ethernet(0x88B5, content(n)[:32])) for n, (at_ns, _) in enumerate(short)]),
    )
    assert only(at_sender)["octets"] == (64, 64)
    one = between(at_sender, at_receiver)
    assert (counts(one), delays(one)) == ((20, 20, 0, 0), (DELAY_NS, DELAY_NS))


def test_a_capture_that_cuts_frames(tmp_path: Path) -> None:
    frames = [(n * PERIOD_NS, udp(content(n) * 4, 5000)) for n in NUMBERS]
    tx = pcap(tmp_path / "tx.pcap", frames)
    rx = pcap(tmp_path / "rx.pcap", arrived(frames), snap=64)
    one = between(tx, rx)
    assert (counts(one), delays(one)) == ((20, 20, 0, 0), (DELAY_NS, DELAY_NS))
    assert only(rx)["octets"] == (230, 230)


@pytest.mark.parametrize("vlan", [None, 100])
def test_copies_of_prp_are_duplicates(vlan: int | None, tmp_path: Path) -> None:
    frames = sent(vlan=vlan)
    tx = pcap(tmp_path / "tx.pcap", frames)
    copies = [
        (at_ns + DELAY_NS + later, prp(octets, n, lan, tagged=vlan is not None))
        for n, (at_ns, octets) in enumerate(frames, 65_530)
        for lan, later in ((0xA, 0), (0xB, 3_000))
    ]
    rx = pcap(tmp_path / "rx.pcap", copies)
    one = between(tx, rx)
    assert (counts(one), delays(one)) == ((20, 20, 0, 20), (DELAY_NS, DELAY_NS))
    assert (only(rx)["frames"], only(rx)["duplicate"]) == (20, 20)
    assert inspect_capture(rx)["payloads"] == ["PRP trailer"]


def test_copies_of_equal_frames_are_told_by_their_numbers(tmp_path: Path) -> None:
    """Content alone would pair the copy of the first frame with the second frame."""
    frames = [(n * PERIOD_NS, ethernet(0x88B5, bytes(46))) for n in NUMBERS]
    copies = [
        (at_ns + DELAY_NS + later, prp(octets, n, lan))
        for n, (at_ns, octets) in enumerate(frames)
        for lan, later in ((0xA, 0), (0xB, 3_000))
    ]
    one = between(pcap(tmp_path / "tx.pcap", frames), pcap(tmp_path / "rx.pcap", copies))
    assert (counts(one), delays(one)) == ((20, 20, 0, 20), (DELAY_NS, DELAY_NS))


def test_both_directions_of_an_hsr_ring_at_one_tap(tx: Path, tmp_path: Path) -> None:
    copies = [
        (n * PERIOD_NS + DELAY_NS + later, ethernet(0x88B5, content(n), before=hsr(n, path)))
        for n in NUMBERS
        for path, later in ((0, 0), (1, 7_000))
    ]
    rx = pcap(tmp_path / "rx.pcap", copies)
    assert (counts(between(tx, rx)), only(rx)["duplicate"]) == ((20, 20, 0, 20), 20)


@pytest.mark.parametrize("numbered", [True, False], ids=["r-tag", "without numbers"])
@pytest.mark.parametrize("own", [{}, {"vlan": 10}], ids=["untagged", "vlan 10"])
def test_member_streams_with_other_vlans_and_addresses_are_copies(
    numbered: bool, own: dict[str, int], tmp_path: Path
) -> None:
    members = [{"vlan": 11}, {"vlan": 12, "to": bytes.fromhex("91e0f000fe01")}]
    copies = [
        (
            n * PERIOD_NS + DELAY_NS + 3_000 * later,
            ethernet(0x88B5, content(n), before=r_tag(n) if numbered else b"", **member),  # type: ignore[arg-type]
        )
        for n in NUMBERS
        for later, member in enumerate(members)
    ]
    tx, rx = pcap(tmp_path / "tx.pcap", sent(**own)), pcap(tmp_path / "rx.pcap", copies)
    one = between(tx, rx)
    assert (counts(one), delays(one)) == ((20, 20, 0, 20), (DELAY_NS, DELAY_NS))
    if numbered:
        found = only(rx)
        assert (found["frames"], found["duplicate"], found["missing"]) == (20, 20, 0)
        assert counts(between(rx, rx))[:3] == (20, 20, 0)


def test_a_vlan_id_that_changes_on_the_path_parts_no_frames(tmp_path: Path) -> None:
    tx = pcap(tmp_path / "tx.pcap", sent(vlan=100))
    for number, other in enumerate(({"vlan": 200}, {})):
        rx = pcap(tmp_path / f"{number}.pcap", arrived(sent(**other)))
        one = between(tx, rx)
        assert (counts(one), delays(one)) == ((20, 20, 0, 0), (DELAY_NS, DELAY_NS))


def test_two_streams_in_two_vlans_stay_two(tmp_path: Path) -> None:
    frames = sorted(
        [
            *sent(vlan=10),
            *((at + 1, ethernet(0x88B5, content(n + 90), vlan=20)) for n, (at, _) in enumerate(sent())),
        ]
    )
    tx = pcap(tmp_path / "tx.pcap", frames)
    rx = pcap(tmp_path / "rx.pcap", [frame for frame in arrived(frames) if frame[1][15] == 10])
    paths = measure_captures(tx, rx)["paths"]
    assert [counts(one) for one in paths] == [(20, 20, 0, 0), (20, 0, 20, 0)]


def switch_tagged(link: int, frame: bytes) -> bytes:
    dsa = bytes.fromhex("00180001")
    return {
        281: frame[:12] + bytes.fromhex("20000003") + frame[12:],
        282: bytes.fromhex("20000003") + frame,
        284: frame[:12] + dsa + frame[12:],
        285: frame[:12] + bytes.fromhex("dada0000") + dsa + frame[12:],
    }[link]


@pytest.mark.parametrize("link", [281, 282, 284, 285])
def test_a_capture_at_the_conduit_of_a_switch(link: int, tmp_path: Path) -> None:
    frames = [(n * PERIOD_NS, udp(content(n) + bytes(18), 5000)) for n in NUMBERS]
    path = pcap(tmp_path / "dsa.pcap", [(at, switch_tagged(link, frame)) for at, frame in frames], link)
    one = only(path)
    assert (one["stream"], one["frames"], one["octets"]) == (
        "udp 10.0.0.1:40000 > 10.0.0.2:5000",
        20,
        (110, 110),
    )
    rx = pcap(tmp_path / "rx.pcap", arrived(frames))
    assert counts(between(path, rx)) == (20, 20, 0, 0)


def test_a_link_type_that_is_not_read_is_named(tmp_path: Path) -> None:
    done = tsnbench("inspect", pcap(tmp_path / "radio.pcap", sent(), link=127))
    assert done.returncode == 2
    assert "has frames of link type 127, which is not read" in done.stderr


def test_a_record_of_erf_has_its_own_length_and_stamp(tx: Path, tmp_path: Path) -> None:
    def record(at_ns: int, frame: bytes) -> bytes:
        stamp = struct.pack("<II", round(at_ns % 10**9 * 2**32 / 10**9), 1_795_234_296 + at_ns // 10**9)
        wire = frame + fcs(frame)
        return stamp + struct.pack(">BBHHH", 2, 4, 18 + len(wire), 0, len(wire)) + b"\0\0" + wire

    frames = [(0, record(at_ns, frame)) for at_ns, frame in arrived(sent())]
    rx = pcap(tmp_path / "rx.pcap", frames, link=197)
    one = between(tx, rx)
    assert (counts(one), delays(one)) == ((20, 20, 0, 0), (DELAY_NS, DELAY_NS))
    assert only(rx)["octets"] == (64, 64)


def test_a_cooked_capture_of_version_2(tmp_path: Path) -> None:
    frames = [(n * PERIOD_NS, udp(content(n), 5000)) for n in NUMBERS]
    head = struct.pack(">HHIHBB", 0x0800, 0, 3, 1, 0, 6) + A + bytes(2)
    rx = pcap(tmp_path / "rx.pcap", arrived([(at, head + frame[14:]) for at, frame in frames]), link=276)
    assert counts(between(pcap(tmp_path / "tx.pcap", frames), rx)) == (20, 20, 0, 0)
    assert only(rx)["octets"] == (92, 92)


def test_ticks_of_a_power_of_two_are_rounded(tmp_path: Path) -> None:
    # 2^-30 s: the tick before 1 ns is at 0.93 ns.
    resolution = struct.pack("<HHB3x", 9, 1, 0x80 | 30)
    frames = [(ticks, ethernet(0x88B5, content(ticks)), None) for ticks in (2**30, 2**30 + 1, 2**30 + 2)]
    interval = only(pcapng(tmp_path / "a.pcapng", frames, resolution, unit=2**30))["interval"]
    assert interval is not None
    assert (interval["min"], interval["max"]) == (1, 1)


def test_frames_that_the_capture_dropped_are_told(tx: Path, tmp_path: Path) -> None:
    rx = pcapng(tmp_path / "rx.pcapng", [(at, frame, None) for at, frame in arrived(sent())[3:]], dropped=3)
    measures = measure_captures(tx, rx)
    assert counts(measures["paths"][0]) == (20, 17, 3, 0)
    (warning,) = measures["source"]["warnings"]
    assert warning.startswith(f"{rx}: the capture itself dropped 3 frames (isb_ifdrop, isb_osdrop)")


def test_a_capture_without_a_frame_is_named(tx: Path, tmp_path: Path) -> None:
    empty = pcap(tmp_path / "empty.pcap", [])
    for words in (("inspect", empty), ("measure", empty), ("measure", empty, tx)):
        done = tsnbench(*words)
        assert (done.returncode, uncoded(done.stderr).splitlines()[0]) == (2, f"{empty} has no frame")
    measures = measure_captures(tx, empty)
    assert counts(measures["paths"][0]) == (20, 0, 20, 0)
    assert measures["source"]["warnings"] == [f"{empty} has no frame"]


def test_captures_that_share_no_frame_say_what_was_tried(tx: Path, tmp_path: Path) -> None:
    frames = [(n * PERIOD_NS, ethernet(0x88B5, content(n + 100))) for n in NUMBERS]
    with pytest.raises(MeasureError) as refused:
        measure_captures(tx, pcap(tmp_path / "rx.pcap", frames))
    said = str(refused.value).splitlines()
    assert said[:3] == [
        "the captures share no frame: 20 frames at the sender, 20 others at the receiver",
        "sender: 20 by hash of the invariant bytes (1 stream)",
        "receiver: 20 by hash of the invariant bytes (1 stream)",
    ]
    assert said[3].startswith(
        "hint: frames without numbers are the same if their content behind the link layer is"
    )
    other = [
        (
            n * PERIOD_NS,
            ethernet(0x8892, struct.pack(">H", 0x8000) + bytes(40) + struct.pack(">HBB", 64 * n, 0x35, 0)),
        )
        for n in NUMBERS
    ]
    with pytest.raises(
        MeasureError, match=r"receiver: 20 by PROFINET RT \(1 stream\)\nhint: the sides have frames of d"
    ):
        measure_captures(tx, pcap(tmp_path / "other.pcap", list(chain(other))))
