"""netlatency's receiver: one JSON object per line, with the timestamps of a frame on its whole path.

A timestamp of 1970 counts as missing, because no clock set it.
"""

from __future__ import annotations

import calendar
import json
import re
from dataclasses import dataclass, field
from itertools import pairwise

from tsnbench.foreign import Json
from tsnbench.foreign_files import sequence
from tsnbench.foreign_files.figures import Figure, ForeignFile, ForeignMeasures, distances, intervals
from tsnbench.quantities import exact

STEPS = (
    ("interval-start", "tx-wakeup"),
    ("interval-start", "tx-program"),
    ("tx-program", "tx-kernel-netsched"),
    ("tx-kernel-netsched", "tx-kernel-hardware"),
    ("tx-kernel-hardware", "rx-hardware"),
    ("rx-hardware", "rx-program"),
    ("tx-program", "rx-program"),
)
"""Stages of a frame whose distance is a figure."""
ARRIVAL = "rx-program"
_STAMP = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)\.(\d{9})Z?")
_FIELD_BITS = 16
_MOST_STREAMS = 10_000


@dataclass
class _Stream:
    """The frames of one stream number, in the order of their arrival."""

    numbers: list[int] = field(default_factory=list)
    intervals_us: set[int] = field(default_factory=set)
    stamps: list[dict[str, int]] = field(default_factory=list)


def recognised(head: bytes) -> bool:
    """Whether a file begins as netlatency's does."""
    return (
        re.match(rb'\s*\{\s*"type"\s*:\s*"(rx-packet|rx-error|tx-packet)"\s*,\s*"object"\s*:', head)
        is not None
    )


def measure(file: ForeignFile) -> ForeignMeasures:
    """The delays between all stages, the intervals of arrivals, and losses by the frames' sequence numbers.

    Raises:
        InputError: a line before the last one is damaged; the text names it.
    """
    streams: dict[int, _Stream] = {}
    others = 0
    lines = file.content.split(b"\n")
    last = max((place for place, line in enumerate(lines) if line.strip()), default=0)
    for place, line in enumerate(lines):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            if not isinstance(record, dict):
                raise ValueError("no object")
            if record.get("type") != "rx-packet":
                others += 1
                continue
            _take(record["object"], streams)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            if place == last and streams:
                file.warnings.append(f"line {place + 1} breaks off and was left out")
                continue
            raise file.wrong("a record of netlatency", _found(error), place + 1) from None
    if others:
        file.warnings.append(f"{others} records are no received frames and were left out")
    for number, stream in sorted(streams.items()):
        file.warnings += _doubts(number, stream)
        file.add(f"stream {number}", _figures(stream), sequence.counts(stream.numbers))
    return file.measures("netlatency", "frames that netlatency received")


def _take(told: Json, streams: dict[int, _Stream]) -> None:
    number, frame, interval = told["stream-id"], told["sequence-number"], told["interval-usec"]
    if not all(type(one) is int and 0 <= one < 1 << 64 for one in (number, frame, interval)):
        raise ValueError("a number that is none")
    names, values = told["timestamps"]["names"], told["timestamps"]["values"]
    if len(names) != len(values):
        raise ValueError(f"{len(names)} names of stamps and {len(values)} stamps")
    stamps = {name: at for name, value in zip(names, values, strict=True) if (at := _ns(value)) is not None}
    if number not in streams and len(streams) >= _MOST_STREAMS:
        raise ValueError(f"more than {_MOST_STREAMS} streams")
    stream = streams.setdefault(number, _Stream())
    stream.numbers.append(frame)
    stream.intervals_us.add(interval)
    stream.stamps.append(stamps)


def _ns(text: str) -> int | None:
    """ns since 1970; None for 1970 itself, which means a missing timestamp."""
    found = _STAMP.fullmatch(text)
    if not found:
        raise ValueError(f"the stamp {text[:40]!r}")
    year, month, day, hour, minute, second, ns = map(int, found.groups())
    if not (1 <= month <= 12 and 1 <= day <= 31 and hour < 24 and minute < 60 and second <= 60):
        raise ValueError(f"the stamp {text!r}")
    if year == 1970:
        return None
    return calendar.timegm((year, month, day, hour, minute, second)) * 10**9 + ns


def _figures(stream: _Stream) -> list[Figure]:
    made = [
        distances(f"{first} to {last}", [(one.get(first), one.get(last)) for one in stream.stamps])
        for first, last in STEPS
    ]
    return [*made, intervals(f"between arrivals ({ARRIVAL})", [one.get(ARRIVAL) for one in stream.stamps])]


def _doubts(number: int, stream: _Stream) -> list[str]:
    """An ``interval-usec`` that the starts of the intervals contradict: its field has 16 bits."""
    starts = [
        (frame, one["interval-start"])
        for frame, one in zip(stream.numbers, stream.stamps, strict=True)
        if "interval-start" in one
    ]
    steps = sorted(
        (late - early) for (before, early), (after, late) in pairwise(starts) if after == before + 1
    )
    if not steps:
        return []
    step = steps[len(steps) // 2]
    said = [one for one in stream.intervals_us if one * 1_000 != step]
    if not said:
        return []
    fits = (step // 1_000) % (1 << _FIELD_BITS) == said[0]
    why = f": the field has {_FIELD_BITS} bits" if fits and step % 1_000 == 0 else ""
    return [f"stream {number}: interval-usec is {said[0]}, but intervals begin every {exact(step)}{why}"]


def _found(error: Exception) -> str:
    """What was found in place of a record."""
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg.lower()} in column {error.colno}"
    if isinstance(error, KeyError):
        return f"none with {error.args[0]}"
    return "too many levels of nesting" if isinstance(error, RecursionError) else str(error)
