"""Saihu's output-port networks: JSON with the servers of output ports, and flows by the names of servers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from tsnbench import foreign
from tsnbench.errors import ContentError
from tsnbench.exports.saihu.model import MOST, Flow, Model, Server
from tsnbench.exports.saihu.quantities import BASE, EXAMPLES, Dimension, quantity, unit_worth

_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\n]')
_NETWORK = {
    "name", "packetizer", "multiplexing", "analysis_option", "analysis_options", "time_unit", "data_unit",
    "rate_unit", "max_packet_length", "min_packet_length", "capacity", "arrival_curve", "service_curve",
    "converted",
}  # fmt: skip
_FLOW = {
    "name", "path", "path_name", "multicast", "arrival_curve", "max_packet_length", "min_packet_length",
    "time_unit", "data_unit", "rate_unit", "id",
}  # fmt: skip
_SERVER = {"name", "service_curve", "capacity", "time_unit", "data_unit", "rate_unit", "id"}
_PARTS = {"network", "flows", "servers", "adjacency_matrix"}
FURTHER_BUCKETS = "further token buckets of an arrival curve (the one with the smallest burst holds alone)"
FURTHER_SERVERS = "further parts of a service curve (the one with the shortest latency holds alone)"
FIFO = "expected FIFO, as bounds of FIFO servers do not hold for another order, found"


class Part(dict[str, object]):
    """An object of JSON with the line on which it begins."""

    line = 0


def parts_of(file: str, text: str) -> Part:
    """The objects of a JSON text; numbers stay texts.

    Raises:
        ContentError: it is no object of JSON.
    """
    ends = iter(_lines(text))

    def made(pairs: list[tuple[str, Any]]) -> Part:
        part = Part(pairs)
        part.line = next(ends, 0)
        if len(part) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            raise ContentError(f"{file}:{part.line}: expected each key once, found {shown(twice)} again")
        return part

    try:
        found = json.loads(text, object_pairs_hook=made, parse_int=str, parse_float=str, parse_constant=str)
    except json.JSONDecodeError as error:
        raise ContentError(f"{file}:{error.lineno}: expected JSON, found {error.msg.lower()}") from None
    except RecursionError:
        raise ContentError(f"{file}: expected JSON, found too many levels of nesting") from None
    if not isinstance(found, Part):
        raise ContentError(f"{file}: expected an object of JSON, found {shown(found)}")
    return found


def _lines(text: str) -> Iterator[int]:
    """The line on which each object begins, in the order of the objects' ends."""
    line, begun = 1, []
    for token in _TOKENS.finditer(text):
        match token[0]:
            case "\n":
                line += 1
            case "{":
                begun.append(line)
            case "}" if begun:
                yield begun.pop()
            case string:
                line += string.count("\n")


def shown(value: object) -> str:
    """A value in a message or a comment, on one line."""
    return "".join(letter if letter.isprintable() else "?" for letter in foreign.shown(value))


class _Reader:
    """A file's objects, with the units that count in them."""

    def __init__(self, file: str, model: Model, network: Part) -> None:
        self.file = file
        self.model = model
        self.network = network

    def place(self, part: Part, path: str) -> str:
        return f"{self.file}:{part.line}: {path}"

    def unit(self, part: Part, path: str, dimension: Dimension) -> str:
        unit = part.get(f"{dimension}_unit", self.network.get(f"{dimension}_unit"))
        if unit is None:
            return BASE[dimension]
        if not isinstance(unit, str) or unit_worth(unit, dimension) is None:
            raise ContentError(
                f"{self.place(part, path)}{dimension}_unit: expected a unit such as "
                f"{EXAMPLES[dimension].lstrip('0123456789')}, found {shown(unit)}"
            )
        return unit

    def quantity(self, part: Part, path: str, key: str, value: object, dimension: Dimension) -> Fraction:
        found = quantity(value, dimension, self.unit(part, path, dimension))
        if found is None or found < 0:
            raise ContentError(
                f"{self.place(part, path)}{key}: expected a number of 0 or more, alone or with a unit "
                f"({EXAMPLES[dimension]}), found {shown(value)}"
            )
        return found

    def curve(
        self, part: Part, path: str, curve: str, first: str, dimension: Dimension
    ) -> list[tuple[Fraction, Fraction]]:
        """The parts of a curve: burst or latency, and rate; the least first."""
        written = part.get(curve, self.network.get(curve))
        lists = [written.get(key) for key in (first, "rates")] if isinstance(written, Part) else []
        whole = [one for one in lists if isinstance(one, list)]
        if len(whole) < 2:
            raise ContentError(
                f"{self.place(part, path)}{curve}: expected lists {first} and rates, found {shown(written)}"
            )
        firsts = [self.quantity(part, path, f"{curve}.{first}", one, dimension) for one in whole[0]]
        rates = [self.quantity(part, path, f"{curve}.rates", one, "rate") for one in whole[1]]
        if not firsts or len(firsts) != len(rates):
            raise ContentError(
                f"{self.place(part, path)}{curve}: expected as many {first} as rates, and at least one, "
                f"found {len(firsts)} and {len(rates)}"
            )
        sign = 1 if dimension == "data" else -1
        return sorted(zip(firsts, rates, strict=True), key=lambda one: (one[0], sign * one[1]))

    def unknown(self, part: Part, known: set[str], name: str) -> None:
        for key in part.keys() - known:
            self.model.lost.add(f"the key {shown(key)}", f"{shown(name)} (line {part.line})")


def read(file: str, text: str) -> Model:
    """The network of a JSON file.

    Raises:
        ContentError: with the line, what was expected and what was found.
    """
    root = parts_of(file, text)
    network = root.get("network")
    if not isinstance(network, Part):
        raise ContentError(f"{file}:{root.line}: network: expected an object, found {shown(network)}")
    model = Model(shown(network.get("name", "saihu")), file, network.get("packetizer") is True)
    reader = _Reader(file, model, network)
    reader.unknown(root, _PARTS, "the file")
    reader.unknown(network, _NETWORK, "network")
    order = shown(network.get("multiplexing", "FIFO"))
    if order.upper() != "FIFO":
        raise ContentError(f"{reader.place(network, 'network: ')}multiplexing: {FIFO} {order}")
    servers = _named(reader, root, "servers")
    numbers = {name: number for number, name in enumerate(servers)}
    model.servers = [_server(reader, name, part) for name, part in servers.items()]
    flows = _named(reader, root, "flows")
    model.flows = [_flow(reader, name, part, numbers) for name, part in flows.items()]
    return model


def _named(reader: _Reader, root: Part, key: str) -> dict[str, Part]:
    """The objects of a list by their names."""
    written = root.get(key)
    if not isinstance(written, list) or not 1 <= len(written) <= MOST:
        found = f"{len(written)}" if isinstance(written, list) else shown(written)
        raise ContentError(f"{reader.file}: {key}: expected a list of 1 to {MOST} objects, found {found}")
    found_parts: dict[str, Part] = {}
    for number, part in enumerate(written):
        if not isinstance(part, Part):
            raise ContentError(f"{reader.file}: {key}[{number}]: expected an object, found {shown(part)}")
        name = part.get("name")
        if not isinstance(name, str) or not name.strip():
            raise ContentError(
                f"{reader.file}:{part.line}: {key}: name: expected a text, found {shown(name)}"
            )
        if name in found_parts:
            raise ContentError(
                f"{reader.file}:{part.line}: {key}: name: expected each name once, found {shown(name)} again"
            )
        found_parts[name] = part
    return found_parts


def _server(reader: _Reader, name: str, part: Part) -> Server:
    path = f"servers: {shown(name)}: "
    reader.unknown(part, _SERVER, name)
    parts = reader.curve(part, path, "service_curve", "latencies", "time")
    if len(parts) > 1:
        reader.model.lost.add(FURTHER_SERVERS, f"{shown(name)} (line {part.line})")
    latency, rate = parts[0]
    capacity = part.get("capacity", reader.network.get("capacity"))
    link = (
        max(rate for _, rate in parts)
        if capacity is None
        else reader.quantity(part, path, "capacity", capacity, "rate")
    )
    return Server(name, reader.place(part, path), rate, latency, link)


def _flow(reader: _Reader, name: str, part: Part, numbers: dict[str, int]) -> Flow:
    path = f"flows: {shown(name)}: "
    reader.unknown(part, _FLOW, name)
    buckets = reader.curve(part, path, "arrival_curve", "bursts", "data")
    if len(buckets) > 1:
        reader.model.lost.add(FURTHER_BUCKETS, f"{shown(name)} (line {part.line})")
    largest = part.get("max_packet_length", reader.network.get("max_packet_length"))
    further = part.get("multicast") or []
    if not isinstance(further, list) or not all(isinstance(one, Part) for one in further):
        raise ContentError(
            f"{reader.place(part, path)}multicast: expected a list of objects with a path, "
            f"found {shown(further)}"
        )
    paths = [_path(reader, part, path, written, numbers) for written in (part, *further)]
    burst, rate = buckets[0]
    return Flow(
        name,
        reader.place(part, path),
        burst,
        rate,
        None if largest is None else reader.quantity(part, path, "max_packet_length", largest, "data"),
        tuple(dict.fromkeys(paths)),
    )


def _path(reader: _Reader, flow: Part, place: str, part: Part, numbers: dict[str, int]) -> tuple[int, ...]:
    written = part.get("path")
    if not isinstance(written, list) or not written:
        raise ContentError(
            f"{reader.place(flow, place)}path: expected names of servers, found {shown(written)}"
        )
    return numbered(written, numbers, reader.place(flow, place))


def numbered(names: Sequence[object], numbers: dict[str, int], where: str) -> tuple[int, ...]:
    """The servers of a path by their numbers, each once."""
    found = []
    for name in names:
        number = numbers.get(name) if isinstance(name, str) else None
        if number is None:
            raise ContentError(f"{where}path: expected the name of a server, found {shown(name)}")
        found.append(number)
    if len(set(found)) < len(found):
        twice = next(name for name in names if list(names).count(name) > 1)
        raise ContentError(f"{where}path: expected each server once, found {shown(twice)} again")
    return tuple(found)
