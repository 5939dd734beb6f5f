"""What frames of industrial protocols and of PTP say besides their numbers, in one capture."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

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
    """``tsnbench-protocols/1``: what frames of PTP, AVTP, PROFINET and EtherCAT say besides their numbers."""

    format: str
    ptp: list[PtpStream]
    streams: list[ProtocolStream]
