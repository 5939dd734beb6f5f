"""Captures that tests write octet by octet, from the layouts of the standards."""

from __future__ import annotations

import shutil
import struct
import subprocess
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

AT_NS = 1_795_234_296_000_000_000
Stamped = tuple[int, bytes]
"""Time in ns after :data:`AT_NS`, and the octets of a frame without its FCS."""
A, B = bytes.fromhex("020000000001"), bytes.fromhex("020000000002")


def pcap(path: Path, frames: Iterable[Stamped], link: int = 1, snap: int = 65_535) -> Path:
    """A pcap with ns; at most ``snap`` octets of each frame are kept."""
    content = [struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, snap, link)]
    for at_ns, octets in frames:
        seconds, ns = divmod(AT_NS + at_ns, 10**9)
        content.append(struct.pack("<IIII", seconds, ns, min(len(octets), snap), len(octets)) + octets[:snap])
    path.write_bytes(b"".join(content))
    return path


def _block(kind: int, body: bytes) -> bytes:
    body += bytes(-len(body) % 4)
    length = struct.pack("<I", 12 + len(body))
    return struct.pack("<I", kind) + length + body + length


def _option(code: int, value: bytes) -> bytes:
    return struct.pack("<HH", code, len(value)) + value + bytes(-len(value) % 4)


def pcapng(
    path: Path,
    frames: Iterable[tuple[int, bytes, int | None]],
    interface: bytes = b"",
    dropped: int | None = None,
    unit: int = 1,
) -> Path:
    """A pcapng with times in ns, or in ``unit`` parts of a second given by ``interface``.

    Args:
        path: the file.
        frames: time, octets, and ``epb_flags`` if the block has them.
        interface: options of the interface.
        dropped: ``isb_ifdrop`` of a block of statistics.
        unit: ticks of a second; 1 for ns.
    """
    resolution = b"" if interface else _option(9, b"\x09")
    content = _block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    content += _block(1, struct.pack("<HHI", 1, 0, 0) + resolution + interface + _option(0, b""))
    for at, octets, flags in frames:
        ticks = AT_NS + at if unit == 1 else at
        head = struct.pack("<IIIII", 0, ticks >> 32, ticks & 0xFFFFFFFF, len(octets), len(octets))
        options = b"" if flags is None else _option(2, struct.pack("<I", flags)) + _option(0, b"")
        content += _block(6, head + octets + bytes(-len(octets) % 4) + options)
    if dropped is not None:
        counts = _option(5, struct.pack("<Q", dropped)) + _option(0, b"")
        content += _block(5, struct.pack("<III", 0, 0, 0) + counts)
    path.write_bytes(content)
    return path


@dataclass(frozen=True)
class Section:
    """A section of a pcapng: names of its interfaces, and frames (place of the interface, time, octets)."""

    names: list[str]
    frames: list[tuple[int, int, bytes]]
    links: list[int] | None = None
    """Link types; Ethernet for all by default."""


def interfaces_pcapng(path: Path, sections: Iterable[Section]) -> Path:
    """A pcapng with times in ns of several interfaces; one without a name has an empty one."""
    content = b""
    for section in sections:
        content += _block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
        for name, link in zip(section.names, section.links or [1] * len(section.names), strict=True):
            named = _option(2, name.encode()) if name else b""
            content += _block(
                1, struct.pack("<HHI", link, 0, 0) + named + _option(9, b"\x09") + _option(0, b"")
            )
        for place, at_ns, octets in section.frames:
            ticks = AT_NS + at_ns
            head = struct.pack("<IIIII", place, ticks >> 32, ticks & 0xFFFFFFFF, len(octets), len(octets))
            content += _block(6, head + octets)
    path.write_bytes(content)
    return path


def fcs(frame: bytes) -> bytes:
    """The frame check sequence. IEEE 802.3-2022, 3.2.9."""
    return struct.pack("<I", zlib.crc32(frame))


def ethernet(
    ether_type: int,
    payload: bytes,
    *,
    to: bytes = B,
    source: bytes = A,
    vlan: int | None = None,
    before: bytes = b"",
    padded: bool = True,
) -> bytes:
    """A frame without FCS; ``before`` are the octets between the VLAN tag and the type, such as an R-TAG."""
    tag = b"" if vlan is None else struct.pack(">HH", 0x8100, 3 << 13 | vlan)
    frame = to + source + tag + before + struct.pack(">H", ether_type) + payload
    return frame.ljust(60, b"\0") if padded else frame


def udp(
    payload: bytes, port: int, *, source_port: int = 40_000, number: int = 0, vlan: int | None = None
) -> bytes:
    """A UDP datagram over IPv4, in a frame."""
    datagram = struct.pack(">HHHH", source_port, port, 8 + len(payload), 0) + payload
    head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(datagram), number, 0, 64, 17, 0)
    addresses = bytes([10, 0, 0, 1, 10, 0, 0, 2])
    total = sum(struct.unpack(">10H", head + addresses))
    total = (total & 0xFFFF) + (total >> 16)
    head = head[:10] + struct.pack(">H", ~(total + (total >> 16)) & 0xFFFF)
    return ethernet(0x0800, head + addresses + datagram, vlan=vlan)


def r_tag(number: int) -> bytes:
    """An R-TAG without the type that follows. IEEE 802.1CB-2017, 7.8."""
    return struct.pack(">HHH", 0xF1C1, 0, number & 0xFFFF)


def hsr(number: int, path: int, octets: int = 52) -> bytes:
    """An HSR tag without the type that follows. IEC 62439-3, 5.7."""
    return struct.pack(">HHH", 0x892F, path << 12 | octets, number & 0xFFFF)


def prp(frame: bytes, number: int, lan: int, tagged: bool = False) -> bytes:
    """The frame with a PRP trailer. IEC 62439-3, 4.1."""
    size = len(frame) - (18 if tagged else 14) + 6
    return frame + struct.pack(">HH", number & 0xFFFF, lan << 12 | size) + b"\x88\xfb"


def dissected(path: Path, *fields: str, options: Iterable[str] = ()) -> list[list[str]]:
    """Fields of every frame as tshark's own dissector has them."""
    tshark = shutil.which("tshark")
    if tshark is None:
        pytest.skip("needs tshark")
    wanted = [word for name in fields for word in ("-e", name)]
    words = (tshark, "-r", str(path), *options, "-T", "fields", *wanted)
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return [line.split("\t") for line in done.stdout.splitlines()]
