"""The network for OMNeT++ and INET: TsnDevice and TsnSwitch, streams, gates, shapers; without gPTP.

Names of modules and parameters are those of INET 4.5.
"""

from __future__ import annotations

import re
from typing import Any

from tsnbench.exports.network import Network, frame_octets
from tsnbench.exports.notes import Notes

UDP_OCTETS = 28
ETHERNET_OCTETS = 18
TAG_OCTETS = 4


def files(network: Network, notes: Notes) -> dict[str, str]:
    """`network.ned` and `omnetpp.ini`."""
    names = _names(network)
    _tell(network, notes)
    return {"inet/network.ned": _ned(network, names), "inet/omnetpp.ini": _ini(network, names, notes)}


def identifier(text: str) -> str:
    """A name as NED takes it."""
    word = re.sub(r"[^A-Za-z0-9_]", "_", text)
    return word if re.match(r"[A-Za-z_]", word) else f"_{word}"


def _names(network: Network) -> list[str]:
    found: list[str] = []
    for node in network.nodes:
        word = base = identifier(node["name"])
        number = 2
        while word in found:
            word, number = f"{base}_{number}", number + 1
        found.append(word)
    return found


def _type(network: Network) -> str:
    word = identifier(network.document["name"])
    return word[:1].upper() + word[1:] + "Network"


def _ned(network: Network, names: list[str]) -> str:
    lines = [
        "import inet.networks.base.TsnNetworkBase;",
        "import inet.node.ethernet.EthernetLink;",
        "import inet.node.tsn.TsnDevice;",
        "import inet.node.tsn.TsnSwitch;",
        "",
        f"network {_type(network)} extends TsnNetworkBase",
        "{",
        "    submodules:",
    ]
    for node, name in enumerate(names):
        kind = "TsnSwitch" if network.forwards(node) else "TsnDevice"
        lines.append(f"        {name}: {kind} {{ gates: ethg[{len(network.ports_of(node))}]; }}")
    lines.append("    connections:")
    for one, other in network.links():
        left, right = (
            f"{names[network.ports[end]['node']]}.ethg[{network.place(end)}]" for end in (one, other)
        )
        port = network.ports[one]
        lines.append(
            f"        {left} <--> EthernetLink {{ datarate = {port['rate_bps']}bps; "
            f"delay = {port['propagation_ps']}ps; }} "
            f"<--> {right};"
        )
    return "\n".join([*lines, "}"]) + "\n"


def _ini(network: Network, names: list[str], notes: Notes) -> str:
    document = network.document
    lines = [
        "[General]",
        f"network = {_type(network)}",
        f"description = {quoted(document['name'])}",
        f"sim-time-limit = {document['duration_ns'] + document['drain_ns']}ns",
        f"seed-set = {document['seed'] % 2**31}",
        "",
        "# all nodes share one time",
        "*.*.hasTimeSynchronization = false",
        "",
        "# addresses and ways as planned",
        '*.macForwardingTableConfigurator.typename = ""',
        "**.macTable.agingTime = 1000000s",
    ]
    for node, name in enumerate(names):
        lines += ["", f"# {network.nodes[node]['name']}"]
        for port in network.ports_of(node):
            lines.append(
                f"*.{name}.eth[{network.place(port)}].address = {quoted(network.ports[port]['mac'])}"
            )
            lines.append(
                f"*.{name}.eth[{network.place(port)}].bitrate = {network.ports[port]['rate_bps']}bps"
            )
        lines += (
            _bridge(network, node, names, notes)
            if network.forwards(node)
            else _station(network, node, names, notes)
        )
        lines.append(f"*.{name}.hasEgressTrafficShaping = true")
        for port in network.ports_of(node):
            lines += _port(network, port, f"*.{name}.eth[{network.place(port)}].macLayer", notes)
    return "\n".join(lines) + "\n"


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _exported(network: Network, notes: Notes) -> list[dict[str, Any]]:
    return [
        stream
        for stream in network.streams
        if not network.forwards(stream["talker"]) and not network.forwards(stream["listeners"][0]["node"])
    ]


def _station(network: Network, node: int, names: list[str], notes: Notes) -> list[str]:
    name = names[node]
    apps: list[list[str]] = []
    sent = [stream for stream in _exported(network, notes) if stream["talker"] == node]
    for stream in sent:
        to = names[stream["listeners"][0]["node"]]
        end = network.ports[stream["route"][stream["listeners"][0]["route"]]["port"]]["peer"]
        source = f"*.{name}.app[{len(apps)}]"
        apps.append(
            [
                f'{source}.typename = "UdpSourceApp"',
                f"{source}.display-name = {quoted(stream['name'])}",
                f"{source}.io.destAddress = {quoted(f'{to}%eth{network.place(end)}')}",
                f"{source}.io.destPort = {stream['udp_port']}",
                *_source(network, stream, f"{source}.source", notes),
            ]
        )
    for stream in _exported(network, notes):
        if stream["listeners"][0]["node"] == node:
            sink = f"*.{name}.app[{len(apps)}]"
            apps.append(
                [
                    f'{sink}.typename = "UdpSinkApp"',
                    f"{sink}.display-name = {quoted(stream['name'])}",
                    f"{sink}.io.localPort = {stream['udp_port']}",
                ]
            )
    lines = [f"*.{name}.numApps = {len(apps)}", *(line for app in apps for line in app)]
    tagged = [stream for stream in sent if "vid" in stream]
    if tagged:
        lines.append(f"*.{name}.hasOutgoingStreams = true")
        lines += _mapping(
            f"*.{name}.bridging.streamIdentifier.identifier.mapping",
            [
                f"{{stream: {quoted(one['name'])}, packetFilter: expr(udp.destPort == {one['udp_port']})}}"
                for one in tagged
            ],
        )
        lines += _mapping(
            f"*.{name}.bridging.streamCoder.encoder.mapping",
            [f"{{stream: {quoted(one['name'])}, pcp: {one['pcp']}}}" for one in tagged],
        )
    if any(one["listeners"][0]["node"] == node for one in network.streams):
        lines.append(f"*.{name}.hasIncomingStreams = true")
    return lines


def _mapping(parameter: str, rows: list[str]) -> list[str]:
    if len(rows) == 1:
        return [f"{parameter} = [{rows[0]}]"]
    return [f"{parameter} = [{rows[0]},", *(f"    {row}," for row in rows[1:-1]), f"    {rows[-1]}]"]


def _source(network: Network, stream: dict[str, Any], source: str, notes: Notes) -> list[str]:
    pattern = stream["pattern"]
    octets = max(frame_octets(stream["size"]))
    if stream["size"]["kind"] != "frame":
        notes.lost(
            f"the different sizes of {stream['name']}", "its source here has one; written: the largest frame"
        )
    overhead = UDP_OCTETS + ETHERNET_OCTETS + (TAG_OCTETS if "vid" in stream else 0)
    begin = stream["start_ns"]
    lines = [f"{source}.packetLength = {octets - overhead}B"]
    if pattern["kind"] == "periodic":
        begin += pattern["offset_ns"]
        interval = f"{pattern['period_ns']}ns"
        if pattern["jitter_ns"]:
            notes.lost(f"the late releases of {stream['name']}", "intervals drawn one by one would add up")
    elif pattern["kind"] == "poisson":
        interval = f"exponential({pattern['mean_interval_ps']}ps)"
    elif pattern["kind"] == "saturating":
        rate = network.ports[stream["route"][0]["port"]]["rate_bps"]
        interval = f"{(octets + 20) * 8 * 1_000_000_000_000 // rate}ps"
        notes.lost(
            f"the backlog of {stream['name']}",
            "a source does not see its queue; written: one frame per frame time",
        )
    else:
        notes.lost(
            f"the recorded times of {stream['name']}", "its source here has one interval; written: the mean"
        )
        interval = f"{pattern['cycle_ns'] // max(1, len(pattern['gaps_ns']))}ns"
    lines += [f"{source}.productionInterval = {interval}", f"{source}.initialProductionOffset = {begin}ns"]
    if stream["stop_ns"] < network.document["duration_ns"]:
        notes.lost(f"the end of {stream['name']} at {stream['stop_ns']} ns", "the source has no last packet")
    return lines


def _bridge(network: Network, node: int, names: list[str], notes: Notes) -> list[str]:
    name = names[node]
    lines = [f"*.{name}.hasIncomingStreams = true", f"*.{name}.hasOutgoingStreams = true"]
    pcps = sorted({stream["pcp"] for stream in network.streams if "vid" in stream})
    if pcps:
        lines += _mapping(
            f"*.{name}.bridging.streamCoder.decoder.mapping",
            [f'{{pcp: {pcp}, stream: "pcp{pcp}"}}' for pcp in pcps],
        )
        lines += _mapping(
            f"*.{name}.bridging.streamCoder.encoder.mapping",
            [f'{{stream: "pcp{pcp}", pcp: {pcp}}}' for pcp in pcps],
        )
    ways: dict[str, tuple[int, str]] = {}
    for stream in _exported(network, notes):
        end = network.ports[stream["route"][stream["listeners"][0]["route"]]["port"]]["peer"]
        address = f"{names[network.ports[end]['node']]}%eth{network.place(end)}"
        place: int | None = stream["listeners"][0]["route"]
        while place is not None:
            hop = stream["route"][place]
            if network.ports[hop["port"]]["node"] == node:
                have = ways.setdefault(address, (hop["port"], stream["name"]))
                if have[0] != hop["port"]:
                    notes.lost(
                        f"the way of {stream['name']} at {network.nodes[node]['name']}",
                        f"its destination is that of {have[1]}, which goes another way there",
                    )
            place = hop.get("parent")
    if ways:
        lines += _mapping(
            f"*.{name}.macTable.forwardingTable",
            [
                f'{{address: {quoted(to)}, interface: "eth{network.place(port)}"}}'
                for to, (port, _) in ways.items()
            ],
        )
    if network.nodes[node]["processing_ns"]:
        lines.append(f'*.{name}.bridging.directionReverser.delayer.typename = "PacketDelayer"')
        lines.append(
            f"*.{name}.bridging.directionReverser.delayer.delay = {network.nodes[node]['processing_ns']}ns"
        )
    if "cut_through_octets" in network.nodes[node]:
        lines.append(f"*.{name}.hasCutthroughSwitching = true")
        notes.lost(
            f"after how many octets {network.nodes[node]['name']} cuts through",
            "INET decides after the MAC header",
        )
    return lines


def _port(network: Network, number: int, layer: str, notes: Notes) -> list[str]:
    port = network.ports[number]
    queue = f"{layer}.queue"
    classes = len(port["classes"])
    # One column is read: that of the number of classes.
    rows = ", ".join("[" + ", ".join([str(own)] * 8) + "]" for own in port["pcp_to_class"])
    lines = [
        f"{queue}.numTrafficClasses = {classes}",
        f"{queue}.classifier.mapping = [{rows}]",
    ]
    for one in range(classes):
        own = port["classes"][one]
        if "limit_frames" in own:
            lines.append(f"{queue}.queue[{one}].packetCapacity = {own['limit_frames']}")
        if "limit_octets" in own:
            lines.append(f"{queue}.queue[{one}].dataCapacity = {own['limit_octets']}B")
        if "max_sdu_octets" in own:
            notes.lost(f"the largest unit of class {one} at {port['name']}", "INET's queues have none")
        if "cbs" in own:
            algorithm = f"{queue}.transmissionSelectionAlgorithm[{one}]"
            lines.append(f'{algorithm}.typename = "Ieee8021qCreditBasedShaper"')
            lines.append(f"{algorithm}.idleSlope = {own['cbs']['idle_slope_bps']}bps")
            lines.append(f"{algorithm}.sendSlope = {own['cbs']['send_slope_bps']}bps")
            notes.lost("limits of credits", "INET's shaper has its own: as far as the credit runs")
        if "gates" in port:
            lines += _gate(port["gates"], one, f"{queue}.transmissionGate[{one}]")
    gates = port.get("gates")
    if gates and (
        gates.get("changes") or gates.get("initial") is not None or gates.get("cycle_extension_ns")
    ):
        notes.lost(
            f"what {port['name']} has beyond one list of gates",
            "INET's gates have one cycle, from the beginning on",
        )
    if "preemption" in port:
        notes.lost(
            f"the pre-emption of {port['name']}",
            "INET's pre-empting MAC has two queues, express and preemptable, without gates per class",
        )
    return lines


def _gate(gates: dict[str, Any], number: int, gate: str) -> list[str]:
    """Durations in turn, from a change of the gate on; nothing for a gate that never moves."""
    states = [(bool(entry["open"] >> number & 1), entry["interval_ns"]) for entry in gates["entries"]]
    joined: list[tuple[bool, int]] = []
    for state, interval in states:
        if joined and joined[-1][0] == state:
            joined[-1] = (state, joined[-1][1] + interval)
        else:
            joined.append((state, interval))
    lead = 0
    if len(joined) == 1:
        return [f"{gate}.initiallyOpen = {str(joined[0][0]).lower()}"]
    if joined[0][0] == joined[-1][0]:
        # The list must have an even number of durations: its first part goes to the last one.
        lead = joined[0][1]
        joined = [*joined[1:-1], (joined[-1][0], joined[-1][1] + lead)]
    offset = (-gates["base_time_ns"] - lead) % gates["cycle_ns"]
    lines = [
        f"{gate}.initiallyOpen = {str(joined[0][0]).lower()}",
        f"{gate}.durations = [{', '.join(f'{interval}ns' for _, interval in joined)}]",
        f"{gate}.offset = {offset}ns",
    ]
    if gates.get("unguarded"):
        lines.append(f"{gate}.enableImplicitGuardBand = false")
    return lines


def _tell(network: Network, notes: Notes) -> None:
    notes.lost("VLAN identifiers", "ways are by destination here, and the tag carries the priority alone")
    notes.parts(
        network,
        "only hardware with one time, all well, without ingress filters is written",
        "faults",
        "clocks",
        "policing",
        "hosts",
        "taps",
    )
    for stream in network.streams:
        if network.forwards(stream["talker"]) or network.forwards(stream["listeners"][0]["node"]):
            notes.lost(
                f"stream {stream['name']}", "one of its ends forwards, too, and TsnSwitch has no applications"
            )
        if len(stream["listeners"]) > 1:
            notes.lost(f"all listeners of {stream['name']} but the first", "only unicast is written")
        if "vid" not in stream and stream["pcp"]:
            notes.lost(f"the priority of {stream['name']}", "it has no tag that could carry it")
    for stream in network.redundant():
        notes.lost(f"the other ways of {stream['name']}", "only the first one is written")
    for node in network.nodes:
        if "further" in node:
            notes.lost(
                f"processing of {node['name']} beyond its constant part", "the delayer here is constant"
            )
        if "buffer" in node:
            notes.lost(f"the shared memory of {node['name']}", "INET's queues have memory of their own")
        if "learning" in node:
            notes.lost(f"learning at {node['name']}", "addresses are written down")
    for one, other in network.links():
        first, second = network.ports[one], network.ports[other]
        if (first["rate_bps"], first["propagation_ps"]) != (second["rate_bps"], second["propagation_ps"]):
            notes.lost(f"the other direction of {first['name']}", "a channel is the same in both")
