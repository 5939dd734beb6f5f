"""``lab.yaml`` of a lab: one host for each node of a Plan, with the names of its interfaces."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tsnbench.plan.network import Network


def port_name(network: Network, port: int) -> str:
    """The interface of a port on its host."""
    return f"eth{network.place(port) + 1}"


def inventory(network: Network, words: str, sync: str, clock: str = "") -> str:
    """``lab.yaml`` of a network, one host for each node; ``clock`` is that of all hosts, if it is stated."""
    more = f", clock: {clock}" if clock else ""
    names = [node["name"] for node in network.nodes]
    lines = [*(f"# {line}" for line in words.splitlines()), "hosts:"]
    for number, name in enumerate(names):
        ports = ", ".join(
            f"{port_name(network, port)}: {port_name(network, port)}" for port in network.ports_of(number)
        )
        lines.append(f"  {name}: {{ssh: {name}, ports: {{{ports}}}{more}}}")
    wires = [
        " - ".join(f"{names[network.ports[port]['node']]}.{port_name(network, port)}" for port in link)
        for link in network.links()
    ]
    lines += ["wires:", *(f"  - {wire}" for wire in wires)]
    lines += [f"sync: {sync}"]
    return "\n".join(lines) + "\n"
