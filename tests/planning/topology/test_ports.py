"""Ports by hand: their names, numbers and ends, and which selector's settings they have."""

from __future__ import annotations

from typing import Any

from support.networks import links, network, periodic, scenario
from tsnbench.planning.draft import Draft
from tsnbench.planning.topology.ports import name_ports, shape_ports
from tsnbench.scenario import model


def draft(wires: tuple[model.Link, ...], **changes: Any) -> Draft:
    net = network("a:host b:host c:host", wires)
    return Draft(scenario(net, {"s": periodic("a", "b")}, **changes))


def test_parallel_links_are_numbered_whichever_end_is_written_first() -> None:
    """Port 2n leads along link n as it is written, and port 2n + 1 back. A cable of 1 m takes 5 ns."""
    there = model.Link(a="a", b="b", rate=10**9, cable=1_000)
    back = model.Link(a="b", b="a", rate=10**8, cable=2_000, back_rate=10**7, back_cable=0)
    other = model.Link(a="b", b="c", rate=10**6, back_rate=10**10)
    made = draft((there, other, back))
    name_ports(made)
    assert [
        (port.number, port.name, port.node, port.to, port.copy, port.peer) for port in made.ports
    ] == [
        (0, "a -> b #1", 0, 1, 1, 1),
        (1, "b -> a #1", 1, 0, 1, 0),
        (2, "b -> c", 1, 2, 1, 3),
        (3, "c -> b", 2, 1, 1, 2),
        (4, "b -> a #2", 1, 0, 2, 5),
        (5, "a -> b #2", 0, 1, 2, 4),
    ]  # fmt: skip
    assert [(port.rate_bps, port.propagation_ps) for port in made.ports] == [
        (10**9, 5_000), (10**9, 5_000),
        (10**6, 0), (10**10, 0),
        (10**8, 10_000), (10**7, 0),
    ]  # fmt: skip


def test_each_link_that_is_none_is_named_by_its_place() -> None:
    made = draft(links("a-x a-b y-z c-c b-c"))
    name_ports(made)
    assert [(one.path, one.expected, one.found) for one in made.problems] == [
        ("network.links[0]", "two different nodes", "no node 'x'"),
        ("network.links[2]", "two different nodes", "no node 'y'"),
        ("network.links[3]", "two different nodes", "twice 'c'"),
    ]
    assert [port.name for port in made.ports] == ["a -> b", "b -> a", "b -> c", "c -> b"]


def test_settings_of_several_selectors_add_up() -> None:
    """A key that a later selector leaves out, or sets to None, keeps the value of an earlier one."""
    shapers = {
        "*": model.Shaper(real_rate=9 * 10**8, queues=model.Queues(limit_frames=7, limit_octets=500)),
        "a -> *": model.Shaper(real_rate=None, planned_rate=8 * 10**8),
        "a -> b": model.Shaper(real_rate=5 * 10**8, queues=model.Queues(limit_octets=None)),
        "* -> c": model.Shaper(planned_rate=10**8, queues=None),
    }
    own = model.Queues(limit_frames=100, max_sdu=((3, 200),))
    net = network("a:host b:host c:host", links("a-b a-c"), queues=own)
    made = Draft(scenario(net, {"s": periodic("a", "b")}, shapers=shapers))
    name_ports(made)
    shape_ports(made)
    assert made.problems == []
    ports = {port.name: port for port in made.ports}
    assert {name: (port.rate_bps, port.shaper.planned_rate) for name, port in ports.items()} == {
        "a -> b": (5 * 10**8, 8 * 10**8),
        "b -> a": (9 * 10**8, None),
        "a -> c": (9 * 10**8, 10**8),
        "c -> a": (9 * 10**8, None),
    }
    queues = {name: port.shaper.queues for name, port in ports.items()}
    assert queues["a -> b"] == model.Queues(limit_frames=7, limit_octets=None, max_sdu=((3, 200),))
    for name in ("b -> a", "a -> c", "c -> a"):
        assert queues[name] == model.Queues(limit_frames=7, limit_octets=500, max_sdu=((3, 200),))
