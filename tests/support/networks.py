"""Small scenarios, built in Python, for the planning tests."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from hypothesis import strategies as st

from tsnbench.scenario import model


def periodic(talker: str, listener: str | tuple[str, ...], **changes: Any) -> model.Stream:
    """A stream of 1230 octets every 100 us with priority 3, but for ``changes``."""
    values: dict[str, Any] = {
        "talker": talker,
        "listeners": (listener,) if isinstance(listener, str) else listener,
        "pcp": 3,
        "pattern": model.Periodic(period=100_000),
        "size": model.FixedSize(octets=1230),
    }
    return model.Stream(**(values | changes))


def saturating(talker: str, listener: str, **changes: Any) -> model.Stream:
    changes = {"pattern": model.Saturating(), "size": model.FixedSize(octets=1522), "pcp": 0} | changes
    return periodic(talker, listener, **changes)


def links(text: str, rate: int = 1_000_000_000, cable: int = 0) -> tuple[model.Link, ...]:
    """Links from a text such as ``a-b b-c``."""
    pairs = [pair.split("-") for pair in text.split()]
    return tuple(model.Link(a=a, b=b, rate=rate, cable=cable) for a, b in pairs)


def network(nodes: str, wires: tuple[model.Link, ...], **changes: Any) -> model.Network:
    """A network from a text such as ``a:station b:bridge c:host``."""
    kinds = dict(node.split(":") for node in nodes.split())
    return model.Network(
        nodes={name: model.Node(kind=kind) for name, kind in kinds.items()},
        links=wires,
        **changes,
    )


def scenario(net: model.Network, streams: dict[str, model.Stream], **changes: Any) -> model.Scenario:
    values: dict[str, Any] = {"name": "test", "duration": 10_000_000, "network": net, "streams": streams}
    return model.Scenario(**(values | changes))


def line(hops: int = 2, **changes: Any) -> model.Scenario:
    """A line of talker, bridges and listener: 1230 octets every 100 us over ``hops`` links of 1 Gbit/s."""
    names = ["talker", *(f"b{number}" for number in range(1, hops)), "listener"]
    nodes = " ".join(f"{name}:{'bridge' if name[0] == 'b' else 'station'}" for name in names)
    wires = links(" ".join(f"{a}-{b}" for a, b in pairwise(names)))
    return scenario(network(nodes, wires), {"cam": periodic("talker", "listener")}, **changes)


@st.composite
def connected(draw: st.DrawFn) -> tuple[model.Scenario, int]:
    """A random connected network of hosts, with one stream to some of the others."""
    size = draw(st.integers(2, 12))
    pairs = {(draw(st.integers(0, node - 1)), node) for node in range(1, size)}
    pairs |= draw(st.sets(st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)), max_size=12))
    wires = " ".join(f"n{a}-n{b}" for a, b in sorted(pairs) if a != b)
    net = network(" ".join(f"n{node}:host" for node in range(size)), links(wires))
    others = st.lists(st.integers(1, size - 1), min_size=1, max_size=5, unique=True)
    listeners = tuple(f"n{node}" for node in draw(others))
    return scenario(net, {"s": periodic("n0", listeners, count=2)}), size
