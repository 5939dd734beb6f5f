"""The network for OMNeT++ and INET: nodes, streams, gates, shapers, meters, member streams, links that break.

Names of modules and parameters are those of INET 4.5.4, where each of them was tried (decision 0019). All
nodes share one time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tsnbench.errors import InputError
from tsnbench.exports.inet import bridges, broken_links, losses, meters, ned, ports, stations
from tsnbench.exports.inet.layout import Layout
from tsnbench.exports.inet.paths import Paths
from tsnbench.exports.inet.syntax import identifier, quoted
from tsnbench.plan.network import Network
from tsnbench.plan.notes import Notes

if TYPE_CHECKING:
    from tsnbench.plan.types import PlanDocument

__all__ = ["files", "identifier"]

RECORDED = """\
# Run it in this folder, with INET's setenv sourced: inet -n . -u Cmdenv
# Delays are meanBitLifeTimePerPacket:vector of <node>.app[i].sink. The first line that matches counts.
**.sink.meanBitLifeTimePerPacket.result-recording-modes = vector
**.sink.meanBitLifeTimePerPacket:vector.vector-recording = true
**.vector-recording = false
"""


def files(network: Network, notes: Notes) -> dict[str, str]:
    """`network.ned` and `omnetpp.ini`.

    Raises:
        InputError: no stream is left that INET could send.
    """
    layout = Layout(network)
    paths = Paths(network, layout, notes)
    losses.tell(network, paths, notes)
    if network.streams and not paths.streams:
        raise InputError(
            f"inet: expected a stream that INET can send, found none among {len(network.streams)}"
            "\n  hint: leave inet out of --as"
        )
    cuts = any("cut_through_octets" in node for node in network.nodes)
    breaks = broken_links.script(network, layout)
    document = network.document
    lines = [
        RECORDED,
        "[General]",
        f"network = {layout.network}",
        f"description = {quoted(document['name'])}",
        f"sim-time-limit = {document['duration_ns'] + document['drain_ns']}ns",
        *_warm_up(document, notes),
        f"seed-set = {document['seed'] % 2**31}",
        "",
        "# all nodes share one time",
        "*.*.hasTimeSynchronization = false",
        *(bridges.cut_through(network, layout, notes) if cuts else []),
        *breaks,
        "",
        "# addresses and paths as planned",
        '*.macForwardingTableConfigurator.typename = ""',
        "**.macTable.agingTime = 1000000s",
    ]
    for node in range(len(network.nodes)):
        lines += _node(network, layout, paths, node, notes)
    return {
        "inet/network.ned": ned.text(network, layout, bool(breaks)),
        "inet/omnetpp.ini": "\n".join(lines) + "\n",
    }


def _warm_up(document: PlanDocument, notes: Notes) -> list[str]:
    """The time from which on INET records results."""
    begin = document.get("measure_from")
    if begin is None:
        return []
    if begin["kind"] == "at":
        return [f"warmup-period = {begin['ns']}ns"]
    notes.lost(
        "measure-from settled", "INET's nodes share one time, and its results are those of the whole run"
    )
    return []


def _node(network: Network, layout: Layout, paths: Paths, node: int, notes: Notes) -> list[str]:
    name = layout.names[node]
    lines = ["", f"# {network.nodes[node]['name']}"]
    for port in network.ports_of(node):
        own = f"*.{name}.eth[{network.place(port)}]"
        if node not in layout.hosts:
            lines.append(f"{own}.address = {quoted(network.ports[port]['mac'])}")
        lines.append(f"{own}.bitrate = {network.ports[port]['rate_bps']}bps")
    if layout.switches(node):
        lines += bridges.bridge(network, layout, paths, node, notes)
        lines += meters.meters(network, layout, paths, node, notes)
    else:
        lines += stations.station(network, layout, paths, node, notes)
    lines.append(f"*.{name}.hasEgressTrafficShaping = true")
    for port in network.ports_of(node):
        lines += ports.port(network, paths, port, f"*.{name}.eth[{network.place(port)}].macLayer", notes)
    if node in layout.hosts:
        lines += stations.pair(network, layout, paths, node, notes)
    return lines
