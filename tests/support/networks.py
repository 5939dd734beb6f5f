"""Small scenarios, built in Python, for the planning tests."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from hypothesis import strategies as st

from tsnbench.scenario import model

CLASSES_4 = {0: 0, 1: 1, 2: 2, 3: 3}
ENGINE_LINKS = (
    "zgw1-zgw2 zgw1-zgw6 zgw6-zgw5 zgw6-zgw2 zgw2-zgw3 zgw5-zgw3 zgw5-zgw4 zgw3-zgw4 zgw3-vcc1 zgw4-vcc1"
)
ENGINE_PATHS = {
    1: "zgw5 zgw3 vcc1",
    2: "zgw1 zgw6 zgw5 zgw4 vcc1",
    3: "zgw1 zgw2 zgw3 vcc1",
    4: "zgw6 zgw2 zgw3 vcc1",
    5: "zgw5 zgw3 zgw4 vcc1",
}
ENGINE_TABLE_7 = {
    # name: (path, PCP, PHY octets, period in us, flows)
    "f1-cc": (1, 3, 1024, 1000, 6),
    "f1-adas": (1, 3, 1500, 600, 2),
    "f1-be": (1, 1, 1250, 100, 1),
    "f2-lidar": (2, 3, 1500, 2500, 3),
    "f2-radar": (2, 3, 1250, 2500, 3),
    "f2-be": (2, 1, 1250, 100, 1),
    "f3-radar": (3, 2, 1250, 2500, 3),
    "f3-us": (3, 2, 512, 20_000, 3),
    "f3-gps": (3, 2, 256, 10_000, 1),
    "f3-be": (3, 1, 1250, 100, 1),
    "f4-be": (4, 0, 1250, 100, 1),
    "f5-be": (5, 0, 1250, 100, 1),
}


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


def engine_use_case() -> model.Scenario:
    """EnGINE's in-vehicle use case: Table 7 on the network of Fig. 21, CBS for priorities 3 and 2."""
    nodes = " ".join(f"{name}:host" for name in ("zgw1", "zgw2", "zgw3", "zgw4", "zgw5", "zgw6", "vcc1"))
    streams = {}
    for name, (path, pcp, phy, period, flows) in ENGINE_TABLE_7.items():
        path = tuple(ENGINE_PATHS[path].split())
        streams[name] = periodic(
            path[0],
            path[-1],
            pcp=pcp,
            via=path,
            count=flows,
            pattern=model.Periodic(period=period * 1000),
            size=model.FixedSize(octets=phy - 20),
        )
    return scenario(
        network(nodes, links(ENGINE_LINKS), queues=model.Queues(classes=CLASSES_4)),
        streams,
        shapers={"*": model.Shaper(cbs=(model.CbsClass(pcp=3), model.CbsClass(pcp=2)))},
    )


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
