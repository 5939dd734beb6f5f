"""A drawing of draw.io (diagrams.net): its mxGraph XML, compressed or plain.

Shapes with connections are nodes, connections that begin and end at shapes are links.
"""

from __future__ import annotations

import base64
import binascii
import re
import xml.etree.ElementTree as ET
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

from tsnbench import foreign
from tsnbench.errors import ContentError
from tsnbench.exports.lists.drawings.drawing import BRIDGES, STATIONS, Drawing, Link, Node
from tsnbench.exports.lists.drawings.places import Places
from tsnbench.exports.scenario_text import one_line
from tsnbench.foreign import parse_xml

LARGEST_FILE = 1 << 24
LONGEST_LABEL = 5_000
"""Characters of a label in HTML that are read."""
_LINES = {"br", "div", "p", "tr", "li", "h1", "h2", "h3"}
_ADDRESS = re.compile(
    r"[\s(]*(?:(?:ip|mac)[ :]*)?[0-9a-fA-F]{1,4}(?:[.:-][0-9a-fA-F]{1,4}){3,7}(?:/\d+)?[\s)]*"
)
_PORT = re.compile(r"(?:[A-Za-z-]{0,20}[ _-]?\d+(?:[/.:]\d+){0,3})?")
_ROLE_KEYS = ("kind", "role", "type", "device", "devicetype")


@dataclass
class _Cell:
    """A shape or a connection."""

    key: str
    attributes: dict[str, str]
    style: str
    parent: str
    source: str
    target: str
    edge: bool
    vertex: bool
    hidden: bool
    geometry: ET.Element | None
    lines: list[str] = field(default_factory=list)
    """The lines of its label."""

    @property
    def relative(self) -> bool:
        """Whether it is placed relative to its parent, as ports and labels of lines are."""
        return self.geometry is not None and self.geometry.get("relative") == "1"

    @property
    def text(self) -> bool:
        """Whether it is drawn as text alone."""
        return self.style.startswith(("text;", "edgeLabel"))


def read(path: Path, page: str | None = None) -> Drawing:
    """The network of a page.

    Raises:
        InputError: it is no drawing of draw.io, or has several pages and none was named.
        OSError: it cannot be read.
    """
    root = parse_xml(path.name, foreign.read_bytes(path, LARGEST_FILE))
    if root.tag == "mxfile":
        name, model = _page(path.name, root, page)
    elif root.tag == "mxGraphModel":
        name, model = "", root
    else:
        raise ContentError(
            f"{path.name}: expected <mxfile> or <mxGraphModel> of draw.io, found <{root.tag[:40]}>"
        )
    title = f", page {one_line(name)}" if name else ""
    drawing = Drawing(f"From the drawing {one_line(path.name)} of draw.io{title}.", path.name)
    cells = [one for one in map(_cell, model.iterfind("root/*")) if one is not None]
    every = {one.key or f"cell {number}": one for number, one in enumerate(cells)}
    _network(_visible(every, drawing), drawing)
    return drawing


def _visible(cells: dict[str, _Cell], drawing: Drawing) -> dict[str, _Cell]:
    """The cells without hidden layers and shapes, and what is in them."""
    inside: dict[str, list[str]] = {}
    for key, one in cells.items():
        inside.setdefault(one.parent, []).append(key)
    waiting, hidden = [key for key, one in cells.items() if one.hidden], set[str]()
    while waiting:
        key = waiting.pop()
        if key not in hidden:
            hidden.add(key)
            waiting += inside.get(key, ())
    if hidden:
        lines = sum(cells[key].edge for key in hidden)
        drawing.lost.append(f"hidden layers and shapes, with {lines} lines")
    return {key: one for key, one in cells.items() if key not in hidden}


def _page(file: str, root: ET.Element, page: str | None) -> tuple[str, ET.Element]:
    pages = root.findall("diagram")
    names = [one.get("name") or f"page {number}" for number, one in enumerate(pages, 1)]
    if page is None and len(pages) > 1:
        raise ContentError(
            f"{file}: expected one page, found {len(pages)}: {', '.join(names[:8])}"
            "\n  hint: name one with --page"
        )
    if not pages or (page is not None and page not in names):
        raise ContentError(f"{file}: expected the page {page or 1}, found {', '.join(names[:8]) or 'none'}")
    place = 0 if page is None else names.index(page)
    model = pages[place].find("mxGraphModel")
    if model is not None:
        return names[place], model
    return names[place], parse_xml(file, _unpacked(file, pages[place].text or ""))


def _unpacked(file: str, text: str) -> str:
    """The XML of a compressed page: escaped as in an address, deflated, in Base64."""
    try:
        packed = base64.b64decode("".join(text.split()), validate=True)
        unpacking = zlib.decompressobj(-15)
        content = unpacking.decompress(packed, LARGEST_FILE)
    except (binascii.Error, ValueError, zlib.error) as error:
        raise ContentError(f"{file}: expected a page of draw.io, found a damaged one: {error}") from None
    if unpacking.unconsumed_tail:
        most = foreign.octets(LARGEST_FILE)
        raise ContentError(f"{file}: expected a page of at most {most} unpacked, found more")
    if not content:
        raise ContentError(f"{file}: expected a page with shapes, found an empty one")
    return unquote(content.decode("utf-8", errors="replace"))


def _cell(element: ET.Element) -> _Cell | None:
    """A cell, also one with attributes of its own (<object>, <UserObject>)."""
    inner = element if element.tag == "mxCell" else element.find("mxCell")
    if inner is None:
        return None
    attributes = {} if inner is element else dict(element.attrib)
    label = attributes.get("label", inner.get("value") or "")
    if attributes.get("placeholders") == "1":
        label = re.sub(r"%(\w{1,40})%", lambda one: attributes.get(one[1], one[0])[:200], label)
    return _Cell(
        element.get("id") or inner.get("id") or "",
        attributes,
        inner.get("style") or "",
        inner.get("parent") or "",
        inner.get("source") or "",
        inner.get("target") or "",
        inner.get("edge") == "1",
        inner.get("vertex") == "1",
        "0" in (inner.get("visible"), element.get("visible")),
        inner.find("mxGeometry"),
        _text(label),
    )


def _text(label: str) -> list[str]:
    """The lines of a label in HTML."""
    if "<" not in label and "&" not in label:
        return [one.strip() for one in label.splitlines() if one.strip()]
    reader = _Html()
    reader.feed(label[:LONGEST_LABEL])
    reader.close()
    lines = "".join(reader.parts).replace("\xa0", " ").splitlines()
    return [" ".join(one.split()) for one in lines if one.strip()]


class _Html(HTMLParser):
    """Text of HTML; nothing is loaded or run."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag in _LINES:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        self.parts.append(data)


def _network(cells: dict[str, _Cell], drawing: Drawing) -> None:
    beside: dict[str, list[str]] = {}
    for one in cells.values():
        if not one.edge and one.parent in cells and cells[one.parent].edge:
            beside.setdefault(one.parent, []).extend(one.lines)
    inner = {one.parent for one in cells.values()}
    shapes = [
        key for key, one in cells.items() if one.vertex and not (one.text or one.relative or key in inner)
    ]
    places = Places({key: (one.parent, one.geometry) for key, one in cells.items()}, shapes)
    used: dict[str, None] = {}
    for line, edge in cells.items():
        if not edge.edge:
            continue
        texts = [*edge.lines, *beside.get(line, ())]
        ends, ports, near = [], [], False
        for key, point in ((edge.source, "sourcePoint"), (edge.target, "targetPoint")):
            loose = key not in cells
            end, port = _end(cells, places.shape_at(line, point) or "" if loose else key)
            if end is not None:
                near = near or loose
                ends.append(end)
                ports += port
        if len(ends) < 2:
            joined = ", ".join(_label(cells[one]) for one in ends)
            said = f" ({' '.join(texts)})" if texts else ""
            drawing.lost.append(f"a line that is connected to {joined or 'nothing'} alone{said}")
            continue
        for key in ends:
            if key not in used:
                used[key] = None
                drawing.add_node(key, _node(cells[key], drawing))
        drawing.add_link(Link((ends[0], ends[1]), [*texts, *ports]))
        if near:
            pair = " -- ".join(_label(cells[one]) for one in ends)
            drawing.decided.append(f"a line that is not connected, but ends at these shapes: {pair}")
    for one in cells.values():
        around = cells.get(one.parent)
        left = one.vertex and one.lines and one.key not in used and one.key not in inner
        if left and around is not None and not around.edge and not _is_port(one, cells):
            drawing.lost.append(f"a shape without a connection: {' '.join(one.lines)[:80]}")


def _end(cells: dict[str, _Cell], key: str) -> tuple[str | None, list[str]]:
    """The node at an end of a line, and the port's label where the line ends at a port of the node."""
    cell = cells.get(key)
    if cell is None or not cell.vertex:
        return None, []
    if _is_port(cell, cells):
        return cell.parent, cell.lines
    return key, []


def _is_port(cell: _Cell, cells: dict[str, _Cell]) -> bool:
    """Whether a shape is a port of another one: it is placed relative to it, or has only a number."""
    around = cells.get(cell.parent)
    if around is None or not around.vertex or not around.lines:
        return False
    if "container=1" in around.style or around.style.startswith("swimlane"):
        return False
    label = " ".join(cell.lines)
    named = BRIDGES.search(label.lower()) or STATIONS.search(label.lower())
    return cell.relative or (not named and _PORT.fullmatch(label) is not None)


def _node(cell: _Cell, drawing: Drawing) -> Node:
    label = _label(cell)
    drawing.lost += [f"the address of {label}: {one}" for one in cell.lines if _ADDRESS.fullmatch(one)]
    return Node(label, _told(cell.attributes), _shape(cell))


def _shape(cell: _Cell) -> str:
    """The names of the shape and of the picture of a cell, without the picture's size."""
    style = dict(one.partition("=")[::2] for one in cell.style.split(";"))
    image = style.get("image", "")
    picture = "" if image.startswith("data:") else re.sub(r"_\d+x\d+$", "", Path(image[:200]).stem)
    return f"{style.get('shape', '')[:200]} {picture}".strip()


def _label(cell: _Cell) -> str:
    """The label without addresses, or the name of the shape."""
    words = [one for one in cell.lines if not _ADDRESS.fullmatch(one)]
    return one_line(" ".join(words))[:200] or _shape(cell).rpartition(".")[2].strip() or "unnamed"


def _told(attributes: dict[str, str]) -> str:
    said: Iterable[str] = (
        value for key, value in attributes.items() if key.lower().replace("_", "") in _ROLE_KEYS
    )
    return " ".join(said)[:200]
