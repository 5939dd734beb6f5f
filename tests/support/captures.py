"""Recordings that are kept with the tests, and the frames of captures, read and picked by hand."""

from __future__ import annotations

import gzip
import struct
from collections.abc import Iterable
from pathlib import Path

RECORDED = Path(__file__).parents[1] / "captures"
Frame = tuple[int, int, bytes]
"""Time in ns, octets on the wire without FCS, and the captured octets."""


def recorded(name: str, folder: Path, called: str = "") -> Path:
    """A recording, unpacked into a folder."""
    path = folder / (called or Path(name).name)
    path.write_bytes(gzip.decompress((RECORDED / f"{name}.gz").read_bytes()))
    return path


def rtc_ends(folder: Path) -> tuple[Path, Path]:
    """RTC-Testbench's frames as they left A, and as they reached B."""
    return recorded("rtc_out_A.pcap", folder), recorded("rtc_in_B.pcap", folder)


def frames(capture: bytes) -> list[Frame]:
    """Each frame of a little-endian pcap."""
    magic = struct.unpack_from("<I", capture)[0]
    assert magic in (0xA1B23C4D, 0xA1B2C3D4)
    unit = 1 if magic == 0xA1B23C4D else 1000
    found, at = [], 24
    while at < len(capture):
        seconds, parts, kept, octets = struct.unpack_from("<IIII", capture, at)
        found.append((seconds * 10**9 + parts * unit, octets, capture[at + 16 : at + 16 + kept]))
        at += 16 + kept
    return found


def picked(path: Path, places: Iterable[int], into: Path, stream: int = 0) -> Path:
    """A capture with the frames at these places, in this order.

    ``stream`` is XORed into the last octet of their source addresses.
    """
    content = path.read_bytes()
    records, place = [], 24
    while place < len(content):
        end = place + 16 + int.from_bytes(content[place + 8 : place + 12], "little")
        record = bytearray(content[place:end])
        record[16 + 11] ^= stream
        records.append(record)
        place = end
    into.write_bytes(content[:24] + b"".join(records[number] for number in places))
    return into
