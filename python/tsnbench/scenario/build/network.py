"""The network from the file to the model: nodes and links, and whether paths exist."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from tsnbench.scenario import model
from tsnbench.scenario.build import bridging
from tsnbench.scenario.build.generators import MOST_NODES, SHAPES, Shape, attach
from tsnbench.scenario.build.net import Net
from tsnbench.scenario.kinds.combinators import Fields
from tsnbench.scenario.model.devices import LARGEST_CUT, SMALLEST_CUT
from tsnbench.scenario.part import Values
from tsnbench.scenario.text.reading import BAD, Bad, Named, Reading

_ARROW = re.compile(r"<?->|<-|[\u2190-\u2194\u21c4\u27f7]|<?=+>")
"""What people draw between the two ends of a link."""
_PORT = re.compile(r"(?:[.:/]\w+|\[[0-9]+\])$")
"""The name of a port behind that of its node, as other programs write it."""
_KINDS = {"stations": "station", "bridges": "bridge", "hosts": "host"}


def build(reading: Reading, fields: Fields) -> Net:
    """Nodes first, in the order of the file, then generated links, then written ones."""
    net = Net(reading)
    generated: list[tuple[Fields, Shape]] = []
    for key, value in fields.items():
        if key in _KINDS:
            _nodes(net, _KINDS[key], value)
        elif " " in key:
            kind, _, name = key.partition(" ")
            _node(net, kind, Named.at(name, *fields.where(key)), value)
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
    time, memory = read.get("processing"), read.get("buffer")
    learning = bridging.learning(net.reading, kind, read)
    device = bridging.device(net.reading, read)
    cut_through = _cut_through(net, kind, read)
    if device is not None and kind != "station" and "forwarding" not in read:
        cut_through = device.cut_through
    net.add_node(str(name), kind, time, name.place, name.path, cut_through, memory, learning, device)
    queues: Values = {}
    if "queues" in read and (written := read["queues"].part(net)) is not BAD:
        queues = written.model_dump(exclude_unset=True)
    if "classes" in read:
        queues["classes"] = read["classes"]
    elif "classes" not in queues and device is not None and device.classes:
        queues |= bridging.classes(device)
    if device is not None:
        queues = {**device.queues.model_dump(exclude_none=True), **queues}
    if queues:
        net.shapers.append((f"{name} -> *", model.Shaper(queues=model.Queues(**queues))))


def _cut_through(net: Net, kind: str, read: Fields) -> int | None:
    """The number of octets after which a node forwards longer frames; None if it stores them whole."""
    forwarding = read.get("forwarding")
    written = forwarding if isinstance(forwarding, Fields) else Fields(read.place, read.path)
    mode = written.get("mode", "store-and-forward") if written is forwarding else forwarding
    after: int | None = written.get("after")
    if mode != "cut-through":
        if after is not None and not written.bad:
            hint = "write mode: cut-through, or leave after out"
            written.wrong(net.reading, "after", "nothing under store-and-forward", f"{after} B", hint)
        return None
    if kind == "station":
        expected, hint = "a bridge or host", "stations forward nothing"
        read.wrong(net.reading, "forwarding", expected, "a station", hint)
    elif after is None:
        if not written.bad:
            hint = "write forwarding: {mode: cut-through, after: 337 B}"
            expected = "the octets after which a frame is forwarded"
            read.wrong(net.reading, "forwarding", expected, "cut-through alone", hint)
    elif not SMALLEST_CUT <= after <= LARGEST_CUT:
        hint = "a bridge has to see both addresses, the VLAN tag and the type"
        expected = f"{SMALLEST_CUT} B to {LARGEST_CUT} B"
        written.wrong(net.reading, "after", expected, f"{after} B", hint)
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
        fields.wrong(net.reading, key, expected, found, hint)
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
        if pair is not None and pair[0] == pair[1]:
            hint = "name two different nodes: no port is linked to its own node"
            net.reading.problem(text.place, text.path, "a link between two nodes", text, hint)
        elif pair is not None:
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


def _wire(net: Net, network: Fields, own: Fields, pairs: Sequence[tuple[str, str]]) -> None:
    """Links of one group: rate and cable from the group, else from the network."""
    if not pairs:
        return
    back = own.get("back") or Fields(own.place, own.path)
    rate = own.get("rate", network.get("rate"))
    if rate is None:
        if "rate" not in own.bad and "rate" not in network.bad:
            hint = "write rate: 1 Gbit/s here, or once for all links under network"
            if all(one.hint != hint for one in net.reading.problems):
                net.reading.problem(own.place, own.path_of("rate"), "the rate of these links", "none", hint)
        return
    for a, b in pairs:
        if a not in net.nodes or b not in net.nodes:
            continue
        cable = own.get("cable", network.get("cable", 0))
        back_rate, back_cable = back.get("rate"), back.get("cable")
        net.add_link(model.Link(a=a, b=b, rate=rate, cable=cable, back_rate=back_rate, back_cable=back_cable))


def _pair(net: Net, text: Named) -> tuple[str, str] | None:
    """``a -- b``, or ``a-b`` where only one hyphen parts two known names."""
    expected = "two nodes such as node1 -- node2"
    if _ARROW.search(text):
        parts = [part.strip() for part in _ARROW.split(text)]
        ends = [
            re.sub(r"\.\w+(\+\+)?$", "", part) if part.endswith("++") else part
            for part in (parts[0], parts[-1])
        ]
        hint = f"a link goes both ways: write {' -- '.join(ends)}"
        net.reading.problem(text.place, text.path, expected, text, hint)
        return None

    def is_known(name: str) -> bool:
        return name in net.nodes or name in net.aliases

    ways = splits(text, is_known)
    row = [part.strip() for part in (text.split(";") if ";" in text else text.split())]
    each = [splits(part, is_known) for part in row if "-" in part.strip("-")]
    if len(each) == len(row) > 1 and all(len(one) == 1 and all(map(is_known, one[0])) for one in each):
        listed = ", ".join(f"{one[0][0]} -- {one[0][1]}" for one in each)
        net.reading.problem(text.place, text.path, expected, text, f"write [{listed}]")
        return None
    chain = re.split(r"\s+-+\s+|--", text)
    if len(chain) > 2 and all(map(is_known, chain)):
        links = ", ".join(f"{a} -- {b}" for a, b in pairwise(chain))
        net.reading.problem(text.place, text.path, expected, text, f"write each link alone: {links}")
        return None
    if not ways or not all(all(pair) for pair in ways):
        net.reading.problem(text.place, text.path, expected, text, "write node1 -- node2")
        return None
    if len(ways) > 1:
        offered = " or ".join(f"{a} -- {b}" for a, b in ways[:2])
        found = f"{text}, which can be read in {len(ways)} ways"
        net.reading.problem(text.place, text.path, "two nodes", found, f"write {offered}")
        return None
    bare = [name if is_known(name) else _PORT.sub("", name) for name in ways[0]]
    if bare != list(ways[0]) and all(map(is_known, bare)):
        hint = f"write {' -- '.join(bare)}: each link makes its own two ports"
        net.reading.problem(text.place, text.path, expected, text, hint)
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
