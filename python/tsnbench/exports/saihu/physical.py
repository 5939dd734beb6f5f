"""Saihu's physical networks: XML with stations, switches, directed links and flows, as WOPANet and xTFA have
them."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from xml.parsers import expat

from tsnbench.errors import ContentError
from tsnbench.exports.saihu.model import MOST, Flow, Model, Server
from tsnbench.exports.saihu.output_ports import FIFO, shown
from tsnbench.exports.saihu.quantities import EXAMPLES, Dimension, quantity

_OPTIONS = {"FIFO", "IS", "PK", "CEIL", "MOH", "TDMI"}
"""What is taken, and options of xTFA that change how it computes and not what the network does."""
_SERVICE = {"service-latency", "service-rate", "transmission-capacity"}
_KNOWN = {
    "network": {"name", "technology", "maximum-packet-size", "minimum-packet-size", "transmission-capacity",
                "converted"},
    "station": {"name", *_SERVICE},
    "switch": {"name", *_SERVICE},
    "link": {"name", "from", "to", "fromPort", "toPort", *_SERVICE},
    "flow": {"name", "source", "arrival-curve", "lb-burst", "lb-rate", "maximum-packet-size",
             "minimum-packet-size", "path_name", "multicast"},
}  # fmt: skip
_DEPTH = 4


@dataclass
class Element:
    """An element of the file with its line."""

    tag: str
    attributes: dict[str, str]
    line: int
    children: list[Element] = field(default_factory=list)


def elements(file: str, text: str) -> Element:
    """The elements of an XML text.

    Raises:
        ContentError: it is no XML, or has a document type definition.
    """
    root = Element("", {}, 0)
    inside = [root]
    parser = expat.ParserCreate()

    def begin(tag: str, attributes: dict[str, str]) -> None:
        made = Element(tag, attributes, parser.CurrentLineNumber)
        if len(inside) > _DEPTH:
            raise ContentError(f"{file}:{made.line}: expected at most {_DEPTH} levels, found <{shown(tag)}>")
        inside[-1].children.append(made)
        inside.append(made)

    def refuse(*_: object) -> None:
        line = parser.CurrentLineNumber
        raise ContentError(f"{file}:{line}: expected <elements>, found a document type definition")

    parser.StartElementHandler = begin
    parser.EndElementHandler = lambda _: inside.pop()
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        raise ContentError(f"{file}:{error.lineno}: expected XML, found {error}") from None
    found = root.children[0]
    if found.tag != "elements":
        raise ContentError(f"{file}:{found.line}: expected <elements>, found <{shown(found.tag)}>")
    return found


class _Reader:
    """The elements of a file by their kinds."""

    def __init__(self, file: str, root: Element) -> None:
        self.file = file
        self.of: defaultdict[str, list[Element]] = defaultdict(list)
        for one in root.children:
            self.of[one.tag].append(one)
        for tag in ("link", "flow"):
            if not 1 <= len(self.of[tag]) <= MOST:
                raise ContentError(
                    f"{file}: <{tag}>: expected 1 to {MOST} elements, found {len(self.of[tag])}"
                )
        if len(self.of["network"]) != 1:
            raise ContentError(f"{file}: expected one <network>, found {len(self.of['network'])}")
        self.network = self.of["network"][0]
        technology = self.network.attributes.get("technology", "FIFO")
        self.technology = [one for one in re.split(r"[+:/\s]+", technology) if one]
        name = shown(self.network.attributes.get("name", "saihu"))
        self.model = Model(name, file, "PK" in self.technology)

    def place(self, element: Element, name: str = "") -> str:
        return f"{self.file}:{element.line}: <{element.tag}> {f'{shown(name)}: ' if name else ''}"

    def text(self, element: Element, key: str) -> str:
        value = element.attributes.get(key, "").strip()
        if not value:
            raise ContentError(f"{self.place(element)}{key}: expected a text, found nothing")
        return value

    def quantity(self, element: Element, key: str, value: str, dimension: Dimension) -> Fraction:
        """Numbers without a unit are refused where Saihu and xTFA count them in different units."""
        found = quantity(value, dimension, "bps" if dimension == "rate" else None)
        if found is None or found < 0:
            raise ContentError(
                f"{self.place(element, element.attributes.get('name', ''))}{key}: expected a number of 0 or "
                f"more with a unit ({EXAMPLES[dimension]}), found {shown(value)}"
            )
        return found

    def optional(self, elements: list[Element], key: str, dimension: Dimension) -> Fraction | None:
        """The value of the first element that has it."""
        for one in elements:
            if key in one.attributes:
                return self.quantity(one, key, one.attributes[key], dimension)
        return None

    def check_technology(self) -> None:
        """Refuses what delays frames in another way than FIFO servers do: another order, regulators.

        Raises:
            ContentError: with the line, and the technology.
        """
        where = f"{self.place(self.network)}technology: "
        if "FIFO" not in self.technology:
            raise ContentError(f"{where}{FIFO} {shown('+'.join(self.technology))}")
        for option in self.technology:
            if option not in _OPTIONS:
                known = ", ".join(sorted(_OPTIONS))
                raise ContentError(f"{where}expected some of {known}, found {shown(option)}")

    def tell_unknown(self) -> None:
        """Notes every attribute and element that the scenario does not express."""
        for tag, found in self.of.items():
            known = _KNOWN.get(tag)
            for one in found:
                who = f"{shown(one.attributes.get('name', tag))} (line {one.line})"
                if known is None:
                    self.model.lost.add(f"the element <{shown(tag)}>", who)
                    continue
                for key in one.attributes.keys() - known:
                    self.model.lost.add(f"the attribute {shown(key)} of <{tag}>", who)


def read(file: str, text: str) -> Model:
    """The network of an XML file.

    Raises:
        ContentError: with the line, what was expected and what was found.
    """
    reader = _Reader(file, elements(file, text))
    reader.check_technology()
    model = reader.model
    nodes = _nodes(reader)
    links = _links(reader, nodes)
    used: dict[tuple[str, str], int] = {}
    names: set[str] = set()
    for element in reader.of["flow"]:
        name = reader.text(element, "name")
        if name in names:
            raise ContentError(
                f"{reader.place(element)}name: expected each name once, found {shown(name)} again"
            )
        names.add(name)
        model.flows.append(_flow(reader, element, name, nodes, links, used))
    model.servers = [_server(reader, nodes[pair[0]], links[pair]) for pair in used]
    model.ends = list(used)
    for pair, link in links.items():
        if pair not in used:
            model.lost.add("links without a flow", f"{shown(' -> '.join(pair))} (line {link.line})")
    reader.tell_unknown()
    return model


def _nodes(reader: _Reader) -> dict[str, Element]:
    found: dict[str, Element] = {}
    for element in (*reader.of["station"], *reader.of["switch"]):
        name = reader.text(element, "name")
        if name in found:
            raise ContentError(
                f"{reader.place(element)}name: expected each name once, found {shown(name)} again"
            )
        found[name] = element
    return found


def _links(reader: _Reader, nodes: dict[str, Element]) -> dict[tuple[str, str], Element]:
    """The links by the nodes at their ends: the first one of several, as Saihu takes it."""
    found: dict[tuple[str, str], Element] = {}
    for element in reader.of["link"]:
        pair = (reader.text(element, "from"), reader.text(element, "to"))
        for name in pair:
            if name not in nodes:
                raise ContentError(
                    f"{reader.place(element)}expected a station or switch that is there, found {shown(name)}"
                )
        if pair[0] == pair[1]:
            raise ContentError(f"{reader.place(element)}expected two nodes, found {shown(pair[0])} twice")
        if pair in found:
            reader.model.lost.add("further links", f"{shown(' -> '.join(pair))} (line {element.line})")
        found.setdefault(pair, element)
    return found


def _server(reader: _Reader, node: Element, link: Element) -> Server:
    """The server at the beginning of a link: values of the link come before those of its node."""
    own = [link, node]
    rate = reader.optional(own, "service-rate", "rate")
    latency = reader.optional(own, "service-latency", "time")
    capacity = reader.optional([*own, reader.network], "transmission-capacity", "rate")
    if capacity is None:
        capacity = rate
    if rate is None and latency is not None:
        raise ContentError(
            f"{reader.place(link)}service-rate: expected one beside service-latency, found none"
        )
    name = f"{link.attributes['from']} -> {link.attributes['to']}"
    return Server(name, reader.place(link, name), rate, latency or Fraction(0), capacity)


def _flow(
    reader: _Reader,
    element: Element,
    name: str,
    nodes: dict[str, Element],
    links: dict[tuple[str, str], Element],
    used: dict[tuple[str, str], int],
) -> Flow:
    kind = element.attributes.get("arrival-curve", "")
    if kind != "leaky-bucket":
        raise ContentError(
            f"{reader.place(element, name)}arrival-curve: expected leaky-bucket, found {shown(kind or None)}"
        )
    source = reader.text(element, "source")
    targets = [one for one in element.children if one.tag == "target"]
    if not targets:
        raise ContentError(f"{reader.place(element, name)}expected a <target>, found none")
    paths = []
    for target in targets:
        passed = [source, *(reader.text(one, "node") for one in target.children if one.tag == "path")]
        for pair in pairwise(passed):
            if pair not in links:
                raise ContentError(
                    f"{reader.place(target, name)}expected a link from {shown(pair[0])} to {shown(pair[1])}, "
                    "found none"
                )
            used.setdefault(pair, len(used))
        if len(passed) < 2 or len(set(passed)) < len(passed):
            raise ContentError(
                f"{reader.place(target, name)}expected a path of two or more nodes, each once, "
                f"found {shown(' '.join(passed))}"
            )
        paths.append(tuple(used[pair] for pair in pairwise(passed)))
    return Flow(
        name,
        reader.place(element, name),
        reader.quantity(element, "lb-burst", reader.text(element, "lb-burst"), "data"),
        reader.quantity(element, "lb-rate", reader.text(element, "lb-rate"), "rate"),
        reader.optional([element, reader.network], "maximum-packet-size", "data"),
        tuple(dict.fromkeys(paths)),
    )
