"""Result files of OMNeT++ (``.vec``, ``.sca``): delays and counts that INET records.

OMNeT++ Simulation Manual, "Result File Formats". Values are seconds; a time is rounded to ns.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation

from tsnbench.foreign_files.figures import (
    Figure,
    ForeignFile,
    ForeignMeasures,
    ForeignStream,
    figure,
    intervals,
    known,
)

DELAYS = {
    "meanBitLifeTimePerPacket": "delay since creation",
    "packetLifeTime": "delay since creation (packet)",
    "endToEndDelay": "end-to-end delay",
    "queueingTime": "queueing time",
}
"""Statistics of INET that are times of single packets, and their name in tables."""
ARRIVALS = "meanBitLifeTimePerPacket"
"""Recorded once per packet by sinks: the instants of its vector are arrivals."""
_COUNT = re.compile(r"(packet(?:Sent|Received|Drop\w*)|droppedPackets\w*):count")
_HEAD = re.compile(rb"version [23]\r?\n(?:run |\r?\n)")
_WORD = re.compile(r'"((?:[^"\\]|\\.)*)"|(\S+)')
_MOST_STREAMS = 100_000
_FIELDS = ("count", "min", "max", "mean")


@dataclass
class _Vector:
    """One vector: instants and values, in ns."""

    module: str
    statistic: str
    columns: str
    times: list[int] = field(default_factory=list)
    values: list[int] = field(default_factory=list)
    missing: int = 0


@dataclass
class _Found:
    """The contents of a file by module."""

    names: dict[str, str] = field(default_factory=dict)
    vectors: dict[str, _Vector] = field(default_factory=dict)
    counts: dict[str, dict[str, int]] = field(default_factory=dict)
    statistics: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)
    others: int = 0


def recognised(head: bytes) -> bool:
    """Whether a file begins as result files of OMNeT++ 4 to 6 do."""
    return _HEAD.match(head) is not None


def measure(file: ForeignFile) -> ForeignMeasures:
    """Delays and arrivals of vectors, extremes and means of statistics, counts of packets; by module.

    A sink has the name of its stream if the file contains the ``display-name`` of its application.

    Raises:
        InputError: a line is damaged, or the file has no delays and no counts of packets.
    """
    found = _read(file)
    file.streams += _streams(found)
    if len(file.streams) > _MOST_STREAMS:
        raise file.wrong(f"at most {_MOST_STREAMS} modules with packets", len(file.streams))
    if file.streams and found.others:
        others = f"{found.others} results are neither delays nor counts of packets and were left out"
        file.warnings.append(others)
    hint = (
        "hint: INET's sinks record meanBitLifeTimePerPacket:vector; an omnetpp.ini of tsnbench asks for "
        "it (tsnbench plan SCENARIO --into FOLDER --as inet)"
    )
    return file.measures("OMNeT++", "delays or counts of packets", f"{found.others} other results\n{hint}")


@dataclass(frozen=True)
class Arrivals:
    """The packets that one application received, in the order of arrival."""

    module: str
    """``Network.host.app[0].sink``."""
    stream: str
    """The ``display-name`` of the application, or its module."""
    delays_ns: list[int]


def arrivals(name: str, content: bytes) -> list[Arrivals]:
    """The delays that sinks recorded packet by packet.

    Args:
        name: the file's name, for messages.
        content: its octets.

    Raises:
        InputError: a line is damaged.
    """
    found = _read(ForeignFile(name, content))
    return [
        Arrivals(vector.module, found.names.get(own := _application(vector.module), own), vector.values)
        for vector in found.vectors.values()
        if vector.statistic == ARRIVALS
    ]


def _read(file: ForeignFile) -> _Found:
    """The content of a file's lines."""
    found = _Found()
    statistic: dict[str, str] = {}
    lines = file.text.split("\n")
    for place, line in enumerate(lines):
        try:
            statistic = _take(line.rstrip("\r"), found, statistic)
        except (ValueError, InvalidOperation, IndexError, OverflowError):
            if place >= len(lines) - 2 and line[:1].isdigit():
                file.warnings.append(f"line {place + 1} breaks off and was left out")
                continue
            raise file.wrong("a line of OMNeT++", repr(line[:60]), place + 1) from None
    return found


def _take(line: str, found: _Found, statistic: dict[str, str]) -> dict[str, str]:
    """Reads one line; returns the fields of the statistic that the next lines belong to."""
    if line[:1].isdigit():
        _datum(line, found)
        return statistic
    word, _, rest = line.partition(" ")
    if word == "field":
        key, number = _words(rest)
        statistic[key] = number
        return statistic
    if word in ("attr", "bin"):
        return statistic
    if word == "vector":
        parts = _words(rest)
        name = parts[2].removesuffix(":vector")
        if name in DELAYS:
            found.vectors[parts[0]] = _Vector(parts[1], name, parts[3] if len(parts) > 3 else "TV")
        else:
            found.others += 1
    elif word == "scalar":
        module, name, value = _words(rest)
        if counted := _COUNT.fullmatch(name):
            own = found.counts.setdefault(module, {})
            own[counted[1]] = own.get(counted[1], 0) + int(Decimal(value))
        else:
            found.others += 1
    elif word == "statistic":
        module, name = _words(rest)
        fields: dict[str, str] = {}
        if name.partition(":")[0] in DELAYS:
            found.statistics[module, name.partition(":")[0]] = fields
        else:
            found.others += 1
        return fields
    elif word in ("config", "param"):
        key, *values = _words(rest)
        if key.endswith(".display-name") and values:
            found.names[_application(key.removesuffix(".display-name"))] = values[0].strip('"')
    return {}


def _datum(line: str, found: _Found) -> None:
    """``vector<TAB>event<TAB>time<TAB>value``, in the order that the vector's declaration names."""
    number, *parts = line.split()
    vector = found.vectors.get(number)
    if vector is None:
        return
    if len(parts) != len(vector.columns):
        raise ValueError("columns")
    by_column = dict(zip(vector.columns, parts, strict=True))
    if by_column["V"].lstrip("-") in ("nan", "inf"):
        vector.missing += 1
        return
    time, value = _ns(by_column["T"]), _ns(by_column["V"])
    vector.times.append(time)
    vector.values.append(value)


def _ns(seconds: str) -> int:
    found = Decimal(seconds)
    if not found.is_finite() or abs(found) > 10**9:
        raise ValueError(seconds)
    return int((found * 10**9).to_integral_value())


def _words(text: str) -> list[str]:
    """Words of a line; quoted ones without their quotes."""
    return [
        re.sub(r"\\(.)", r"\1", quoted) if plain == "" else plain for quoted, plain in _WORD.findall(text)
    ]


def _application(module: str) -> str:
    """``host.app[0]`` of ``Network.host.app[0].sink``: without the network and without inner modules."""
    inner = module.partition(".")[2] if "." in module else module
    found = re.match(r"(.*?\.app\[\d+\])(?:\.|$)", inner)
    return found[1] if found else inner


def _streams(found: _Found) -> list[ForeignStream]:
    """One stream per application that has vectors, statistics or counts; in this order."""
    made: dict[str, ForeignStream] = {}

    def of(module: str) -> ForeignStream:
        own = _application(module)
        name = found.names.get(own, own)
        return made.setdefault(own, {"stream": name, "counts": {}, "figures": []})

    for vector in found.vectors.values():
        figures = of(vector.module)["figures"]
        figures.append(figure(DELAYS[vector.statistic], vector.values, vector.missing))
        if vector.statistic == ARRIVALS:
            figures.append(intervals("between arrivals", vector.times))
    by_vectors = {own: {one["name"] for one in stream["figures"]} for own, stream in made.items()}
    for (module, statistic), fields in found.statistics.items():
        if DELAYS[statistic] not in by_vectors.get(_application(module), ()):
            of(module)["figures"].append(_summary(DELAYS[statistic], fields))
    for module, counts in found.counts.items():
        if any(counts.values()):
            # An application has modules within it that count the same packets: one of them is enough.
            of(module)["counts"].update({_called(name): value for name, value in counts.items() if value})
    return list(made.values())


def _called(name: str) -> str:
    return {"packetSent": "sent", "packetReceived": "received"}.get(name, name)


def _summary(name: str, fields: dict[str, str]) -> Figure:
    """A statistic of a scalar file: extremes and mean, without single packets."""
    numbers = {
        key: number for key in _FIELDS if key in fields and (number := Decimal(fields[key])).is_finite()
    }
    ns = {key: int((number * 10**9).to_integral_value()) for key, number in numbers.items()}
    mean = float(numbers["mean"] * 10**9) if "mean" in numbers else None
    samples = int(numbers["count"]) if "count" in numbers else None
    return known(name, ns.get("min"), ns.get("max"), mean, samples)
