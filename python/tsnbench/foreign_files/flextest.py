"""Tables of TSN-FlexTest's evaluation: one row per frame of a stream, and its table of statistics.

The evaluation writes ``csv/STREAM.csv`` with the timestamps of both ends of every frame, and
``csv/statistics.csv``. Frames have a number of 16 bits in their payload.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tsnbench.foreign_files import sequence
from tsnbench.foreign_files.csv_table import CsvTable, first_line_has
from tsnbench.foreign_files.figures import Figure, ForeignFile, ForeignMeasures, figure, known

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


def measure_frames(file: ForeignFile) -> ForeignMeasures:
    """The delays and intervals of the frames as the evaluation computed them, and losses by their numbers.

    Raises:
        InputError: the table has no frame, or a cell without the number that belongs there.
    """
    table = CsvTable(file, TOOL)
    streams: dict[str, _Stream] = {}
    differ = 0
    for line, row in table.rows([_SOURCE, _NUMBER, _SENT, _RECEIVED, *_NAMES]):
        source, number, sent, received, *times = row
        stream = streams.setdefault(source or "stream", _Stream())
        if len(streams) > _MOST_STREAMS:
            raise file.wrong(f"at most {_MOST_STREAMS} streams", "more", line)
        found = table.ns(line, _NUMBER, number)
        if not 0 <= found < 1 << _NUMBER_BITS:
            raise file.wrong("a frame number of 16 bits", number, line)
        stream.numbers.append(found)
        for name, cell in zip(_NAMES, times, strict=True):
            if cell:
                stream.times[name].append(table.ns(line, name, cell))
        if sent and received and stream.times[_DELAY]:
            between = table.ns(line, _RECEIVED, received, 9) - table.ns(line, _SENT, sent, 9)
            differ += abs(between - stream.times[_DELAY][-1]) > 1
    file.warnings.append(
        "the evaluation leaves out the begin and the end of a measurement: losses there are not counted"
    )
    if differ:
        file.warnings.append(f"{differ} delays are not the difference of their two timestamps")
    for source, stream in streams.items():
        figures = [figure(_NAMES[name], samples) for name, samples in stream.times.items()]
        file.add(source, figures, sequence.counts(sequence.unwrapped(stream.numbers, _NUMBER_BITS)))
    return file.measures(TOOL, "frames of TSN-FlexTest")


def measure_statistics(file: ForeignFile) -> ForeignMeasures:
    """The statistics that the evaluation printed: extremes, mean, median, deviation, 99th percentile.

    Raises:
        InputError: the table has no row, or a cell without a number.
    """
    table = CsvTable(file, TOOL)
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
            raise file.wrong(f"at most {_MOST_STREAMS} streams", "more", line)
    for name, figures in streams.items():
        file.add(name, figures)
    file.warnings.append("the table does not say how many frames were measured")
    return file.measures(TOOL, "rows with statistics of TSN-FlexTest")


def _whole(value: float | None) -> int | None:
    return None if value is None else round(value)
