"""Tables of EnGINE's processing: the packets of one capture, and the delays between two captures.

``csv-SERVICE-single_PORT_INTERFACE.csv`` has one row per packet with its timestamp, its size and the time and
number that the sender (``send_udp`` or ``iperf``) wrote into its payload. ``csv-SERVICE-combined_….csv`` has
one row per packet of both captures with its delay.
"""

from __future__ import annotations

from pathlib import PurePath

from tsnbench.foreign_files import sequence
from tsnbench.foreign_files.csv_table import CsvTable, first_line_has
from tsnbench.foreign_files.figures import Figure, ForeignFile, ForeignMeasures, figure, intervals
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


def measure_combined(file: ForeignFile) -> ForeignMeasures:
    """Delays, their differences in succession (what EnGINE calls jitter), and intervals at the first capture.

    Raises:
        InputError: the table has no packet, or a cell without the number that belongs there.
    """
    table = CsvTable(file, TOOL)
    sent: list[int] = []
    delays: list[int] = []
    lost = 0
    for line, (at, delay, missing) in table.rows([_AT, _DELAY, _LOST]):
        if at:
            sent.append(table.ns(line, _AT, at))
        if delay:
            delays.append(table.ns(line, _DELAY, delay))
        lost += bool(missing)
    figures = [
        figure("delay", delays, len(sent) - len(delays)),
        intervals("difference of successive delays", delays),
        intervals("interval at the first capture", sent),
    ]
    counts = {"sent": len(sent) if lost else None, "received": len(delays), "lost": lost or None}
    made = _measures(table, len(sent), figures, counts)
    if not lost:
        made["warnings"].append(
            "newer versions of EnGINE leave lost packets out of this table: losses are unknown "
            "(tsnbench measure --tx --rx of both captures counts them)"
        )
    return made


def measure_single(file: ForeignFile) -> ForeignMeasures:
    """Intervals between packets, the delay since the time in their payload, and losses by their numbers.

    Raises:
        InputError: the table has no packet, or a cell without the number that belongs there.
    """
    table = CsvTable(file, TOOL)
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
    path = figure("payload's time to timestamp", since)
    made = _measures(table, len(at), [path, intervals("interval", at)], sequence.counts(numbers))
    if final:
        made["warnings"].append(f"{final} packets with which iperf ends were left out")
    if (median := path["median"]) is not None and abs(abs(median) - _LEAP_NS) < 10**9:
        made["warnings"].append(
            f"the times in the payload and the timestamps are {time(abs(median))} apart: "
            "one is TAI and the other UTC"
        )
    return made


def _measures(
    table: CsvTable, packets: int, figures: list[Figure], counts: dict[str, int | None]
) -> ForeignMeasures:
    if packets:
        table.file.add(PurePath(table.file.name).stem.removeprefix("csv-"), figures, counts)
    if table.rounded:
        table.file.warnings.append(_ROUNDED)
    return table.file.measures(TOOL, "packets of EnGINE")
