"""isochron's log (``isochron send --output-file``, ``isochron.dat``): all stamps of all frames, version 4.

A header of 96 octets contains the places of the sender's and the receiver's records; all numbers are
big-endian. The
figures have the names of ``isochron report``. A timestamp of 0 is missing, and so are figures that need it.
In contrast, the report of isochron leaves a frame with any missing timestamp out of every figure.
"""

from __future__ import annotations

import struct
from itertools import pairwise

from tsnbench.errors import InputError
from tsnbench.foreign_files.figures import FORMAT, Figure, ForeignMeasures, figure

TOOL = "isochron"
MAGIC = b"ISOCHRON"
VERSION = 4
TAPRIO, TXTIME = 1 << 2, 1 << 3
_LATEST_NS = 1 << 62
_HEADER = struct.Struct(">8sIIHHIqqqqqQQIIQ")
_SENT = struct.Struct(">IIqqqqq")
"""Number, reserved, scheduled, wake-up, hardware stamp, software stamp, stamp of the queueing discipline."""
_ARRIVED = struct.Struct(">IIqqq")
"""Number, reserved, arrival at the program, hardware stamp, software stamp."""


def recognised(head: bytes) -> bool:
    """Whether a file begins as isochron's does."""
    return head.startswith(MAGIC)


def measure(file: str, content: bytes) -> ForeignMeasures:
    """The figures of ``isochron report``, with quantiles.

    Raises:
        InputError: the file is of another version, or breaks off.
    """
    if len(content) < _HEADER.size:
        raise InputError(f"{file}: expected {_HEADER.size} octets of isochron's header, found {len(content)}")
    (
        _,
        version,
        planned,
        _,
        flags,
        _,
        _,
        advance,
        _,
        _,
        _,
        sent_at,
        arrived_at,
        sent_size,
        arrived_size,
        _,
    ) = _HEADER.unpack_from(content)
    if version != VERSION:
        raise InputError(f"{file}: expected isochron's log of version {VERSION}, found version {version}")
    sent = _records(file, content, _SENT, sent_at, sent_size, "sender")
    if not 0 <= advance < _LATEST_NS:
        raise InputError(f"{file}: the header is damaged: no such advance time")
    # Unused places of the receiver's log have the number 0.
    arrived = [
        one for one in _records(file, content, _ARRIVED, arrived_at, arrived_size, "receiver") if one[0]
    ]
    # The log is filled from its begin; what follows the last frame is empty.
    frames = []
    for place, one in enumerate(sent, 1):
        if one[0] != place:
            break
        frames.append(one)
    if not frames:
        raise InputError(f"{file}: expected frames that isochron sent, found none")
    by_number = {one[0]: one for one in arrived}
    received = sum(one[0] in by_number for one in frames)
    warnings = []
    if len(frames) < planned:
        warnings.append(f"the log ends after {len(frames)} of {planned} frames")
    return {
        "format": FORMAT,
        "file": file,
        "tool": TOOL,
        "streams": [
            {
                "stream": "isochron",
                "counts": {
                    "sent": len(frames),
                    "received": received,
                    "lost": len(frames) - received,
                    "duplicate": len(arrived) - len(by_number),
                },
                "figures": _figures(frames, by_number, advance, bool(flags & (TAPRIO | TXTIME))),
            }
        ],
        "warnings": warnings,
    }


def _records(
    file: str, content: bytes, record: struct.Struct, start: int, size: int, whose: str
) -> list[tuple[int, ...]]:
    if start > len(content) or size > len(content) - start:
        wanted = f"{size} octets of the {whose}'s log at octet {start}"
        raise InputError(f"{file}: expected {wanted}, found a file of {len(content)}")
    whole = size - size % record.size
    found = list(record.iter_unpack(content[start : start + whole]))
    for place, one in enumerate(found, 1):
        if not all(0 <= stamp < _LATEST_NS for stamp in one[2:]):
            raise InputError(f"{file}: record {place} of the {whose}'s log is damaged: no such time")
    return found


def _figures(
    frames: list[tuple[int, ...]], by_number: dict[int, tuple[int, ...]], advance: int, at_launch: bool
) -> list[Figure]:
    nothing = (0, 0, 0, 0, 0)
    rows = [(*one, *by_number.get(one[0], nothing)) for one in frames]
    scheduled, wakeup, tx_hw, tx_sw, queued, arrival, rx_hw = 2, 3, 4, 5, 6, 9, 10

    def step(name: str, first: int, last: int, more: int = 0) -> Figure:
        pairs = [(row[first], row[last]) for row in rows]
        samples = [end - start + more for start, end in pairs if start and end]
        return figure(name, samples, len(pairs) - len(samples))

    budget = (
        step("MAC latency", scheduled, tx_hw)
        if at_launch
        else step("application latency budget", tx_hw, scheduled)
    )
    arrivals = [row[rx_hw] for row in rows]
    gaps = [after - before for before, after in pairwise(arrivals) if before and after]
    return [
        step("path delay", tx_hw, rx_hw),
        step("wakeup to HW TX timestamp", wakeup, tx_hw),
        step("TX time to HW RX timestamp", scheduled, rx_hw),
        budget,
        step("sender latency", wakeup, tx_sw),
        step("wakeup latency", scheduled, wakeup, advance),
        step("driver latency", queued, tx_sw),
        step("arrival latency", rx_hw, arrival),
        figure("between arrivals (HW RX timestamp)", gaps, max(0, len(arrivals) - 1 - len(gaps))),
    ]
