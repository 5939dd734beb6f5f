"""Plans on labs: explicit mappings, equal names, wires; and the reasons why a Plan does not fit."""

from __future__ import annotations

import random
import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.examples import examples
from support.planned import document_of
from tsnbench.hosts import MappingErrors, map_plan, read_inventory
from tsnbench.hosts.inventory import End, Inventory
from tsnbench.hosts.mapping import Mapped
from tsnbench.plan.types import PlanDocument
from tsnbench.planning import plan
from tsnbench.scenario import read_scenario


def document(links: str, streams: str, stations: str = "[cam, dst]", bridges: str = "[s1]") -> PlanDocument:
    """A Plan with these links; each stream is written as ``talker>listener``."""
    written = "".join(
        f"  x{number}: {{from: {one.split('>')[0]}, to: {one.split('>')[1]}, period: 1 ms, frame: 100 B}}\n"
        for number, one in enumerate(streams.split())
    )
    text = (
        f"name: t\nduration: 1 ms\nnetwork:\n  stations: {stations}\n  bridges: {bridges}\n"
        f"  links: {{rate: 1 Gbit/s, between: [{links}]}}\nstreams:\n{written}"
    )
    return document_of(text)


LINE = document("cam -- s1, s1 -- dst", "cam>dst")


def lab(wires: str, hosts: str, devices: str = "", more: str = "") -> Inventory:
    """Machines with the ports that their wires name."""
    ends = re.findall(r"([\w-]+)\.(\w+)", wires)

    def machine(name: str, first: str) -> str:
        ports = [port for other, port in ends if other == name] or ["spare"]
        listed = ", ".join(f"{port}: e-{port}" for port in ports)
        return f"  {name}: {{{first}, ports: {{{listed}}}}}\n"

    text = "hosts:\n" + "".join(machine(name, f"ssh: {name}") for name in hosts.split())
    if devices:
        text += "devices:\n" + "".join(machine(name, f"by-hand: {name}.txt") for name in devices.split())
    return read_inventory(f"{text}wires: [{wires}]\n{more}")


def refusal(inventory: Inventory, of: PlanDocument = LINE, **given: str) -> str:
    with pytest.raises(MappingErrors) as raised:
        map_plan(inventory, of, given)
    return str(raised.value)


def test_the_map_names_machines_and_links_take_their_wires() -> None:
    inventory = lab("a.p - b.q, b.r - c.s", "a b c", more="map: {cam: a, s1: b, dst: c, other: b}")
    mapped = map_plan(inventory, LINE, {})
    assert mapped == Mapped(
        {"cam": "a", "dst": "c", "s1": "b"},
        {
            "cam -> s1": End("a", "p"),
            "s1 -> cam": End("b", "q"),
            "s1 -> dst": End("b", "r"),
            "dst -> s1": End("c", "s"),
        },
        {"cam -> s1": "e-p", "s1 -> cam": "e-q", "s1 -> dst": "e-r", "dst -> s1": "e-s"},
    )
    assert mapped.node("b") == "s1"
    assert mapped.node("z") is None
    assert mapped.ports_of("b") == {"s1 -> cam": "e-q", "s1 -> dst": "e-r"}


def test_what_is_given_comes_before_the_map_and_the_map_before_equal_names() -> None:
    wires = "cam.p - s1.q, s1.r - dst.s, x.p - s1.t"
    names = lab(wires, "cam s1 dst x")
    assert map_plan(names, LINE, {}).machines == {"cam": "cam", "dst": "dst", "s1": "s1"}
    assert not map_plan(names, LINE, {}).notes
    mapped = lab(wires, "cam s1 dst x", more="map: {cam: x}")
    assert map_plan(mapped, LINE, {}).machines["cam"] == "x"
    assert map_plan(mapped, LINE, {"cam": "cam"}).machines["cam"] == "cam"


def test_wires_decide_what_is_left() -> None:
    inventory = lab("a.p - sw.p1, sw.p2 - b.p", "a b", "sw")
    mapped = map_plan(inventory, LINE, {})
    assert mapped.machines == {"cam": "a", "dst": "b", "s1": "sw"}
    assert mapped.found == ("cam", "dst", "s1")
    first, second = mapped.notes
    assert first == "found by wires: cam is a, dst is b, s1 is sw"
    assert second == (
        "other machines fit, too: cam could be b; the first in the order of the inventory is taken, and "
        "--map cam=b takes the other"
    )
    assert map_plan(inventory, LINE, {"cam": "b"}).machines == {"cam": "b", "dst": "a", "s1": "sw"}
    assert map_plan(inventory, LINE, {"cam": "b"}).notes == ("found by wires: dst is a, s1 is sw",)


def test_a_named_port_places_both_ends_of_its_link() -> None:
    inventory = lab("a.p - sw.p1, a.q - sx.p1, sw.p2 - b.p, sx.p2 - b.q", "a b", "sw sx")
    assert map_plan(inventory, LINE, {}).machines["s1"] == "sw"
    for named in ({"cam -> s1": "a.q"}, {"s1->cam": "sx.p1"}, {"cam->s1": "a.q", "cam": "a", "s1": "sx"}):
        mapped = map_plan(inventory, LINE, named)
        assert mapped.machines == {"cam": "a", "dst": "b", "s1": "sx"}
        assert mapped.interfaces["dst -> s1"] == "e-q"


def test_parallel_links_take_wires_in_order_unless_they_are_named() -> None:
    parallel = document("cam -- s1, cam -- s1, s1 -- dst", "cam>dst")
    inventory = lab("cam.p - s1.p, cam.q - s1.q, s1.r - dst.p", "cam s1 dst")
    mapped = map_plan(inventory, parallel, {})
    ends = {port: str(end) for port, end in mapped.ends.items() if port.startswith("cam")}
    assert ends == {"cam -> s1 #1": "cam.p", "cam -> s1 #2": "cam.q"}
    assert mapped.notes == (
        "cam and s1: 2 links on 2 wires, in the order of the inventory unless ports are mapped",
    )
    turned = map_plan(inventory, parallel, {"cam->s1#2": "cam.p"})
    assert {str(turned.ends[f"s1 -> cam #{number}"]) for number in (1,)} == {"s1.q"}
    assert str(turned.ends["s1 -> cam #2"]) == "s1.p"


def test_talkers_and_listeners_are_hosts() -> None:
    inventory = lab("a.p - sw.p1, sw.p2 - c.p", "a", "sw c")
    assert refusal(inventory) == (
        "lab.yaml: node dst: expected a host with 1 wire, to s1, found none: a is cam; sw is s1; "
        "c is a device, and programs that talk and listen need a host; tried with s1 on sw, cam on a\n"
        "  hint: add wires that the inventory does not have, or name nodes by --map NODE=MACHINE"
    )
    assert refusal(inventory, dst="c").splitlines()[0] == (
        "--map dst=c: node dst: expected a host with 1 wire, found c, which is a device, and programs that "
        "talk and listen need a host"
    )


def test_reasons_why_a_plan_does_not_fit() -> None:
    two = lab("a.p - b.p", "a b")
    assert refusal(two) == (
        "lab.yaml: expected 3 machines for cam, dst, s1, found 2 machines (a, b)\n"
        "  hint: each node needs a machine of its own: add some to the inventory, or take a smaller scenario"
    )
    star = lab("a.p - b.p, c.p - d.p", "a b c d")
    assert refusal(star).splitlines()[0] == (
        "lab.yaml: node s1: expected a host or device with 2 wires, found none: a has 1 wire of 2 links; "
        "b has 1 wire of 2 links; c has 1 wire of 2 links; d has 1 wire of 2 links"
    )
    unwired = lab("a.p - b.p, b.q - d.p", "a b c d")
    assert refusal(unwired, cam="a", s1="b", dst="c") == (
        "--map dst=c: node dst: expected a host with 1 wire, found c, which has 0 wires of 1 link"
    )
    apart = lab("a.p - b.p, b.q - d.p, c.p - d.q", "a b c d")
    assert refusal(apart, cam="a", s1="b", dst="c") == (
        "lab.yaml: link s1 -> dst: expected 1 wire between b (s1) and c (dst), found none\n"
        "  hint: connect them and write b.PORT - c.PORT under wires:, or map others"
    )


def test_no_two_nodes_share_a_machine() -> None:
    inventory = lab("a.p - b.q, b.r - c.s", "a b c", more="map: {cam: a, dst: a}")
    assert refusal(inventory) == (
        "lab.yaml:6:15: node dst: expected a for dst alone, found cam on it already (lab.yaml:6:7)\n"
        "  hint: map dst or cam to another one; each node needs a machine of its own"
    )


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("cem", "a", "expected a node of the Plan, found cem\n  hint: did you mean cam?"),
        ("cam", "z", "expected a host or device of the inventory, found z\n  hint: known: a, b, c"),
        ("cam -> s2", "a.p", "expected a port of the Plan, found cam -> s2\n  hint: did you mean cam -> s1?"),
        ("cam -> s1", "a.x", "expected a port of the inventory, found a.x\n  hint: did you mean a.p?"),
        ("cam -> s1", "a", "expected a port of the inventory, found a"),
    ],
)
def test_what_is_given_names_what_is_there(name: str, value: str, said: str) -> None:
    inventory = lab("a.p - b.q, b.r - c.s", "a b c")
    assert refusal(inventory, **{name: value}).startswith(f"--map {name}={value}: {said}")


def test_named_ports_that_contradict_each_other_are_refused() -> None:
    inventory = lab("a.p - b.q, b.r - c.s", "a b c")
    apart = refusal(inventory, **{"cam -> s1": "a.p", "dst -> s1": "b.q"})
    assert "node s1: expected one machine for s1, found b and a" in apart
    twice = refusal(inventory, **{"cam -> s1": "a.p", "s1 -> dst": "b.q", "dst -> s1": "a.p"})
    assert "port dst -> s1: expected a.p for it alone, found cam -> s1 on it already" in twice
    unwired = lab("a.p - b.q, b.r - c.s", "a b c d")
    assert "expected a wire at d.spare, found none" in refusal(unwired, **{"cam -> s1": "d.spare"})
    other = lab("a.p - b.q, b.r - c.s, a.t - b.u", "a b c")
    ends = {"cam -> s1": "a.p", "s1 -> cam": "b.u"}
    assert refusal(other, **ends) == (
        "--map cam -> s1=a.p: port cam -> s1: expected a wire between a and b at a.p and b.u, "
        "found a.p - b.q\n"
        "  hint: write it under wires:, or map cam -> s1 to another port"
    )


def test_a_very_long_search_ends() -> None:
    names = [f"n{number}" for number in range(14)]
    links = ", ".join(f"{a} -- {b}" for a, b in pairwise(names))
    long = document(links, "n0>n13", stations="[n0, n13]", bridges=f"[{', '.join(names[1:-1])}]")
    # Two complete halves without a path between them.
    machines = [f"m{number}" for number in range(14)]
    wires = [
        f"{a}.to{b} - {b}.to{a}"
        for half in (machines[:7], machines[7:])
        for number, a in enumerate(half)
        for b in half[number + 1 :]
    ]
    said = refusal(lab(", ".join(wires), " ".join(machines)), long)
    assert "found none" in said


@st.composite
def networks(draw: st.DrawFn) -> tuple[int, list[tuple[int, int]]]:
    """Connected networks: a tree and some additional links, also parallel ones."""
    nodes = draw(st.integers(2, 9))
    tree = [(draw(st.integers(0, number - 1)), number) for number in range(1, nodes)]
    pairs = st.tuples(st.integers(0, nodes - 1), st.integers(0, nodes - 1))
    more = draw(st.lists(pairs.filter(lambda pair: pair[0] != pair[1]), max_size=5))
    return nodes, tree + more


@examples(0.6)
@given(networks(), st.randoms(use_true_random=False))
def test_a_shuffled_copy_of_a_network_maps_back(
    network: tuple[int, list[tuple[int, int]]], chance: random.Random
) -> None:
    nodes, links = network
    names = [f"n{number}" for number in range(nodes)]
    between = ", ".join(f"n{a} -- n{b}" for a, b in links)
    text = (
        f"name: t\nduration: 1 ms\nnetwork:\n  hosts: [{', '.join(names)}]\n"
        f"  links: {{rate: 1 Gbit/s, between: [{between}]}}\n"
        f"streams: {{x: {{from: n0, to: n{nodes - 1}, period: 1 ms, frame: 100 B}}}}\n"
    )
    (scenario,) = read_scenario(text)
    made = plan(scenario).document
    machines = [f"m{number}" for number in range(nodes)]
    chance.shuffle(machines)
    wires = [
        f"{machines[a]}.p{number} - {machines[b]}.q{number}"
        if chance.random() < 0.5
        else f"{machines[b]}.q{number} - {machines[a]}.p{number}"
        for number, (a, b) in enumerate(links)
    ]
    chance.shuffle(wires)
    listed = sorted(machines)
    inventory = lab(", ".join(wires), " ".join(listed))
    mapped = map_plan(inventory, made, {})
    holds(inventory, made, mapped)
    # The names of the network, given as an explicit map, lead back to the same nodes.
    own = dict(zip(names, machines, strict=True))
    assert map_plan(inventory, made, own).machines == own


def holds(inventory: Inventory, made: PlanDocument, mapped: Mapped) -> None:
    """Every node has its own machine, and every link its own wire between the machines of its nodes."""
    assert len(set(mapped.machines.values())) == len(made["nodes"])
    assert len(set(mapped.ends.values())) == len(made["ports"])
    wires = {frozenset(wire.ends) for wire in inventory.wires}
    for port in made["ports"]:
        end, far = mapped.ends[port["name"]], mapped.ends[made["ports"][port["peer"]]["name"]]
        assert frozenset((end, far)) in wires
        assert end.machine == mapped.machines[made["nodes"][port["node"]]["name"]]
        assert mapped.interfaces[port["name"]] == inventory.interface(end)
