"""Tables of EnGINE's processing: the packets of one capture, and the delays between two captures.

``csv-SERVICE-single_PORT_INTERFACE.csv`` has one row per packet with its timestamp, its size and the time and
number that the sender (``send_udp`` or ``iperf``) wrote into its payload. ``csv-SERVICE-combined_….csv`` has
one row per packet of both captures with its delay.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import PurePath

from tsnbench.errors import InputError
from tsnbench.foreign_files import sequence
from tsnbench.foreign_files.csv_table import CsvTable, first_line_has
from tsnbench.foreign_files.figures import FORMAT, Figure, ForeignMeasures, figure
from tsnbench.quantities import time

TOOL = "EnGINE"
_AT, _DELAY, _LOST = "timestamp_ns", "delay_ns", "timestamp_loss_ns"
_UDP = ("udp_tai_nanoseconds", "udp_tai_sequence")
_IPERF = ("iperf_ts_seconds", "iperf_ts_microseconds", "iperf_sequence")
_FINAL = 1 << 31
"""iperf numbers its last packets with negative numbers of 32 bits; the table has them without a sign."""
_LEAP_NS = 37 * 10**9
"""TAI is ahead of UTC by this much since 2017."""
_ROUNDED = "times are floating-point numbers: a time of today is a multiple of 256 ns"

combined_recognised = first_line_has(_AT, _DELAY)


def single_recognised(head: bytes) -> bool:
    """Whether a file begins as the table of one capture does."""
    return any(first_line_has(_AT, *columns)(head) for columns in (_UDP, _IPERF))


def measure_combined(file: str, content: bytes) -> ForeignMeasures:
    """Delays, their differences in succession (what EnGINE calls jitter), and intervals at the first capture.

    Raises:
        InputError: the table has no packet, or a cell without the number that belongs there.
    """
    table = CsvTable(file, content, "EnGINE")
    sent: list[int] = []
    delays: list[int] = []
    lost = 0
    for line, (at, delay, missing) in table.rows([_AT, _DELAY, _LOST]):
        if at:
            sent.append(table.ns(line, _AT, at))
        if delay:
            delays.append(table.ns(line, _DELAY, delay))
        lost += bool(missing)
    if not sent:
        raise InputError(f"{file}: expected packets of EnGINE, found none")
    warnings = [_ROUNDED] if table.rounded else []
    if not lost:
        warnings.append(
            "newer versions of EnGINE leave lost packets out of this table: losses are unknown "
            "(tsnbench measure --tx --rx of both captures counts them)"
        )
    return _measures(
        file,
        {"sent": len(sent) if lost else None, "received": len(delays), "lost": lost or None},
        [
            figure("delay", delays, len(sent) - len(delays)),
            figure("difference of successive delays", _steps(delays)),
            figure("interval at the first capture", _steps(sent)),
        ],
        warnings,
    )


def measure_single(file: str, content: bytes) -> ForeignMeasures:
    """Intervals between packets, the delay since the time in their payload, and losses by their numbers.

    Raises:
        InputError: the table has no packet, or a cell without the number that belongs there.
    """
    table = CsvTable(file, content, "EnGINE")
    columns = _UDP if _UDP[0] in table.columns else _IPERF
    at: list[int] = []
    since: list[int] = []
    numbers: list[int] = []
    final = 0
    for line, (stamp, *payload) in table.rows([_AT, *columns]):
        *times, number = (table.ns(line, name, cell) for name, cell in zip(columns, payload, strict=True))
        if columns is _IPERF and number >= _FINAL:
            final += 1
            continue
        at.append(table.ns(line, _AT, stamp))
        since.append(at[-1] - (times[0] if columns is _UDP else times[0] * 10**9 + times[1] * 1_000))
        numbers.append(number)
    if not at:
        raise InputError(f"{file}: expected packets of EnGINE, found none")
    warnings = [_ROUNDED] if table.rounded else []
    if final:
        warnings.append(f"{final} packets with which iperf ends were left out")
    made = figure("payload's time to timestamp", since)
    if (median := made["median"]) is not None and abs(abs(median) - _LEAP_NS) < 10**9:
        warnings.append(
            f"the times in the payload and the timestamps are {time(abs(median))} apart: "
            "one is TAI and the other UTC"
        )
    return _measures(file, sequence.counts(numbers), [made, figure("interval", _steps(at))], warnings)


def _steps(times: list[int]) -> list[int]:
    return [after - before for before, after in pairwise(times)]


def _measures(
    file: str, counts: dict[str, int | None], figures: list[Figure], warnings: list[str]
) -> ForeignMeasures:
    stream = PurePath(file).stem.removeprefix("csv-")
    return {
        "format": FORMAT,
        "file": file,
        "tool": TOOL,
        "streams": [{"stream": stream, "counts": counts, "figures": figures}],
        "warnings": warnings,
    }
