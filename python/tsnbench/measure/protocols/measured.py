"""What frames of industrial protocols and of PTP say besides their numbers, in one capture."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, TypedDict

from tsnbench import _native
from tsnbench.measure.captures.interfaces import Capture, native
from tsnbench.measure.errors import MeasureError

if TYPE_CHECKING:
    from tsnbench.runs.measures import Stat


class PtpStream(TypedDict):
    """The messages of one type, domain and port; times in ns."""

    stream: str
    message: str
    domain: int
    sdo: int
    port: str
    messages: int
    missing: int
    interval_told_ns: int | None
    """2 to the power of ``logMessageInterval``, in ns."""
    interval: Stat | None
    correction: Stat | None
    """``correctionField``."""
    again: Stat | None
    """Times between two sightings of a message: the residence in a transparent clock between them."""
    correction_added: Stat | None
    """By how much the correction grew between two sightings."""


class ProtocolStream(TypedDict):
    """A stream of another protocol; times in ns."""

    stream: str
    frames: int
    margin: Stat | None
    """AVTP: presentation time minus arrival."""
    late: int | None
    clock_offset_ns: int | None
    """AVTP: what was added to the capture's times: 37 s if they are UTC."""
    bad_status: int | None
    """PROFINET: frames whose data are not valid, not running or have a problem."""
    working_counter: tuple[int, int] | None
    """EtherCAT: smallest and largest sum of the working counters of a frame."""


class ProtocolMeasures(TypedDict):
    """``tsnbench-protocols/1``."""

    format: str
    ptp: list[PtpStream]
    streams: list[ProtocolStream]


def measure_protocols(path: Capture) -> ProtocolMeasures:
    """What the frames of PTP, AVTP, PROFINET and EtherCAT in a capture say besides their numbers.

    Args:
        path: pcap or pcapng file, or one interface of it.

    Raises:
        MeasureError: the file is no readable capture.
    """
    try:
        found: ProtocolMeasures = json.loads(_native.measure_protocols(native(path)))
    except (OSError, ValueError) as error:
        raise MeasureError(str(error)) from error
    return found
