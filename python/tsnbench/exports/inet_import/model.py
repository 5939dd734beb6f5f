"""What an import knows of a model, and what it writes down of it."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from fractions import Fraction

from tsnbench.exports.inet_import.parameters import Parameters, Setting
from tsnbench.exports.inet_import.topology import Topology


@dataclass
class Stream:
    """A stream of the scenario; INET's application is at ``app``."""

    name: str
    app: str
    place: str
    talker: str
    listeners: list[str]
    port: int
    address: str
    packet_name: str
    """What the names of its packets begin with: filters of INET match them."""
    keys: dict[str, object] = field(default_factory=dict)
    """Size, release pattern and all further keys, as they are written."""
    rows: list[tuple[int, int]] = field(default_factory=list)
    """Time in ns and payload in octets of each packet, where these are sampled."""
    stop: Fraction | None = None
    """When it ends, in s."""
    period: Fraction = Fraction(0)
    """The exact period in s, if it has one."""
    payload: int = 0
    """Octets of its largest packet, without headers."""
    headers: int = 28
    """Octets of the headers of UDP and IP; 0 for applications directly above Ethernet."""
    identified: str = ""
    """The name of the stream in INET, behind its stream identification."""
    pcp: int | None = None
    """None: untagged."""
    vlan: int | None = None
    written: int | None = None
    """The PCP in the scenario: another one where INET sorts by something else than the PCP."""
    request: int = 0
    """The VLAN that the application requests; some classifiers of INET sort by it."""

    @property
    def counted(self) -> int:
        """Octets of a packet with headers of UDP and IP, which INET's meters measure."""
        return self.payload + self.headers

    @property
    def frame(self) -> int:
        """Octets from destination address to FCS."""
        return self.framed(self.payload)

    def framed(self, payload: int) -> int:
        """Octets of a frame with so many octets: those of INET, also where a tag is written."""
        return max(payload + self.headers + 18 + (0 if self.pcp is None else 4), 64)


@dataclass
class Model:
    """A network of INET with its parameters, and the scenario as far as it is made."""

    topology: Topology
    parameters: Parameters
    seed: int
    limit: Fraction
    """The end of the simulation in s."""
    streams: list[Stream] = field(default_factory=list)
    lost: list[tuple[str, str]] = field(default_factory=list)
    """What is not taken, and its file and line."""
    decided: dict[str, list[str]] = field(default_factory=dict)
    """What was decided, and for whom."""
    packets: int = 0
    """Packets of all recordings so far."""
    files: dict[str, str] = field(default_factory=dict)
    """Recordings and traces beside the scenario."""
    passed: set[str] = field(default_factory=set)
    """Nodes that some stream passes through, as far as paths are written down."""
    names: dict[str, str] = field(default_factory=dict)
    """The name of each node in the scenario."""

    def talks(self, node: str, rest: str) -> str:
        """The path of a parameter of the module with a node's applications."""
        return self.path(self.topology.nodes[node].talks, rest)

    def path(self, node: str, rest: str) -> str:
        return f"{self.topology.network}.{node}.{rest}"

    def decide(self, what: str, who: str) -> None:
        """A decision of the import, for the scenario's comments."""
        having = self.decided.setdefault(what, [])
        if who not in having:
            having.append(who)

    def lose(self, what: str, place: str) -> None:
        """A line that is not taken."""
        if (what, place) not in self.lost:
            self.lost.append((what, place))

    def lose_setting(self, what: str, setting: Setting | None) -> None:
        if setting is not None:
            self.lose(what, setting.place)

    def draw(self, path: str) -> random.Random:
        """Random values of a parameter: the same in each import."""
        return random.Random(f"{self.seed}/{path}")


def ppm(value: Fraction) -> str:
    """A drift."""
    return f"{float(value):.9g} ppm"
