"""The network of a text, as the page draws it: every part with its place in the text."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, TypedDict

from tsnbench.editing.edits import gate_lists, is_swept
from tsnbench.editing.requiring import Written
from tsnbench.editing.requiring import written as written_requirements
from tsnbench.editing.spans import EditError, Span, spans, units_of
from tsnbench.editing.written import written_links, written_nodes
from tsnbench.report.layout import place, sketch
from tsnbench.scenario.catalogue import gate_lists as gate_patterns
from tsnbench.scenario.units import DURATION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tsnbench.plan.document import Plan
    from tsnbench.plan.types import Stream
    from tsnbench.scenario.model import Scenario

MOST_EXACT = 60
"""Networks with more nodes are placed by the fast layout."""
MOST_STREAMS = 500
"""Streams whose paths are drawn; the others are counted."""


class Drawn(TypedDict):
    """A node: its position in units of one link, and its place in the text (offsets; None without one)."""

    name: str
    kind: str
    x: float
    y: float
    at: tuple[int, int] | None
    made: str
    """What makes the node: empty for a written one, ``generator`` or ``parameter``."""


class DrawnLink(TypedDict):
    a: int
    b: int
    rate_bps: int
    at: tuple[int, int] | None
    made: str


class DrawnStream(TypedDict):
    """A stream; each path is a list of nodes from the talker to one listener, or to where a member stream's
    frames are eliminated (802.1CB)."""

    name: str
    talker: int
    listeners: list[int]
    paths: list[list[int]]
    at: tuple[int, int] | None
    made: str
    count: int
    """So many streams have this name and a number."""
    pattern: str
    """The catalogue's pattern that the text names; empty if the text has the stream's own keys."""
    requires: list[Written] | None
    """The requirements that the text has; None if they cannot be edited one by one."""


class GateEntry(TypedDict):
    open: str
    ns: int
    at: tuple[int, int]
    """The place of its duration."""


class GateList(TypedDict):
    """A list of gate entries of the text, or one of the catalogue, which has no entries here."""

    where: str
    entries: list[GateEntry]
    pattern: str
    """The name of a list of the catalogue; empty if the entries are written."""
    port: str
    """Of a list of the catalogue, the key under ``shapers``."""


class Drawing(TypedDict):
    runs: list[str]
    """The runs of a sweep, by their values; the first one is drawn."""
    nodes: list[Drawn]
    links: list[DrawnLink]
    streams: list[DrawnStream]
    more_streams: int
    gates: list[GateList]


def drawing(text: str, runs: Sequence[tuple[Scenario, Plan | None]]) -> Drawing:
    """The drawing of the first run of a text, all of whose runs are given; an empty text has no places."""
    scenario, plan = runs[0]
    try:
        top: Span | None = spans(text)
    except EditError:
        top = None
    units = units_of(text)
    names = list(scenario.network.nodes)
    number = {str(name): place for place, name in enumerate(names)}
    pairs = [(number[link.a], number[link.b]) for link in scenario.network.links]
    places = positions(len(names), tuple(sorted({(min(pair), max(pair)) for pair in pairs})))
    network = top.get("network") if top else None
    defined, linked = written_nodes(network), written_links(network, list(number))
    swept = _swept(top, "network")
    made = "parameter" if swept else "generator"

    def at(span: Span | None) -> tuple[int, int] | None:
        return None if span is None else (units(span.start), units(span.end))

    nodes: list[Drawn] = [
        {
            "name": str(name),
            "kind": node.kind,
            "x": places[n][0],
            "y": places[n][1],
            "at": at(defined.get(str(name))),
            "made": "" if str(name) in defined else made,
        }
        for n, (name, node) in enumerate(scenario.network.nodes.items())
    ]
    links: list[DrawnLink] = []
    for (a, b), link in zip(pairs, scenario.network.links, strict=True):
        found = linked.get(frozenset((str(link.a), str(link.b))))
        links.append({"a": a, "b": b, "rate_bps": link.rate, "at": at(found), "made": "" if found else made})
    streams, more = _streams(scenario, plan, number, text, top, at)
    return {
        "runs": [", ".join(f"{key}={value}" for key, value in one.variant.items()) for one, _ in runs],
        "nodes": nodes,
        "links": links,
        "streams": streams,
        "more_streams": more,
        "gates": list(_gates(top, units)) if top else [],
    }


@lru_cache(maxsize=8)
def positions(nodes: int, links: tuple[tuple[int, int], ...]) -> list[tuple[float, float]]:
    """The same network has the same positions, and is placed once."""
    return place(nodes, links) if nodes <= MOST_EXACT else sketch(nodes, links)


def _swept(top: Span | None, key: str) -> bool:
    value = top.get(key) if top else None
    return value is not None and is_swept(value)


def _streams(
    scenario: Scenario,
    plan: Plan | None,
    number: dict[str, int],
    text: str,
    top: Span | None,
    at: Callable[[Span | None], tuple[int, int] | None],
) -> tuple[list[DrawnStream], int]:
    written = top.get("streams") if top else None
    own = {key.text: (key, value) for key, value in written.items if key} if written else {}
    found: dict[str, DrawnStream] = {}
    more = 0
    for name, talker, listeners, paths in _planned(plan) if plan else _unplanned(scenario, number):
        if name in found:
            found[name]["count"] += 1
        elif len(found) >= MOST_STREAMS:
            more += 1
        else:
            entry = own.get(name)
            swept = entry is not None and is_swept(entry[1])
            pattern = entry[1].get("pattern") if entry and entry[1].kind == "mapping" else None
            found[name] = {
                "name": name,
                "talker": talker,
                "listeners": listeners,
                "paths": paths,
                "at": at(entry[0] if entry else None),
                "made": "parameter" if swept else "" if entry else "generator",
                "count": 1,
                "requires": written_requirements(text, entry[1]) if entry else None,
                "pattern": pattern.text if pattern and "${" not in pattern.text else "",
            }
    return list(found.values()), more


def _planned(plan: Plan) -> Iterator[tuple[str, int, list[int], list[list[int]]]]:
    ports = plan.document["ports"]

    def path(stream: Stream, last: int) -> list[int]:
        """The nodes to a listener: from its last port back to the talker."""
        entry = stream["route"][last]
        nodes = [ports[ports[entry["port"]]["peer"]]["node"], ports[entry["port"]]["node"]]
        while "parent" in entry:
            entry = stream["route"][entry["parent"]]
            nodes.append(ports[entry["port"]]["node"])
        return nodes[::-1]

    for stream in plan.document["streams"]:
        ends = stream["listeners"]
        leaves = set(range(len(stream["route"]))) - {hop.get("parent") for hop in stream["route"]}
        last = dict.fromkeys([end["route"] for end in ends]) | dict.fromkeys(sorted(leaves))
        paths = [path(stream, entry) for entry in last]
        yield stream["group"], stream["talker"], [end["node"] for end in ends], paths


def _unplanned(
    scenario: Scenario, number: dict[str, int]
) -> Iterator[tuple[str, int, list[int], list[list[int]]]]:
    for name, stream in scenario.streams.items():
        yield str(name), number[str(stream.talker)], [number[str(one)] for one in stream.listeners], []


def _gates(top: Span, units: Callable[[int], int]) -> Iterator[GateList]:
    keys = {id(value): path for path, value in _collections(top)}
    for one in gate_lists(top):
        path = [key for key in keys.get(id(one), ()) if key not in ("gates", "entries")]
        entries: list[GateEntry] = []
        for _, entry in one.items:
            length, opened = entry.get("for"), entry.get("open")
            assert length is not None
            words = ", ".join(item.text for _, item in opened.items) if opened else ""
            if opened is not None and opened.kind == "scalar":
                words = opened.text
            ns = DURATION.parse(length.text)
            entries.append({"open": words, "ns": ns, "at": (units(length.start), units(length.end))})
        yield {"where": ".".join(path), "entries": entries, "pattern": "", "port": ""}
    shapers = top.get("shapers")
    for key, shaper in shapers.items if shapers else ():
        named = shaper.get("gates") if shaper.kind == "mapping" else None
        pattern = named if named is None or named.kind == "scalar" else named.get("pattern")
        if key and named and pattern and pattern.text in gate_patterns():
            where = f"shapers.{key.text}"
            yield {"where": where, "entries": [], "pattern": pattern.text, "port": key.text}


def _collections(top: Span, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Span]]:
    for key, value in top.items:
        own = path if key is None else (*path, key.text)
        if value.kind != "scalar":
            yield own, value
            yield from _collections(value, own)
