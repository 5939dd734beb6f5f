"""What an import knows of a model, and what it writes down of it."""

from __future__ import annotations

import random
import re
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


def valid_name(text: str, taken: set[str], instead: str) -> str:
    """A name of a scenario from a text of INET; names that are taken get a number."""
    word = re.sub(r"[^A-Za-z0-9_.+-]+", "-", text.replace("[", "").replace("]", "")).strip("-.")
    if not re.match(r"[A-Za-z]", word):
        word = f"{instead}-{word}".strip("-")
    if word in ("all", "bridges", "default", "record", "within", "gptp", "ptp", "none", "table"):
        word += "-1"
    found, number = word, 2
    while found in taken:
        found, number = f"{word}-{number}", number + 1
    taken.add(found)
    return found


def duration(seconds: Fraction) -> str:
    """A time in the largest unit in which it is a whole number; rounded to ns."""
    ns = round(seconds * 10**9)
    for unit, factor in (("s", 10**9), ("ms", 10**6), ("us", 10**3)):
        if ns % factor == 0:
            return f"{ns // factor} {unit}"
    return f"{ns} ns"


def rate(bps: Fraction | int) -> str:
    """A rate in the largest unit in which it is short and exact; rounded to bit/s."""
    whole = round(bps)
    for unit, factor in (("Gbit/s", 10**9), ("Mbit/s", 10**6), ("kbit/s", 10**3)):
        if whole >= factor and whole % (factor // 100) == 0:
            return f"{float(Fraction(whole, factor)):.12g} {unit}"
    return f"{whole} bit/s"


def ppm(value: Fraction) -> str:
    """A drift."""
    return f"{float(value):.9g} ppm"
