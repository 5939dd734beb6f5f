"""Frames that a capture cut are recognised as what they are, or not at all."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.measure.test_industrial_captures import FAMILIES, PERIOD_NS

from support.written_captures import Stamped, ethernet, pcap, udp
from tsnbench.measure import measure_captures

SNAPS = range(42, 201)
WHOLE = 65_535
NONE = "hash of the invariant bytes"
IPV4 = b"\x08\x00"
Frame = Callable[[int], bytes]


def iperf3(n: int) -> bytes:
    return udp(struct.pack(">III", 77 + n // 9, 100 * n, n + 1) + bytes(52), 5201)


def iperf3_wide(n: int) -> bytes:
    return udp(struct.pack(">IIQ", 77 + n // 9, 100 * n, n + 1) + bytes(52), 5202)


def send_udp(n: int) -> bytes:
    return udp(struct.pack("<QIQ", 1_795_234_296 * 10**9, n, 1_795_234_296 * 10**9 + n) + b"a" * 236, 5001)


def flextest(n: int) -> bytes:
    return udp(bytes(4) + struct.pack(">II", 5, n * 1000) + bytes(60), 5003)


def rtc_testbench(n: int) -> bytes:
    return ethernet(0xB62C, struct.pack(">IIQ", n % 3, n // 3, n) + b"OpcUa" * 20, vlan=7)


def long_uadp(n: int) -> bytes:
    """Times and writers before the number, directly over Ethernet."""
    head = b"\xd1\x23" + struct.pack("<Q", 42) + b"\x02\x07\0\x08\0" + bytes(8) + b"\x10\0\x10\0\x89\x01"
    return ethernet(0xB62C, head + struct.pack("<H", n) + bytes(40))


def long_rtps(n: int) -> bytes:
    """A destination and a time before the number."""
    head = b"RTPS\x02\x03\x01\x0f" + bytes(range(1, 13)) + b"\x0e\x01\x0c\0" + bytes(12) + b"\x09\x01\x08\0"
    data = b"\x15\x05\0\0\0\0\x10\0" + bytes(4) + b"\0\0\x12\x03" + struct.pack("<II", 0, n + 1)
    return udp(head + bytes(8) + data + bytes(40), 7412)


# What is recognised by numbers that advance: in frames of others they are not to be seen.
BY_EVIDENCE = ["rtp", "uadp at another port"]
SETS: dict[str, list[Frame]] = {
    "protocols": [family.frame for name, family in FAMILIES.items() if name not in BY_EVIDENCE]
    + [long_uadp, long_rtps, send_udp],
    "by advancing numbers": [FAMILIES[name].frame for name in BY_EVIDENCE] + [iperf3, iperf3_wide, flextest],
    "type 0xb62c": [long_uadp, rtc_testbench],
}


def counted(frame: bytes, n: int) -> bytes:
    """The frame of a host that counts its IPv4 packets."""
    return frame[:18] + struct.pack(">H", n) + frame[20:] if frame[12:14] == IPV4 else frame


@pytest.mark.parametrize("count", [False, True], ids=["identification 0", "counted identifications"])
@pytest.mark.parametrize("frames", SETS.values(), ids=SETS)
def test_a_cut_frame_is_of_its_own_kind_or_of_none(frames: list[Frame], count: bool, tmp_path: Path) -> None:
    def formats(snap: int) -> dict[str, int]:
        sent: list[Stamped] = [
            (n * PERIOD_NS + place, counted(frame(n), n) if count else frame(n))
            for n in range(12)
            for place, frame in enumerate(frames)
        ]
        path = pcap(tmp_path / "a.pcap", sent, snap=snap)
        found = measure_captures(path, path)["source"]["identified"]
        return {one["format"]: one["frames"] for one in found if one["side"] == "tx"}

    whole = formats(WHOLE)
    assert sum(whole.values()) == 12 * len(frames)
    for snap in SNAPS:
        cut = formats(snap)
        others = {name: found for name, found in cut.items() if name != NONE and found > whole.get(name, 0)}
        assert not others, snap
