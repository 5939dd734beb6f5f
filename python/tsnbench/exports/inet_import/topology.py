"""The nodes and links of a network: submodules, connections, and the numbers of their interfaces."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from tsnbench.errors import ContentError
from tsnbench.exports.inet_import.language.expressions import Node as Expression
from tsnbench.exports.inet_import.language.expressions import (
    Quantity,
    Scope,
    Value,
    VaryingError,
    evaluate,
    quantity,
)
from tsnbench.exports.inet_import.language.library import Library
from tsnbench.exports.inet_import.language.ned import Assigned, Connection, End, Submodule, Type
from tsnbench.exports.inet_import.parameters import Parameters

MOST_NODES = 20_000
MOST_LINKS = 100_000
INNER_BPS = 10**14
"""A faster link without delay joins the two modules of one node, as tsnbench's export writes them."""


@dataclass
class Link:
    """Both ends, each as a node and the number of its interface; rates of the interfaces in bit/s."""

    ends: tuple[tuple[str, int], tuple[str, int]]
    rates: tuple[int, int]
    delay_ps: int
    place: str

    def other(self, node: str) -> tuple[str, int]:
        """The end that is not this node."""
        return self.ends[1] if self.ends[0][0] == node else self.ends[0]


@dataclass
class Node:
    """``kind``: bridge or station; ``type_name`` is INET's."""

    name: str
    kind: str
    type_name: str
    place: str
    links: dict[int, Link] = field(default_factory=dict)
    """By the number of the interface."""
    apps: str = ""
    """The module with its applications, if that is another one."""

    @property
    def talks(self) -> str:
        """The module with the node's applications."""
        return self.apps or self.name


@dataclass
class Topology:
    """All nodes by name, all links, and lines of NED that are not taken."""

    network: str
    nodes: dict[str, Node] = field(default_factory=dict)
    links: list[Link] = field(default_factory=list)
    lost: list[tuple[str, str]] = field(default_factory=list)
    """What, and its file and line."""
    folded: dict[str, str] = field(default_factory=dict)
    """The node of each module that is a part of a pair."""

    def node(self, module: str) -> str | None:
        """The node of a module; None if there is none of this name."""
        return module if module in self.nodes else self.folded.get(module)

    def shortest(self, begin: str, end: str) -> tuple[list[str], bool]:
        """The nodes of a path with the fewest hops over bridges, and whether it is the only one."""
        count: dict[str, int] = {begin: 1}
        before: dict[str, str] = {}
        layer = [begin]
        while layer and end not in count:
            following: dict[str, int] = {}
            for node in layer:
                if node != begin and self.nodes[node].kind != "bridge":
                    continue
                for peer in dict.fromkeys(own.other(node)[0] for own in self.nodes[node].links.values()):
                    if peer not in count:
                        following[peer] = following.get(peer, 0) + count[node]
                        before.setdefault(peer, node)
            count |= following
            layer = list(following)
        if end not in count:
            return [], False
        path = [end]
        while path[-1] != begin:
            path.append(before[path[-1]])
        return path[::-1], count[end] == 1


def elaborate(network: Type, library: Library, parameters: Parameters) -> Topology:
    """The network with its nodes and links.

    Raises:
        ContentError: a submodule or a connection that is no part of a network of tsnbench, with its line.
    """
    made = Topology(network.name)
    bases = library.bases(network)
    for one in bases:
        parameters.declare(network.name, one.assigned, one.file)
    # The outermost base comes first, as its gates are numbered first.
    for one in reversed(bases):
        for submodule in one.submodules:
            _submodule(made, submodule, one, library, parameters)
    grown: dict[str, int] = {}
    for one in reversed(bases):
        for connection in one.connections:
            _connect(made, connection, one, library, parameters, grown, {})
    _fold(made)
    return made


def _fold(made: Topology) -> None:
    """Makes one node of a switch and a device that a link without time joins."""
    for link in [one for one in made.links if one.delay_ps == 0 and min(one.rates) >= INNER_BPS]:
        names = [name for name, _ in link.ends]
        kinds = [made.nodes[name].kind for name in names]
        if sorted(kinds) != ["bridge", "station"]:
            continue
        switch, device = names if kinds[0] == "bridge" else names[::-1]
        if len(made.nodes[device].links) > 1 or made.nodes[switch].apps:
            continue
        made.nodes[switch].apps = device
        made.folded[device] = switch
        del made.nodes[device]
        made.links.remove(link)
        inner = made.nodes[switch].links
        made.nodes[switch].links = {number: own for number, own in inner.items() if own is not link}


def _scope(made: Topology, parameters: Parameters, names: dict[str, Value]) -> Scope:
    def name(word: str) -> Value:
        return names[word] if word in names else parameters.name(made.network, word)

    return Scope(name)


def _value(node: Expression, scope: Scope, place: str, expected: str) -> Value:
    """The value of an expression of NED, or a message with its line."""
    try:
        return evaluate(node, scope)
    except VaryingError:
        raise ContentError(f"{place}: expected {expected}, found one that varies") from None
    except ValueError as error:
        raise ContentError(f"{place}: expected {expected}, found {error}") from None


def _integer(node: Expression, scope: Scope, place: str) -> int:
    try:
        return int(quantity(_value(node, scope, place, "a whole number")).to(""))
    except ValueError as error:
        raise ContentError(f"{place}: expected a whole number, found {error}") from None


def _whole(node: Expression, scope: Scope, place: str, most: int) -> int:
    found = _integer(node, scope, place)
    if not 0 <= found <= most:
        raise ContentError(f"{place}: expected a number of at most {most}, found {found}")
    return found


def _holds(node: Expression | None, made: Topology, scope: Scope, place: str) -> bool:
    if node is None:
        return True
    if node.kind == "call" and node.text == "exists" and node.parts:
        return node.parts[0].text in made.nodes
    return _value(node, scope, place, "a condition that is known") is True


def _submodule(
    made: Topology, one: Submodule, inside: Type, library: Library, parameters: Parameters
) -> None:
    place = f"{inside.file}:{one.line}"
    scope = _scope(made, parameters, {})
    size = None if one.size is None else _whole(one.size, scope, place, MOST_NODES)
    for number in [None] if size is None else range(size):
        name = one.name if number is None else f"{one.name}[{number}]"
        path = f"{made.network}.{name}"
        parameters.declare(path, one.assigned, inside.file)
        chosen = one.type_name
        if one.like is not None:
            given = _value(one.like, scope, place, "a type that is known")
            chosen = parameters.text(f"{path}.typename", str(given or ""))
            if not chosen:
                continue
        kind, own = library.kind(chosen, inside)
        own_kind, _ = library.kind(one.type_name, inside)
        for base in own:
            parameters.declare(path, base.assigned, base.file)
        if kind == "silent" or (one.like is not None and own_kind == "silent"):
            continue
        if not _holds(one.condition, made, _scope(made, parameters, {"typename": chosen}), place):
            continue
        if kind == "unknown":
            made.lost.append((f"{name}: {chosen}, which is no node with Ethernet ports", place))
            continue
        if len(made.nodes) >= MOST_NODES:
            raise ContentError(f"{place}: expected at most {MOST_NODES} nodes, found more")
        made.nodes[name] = Node(name, kind, chosen.rpartition(".")[2], place)


def _connect(
    made: Topology,
    one: Connection,
    inside: Type,
    library: Library,
    parameters: Parameters,
    grown: dict[str, int],
    names: dict[str, Value],
) -> None:
    place = f"{inside.file}:{one.line}"
    scope = _scope(made, parameters, names)
    if one.loop is not None:
        word, low, high = one.loop
        first = _whole(low, scope, place, MOST_LINKS)
        # `0..n-1` of an empty vector ends below its begin.
        last = _integer(high, scope, place)
        if last - first > MOST_LINKS:
            raise ContentError(f"{place}: expected at most {MOST_LINKS} connections, found more")
        for number in range(first, last + 1):
            inner: dict[str, Value] = {**names, word: Quantity(Fraction(number))}
            for part in one.inner:
                _connect(made, part, inside, library, parameters, grown, inner)
        return
    if one.condition is not None or one.inner:
        if _holds(one.condition, made, scope, place):
            for part in one.inner:
                _connect(made, part, inside, library, parameters, grown, names)
        return
    assert one.left is not None
    assert one.right is not None
    ends = [_module(end, scope, place) for end in (one.left, one.right)]
    missing = [name for name in ends if name not in made.nodes]
    if missing:
        made.lost.append((f"a connection of {missing[0]}", place))
        return
    numbers = [
        _gate(end, name, scope, place, grown) for end, name in zip((one.left, one.right), ends, strict=True)
    ]
    if len(made.links) >= MOST_LINKS:
        raise ContentError(f"{place}: expected at most {MOST_LINKS} connections, found more")
    _link(made, one, ends, numbers, inside, library, parameters, place)


def _module(end: End, scope: Scope, place: str) -> str:
    if end.module_index is None:
        return end.module
    return f"{end.module}[{_whole(end.module_index, scope, place, MOST_NODES)}]"


def _gate(end: End, name: str, scope: Scope, place: str, grown: dict[str, int]) -> int:
    if end.gate != "ethg":
        raise ContentError(f"{place}: expected the gate ethg, found {end.gate}")
    if end.gate_index is not None:
        found = _whole(end.gate_index, scope, place, MOST_LINKS)
        grown[name] = max(grown.get(name, 0), found + 1)
        return found
    grown[name] = grown.get(name, 0) + 1
    return grown[name] - 1


def _link(
    made: Topology,
    one: Connection,
    names: list[str],
    numbers: list[int],
    inside: Type,
    library: Library,
    parameters: Parameters,
    place: str,
) -> None:
    assigned = list(one.assigned)
    if one.channel:
        kind = library.find(one.channel, inside)
        if kind is None:
            raise ContentError(f"{place}: expected a channel that is known, found {one.channel}")
        for base in library.bases(kind):
            assigned += base.assigned
    channel = f"{made.network}.{names[0]}.ethg$o[{numbers[0]}].channel"
    values = _Channel(assigned, channel, parameters, place)
    delay = values.number("delay", "ps") or Fraction(0)
    rate = values.number("datarate", "bps")
    rates = []
    for name, number in zip(names, numbers, strict=True):
        own = parameters.number(f"{made.network}.{name}.eth[{number}].bitrate", "bps")
        if rate is None and own is None:
            raise ContentError(
                f"{place}: expected a datarate of the channel or a bitrate of the interface, found neither"
            )
        rates.append(int(own if rate is None and own is not None else rate or 0))
    if any(made.nodes[name].links.get(number) for name, number in zip(names, numbers, strict=True)):
        raise ContentError(f"{place}: expected a free gate, found one that is connected")
    link = Link(((names[0], numbers[0]), (names[1], numbers[1])), (rates[0], rates[1]), int(delay), place)
    made.links.append(link)
    for name, number in link.ends:
        made.nodes[name].links[number] = link


class _Channel:
    """The parameters of a channel: the connection's own, then those of its type."""

    def __init__(self, assigned: list[Assigned], path: str, parameters: Parameters, place: str) -> None:
        self.assigned = assigned
        self.path = path
        self.parameters = parameters
        self.place = place

    def name(self, name: str) -> Value:
        given = next((one for one in self.assigned if one.pattern == name), None)
        if given is None or given.is_default:
            found = self.parameters.get(f"{self.path}.{name}")
            if found is not None:
                return found
        return None if given is None else evaluate(given.value, Scope(self.name))

    def number(self, name: str, unit: str) -> Fraction | None:
        try:
            found = self.name(name)
            return None if found is None else quantity(found).to(unit)
        except VaryingError:
            raise ContentError(f"{self.place}: {name}: expected one value, found one that varies") from None
        except (ValueError, RecursionError) as error:
            raise ContentError(
                f"{self.place}: {name}: expected a value that is known, found {error}"
            ) from None


def channels(made: Topology) -> Iterator[tuple[str, str, str, str]]:
    """The path of the channel of each direction, its two nodes, and the place of its connection."""
    for link in made.links:
        for (node, number), (other, _) in (link.ends, link.ends[::-1]):
            yield f"{made.network}.{node}.ethg$o[{number}].channel", node, other, link.place
