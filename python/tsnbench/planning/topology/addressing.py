"""Flows, and all addresses: MAC, IPv4, VLAN, UDP port.

IEEE 802-2014, 8.4 (locally administered addresses); RFC 1112, 6.4 (multicast); RFC 2365, 6.2.
"""

from __future__ import annotations

from tsnbench.planning.draft import Draft, Flow, Port

PROCESS_DATA_PORT = 17224
"""UDP port of TRDP process data."""
MESSAGE_DATA_PORT = 17225
"""UDP port of TRDP message data."""
FIRST_UDP_PORT = 5001
"""The first port of iperf3; flows get this number and the following ones."""


def _dotted(address: int) -> str:
    return ".".join(str(address >> shift & 0xFF) for shift in (24, 16, 8, 0))


def _mac(number: int) -> str:
    return number.to_bytes(6).hex(":")


def node_ipv4(number: int) -> str:
    """``10.0.0.1`` for the first node."""
    return _dotted((10 << 24) + number + 1)


def port_mac(node: int, port: int) -> str:
    """``02:00:nn:nn:pp:pp``: node and port of the node, both from 1."""
    return _mac((0x02 << 40) + (node + 1 << 16) + port + 1)


def rewritten_mac(flow: int, group: bool) -> str:
    """``02:cb:ff:ff:ff:ff`` with the flow's number, from 1: the destination of member streams with active
    identification; a group address for several listeners."""
    return _mac((0x02CB << 32) + (int(group) << 40) + flow + 1)


def multicast_ipv4(group: int) -> str:
    """``239.192.0.1`` for the first group: organisation-local scope."""
    return _dotted((239 << 24) + (192 << 16) + group + 1)


def multicast_mac(group: int) -> str:
    """The Ethernet address of a group's IPv4 address."""
    return group_mac(multicast_ipv4(group))


def is_group(address: str) -> bool:
    """Whether an IPv4 address is a multicast group's."""
    return 224 <= int(address.partition(".")[0]) <= 239


def group_mac(address: str) -> str:
    """The low 23 bits of a group's IPv4 address under ``01:00:5e``."""
    _, second, third, fourth = map(int, address.split("."))
    return _mac((0x01005E << 24) + ((second & 0x7F) << 16) + (third << 8) + fourth)


def address_nodes(draft: Draft) -> None:
    """Fills the nodes' IPv4 and the ports' MAC addresses."""
    for number, node in enumerate(draft.nodes):
        node.ipv4 = node_ipv4(number)
    used: list[int] = [0] * len(draft.nodes)
    for port in draft.ports:
        port.mac = port_mac(port.node, used[port.node])
        used[port.node] += 1


def name_flows(draft: Draft) -> None:
    """Fills ``flows``: a stream with ``count: n`` becomes ``name.1`` to ``name.n``."""
    numbers = draft.node_numbers
    names: set[str] = set()
    for group, stream in draft.scenario.streams.items():
        ends = (stream.talker, *stream.listeners)
        try:
            talker, *listeners = [numbers[name] for name in ends]
        except KeyError as unknown:
            draft.problem(f"streams.{group}", "nodes of the network", repr(unknown.args[0]))
            continue
        if not listeners:
            draft.problem(f"streams.{group}.to", "at least one listener", "none")
            continue
        if len(set(ends)) < len(ends):
            draft.problem(f"streams.{group}.to", "different nodes", ", ".join(ends))
            continue
        for number in range(stream.count):
            name = group if stream.count == 1 else f"{group}.{number + 1}"
            if name in names:
                draft.problem(f"streams.{group}", "a name that no other flow has", repr(name))
            names.add(name)
            draft.flows.append(Flow(name, group, number, stream, talker, tuple(listeners)))


def address_flows(draft: Draft) -> None:
    """Fills destination addresses and UDP ports; unicast goes to the port where the route ends."""
    for number, flow in enumerate(draft.flows):
        # Payloads identify streams; the port only has to be a valid one.
        trdp = flow.stream.trdp
        own = flow.stream.udp_port
        if trdp is not None:
            own = MESSAGE_DATA_PORT if trdp.is_message else PROCESS_DATA_PORT
        flow.udp_port = own or FIRST_UDP_PORT + number % (65_536 - FIRST_UDP_PORT)
        if len(flow.listeners) > 1:
            flow.destination_mac = multicast_mac(number)
            flow.destination_ipv4 = multicast_ipv4(number)
        else:
            last: Port = draft.ports[flow.route[flow.ends[0]].port]
            flow.destination_mac = draft.ports[last.peer].mac
            flow.destination_ipv4 = draft.nodes[flow.listeners[0]].ipv4
        if flow.stream.address is not None:
            flow.destination_ipv4 = flow.stream.address
            if is_group(flow.stream.address):
                flow.destination_mac = group_mac(flow.stream.address)
