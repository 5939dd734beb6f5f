"""What happens to frames as they come in: ``flower`` for priorities, filters, stream gates, meters.

A bridge of the kernel keeps a frame's tag, but does not read the priority in it: without these filters all
forwarded frames are of priority 0.
"""

from __future__ import annotations

from typing import Any

from tsnbench.exports.network import Network
from tsnbench.exports.notes import Notes
from tsnbench.linux import faults
from tsnbench.linux.profile import Profile

_FILTERS_FROM = 10
_PRIORITIES_FROM = 60_000
"""Preference of the filters that take priorities from tags; the Plan's filters come before."""


def batch(network: Network, node: int, profile: Profile, notes: Notes) -> list[str]:
    """Lines of ``tc -batch`` for all ports of a node."""
    policing = network.policing(node)
    delayed = faults.receivers(network)
    lines: list[str] = []
    for port in network.ports_of(node):
        if not network.forwards(node) and policing is None:
            continue
        device = profile.interface(network, port)
        lines.append(f"qdisc replace dev {device} clsact")
        regenerated = list(range(8))
        for table in (policing or {}).get("regeneration", []):
            if table["port"] == port:
                regenerated = table["pcp"]
        if policing is not None:
            lines += _filters(network, policing, port, device, profile, notes, regenerated)
        for pcp, priority in enumerate(regenerated):
            action = f"action skbedit priority {priority}"
            if port in delayed:
                # netem's redirection comes behind.
                action += " continue"
            if priority != pcp:
                action = f"action vlan modify priority {priority} pipe {action}"
            lines.append(
                f"filter replace dev {device} ingress protocol 802.1Q pref {_PRIORITIES_FROM + pcp} "
                f"flower vlan_prio {pcp} {action}"
            )
    return lines


def _filters(
    network: Network,
    policing: dict[str, Any],
    port: int,
    device: str,
    profile: Profile,
    notes: Notes,
    regenerated: list[int],
) -> list[str]:
    lines = []
    node = network.nodes[policing["node"]]["name"]
    preference = _FILTERS_FROM
    # Where some bridge gives frames another priority, a stream may come with any.
    rewritten = any(entry.get("regeneration") for entry in network.document["policing"])
    for one in policing.get("filters", []):
        if one.get("ports") and port not in one["ports"]:
            continue
        what = f"filter {one['name']} at {node}"
        actions = _actions(policing, one, profile, notes, what)
        for streams in [[place] for place in one.get("streams", [])] or [[]]:
            stream = network.streams[streams[0]] if streams else None
            for pcp in range(8):
                if "priority" in one and regenerated[pcp] != one["priority"]:
                    continue
                if stream is not None and stream["pcp"] != pcp and not rewritten:
                    continue
                match = f"vlan_prio {pcp}"
                if stream is not None:
                    if "vid" in stream:
                        match += f" vlan_id {stream['vid']}"
                    match += f" dst_mac {stream['destination_mac']} vlan_ethtype ipv4"
                    match += f" ip_proto udp dst_port {stream['udp_port']}"
                lines.append(
                    f"filter replace dev {device} ingress protocol 802.1Q pref {preference} flower {match} "
                    f"{actions} action skbedit priority {regenerated[pcp]}"
                )
                preference += 1
    return [" ".join(line.split()) for line in lines]


def _actions(policing: dict[str, Any], one: dict[str, Any], profile: Profile, notes: Notes, what: str) -> str:
    words = []
    if "max_sdu_octets" in one:
        # `mtu` of a policer is the longest frame that passes; the rate above it never runs out.
        words.append(
            f"action police rate 100gbit burst 1g mtu {one['max_sdu_octets'] + 14} conform-exceed drop/pipe"
        )
    if one.get("block_oversize"):
        notes.lost("StreamBlockedDueToOversizeFrame", "the kernel's policer drops frame by frame", what)
    if "gate" in one:
        gate = policing["gates"][one["gate"]]
        entries = " ".join(
            f"sched-entry {'open' if entry['open'] else 'close'} {entry['interval_ns']} "
            f"{entry.get('ipv', -1)} {entry.get('octets_max', -1)}"
            for entry in gate["entries"]
        )
        base = gate["base_time_ns"] + profile.epoch_ns
        # act_gate's base time has no sign; whole cycles later the list is the same.
        base = base if base >= 0 else base % gate["cycle_ns"]
        words.append(
            f"action gate base-time {base} cycle-time {gate['cycle_ns']} clockid CLOCK_TAI {entries} pipe"
        )
        if any("ipv" in entry for entry in gate["entries"]):
            notes.lost(
                "internal priority values of stream gates",
                "act_gate hands them to hardware and does nothing with them in software",
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
    return " ".join(words)
