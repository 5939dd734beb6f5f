"""isochron's log (``isochron send --output-file``, ``isochron.dat``): all stamps of all frames, version 4.

A header of 96 octets contains the places of the sender's and the receiver's records; all numbers are
big-endian. The figures have the names of ``isochron report``. A timestamp of 0 is missing, and so are figures
that need it. The report of isochron itself leaves a frame with any missing timestamp out of every figure.
"""

from __future__ import annotations

import re
import struct
from itertools import takewhile

from tsnbench.errors import ContentError
from tsnbench.foreign_files.figures import Figure, ForeignFile, ForeignMeasures, distances, intervals

MAGIC = b"ISOCHRON"
VERSION = 4
TAPRIO, TXTIME = 1 << 2, 1 << 3
_LATEST_NS = 1 << 62
_HEADER = struct.Struct(">8sIIHHIqqqqqQQIIQ")
_SUMMARY = re.compile(
    rb"^(?:Summary:|(?:Path delay|HW TX deadline misses|Wakeup to HW TX timestamp|MAC latency|"
    rb"Application latency budget|Sender latency|Wakeup latency|Driver latency|Arrival latency): )",
    re.MULTILINE,
)
_SENT = struct.Struct(">IIqqqqq")
"""Number, reserved, scheduled, wake-up, hardware stamp, software stamp, stamp of the queueing discipline."""
_ARRIVED = struct.Struct(">IIqqq")
"""Number, reserved, arrival at the program, hardware stamp, software stamp."""


def recognised(head: bytes) -> bool:
    """Whether a file begins as isochron's does."""
    return head.startswith(MAGIC)


def summary_recognised(head: bytes) -> bool:
    """Whether a file begins as the text of ``isochron report --summary``, which has no frames."""
    return _SUMMARY.search(head[:4096]) is not None


def measure(file: ForeignFile) -> ForeignMeasures:
    """The figures of ``isochron report``, with quantiles.

    Raises:
        InputError: the file is of another version, or breaks off.
    """
    if len(file.content) < _HEADER.size:
        raise file.wrong(f"{_HEADER.size} octets of isochron's header", len(file.content))
    header = _HEADER.unpack_from(file.content)
    version, planned, _, flags = header[1:5]
    sent_at, arrived_at, sent_size, arrived_size = header[11:15]
    advance = header[7]
    if version != VERSION:
        raise file.wrong(f"isochron's log of version {VERSION}", f"version {version}")
    sent = _records(file, _SENT, sent_at, sent_size, "sender")
    if not 0 <= advance < _LATEST_NS:
        raise ContentError(f"{file.name}: the header is damaged: no such advance time")
    # Unused places of the receiver's log have the number 0.
    arrived = [one for one in _records(file, _ARRIVED, arrived_at, arrived_size, "receiver") if one[0]]
    # The log is filled from its begin; what follows the last frame is empty.
    frames = [one for _, one in takewhile(lambda pair: pair[0] == pair[1][0], enumerate(sent, 1))]
    if frames:
        by_number = {one[0]: one for one in arrived}
        received = sum(one[0] in by_number for one in frames)
        counts = {"sent": len(frames), "received": received, "lost": len(frames) - received}
        figures = _figures(frames, by_number, advance, bool(flags & (TAPRIO | TXTIME)))
        file.add("isochron", figures, {**counts, "duplicate": len(arrived) - len(by_number)})
    if len(frames) < planned:
        file.warnings.append(f"the log ends after {len(frames)} of {planned} frames")
    return file.measures("isochron", "frames that isochron sent")


def _records(
    file: ForeignFile, record: struct.Struct, start: int, size: int, whose: str
) -> list[tuple[int, ...]]:
    if start > len(file.content) or size > len(file.content) - start:
        wanted = f"{size} octets of the {whose}'s log at octet {start}"
        raise file.wrong(wanted, f"a file of {len(file.content)}")
    whole = size - size % record.size
    found = list(record.iter_unpack(file.content[start : start + whole]))
    for place, one in enumerate(found, 1):
        if not all(0 <= stamp < _LATEST_NS for stamp in one[2:]):
            raise ContentError(f"{file.name}: record {place} of the {whose}'s log is damaged: no such time")
    return found


def _figures(
    frames: list[tuple[int, ...]], by_number: dict[int, tuple[int, ...]], advance: int, at_launch: bool
) -> list[Figure]:
    # A stamp of 0 is missing.
    rows = [[stamp or None for stamp in (*one, *by_number.get(one[0], (0,) * 5))] for one in frames]
    scheduled, wakeup, tx_hw, tx_sw, queued, arrival, rx_hw = 2, 3, 4, 5, 6, 9, 10

    def step(name: str, first: int, last: int, more: int = 0) -> Figure:
        return distances(name, [(row[first], row[last]) for row in rows], more)

    budget = (
        step("MAC latency", scheduled, tx_hw)
        if at_launch
        else step("application latency budget", tx_hw, scheduled)
    )
    return [
        step("path delay", tx_hw, rx_hw),
        step("wakeup to HW TX timestamp", wakeup, tx_hw),
        step("TX time to HW RX timestamp", scheduled, rx_hw),
        budget,
        step("sender latency", wakeup, tx_sw),
        step("wakeup latency", scheduled, wakeup, advance),
        step("driver latency", queued, tx_sw),
        step("arrival latency", rx_hw, arrival),
        intervals("between arrivals (HW RX timestamp)", [row[rx_hw] for row in rows]),
    ]
