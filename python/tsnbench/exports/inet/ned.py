"""`network.ned`: modules and links."""

from __future__ import annotations

from tsnbench.exports.inet.layout import INNER_BPS, Layout
from tsnbench.plan.network import Network


def text(network: Network, layout: Layout, breaks: bool) -> str:
    """``breaks``: links break, which a scenario manager does."""
    lines = [
        *(["import inet.common.scenario.ScenarioManager;"] if breaks else []),
        "import inet.networks.base.TsnNetworkBase;",
        "import inet.node.ethernet.EthernetLink;",
        "import inet.node.tsn.TsnDevice;",
        "import inet.node.tsn.TsnSwitch;",
        "",
        f"network {layout.network} extends TsnNetworkBase",
        "{",
        "    submodules:",
        *(["        scenarioManager: ScenarioManager;"] if breaks else []),
    ]
    for node, name in enumerate(layout.names):
        kind = "TsnSwitch" if layout.switches(node) else "TsnDevice"
        gates = len(network.ports_of(node)) + (node in layout.hosts)
        lines.append(f"        {name}: {kind} {{ gates: ethg[{gates}]; }}")
        if node in layout.hosts:
            lines.append(f"        {layout.hosts[node]}: TsnDevice {{ gates: ethg[1]; }}")
    lines.append("    connections:")
    for one, other in network.links():
        left, right = (
            f"{layout.names[network.ports[end]['node']]}.ethg[{network.place(end)}]" for end in (one, other)
        )
        port = network.ports[one]
        lines.append(_link(left, right, port["rate_bps"], port["propagation_ps"]))
    for node, host in layout.hosts.items():
        lines.append(
            _link(f"{layout.names[node]}.ethg[{layout.inner(node)}]", f"{host}.ethg[0]", INNER_BPS, 0)
        )
    return "\n".join([*lines, "}"]) + "\n"


def _link(left: str, right: str, bps: int, delay_ps: int) -> str:
    return f"        {left} <--> EthernetLink {{ datarate = {bps}bps; delay = {delay_ps}ps; }} <--> {right};"
