"""Captures of the same frames at both ends of a link, written fast: what measuring is measured on."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from measure.test_industrial_captures import FAMILIES

STREAMS = 4
FAMILY_GAP = 20_000
"""ns between frames of several protocols, so that delays below it do not reorder them."""
GAP = 800
"""ns between frames: 64 octets at 1 Gbit/s with a little room."""
FRAME = bytes.fromhex(
    "020000000001" "020000000002"  # addresses
    "8100c064" "0800"  # VLAN 100, PCP 6; IPv4
    "4500002a000040004011" "26c1" "0a000002" "0a000001"  # IPv4
    "13891389" "0016" "0000"  # UDP, port 5001, no checksum
    "54534e01" "00000000" "000000000000"  # test payload: stream, sequence
)  # fmt: skip
FILE_HEADER = bytes.fromhex("4d3cb2a1020004000000000000000000ffff000001000000")
"""pcap with nanoseconds, little endian, Ethernet."""
_RECORD = np.dtype(
    [("seconds", "<u4"), ("ns", "<u4"), ("captured", "<u4"), ("length", "<u4"), ("frame", "u1", len(FRAME))]
)
_BLOCK = 1 << 18


def write_pair(folder: Path, frames: int, payload: bytes = b"TSN") -> tuple[Path, Path]:
    """``tx.pcap`` and ``rx.pcap`` with ``frames`` frames each, delays from 10 to 20 us, nothing lost.

    Frames with another ``payload`` of three octets are of no known kind: every family is tried on them, and
    their content pairs them.
    """
    tx, rx = folder / f"tx-{frames}.pcap", folder / f"rx-{frames}.pcap"
    draws = np.random.default_rng(1)
    with tx.open("wb") as sent, rx.open("wb") as received:
        sent.write(FILE_HEADER)
        received.write(FILE_HEADER)
        for first in range(0, frames, _BLOCK):
            number = np.arange(first, min(first + _BLOCK, frames), dtype=np.int64)
            records = _records(number, payload)
            sent.write(_stamped(records, number * GAP))
            # A queue's delay: no frame overtakes another.
            delay = 10_000 + draws.integers(0, GAP, len(number)) + (number % 10_000)
            received.write(_stamped(records, np.maximum.accumulate(number * GAP + delay)))
    return tx, rx


def write_families(folder: Path, frames: int) -> tuple[Path, Path]:
    """``tx.pcap`` and ``rx.pcap`` as :func:`write_pair`, with frames of every industrial protocol in turn.

    The frames are those that the tests write from the layouts of the standards.
    """
    families = [family.frame for family in FAMILIES.values()]
    tx, rx = folder / f"tx-families-{frames}.pcap", folder / f"rx-families-{frames}.pcap"
    with tx.open("wb") as sent, rx.open("wb") as received:
        sent.write(FILE_HEADER)
        received.write(FILE_HEADER)
        for number in range(frames):
            octets = families[number % len(families)](number // len(families))
            for file, delay in ((sent, 0), (received, 10_000 + number % 10_000)):
                seconds, ns = divmod(number * FAMILY_GAP + delay, 1_000_000_000)
                file.write(struct.pack("<IIII", 1_700_000_000 + seconds, ns, len(octets), len(octets)))
                file.write(octets)
    return tx, rx


def _records(number: np.ndarray, payload: bytes) -> np.ndarray:
    records = np.zeros(len(number), _RECORD)
    records["captured"] = len(FRAME)
    records["length"] = len(FRAME)
    records["frame"] = np.frombuffer(FRAME.replace(b"TSN", payload), np.uint8)
    records["frame"][:, -7] = number % STREAMS
    sequence = (number // STREAMS).astype(">u4").view(np.uint8).reshape(-1, 4)
    records["frame"][:, -4:] = sequence
    return records


def _stamped(records: np.ndarray, t_ns: np.ndarray) -> bytes:
    records["seconds"] = 1_700_000_000 + t_ns // 1_000_000_000
    records["ns"] = t_ns % 1_000_000_000
    return records.tobytes()
