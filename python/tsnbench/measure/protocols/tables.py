"""Tables and sentences about frames of industrial protocols and of PTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tsnbench.quantities import UNKNOWN, count, exact, micros, time
from tsnbench.runs.measures import range_of
from tsnbench.sheet import Column, Sheet

if TYPE_CHECKING:
    from tsnbench.measure.protocols.measured import ProtocolMeasures, PtpStream


def protocol_captions(found: ProtocolMeasures) -> list[str]:
    """One sentence per stream of AVTP, PROFINET or EtherCAT that has something to say."""
    said = []
    for one in found["streams"]:
        if (margin := one["margin"]) is not None:
            clock = f" (capture {time(one['clock_offset_ns'])} behind)" if one["clock_offset_ns"] else ""
            least, middle, most = range_of(margin)
            said.append(
                f"{one['stream']}: presentation time {micros(least)} to {micros(most)} us behind the "
                f"arrival, median {micros(middle)} us{clock}; {count(one['late'])} frames late"
            )
        if one["bad_status"]:
            said.append(
                f"{one['stream']}: {count(one['bad_status'])} frames whose data are not valid, not running "
                "or have a problem (data status)"
            )
        if (counters := one["working_counter"]) is not None:
            said.append(f"{one['stream']}: working counters {counters[0]} to {counters[1]} per frame")
    return said


def ptp_table(found: ProtocolMeasures, most: int | None = None) -> Sheet:
    """One row per type of message, domain and port; times in us.

    Args:
        found: ``tsnbench-protocols/1``.
        most: how many rows are shown; all where it is None.
    """
    columns = [
        Column("PTP message", name=True),
        Column("domain", spare=8),
        Column("port", left=True),
        Column("messages"),
        Column("missing"),
        Column("interval told us"),
        Column("min us", spare=3),
        Column("median us", spare=1),
        Column("max us", spare=2),
        Column("correction: median us", spare=4),
        Column("max us", spare=5),
    ]
    sheet = Sheet("PTP", columns, most=most)
    for one in found["ptp"]:
        _, middle, highest = range_of(one["correction"])
        sheet.rows.append(
            [
                one["message"],
                str(one["domain"]),
                one["port"],
                count(one["messages"]),
                count(one["missing"]),
                UNKNOWN if one["interval_told_ns"] is None else micros(one["interval_told_ns"]),
                *map(micros, range_of(one["interval"])),
                micros(middle),
                micros(highest),
            ]
        )
        sheet.captions += _captions(one)
    return sheet


def _captions(one: PtpStream) -> list[str]:
    said = []
    told, interval = one["interval_told_ns"], one["interval"]
    if told is not None and interval is not None and abs(interval["median"] - told) * 4 > told:
        said.append(
            f"{one['message']} of {one['port']}: sent every {time(interval['median'])}, "
            f"logMessageInterval says {exact(told)}"
        )
    if (again := one["again"]) is not None:
        least, middle, most = range_of(again)
        added = one["correction_added"]
        grew = "" if added is None else f"; their correction grew by {micros(added['median'])} us (median)"
        said.append(
            f"{one['message']} of {one['port']}: {count(again['count'])} messages passed again after "
            f"{micros(least)} to {micros(most)} us, median {micros(middle)} us: the residence, if a "
            f"transparent clock lies between{grew}"
        )
    return said
