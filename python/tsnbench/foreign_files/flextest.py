"""Tables of TSN-FlexTest's evaluation: one row per frame of a stream, and its table of statistics.

The evaluation writes ``csv/STREAM.csv`` with the timestamps of both ends of every frame, and
``csv/statistics.csv``. Frames have a number of 16 bits in their payload.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tsnbench.errors import InputError
from tsnbench.foreign_files import sequence
from tsnbench.foreign_files.csv_table import CsvTable, first_line_has
from tsnbench.foreign_files.figures import FORMAT, Figure, ForeignMeasures, ForeignStream, figure, known

TOOL = "TSN-FlexTest"
_DELAY = "Latency (ns)"
_SENT, _RECEIVED = "Timestamp Sender (Unix epoch, s)", "Timestamp Receiver (Unix epoch, s)"
_NUMBER, _SOURCE = "Frame No.", "Source"
_GAPS = ("Inter Frame Gap Sender (ns)", "Inter Frame Gap Receiver (ns)")
_NAMES = {_DELAY: "delay", _GAPS[0]: "interval at the sender", _GAPS[1]: "interval at the receiver"}
_NUMBER_BITS = 16
_MOST_STREAMS = 10_000

frames_recognised = first_line_has(_DELAY, _NUMBER)
statistics_recognised = first_line_has("stream", "measurement", "minimum", "maximum", "mean", "median")


@dataclass
class _Stream:
    """The frames of one source, in the order of the table."""

    numbers: list[int] = field(default_factory=list)
    times: dict[str, list[int]] = field(default_factory=lambda: {name: [] for name in _NAMES})


def measure_frames(file: str, content: bytes) -> ForeignMeasures:
    """The delays and intervals of the frames as the evaluation computed them, and losses by their numbers.

    Raises:
        InputError: the table has no frame, or a cell without the number that belongs there.
    """
    table = CsvTable(file, content, "TSN-FlexTest")
    streams: dict[str, _Stream] = {}
    differ = 0
    for line, row in table.rows([_SOURCE, _NUMBER, _SENT, _RECEIVED, *_NAMES]):
        source, number, sent, received, *times = row
        stream = streams.setdefault(source or "stream", _Stream())
        if len(streams) > _MOST_STREAMS:
            raise InputError(f"{file}: line {line}: expected at most {_MOST_STREAMS} streams, found more")
        found = table.ns(line, _NUMBER, number)
        if not 0 <= found < 1 << _NUMBER_BITS:
            raise InputError(f"{file}: line {line}: expected a frame number of 16 bits, found {number}")
        stream.numbers.append(found)
        for name, cell in zip(_NAMES, times, strict=True):
            if cell:
                stream.times[name].append(table.ns(line, name, cell))
        if sent and received and stream.times[_DELAY]:
            between = table.ns(line, _RECEIVED, received, 9) - table.ns(line, _SENT, sent, 9)
            differ += abs(between - stream.times[_DELAY][-1]) > 1
    if not streams:
        raise InputError(f"{file}: expected frames of TSN-FlexTest, found none")
    warnings = [
        "the evaluation leaves out the begin and the end of a measurement: losses there are not counted"
    ]
    if differ:
        warnings.append(f"{differ} delays are not the difference of their two timestamps")
    found_streams: list[ForeignStream] = []
    for source, stream in streams.items():
        figures = [figure(_NAMES[name], times) for name, times in stream.times.items()]
        numbers = sequence.unwrapped(stream.numbers, _NUMBER_BITS)
        found_streams.append({"stream": source, "counts": sequence.counts(numbers), "figures": figures})
    return {"format": FORMAT, "file": file, "tool": TOOL, "streams": found_streams, "warnings": warnings}


def measure_statistics(file: str, content: bytes) -> ForeignMeasures:
    """The statistics that the evaluation printed: extremes, mean, median, deviation, 99th percentile.

    Raises:
        InputError: the table has no row, or a cell without a number.
    """
    table = CsvTable(file, content, "TSN-FlexTest")
    streams: dict[str, list[Figure]] = {}
    columns = ["minimum", "maximum", "mean", "median", "std", "p0.99"]
    for line, (name, quantity, *cells) in table.rows(["stream", "measurement", *columns]):
        values = [
            table.ns(line, column, cell, 3) / 1_000 if cell and cell != "nan" else None
            for column, cell in zip(columns, cells, strict=True)
        ]
        least, most, mean, median, deviation, p99 = values
        made = known(_NAMES.get(quantity, quantity), _whole(least), _whole(most), mean)
        made |= {"median": _whole(median), "std": deviation, "p99": _whole(p99)}
        streams.setdefault(name, []).append(made)
        if len(streams) > _MOST_STREAMS:
            raise InputError(f"{file}: line {line}: expected at most {_MOST_STREAMS} streams, found more")
    if not streams:
        raise InputError(f"{file}: expected rows with statistics of TSN-FlexTest, found none")
    found: list[ForeignStream] = [
        {"stream": name, "counts": {}, "figures": figures} for name, figures in streams.items()
    ]
    warnings = ["the table does not say how many frames were measured"]
    return {"format": FORMAT, "file": file, "tool": TOOL, "streams": found, "warnings": warnings}


def _whole(value: float | None) -> int | None:
    return None if value is None else round(value)
