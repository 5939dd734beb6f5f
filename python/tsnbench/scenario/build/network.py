"""The network from the file to the model: nodes and links, and whether paths exist."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

from tsnbench.scenario import model
from tsnbench.scenario.build import bridging, selectors
from tsnbench.scenario.build.generators import MOST_NODES, SHAPES, Shape, attach
from tsnbench.scenario.kinds.combinators import Fields
from tsnbench.scenario.kinds.values import in_a_row
from tsnbench.scenario.text.reading import BAD, Bad, Named, Reading, meant
from tsnbench.scenario.text.source import Place

SMALLEST_CUT, LARGEST_CUT = 18, 65_535
"""Octets after which cut-through may begin: addresses, VLAN tag and type; the largest frame."""
_KINDS = {"stations": "station", "bridges": "bridge", "hosts": "host"}


class Net:
    """Nodes and links while a scenario is read.

    ``whole``: the network has no mistakes, so that other parts may rely on it; ``named``: all nodes are
    known.
    """

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.nodes: dict[str, model.Node] = {}
        self.links: list[model.Link] = []
        self.between: dict[tuple[str, str], list[int]] = {}
        self.neighbours: dict[str, list[str]] = {}
        self.aliases: dict[str, str] = {}
        self.shapers: list[tuple[str, model.Shaper]] = []
        self.queues = model.Queues()
        self.generated = 0
        self.alone: set[str] = set()
        """Nodes without a link that a mistake already names."""
        self.named = True
        self.whole = True

    def forwards(self, node: str) -> bool:
        return self.nodes[node].kind != "station"

    def node(self, name: Named, what: str = "a node of the network") -> str | None:
        """The node's name, aliases resolved; reports a mistake if there is none."""
        known = self.aliases.get(name, str(name)) if name not in self.nodes else str(name)
        if known in self.nodes:
            return known
        if self.named:
            parts = name.replace(",", " ").split()
            row = in_a_row(name) if all(part in self.nodes for part in parts) else ""
            self.reading.problem(name.place, name.path, what, name, row or meant(name, self.nodes))
        return None

    def ports(self, text: Named) -> str | None:
        """The selector of ports in the model's form; reports a mistake if it selects none."""
        return selectors.selector(self, text)

    def parallel(self, a: str, b: str) -> int:
        """The number of links between two nodes."""
        return len(self.between.get((a, b), ()))

    def add_node(
        self,
        name: str,
        kind: Any,
        processing: Any,
        place: Place,
        path: str,
        cut_through: int | None = None,
        buffer: Any = None,
        learning: int | None = None,
    ) -> None:
        if name == "all":
            hint = "in selectors of ports, all means every node"
            self.reading.problem(place, path, "another name than all", name, hint)
        if name in self.nodes:
            hint = f"{name} is a {self.nodes[name].kind} already; give the other one another name"
            self.reading.problem(place, path, "a name of its own for each node", f"{name} again", hint)
            return
        least, jitter = bridging.processing(self.reading, processing)
        own = None if buffer is None else buffer.part(self)
        self.nodes[name] = model.Node(
            kind=kind,
            processing=least,
            cut_through=cut_through,
            processing_jitter=jitter,
            buffer=own,
            learning=learning,
        )
        self.neighbours[name] = []

    def add_link(self, link: model.Link) -> None:
        number = len(self.links)
        self.links.append(link)
        for a, b in ((link.a, link.b), (link.b, link.a)):
            if (a, b) not in self.between:
                self.neighbours[a].append(b)
            self.between.setdefault((a, b), []).append(number)

    def near(self, node: str, partner: str) -> str:
        """A possible peer for a node without a link: the first bridge that reaches its partner."""
        forwarding = [other for other in self.nodes if other != node and self.forwards(other)]
        return next((other for other in forwarding if self.reaches(partner, other)), partner)

    def bridge_between(self, talker: str, listener: str) -> tuple[str, str] | None:
        """Two nodes between which a link would connect both; None if there are none."""
        forwarding = [
            next((near for near in [node, *self.neighbours[node]] if self.forwards(near)), None)
            for node in (talker, listener)
        ]
        a, b = forwarding
        return None if a is None or b is None else (a, b)

    def reaches(self, talker: str, listener: str) -> bool:
        """Whether there is a path; only bridges and hosts forward."""
        return listener in self.neighbours[talker] or not self._islands(talker).isdisjoint(
            self._islands(listener)
        )

    def _islands(self, node: str) -> set[str]:
        """The islands of forwarding nodes that a node belongs to or touches, each by its first node."""
        found = self._near.get(node)
        if found is None:
            near = [node] if self.forwards(node) else self.neighbours[node]
            found = self._near[node] = {self.islands[other] for other in near if self.forwards(other)}
        return found

    @cached_property
    def ends(self) -> dict[str, str]:
        """The names of linked stations and hosts, once the network is built."""
        kinds = self.nodes.items()
        return {name: name for name, node in kinds if node.kind != "bridge" and self.neighbours[name]}

    @cached_property
    def _near(self) -> dict[str, set[str]]:
        """The stored result of :meth:`_islands`, which every stream needs."""
        return {}

    @cached_property
    def islands(self) -> dict[str, str]:
        """Forwarding nodes that are linked with each other, by the first node of each group."""
        islands: dict[str, str] = {}
        for first in self.nodes:
            queue = [first] if self.forwards(first) and first not in islands else []
            while queue:
                node = queue.pop()
                if node not in islands:
                    islands[node] = first
                    queue += [n for n in self.neighbours[node] if self.forwards(n) and n not in islands]
        return islands


def build(reading: Reading, fields: Fields) -> Net:
    """Nodes first, in the order of the file, then generated links, then written ones."""
    net = Net(reading)
    generated: list[tuple[Fields, Shape]] = []
    for key, value in fields.items():
        if key in _KINDS:
            _nodes(net, _KINDS[key], value)
        elif " " in key:
            kind, _, name = key.partition(" ")
            _node(net, kind, Named.at(name, fields.at(key), fields.path_of(key)), value)
        elif key in SHAPES:
            for one in value if isinstance(value, list) else [value]:
                shape = _generate(net, key, one)
                generated.append((one, shape))
        elif key == "queues":
            queues = value.part(net)
            net.queues = net.queues if queues is BAD else queues
    net.named = not _wrong(reading, fields, besides_links=True)
    for one, shape in generated:
        _wire(net, fields, one, shape.pairs)
    if "links" in fields:
        for group in fields["links"] if isinstance(fields["links"], list) else [fields["links"]]:
            _links(net, fields, group)
    if not net.nodes and not _wrong(reading, fields):
        hint = "write stations: [node1, node2] and links, or a generator such as line: {hops: 2}"
        reading.problem(fields.place, fields.path, "nodes", "a network without any", hint)
    net.whole = not _wrong(reading, fields)
    return net


def _wrong(reading: Reading, fields: Fields, besides_links: bool = False) -> bool:
    """Whether a mistake in the network, or in the spelling of its links, has been reported."""
    own = (problem.path for problem in reading.problems if problem.path.startswith(fields.path))
    links = fields.path_of("links")
    return any(not (besides_links and path.startswith(links)) for path in own)


def _nodes(net: Net, kind: str, value: Any) -> None:
    if isinstance(value, dict):
        for name, options in value.items():
            _node(net, kind, name, options)
    else:
        for name in value if isinstance(value, list) else [value]:
            net.add_node(str(name), kind, 0, name.place, name.path)


def _node(net: Net, kind: str, name: Named, options: Fields | Bad) -> None:
    read = Fields(name.place, name.path) if isinstance(options, Bad) else options
    cut_through = _cut_through(net, kind, read)
    time, memory = read.get("processing", 0), read.get("buffer")
    learning = bridging.learning(net.reading, kind, read)
    net.add_node(str(name), kind, time, name.place, name.path, cut_through, memory, learning)
    queues: dict[str, Any] = {}
    if "queues" in read and (written := read["queues"].part(net)) is not BAD:
        queues = written.model_dump(exclude_unset=True)
    if "classes" in read:
        queues["classes"] = read["classes"]
    if queues:
        net.shapers.append((f"{name} -> *", model.Shaper(queues=model.Queues(**queues))))


def _cut_through(net: Net, kind: str, read: Fields) -> int | None:
    """The number of octets after which a node forwards longer frames; None if it stores them whole."""
    forwarding = read.get("forwarding")
    written = forwarding if isinstance(forwarding, Fields) else Fields(read.place, read.path)
    mode = written.get("mode", "store-and-forward") if written is forwarding else forwarding
    after: int | None = written.get("after")
    where = read.at("forwarding"), read.path_of("forwarding")
    if mode != "cut-through":
        if after is not None and not written.bad:
            hint = "write mode: cut-through, or leave after out"
            place, path = written.at("after"), written.path_of("after")
            net.reading.problem(place, path, "nothing under store-and-forward", f"{after} B", hint)
        return None
    if kind == "station":
        net.reading.problem(*where, "a bridge or host", "a station", "stations forward nothing")
    elif after is None:
        if not written.bad:
            hint = "write forwarding: {mode: cut-through, after: 337 B}"
            net.reading.problem(
                *where, "the octets after which a frame is forwarded", "cut-through alone", hint
            )
    elif not SMALLEST_CUT <= after <= LARGEST_CUT:
        hint = "a bridge has to see both addresses, the VLAN tag and the type"
        expected = f"{SMALLEST_CUT} B to {LARGEST_CUT} B"
        net.reading.problem(written.at("after"), written.path_of("after"), expected, f"{after} B", hint)
    else:
        return after
    return None


def _generate(net: Net, name: str, fields: Fields) -> Shape:
    if fields.bad or net.generated > MOST_NODES:
        return Shape()
    shape = SHAPES[name](fields)
    if shape.problem is None:
        attach(shape, fields)
    if shape.problem is not None:
        key, expected, found, hint = shape.problem
        net.reading.problem(fields.at(key), fields.path_of(key), expected, found, hint)
        return Shape()
    net.generated += len(shape.nodes)
    if net.generated > MOST_NODES:
        net.reading.problem(fields.place, fields.path, f"at most {MOST_NODES} generated nodes", "more")
        return Shape()
    for node, kind in shape.nodes:
        processing = fields.get("processing", 0) if kind != "station" else 0
        net.add_node(node, kind, processing, fields.place, fields.path)
    if shape.ends:
        again = "first" in net.aliases
        net.aliases = {} if again else {"first": shape.ends[0], "last": shape.ends[1]}
    return shape


def _links(net: Net, network: Fields, group: Fields | Named) -> None:
    if isinstance(group, Fields):
        if "between" in group.bad:
            return
        pairs, own = group["between"], group
    else:
        pairs, own = [group], Fields(group.place, group.path)
    ends: list[tuple[str, str]] = []
    here: Counter[frozenset[str]] = Counter()
    for text in pairs:
        pair = _pair(net, text)
        if pair is not None:
            _again(net, text, *pair, here[frozenset(pair)])
            here[frozenset(pair)] += 1
            ends.append(pair)
    _wire(net, network, own, ends * own.get("parallel", 1))


def _again(net: Net, text: Named, a: str, b: str, here: int) -> None:
    """A second line for one pair may be a parallel link, or a mistake."""
    links = net.parallel(a, b) + here
    if links:
        makes = f"{a} -- {b} is there already: this makes {links + 1} parallel links"
        hint = (
            f"leave it out; for parallel links write {{between: [{a} -- {b}], parallel: {links + 1}}} instead"
        )
        net.reading.doubt("link-again", text.place, text.path, makes, hint)


def _wire(net: Net, network: Fields, own: Fields, pairs: Iterable[tuple[str, str]]) -> None:
    """Links of one group: rate and cable from the group, else from the network."""
    back = own.get("back") or Fields(own.place, own.path)
    rate = own.get("rate", network.get("rate"))
    if rate is None:
        if "rate" not in own.bad and "rate" not in network.bad:
            hint = "write rate: 1 Gbit/s here, or once for all links under network"
            net.reading.problem(own.place, own.path_of("rate"), "the rate of these links", "none", hint)
        return
    for a, b in pairs:
        if a not in net.nodes or b not in net.nodes:
            continue
        if a == b:
            net.reading.problem(own.place, own.path, "a link between two nodes", f"{a} twice")
            continue
        cable = own.get("cable", network.get("cable", 0))
        back_rate, back_cable = back.get("rate"), back.get("cable")
        net.add_link(model.Link(a=a, b=b, rate=rate, cable=cable, back_rate=back_rate, back_cable=back_cable))


def _pair(net: Net, text: Named) -> tuple[str, str] | None:
    """``a -- b``, or ``a-b`` where only one hyphen parts two known names."""
    if "->" in text:
        hint = f"a link goes both ways: write {text.replace('->', '--')}"
        net.reading.problem(text.place, text.path, "two nodes such as node1 -- node2", text, hint)
        return None
    ways = splits(text, lambda name: name in net.nodes or name in net.aliases)
    if not ways or not all(all(pair) for pair in ways):
        hint = "write node1 -- node2"
        net.reading.problem(text.place, text.path, "two nodes such as node1 -- node2", text, hint)
        return None
    if len(ways) > 1:
        offered = " or ".join(f"{a} -- {b}" for a, b in ways[:2])
        found = f"{text}, which can be read in {len(ways)} ways"
        net.reading.problem(text.place, text.path, "two nodes", found, f"write {offered}")
        return None
    a, b = (net.node(Named.at(end, text.place, text.path), "two nodes of the network") for end in ways[0])
    return (a, b) if a is not None and b is not None else None


def splits(text: str, is_known: Callable[[str], bool]) -> list[tuple[str, str]]:
    """The pairs of nodes that a text such as ``a -- b`` or ``a-b`` may mean; names may have hyphens.

    Two hyphens part the names. One hyphen parts them where both sides are known; if it does so nowhere,
    all pairs are returned.
    """
    if "--" in text:
        left, _, right = text.partition("--")
        return [(left.strip(), right.strip())]
    hyphens = [n for n, letter in enumerate(text) if letter == "-"]
    every = [(text[:n].strip(), text[n + 1 :].strip()) for n in hyphens]
    return [pair for pair in every if is_known(pair[0]) and is_known(pair[1])] or every
