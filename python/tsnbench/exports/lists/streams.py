"""The scenario of messages: their network, or one bridge for all nodes, and a stream for each message."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from tsnbench.errors import ContentError
from tsnbench.exports import scenario_text
from tsnbench.exports.lists.messages import LARGEST_PAYLOAD, Message, Read
from tsnbench.exports.scenario_text import Notes, duration, flow, folded, listed, one_line, valid_name

PERIODS = 10
"""The scenario lasts as many of the longest period, between these limits in ns."""
SHORTEST_NS, LONGEST_NS = 10**7, 10**10
SWITCH = "switch"
RATE = "1 Gbit/s"
MOST_LOST = 1000
"""Lines of rows that are not taken."""
MOST_NAMED = 8


@dataclass(frozen=True)
class Network:
    """A network that is there already."""

    file: str
    lines: Sequence[str]
    """Its lines in YAML, without their indent."""
    nodes: Collection[str]
    """The nodes that can talk and listen."""


def scenario(
    file: str,
    source: str,
    decided: Iterable[str],
    read: Read,
    network: Network | None = None,
    rate: str = RATE,
) -> str:
    """A scenario's YAML.

    Args:
        file: the name of the list.
        source: where it is from, for the head of the scenario.
        decided: what was decided while it was read.
        read: the messages.
        network: the network; without one, all nodes are at one bridge.
        rate: of the links then.

    Raises:
        ContentError: the network has none of the talkers and listeners.
    """
    names = _Names(network, rate)
    lines = _streams(read, names)
    if not lines:
        raise ContentError(
            f"{file}: expected senders and receivers of {network.file if network else 'a network'}, "
            f"found none{'; ' + read.lost[0] if read.lost else ''}"
        )
    longest = max(one.period_ns for one in read.messages)
    until = max(min(max(PERIODS * longest, SHORTEST_NS), LONGEST_NS), 2 * longest)
    head = {"name": valid_name(Path(file).stem, set(), "m"), "duration": duration(Fraction(until, 10**9))}
    told = [*decided, *_decided(read, names)]
    comments = [source, *(["Decided here:", *(f"  {one_line(one)}" for one in told)] if told else [])]
    if read.lost:
        comments.append("Not taken, by row:" if read.rows else "Not taken:")
        comments += [f"  {one_line(one)}" for one in read.lost[:MOST_LOST]]
        if len(read.lost) > MOST_LOST:
            comments.append(f"  and {len(read.lost) - MOST_LOST} more")
    return scenario_text.text(comments, head, names.network(), ["streams:", *lines], Notes())


class _Names:
    """Names of nodes in the scenario, for names in the matrix."""

    def __init__(self, network: Network | None, rate: str) -> None:
        self.rate = rate
        self.given = network
        self._taken: set[str] = {SWITCH}
        self._known = {one.lower(): one for one in network.nodes} if network else {}
        self.found: dict[str, str] = {}
        self.written: dict[str, dict[str, None]] = {}
        """How the list writes each name."""

    def of(self, name: str) -> str | None:
        """The node; None if the given network does not have it."""
        if self.given is not None:
            return self._known.get(valid_name(name, set(), "n").lower())
        key = " ".join(name.split()).casefold()
        if key not in self.found:
            self.found[key] = valid_name(name, self._taken, "n")
        self.written.setdefault(key, {})[name] = None
        return self.found[key]

    def several(self) -> list[str]:
        """Names of one node that differ in upper and lower case."""
        return [one for names in self.written.values() if len(names) > 1 for one in names]

    def joined(self) -> list[str]:
        """Names such as ``A/B``, which may mean two nodes: their parts are names of the list, too."""
        parts = {key: re.split(r"[/&+]", key) for key in self.written}
        return [
            next(iter(self.written[key]))
            for key, names in parts.items()
            if len(names) > 1 and any(one.strip() in self.written for one in names)
        ]

    def network(self) -> Sequence[str]:
        """The lines of the network."""
        if self.given is not None:
            return self.given.lines
        ends = list(self.found.values())
        return [
            f"bridges: [{SWITCH}]",
            *folded("stations: [", ends),
            "links:",
            f"  rate: {self.rate}",
            *folded("  between: [", [f"{one} -- {SWITCH}" for one in ends]),
        ]


def _decided(read: Read, names: _Names) -> list[str]:
    found = []
    if names.given is None:
        found.append(
            f"the list has no network; here all {len(names.found)} nodes are at one bridge, at {names.rate}"
        )
    else:
        found.append(f"the network is that of {Path(names.given.file).name}")
    plain = [one.name for one in read.messages if one.pcp is None]
    if len(plain) == len(read.messages):
        found.append("the list has no priorities; all messages have PCP 0")
    elif plain:
        found.append(f"messages without a priority have PCP 0: {_few(plain)}")
    if not any(one.deadline_ns is not None for one in read.messages):
        found.append("the list has no deadlines; no message has a requirement")
    if read.repeated:
        found.append(f"{read.repeated} rows tell further receivers or signals of a message")
    large = [one.name for one in read.messages if not one.whole_frame and one.octets > LARGEST_PAYLOAD]
    if large:
        found.append(f"messages of more than {LARGEST_PAYLOAD} B are sent as several frames: {_few(large)}")
    if several := names.several():
        found.append(f"names that differ in upper and lower case are one node: {_few(several)}")
    if names.given is None and (joined := names.joined()):
        found.append(f"names with a sign between other names are one node, not two: {_few(joined)}")
    if several := [name for name, times in Counter(one.name for one in read.messages).items() if times > 1]:
        found.append(f"messages of one name have numbers: {_few(several)}")
    if read.to_all:
        found.append(f"receivers `all` are all other nodes of the list: {_few(read.to_all)}")
    if read.unused:
        found.append(f"columns that are not used: {', '.join(read.unused)}")
    return found


def _few(names: list[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more


def _streams(read: Read, names: _Names) -> list[str]:
    taken: set[str] = set()
    lines: list[str] = []
    for one in read.messages:
        keys = _keys(one, read, names)
        if keys is not None:
            lines.append(f"  {valid_name(one.name, taken, 's')}: {flow(keys)}")
    return lines


def _keys(one: Message, read: Read, names: _Names) -> dict[str, object] | None:
    """The keys of a stream; None if a given network does not have its nodes."""
    talker = names.of(one.talker)
    listeners = dict.fromkeys(names.of(name) for name in one.listeners)
    unknown = [name for name in (one.talker, *one.listeners) if names.of(name) is None]
    if unknown:
        few = ", ".join(unknown[:4])
        read.lost.append(f"{one.row}: {one.name}: no such node in the network: {few}")
    to = [name for name in listeners if name is not None and name != talker]
    if talker is not None and not to and not unknown:
        read.lost.append(f"{one.row}: {one.name}: its sender is its only receiver")
    if talker is None or not to:
        return None
    size = {"frame" if one.whole_frame else "payload": f"{one.octets} B"}
    if not one.whole_frame and one.octets > LARGEST_PAYLOAD:
        size = {"units": f"[{one.octets} B]"}
    requires = None if one.deadline_ns is None else flow({"delay": _time(one.deadline_ns)})
    return {
        "from": talker,
        "to": to[0] if len(to) == 1 else listed(to),
        "pcp": one.pcp,
        "vlan": one.vlan,
        "period": _time(one.period_ns),
        **size,
        "requires": requires,
    }


def _time(ns: int) -> str:
    return duration(Fraction(ns, 10**9))
