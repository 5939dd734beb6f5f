"""Treatment of arriving frames: ``flower`` for priorities, filters, stream gates, meters.

A bridge of the kernel keeps a frame's tag, but does not read the priority in it: without these filters all
forwarded frames are of priority 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tsnbench.linux import faults
from tsnbench.linux.profile import Profile
from tsnbench.linux.qdiscs import Moment
from tsnbench.plan.network import Network
from tsnbench.plan.notes import Notes

if TYPE_CHECKING:
    from tsnbench.plan.types import Policing, Stream, StreamFilter

_FILTERS_FROM = 10
_PRIORITIES_FROM = 60_000
"""Preference of the filters that take priorities from tags; the Plan's filters come before."""


@dataclass(frozen=True)
class GateAction:
    """A stream gate, as the action ``gate`` has it."""

    base_time: int
    cycle_time: int
    entries: tuple[str, ...]

    def words(self, moment: Moment) -> str:
        """The action as ``tc`` has it."""
        entries = " ".join(f"sched-entry {one}" for one in self.entries)
        return (
            f"action gate base-time {moment(self.base_time)} cycle-time {self.cycle_time} clockid CLOCK_TAI "
            f"{entries} pipe"
        )


@dataclass(frozen=True)
class Filter:
    """One filter of an interface: the frames that it matches, and the actions on them."""

    preference: int
    match: str
    actions: tuple[str | GateAction, ...]
    copies: int | None = None
    """The priority that is copied unchanged from the tag; None if the filter has any other effect."""
    gives: tuple[int, int] | None = None
    """Of a filter that has no other effect than this: the PCP of a tag, and the priority that it becomes."""

    def line(self, device: str, moment: Moment = str) -> str:
        """Everything on one line, as a batch file needs it."""
        actions = " ".join(one if isinstance(one, str) else one.words(moment) for one in self.actions)
        return (
            f"filter replace dev {device} ingress protocol 802.1Q pref {self.preference} "
            f"flower {self.match} {actions}"
        )


@dataclass(frozen=True)
class Arrivals:
    """The filters of one port."""

    port: int
    device: str
    filters: tuple[Filter, ...]

    def lines(self, moment: Moment = str) -> list[str]:
        """Lines of ``tc -batch``."""
        first = f"qdisc replace dev {self.device} clsact"
        return [first, *(one.line(self.device, moment) for one in self.filters)]


def batch(network: Network, node: int, profile: Profile, notes: Notes) -> list[str]:
    """Lines of ``tc -batch`` for all ports of a node, for a host whose clock is known."""
    return [line for one in arrivals(network, node, profile, notes) for line in one.lines()]


def arrivals(network: Network, node: int, profile: Profile, notes: Notes) -> list[Arrivals]:
    """The treatment of arriving frames at all ports of a node."""
    policing = network.policing(node)
    delayed = faults.receivers(network)
    found: list[Arrivals] = []
    for port in network.ports_of(node):
        if not network.forwards(node) and policing is None:
            continue
        regenerated = list(range(8))
        for table in policing.get("regeneration", []) if policing else []:
            if table["port"] == port:
                regenerated = table["pcp"]
        filters = _filters(network, policing, port, profile, notes, regenerated) if policing else []
        filters += [_priority(pcp, priority, port in delayed) for pcp, priority in enumerate(regenerated)]
        found.append(Arrivals(port, profile.interface(network, port), tuple(filters)))
    return found


def _priority(pcp: int, priority: int, delayed: bool) -> Filter:
    """A tag's priority becomes the frame's."""
    action = f"action skbedit priority {priority}"
    if delayed:
        # The next filter redirects the frame to netem, so this filter must not be the last one.
        action += " continue"
    if priority != pcp:
        action = f"action vlan modify priority {priority} pipe {action}"
    copies = pcp if priority == pcp and not delayed else None
    return Filter(_PRIORITIES_FROM + pcp, f"vlan_prio {pcp}", (action,), copies, (pcp, priority))


def _filters(
    network: Network,
    policing: Policing,
    port: int,
    profile: Profile,
    notes: Notes,
    regenerated: list[int],
) -> list[Filter]:
    filters: list[Filter] = []
    node = network.nodes[policing["node"]]["name"]
    for one in policing.get("filters", []):
        if one.get("ports") and port not in one["ports"]:
            continue
        actions = _actions(policing, one, profile, notes, f"filter {one['name']} at {node}")
        for pcp, match in _matches(network, one, regenerated):
            priority = f"action skbedit priority {regenerated[pcp]}"
            filters.append(Filter(_FILTERS_FROM + len(filters), match, (*actions, priority)))
    return filters


def _matches(network: Network, one: StreamFilter, regenerated: list[int]) -> Iterator[tuple[int, str]]:
    """The frames of a filter: the priority in their tags, and how ``flower`` finds them."""
    # If any bridge changes the priority of frames, a stream may arrive with any priority.
    rewritten = any(entry.get("regeneration") for entry in network.document["policing"])
    named: list[Stream | None] = [network.streams[place] for place in one.get("streams", [])]
    for stream in named or [None]:
        for pcp in range(8):
            if "priority" in one and regenerated[pcp] != one["priority"]:
                continue
            if stream is None:
                yield pcp, f"vlan_prio {pcp}"
            elif stream["pcp"] == pcp or rewritten:
                vlan = f" vlan_id {stream['vid']}" if "vid" in stream else ""
                yield (
                    pcp,
                    f"vlan_prio {pcp}{vlan} dst_mac {stream['destination_mac']} vlan_ethtype ipv4"
                    f" ip_proto udp dst_port {stream['udp_port']}",
                )


def _actions(
    policing: Policing, one: StreamFilter, profile: Profile, notes: Notes, what: str
) -> list[str | GateAction]:
    words: list[str | GateAction] = []
    if "max_sdu_octets" in one:
        # `mtu` of a policer is the longest frame that passes; the rate is so high that it never limits.
        words.append(
            f"action police rate 100gbit burst 1g mtu {one['max_sdu_octets'] + 14} conform-exceed drop/pipe"
        )
    if one.get("block_oversize"):
        notes.lost("StreamBlockedDueToOversizeFrame", "the kernel's policer drops frame by frame", what)
    if "gate" in one:
        gate = policing["gates"][one["gate"]]
        entries = tuple(
            f"{'open' if entry['open'] else 'close'} {entry['interval_ns']} "
            f"{entry.get('ipv', -1)} {entry.get('octets_max', -1)}"
            for entry in gate["entries"]
        )
        base = gate["base_time_ns"] + profile.epoch_ns
        # act_gate's base time is unsigned; whole cycles may be added, because the list then has the same
        # phase.
        base = base if base >= 0 else base % gate["cycle_ns"]
        words.append(GateAction(base, gate["cycle_ns"], entries))
        if any("ipv" in entry for entry in gate["entries"]):
            notes.lost(
                "internal priority values of stream gates",
                "act_gate gives them to hardware and ignores them in software",
                what,
            )
        if gate.get("close_on_invalid_rx") or gate.get("close_on_octets_exceeded"):
            notes.lost("gates that close for good", "act_gate has no such state", what)
    if "meter" in one:
        meter = policing["meters"][one["meter"]]
        words.append(
            f"action police rate {meter['cir_bps']}bit burst {meter['cbs_octets']} mtu 65535 "
            "conform-exceed drop/pipe"
        )
        if meter["eir_bps"] or meter["ebs_octets"]:
            notes.lost(
                "the excess rate of meters",
                "act_police has one bucket besides its peak rate, and no colours",
                what,
            )
    if "scheduler" in one:
        notes.lost("ATS schedulers", "Linux has no asynchronous traffic shaping", what)
    return words
