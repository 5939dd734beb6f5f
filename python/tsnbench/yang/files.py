"""One XML document per bridge, and per end station that follows PTP or splits streams."""

from __future__ import annotations

from tsnbench.plan.network import Network, file_name
from tsnbench.plan.notes import Notes
from tsnbench.yang import xml
from tsnbench.yang.bridge import bridges
from tsnbench.yang.frer import frer, handles, identification
from tsnbench.yang.ports import interfaces
from tsnbench.yang.timing import ptp


def instance_data(network: Network, notes: Notes) -> dict[str, str]:
    """`yang.xml` of every node, as `edit-config` takes it."""
    notes.parts(
        network,
        "the modules configure bridges, not talkers or what goes wrong",
        "streams",
        "faults",
        "hosts",
        "taps",
    )
    return {
        f"{file_name(one['name'])}/yang.xml": _node(network, node, notes)
        for node, one in enumerate(network.nodes)
    }


def _node(network: Network, node: int, notes: Notes) -> str:
    config = xml.Element(xml.BASE, "config")
    numbers = handles(network, node)
    interfaces(config, network, node, notes)
    if network.forwards(node):
        bridges(config, network, node, numbers, notes)
    else:
        shaped = [
            network.ports[port]["name"]
            for port in network.ports_of(node)
            if any(key in network.ports[port] for key in ("gates", "preemption"))
            or any("cbs" in one for one in network.ports[port]["classes"])
        ]
        for name in shaped:
            notes.lost("gates, shapers and pre-emption", "the modules of 802.1Q are those of bridges", name)
    identification(config, network, node, numbers)
    frer(config, network, node, numbers, notes)
    ptp(config, network, node, notes)
    one = network.nodes[node]
    if "cut_through_octets" in one:
        notes.lost("cut-through", "the modules have no switch for it", one["name"])
    return config.document()
