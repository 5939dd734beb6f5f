"""The modules of a node.

INET's TsnSwitch has no applications, and its TsnDevice sends everything through one port. So a host, and a
station with several ports, is two modules: a switch with the node's ports and a device with the applications,
joined by a link that takes no time.
"""

from __future__ import annotations

from tsnbench.exports.inet.syntax import identifier
from tsnbench.plan.network import Network

INNER_BPS = 1_000_000_000_000_000
"""Of the link within a pair: some hundredths of a nanosecond for the largest frame."""


class Layout:
    """Names of modules, and where applications are."""

    def __init__(self, network: Network) -> None:
        self.plan = network
        ends = {stream["talker"] for stream in network.streams} | {
            listener["node"] for stream in network.streams for listener in stream["listeners"]
        }
        self.names: list[str] = []
        """By node: the module with its ports."""
        taken: set[str] = set()
        for node in network.nodes:
            self.names.append(_free(identifier(node["name"]), taken))
        self.hosts: dict[int, str] = {
            node: _free(f"{self.names[node]}_host", taken)
            for node in sorted(ends)
            if network.forwards(node) or len(network.ports_of(node)) > 1
        }
        """By node that is a pair: the module with its applications."""
        word = identifier(network.document["name"])
        self.network = word[:1].upper() + word[1:] + "Network"

    def switches(self, node: int) -> bool:
        """Whether the module with the node's ports is a switch."""
        return self.plan.forwards(node) or node in self.hosts

    def end(self, node: int) -> str:
        """The module with the node's applications; they use its interface eth0."""
        return self.hosts.get(node, self.names[node])

    def inner(self, node: int) -> int:
        """The number of the switch's interface towards the other module of its pair."""
        return len(self.plan.ports_of(node))

    def mac(self, node: int) -> str:
        """The address of a node's applications."""
        return str(self.plan.ports[self.plan.ports_of(node)[0]]["mac"])


def _free(base: str, taken: set[str]) -> str:
    word, number = base, 2
    while word in taken:
        word, number = f"{base}_{number}", number + 1
    taken.add(word)
    return word
