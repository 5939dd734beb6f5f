"""Addresses by hand: multicast groups, and the addresses that active identification writes."""

from __future__ import annotations

import pytest

from support.networks import line, links, network, periodic, scenario
from tsnbench.planning.draft import Draft
from tsnbench.planning.routing.routes import route_flows
from tsnbench.planning.topology.addressing import (
    address_flows,
    address_nodes,
    group_mac,
    is_group,
    multicast_ipv4,
    multicast_mac,
    name_flows,
    node_ipv4,
    port_mac,
    rewritten_mac,
)
from tsnbench.planning.topology.ports import name_ports
from tsnbench.scenario import model
from tsnbench.scenario.model.streams import Trdp


@pytest.mark.parametrize(
    ("address", "group"),
    [("223.255.255.255", False), ("224.0.0.0", True), ("239.255.255.255", True), ("240.0.0.0", False)],
)
def test_224_to_239_are_groups(address: str, group: bool) -> None:
    """224.0.0.0/4: RFC 5771."""
    assert is_group(address) is group


def test_a_group_has_the_low_23_bits_of_its_address() -> None:
    """RFC 1112, 6.4: of the second octet seven bits."""
    assert group_mac("239.192.1.2") == "01:00:5e:40:01:02"
    assert group_mac("224.127.255.255") == "01:00:5e:7f:ff:ff"
    assert group_mac("224.128.0.1") == "01:00:5e:00:00:01"
    assert (multicast_mac(0), multicast_mac(255)) == ("01:00:5e:40:00:01", "01:00:5e:40:01:00")
    assert multicast_mac(65_536) == "01:00:5e:41:00:01"


def test_rewritten_addresses_are_local_and_those_of_groups_have_the_group_bit() -> None:
    """Bit 1 of the first octet: locally administered; bit 0: a group."""
    assert rewritten_mac(0, False) == "02:cb:00:00:00:01"
    assert rewritten_mac(299, False) == "02:cb:00:00:01:2c"
    assert rewritten_mac(0, True) == "03:cb:00:00:00:01"


def flows_of(**streams: model.Stream) -> Draft:
    """The draft of the line talker -> b1 -> listener with named flows."""
    made = Draft(line().model_copy(update={"streams": streams}))
    name_ports(made)
    address_nodes(made)
    name_flows(made)
    return made


def test_nodes_and_ports_have_addresses_of_their_places() -> None:
    """talker, b1 and listener are the nodes 1 to 3; b1 has two ports."""
    made = flows_of()
    assert [node.ipv4 for node in made.nodes] == ["10.0.0.1", "10.0.0.2", "10.0.0.3"]
    assert {port.name: port.mac for port in made.ports} == {
        "talker -> b1": "02:00:00:01:00:01",
        "b1 -> talker": "02:00:00:02:00:01",
        "b1 -> listener": "02:00:00:02:00:02",
        "listener -> b1": "02:00:00:03:00:01",
    }
    star = Draft(scenario(network("a:bridge b:host c:host d:host", links("a-b a-c a-d")), {}))
    name_ports(star)
    address_nodes(star)
    assert [port.mac for port in star.ports if port.node == 0] == [
        "02:00:00:01:00:01",
        "02:00:00:01:00:02",
        "02:00:00:01:00:03",
    ]
    assert (node_ipv4(254), node_ipv4(255), node_ipv4(65_535)) == ("10.0.0.255", "10.0.1.0", "10.1.0.0")
    assert port_mac(0xFFFE, 0xFFFE) == "02:00:ff:ff:ff:ff"
    assert multicast_ipv4(255) == "239.192.1.0"


def test_flows_are_named_and_numbered_in_the_order_of_streams() -> None:
    made = flows_of(one=periodic("talker", "listener"), two=periodic("listener", ("b1", "talker"), count=2))
    assert [(flow.name, flow.group, flow.number, flow.talker, flow.listeners) for flow in made.flows] == [
        ("one", "one", 0, 0, (2,)),
        ("two.1", "two", 0, 2, (1, 0)),
        ("two.2", "two", 1, 2, (1, 0)),
    ]


def test_every_stream_that_cannot_be_named_is_told() -> None:
    """Each of them leaves the others as they are."""
    made = flows_of(
        far=periodic("x", "listener"),
        away=periodic("talker", ("listener", "y", "z")),
        none=periodic("talker", ()),
        back=periodic("talker", ("listener", "talker")),
        twice=periodic("talker", ("listener", "listener")),
        good=periodic("talker", "listener", count=2),
        **{"good.2": periodic("talker", "listener")},
    )
    assert [(one.path, one.expected, one.found) for one in made.problems] == [
        ("streams.far", "nodes of the network", "'x'"),
        ("streams.away", "nodes of the network", "'y'"),
        ("streams.none.to", "at least one listener", "none"),
        ("streams.back.to", "different nodes", "talker, listener, talker"),
        ("streams.twice.to", "different nodes", "talker, listener, listener"),
        ("streams.good.2", "a name that no other flow has", "'good.2'"),
    ]
    assert [flow.name for flow in made.flows] == ["good.1", "good.2", "good.2"]


@pytest.mark.parametrize(
    ("number", "port"), [(0, 5_001), (1, 5_002), (60_534, 65_535), (60_535, 5_001), (60_536, 5_002)]
)
def test_flows_have_the_ports_from_5001_to_65535_in_turn(number: int, port: int) -> None:
    made = flows_of(s=periodic("talker", "listener"))
    route_flows(made)
    (flow,) = made.flows
    made.flows = [flow] * (number + 1)
    address_flows(made)
    assert flow.udp_port == port


def test_destinations_of_flows() -> None:
    """One listener has its own addresses, a group those of its number; an address that is written goes over
    both, and one of a group has the MAC address of the group."""
    both = ("b1", "listener")
    made = flows_of(
        one=periodic("talker", "listener"),
        many=periodic("talker", both),
        given=periodic("talker", "listener", address="10.9.8.7", udp_port=1),
        joined=periodic("talker", "listener", address="239.0.1.2"),
        other=periodic("talker", both, address="224.0.0.9"),
        process=periodic("talker", "listener", trdp=Trdp(com_id=1, data_set=64)),
    )
    route_flows(made)
    address_flows(made)
    assert [(flow.destination_ipv4, flow.destination_mac, flow.udp_port) for flow in made.flows] == [
        ("10.0.0.3", "02:00:00:03:00:01", 5_001),
        ("239.192.0.2", "01:00:5e:40:00:02", 5_002),
        ("10.9.8.7", "02:00:00:03:00:01", 1),
        ("239.0.1.2", "01:00:5e:00:01:02", 5_004),
        ("224.0.0.9", "01:00:5e:00:00:09", 5_005),
        ("10.0.0.3", "02:00:00:03:00:01", 17_224),
    ]
