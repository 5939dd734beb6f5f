"""The scenario of a running network: its nodes, links, queues, shapers and gates as its hosts report them.

What is not known is a comment, and never a value that was not read; where the language needs a value, the
line says that it is a guess.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tsnbench.discover import ptp
from tsnbench.discover.ptp import PtpClock
from tsnbench.discover.running import RunningHost, RunningPort, Shaping
from tsnbench.errors import InputError
from tsnbench.exports.scenario_text import flow, listed, one_line, rate
from tsnbench.hosts.inventory.types import End, Wire
from tsnbench.linux.readback import ReportedQdisc
from tsnbench.quantities import exact

GUESSED_BPS = 1_000_000_000
"""The rate of a link that does not say its own."""
_CREDIT = ("hicredit", "locredit")


class FoundTooLittleError(InputError):
    """What was found is no network that a scenario can have."""


@dataclass(frozen=True)
class Found:
    """What is known of a network."""

    lab: str
    """The name of the inventory's file, for the head."""
    ports: Mapping[End, str]
    """The ports of the lab with their interfaces."""
    states: Mapping[str, RunningHost]
    """The hosts that answered."""
    silent: Mapping[str, str]
    """The others, with the reason."""
    wires: Sequence[Wire]
    notes: Sequence[str]
    """What is known besides."""
    clocks: Mapping[str, PtpClock] = field(default_factory=dict)
    """By host, what its ptp4l says."""


@dataclass
class _Written:
    """The lines of the scenario, and what they cannot say."""

    lost: list[str] = field(default_factory=list)


def text(found: Found) -> str:
    """The text of the scenario.

    Raises:
        FoundTooLittleError: no two end stations have a path between them, so there can be no stream.
    """
    written = _Written()
    nodes = [
        name
        for name in found.states
        if any(name in (one.machine for one in wire.ends) for wire in found.wires)
    ]
    bridges = {name for name in nodes if _forwards(found, name)}
    network = list(_network(found, nodes, bridges, written))
    shapers = [
        f"  {a.machine} -> {b.machine}{_parallel(found.wires, wire)}: {flow(keys)}"
        for wire in found.wires
        for a, b in (wire.ends, wire.ends[::-1])
        if (keys := _port(a, _running(found, a), written))
    ]
    streams = list(_streams(found, bridges))
    comments = [f"What runs in the lab {one_line(Path(found.lab).name)}, as its hosts report it."]
    comments += [f"not known: {name}: {one_line(why)}" for name, why in found.silent.items()]
    comments += [
        f"not known: {name}: {one_line(why)}" for name, state in found.states.items() for why in state.unread
    ]
    comments += [f"without a wire: {name}" for name in found.states if name not in nodes]
    comments.append(f"for the lab: wires: {listed(found.wires)}")
    comments += [one_line(note) for note in (*found.notes, *written.lost)]
    comments += [one_line(note) for note in ptp.notes(found.clocks, found.states)]
    lines = [
        *(f"# {one}" for one in comments),
        "name: found",
        "duration: 1 s",
        "",
        "network:",
        *(f"  {line}" for line in network),
        "",
        "# Placeholders: the configuration does not say who sends what. Replace them by your streams.",
        "streams:",
        *streams,
    ]
    clocks = ptp.keys(found.clocks, found.states, nodes)
    if clocks is not None:
        lines += ["", "# As ptp4l reports it; gPTP, which looks alike there, is `gptp` without `delay`."]
        lines += [f"clocks: {flow({'ptp': flow(clocks)})}"]
    return "\n".join([*lines, *(["", "shapers:", *shapers] if shapers else []), ""])


def _running(found: Found, end: End) -> RunningPort:
    return found.states[end.machine].ports[found.ports[end]]


def _forwards(found: Found, name: str) -> bool:
    """Whether interfaces of a host are ports of a bridge."""
    state = found.states[name]
    own = [interface for end, interface in found.ports.items() if end.machine == name]
    return any(state.ports[one].master for one in own if one in state.ports)


def _parallel(wires: Sequence[Wire], wire: Wire) -> str:
    """``#2`` for the second of parallel links."""
    pair = {end.machine for end in wire.ends}
    same = [one for one in wires if {end.machine for end in one.ends} == pair]
    return f"#{same.index(wire) + 1}" if len(same) > 1 else ""


def _network(found: Found, nodes: list[str], bridges: set[str], written: _Written) -> Iterator[str]:
    yield f"stations: {listed(name for name in nodes if name not in bridges)}"
    if bridges:
        learning = {name: _learns(found, name, written) for name in nodes if name in bridges}
        kept = {name: "{forwarding: {learning: true}}" if is_on else "{}" for name, is_on in learning.items()}
        yield f"bridges: {flow(kept)}"
    yield "links:"
    for wire in found.wires:
        a, b = (_running(found, end) for end in wire.ends)
        keys: dict[str, object] = {"rate": rate(a.rate_bps or b.rate_bps or GUESSED_BPS)}
        keys["between"] = f"{wire.a.machine} -- {wire.b.machine}"
        guess = "" if a.rate_bps or b.rate_bps else "  # a guess: the interfaces do not say their rate"
        if a.rate_bps and b.rate_bps and a.rate_bps != b.rate_bps:
            written.lost.append(f"{wire}: {rate(a.rate_bps)} at one end, {rate(b.rate_bps)} at the other")
        yield f"  - {flow(keys)}{guess}"


def _learns(found: Found, name: str, written: _Written) -> bool:
    """Whether a bridge learns addresses, at all of its ports."""
    state = found.states[name]
    own = [state.ports[one] for end, one in found.ports.items() if end.machine == name and one in state.ports]
    on = [one.name for one in own if one.learning]
    if on and len(on) < len(own):
        written.lost.append(f"{name}: learning is on at {', '.join(on)} alone")
    flooding = [one.name for one in own if one.flood is not None and one.flood != bool(on)]
    if flooding:
        is_ = "off" if on else "on"
        written.lost.append(f"{name}: flooding is {is_} at {', '.join(flooding)}, and learning is not")
    return bool(on)


def _port(end: End, one: RunningPort, written: _Written) -> dict[str, object]:
    """The keys of one port under ``shapers``."""
    if one.root is None:
        return {}
    if one.shaping is None:
        if one.root:
            written.lost.append(f"{end}: its queueing discipline ({one.root}) has no traffic classes")
        return {}
    shaping = one.shaping
    keys: dict[str, object] = {"queues": flow(dict(_queues(end, shaping, written)))}
    slopes = flow(
        {str(pcp): one for pcp, one in (*_slopes(end, shaping, written), *_bandwidths(end, shaping, written))}
    )
    if slopes != "{}":
        keys["cbs"] = slopes
    if shaping.entries:
        keys["gates"] = _gates(end, shaping, written)
    elif shaping.kind == "taprio":
        written.lost.append(f"{end}: taprio without a list of gates")
    if shaping.preemptable and any(shaping.preemptable):
        express = [pcp for pcp, own in enumerate(shaping.class_of) if not shaping.preemptable[own]]
        keys["preemption"] = flow({"express": listed(express)})
    return keys


def _queues(end: End, shaping: Shaping, written: _Written) -> Iterator[tuple[str, object]]:
    yield "classes", flow({str(pcp): own for pcp, own in enumerate(shaping.class_of) if own or pcp == 0})
    used = set(shaping.class_of)
    if len(shaping.queues) > max(used) + 1:
        written.lost.append(f"{end}: classes above {max(used)}, which no priority has")
    limits = {}
    for number, queue in enumerate(shaping.queues):
        own = None if queue is None else queue.behind if queue.own.kind == "cbs" else queue.own
        if queue is None or own is None:
            continue
        if own.kind != "pfifo":
            written.lost.append(f"{end}: class {number} has {own.kind} {_options(own)}")
        elif isinstance(limit := own.options.get("limit"), int):
            limits[number] = limit
    if limits:
        most = max(limits.values())
        yield "limit-frames", most
        if len(set(limits.values())) > 1:
            each = ", ".join(f"class {number} {limit}" for number, limit in limits.items())
            written.lost.append(f"{end}: limits that differ between classes; {most} is written: {each}")
    if shaping.max_sdu and any(shaping.max_sdu):
        sdus = {
            str(pcp): f"{shaping.max_sdu[own]} B"
            for pcp, own in enumerate(shaping.class_of)
            if shaping.max_sdu[own]
        }
        yield "max-sdu", flow(sdus)


def _options(own: ReportedQdisc) -> str:
    return one_line(" ".join(f"{name} {value}" for name, value in own.options.items()))[:200]


def _slopes(end: End, shaping: Shaping, written: _Written) -> Iterator[tuple[int, str]]:
    for number, queue in enumerate(shaping.queues):
        if queue is None or queue.own.kind != "cbs":
            continue
        pcp = max((pcp for pcp, own in enumerate(shaping.class_of) if own == number), default=None)
        numbers = queue.own.options
        if pcp is None or not all(isinstance(numbers.get(name), int) for name in ("idleslope", *_CREDIT)):
            written.lost.append(f"{end}: the shaper of class {number}: {_options(queue.own)}")
            continue
        yield (
            pcp,
            flow(
                {
                    "idle-slope": f"{numbers['idleslope']} kbit/s",
                    "send-slope": f"{numbers.get('sendslope')} kbit/s",
                    "hi-credit": f"{numbers['hicredit']} octets",
                    "lo-credit": f"{numbers['locredit']} octets",
                }
            ),
        )


def _bandwidths(end: End, shaping: Shaping, written: _Written) -> Iterator[tuple[int, str]]:
    """Shapers of a device that computes their credits."""
    for number, slope in shaping.bandwidths.items():
        pcps = [pcp for pcp, own in enumerate(shaping.class_of) if own == number]
        if pcps and slope:
            yield max(pcps), flow({"bandwidth": rate(slope)})
        else:
            written.lost.append(f"{end}: the shaper of class {number}: {rate(slope)}")


def _gates(end: End, shaping: Shaping, written: _Written) -> str:
    """The list as it is written on the host; its base time as the time of a cycle."""
    count = len(shaping.queues)
    entries = [
        flow(
            {
                "open": listed(n for n in range(count) if mask >> n & 1) if mask else "none",
                "for": exact(length),
            }
        )
        for mask, length in shaping.entries
    ]
    cycle = shaping.cycle_ns or sum(length for _, length in shaping.entries)
    base = shaping.base_ns % cycle
    if shaping.pending:
        written.lost.append(f"{end}: its gates wait for their base time, {exact(shaping.base_ns)} TAI")
    whole = sum(length for _, length in shaping.entries)
    keys = {
        "by": "class",
        "base-time": exact(base) if base else None,
        "cycle": exact(cycle),
        "fit-entries": "true" if whole != cycle else None,
        "extension": exact(shaping.extension_ns) if shaping.extension_ns else None,
        "entries": listed(entries),
    }
    return flow(keys)


def _streams(found: Found, bridges: set[str]) -> Iterator[str]:
    """One placeholder for each VLAN of the bridges that two end stations have, along static addresses if
    flooding is off."""
    stations = [
        end
        for wire in found.wires
        for end in wire.ends
        if end.machine not in bridges and found.states[end.machine].ports.get(found.ports[end]) is not None
    ]
    made = 0
    for vid in sorted(_vids(found, bridges)) or [0]:
        pair = next(_pairs(found, stations, bridges, vid), None)
        if pair is None:
            continue
        made += 1
        name = f"vlan{vid}" if vid else "untagged"
        keys = {"from": pair[0], "to": pair[1], "vlan": vid or "none", "period": "100 ms", "frame": "64 B"}
        yield f"  {name}: {flow(keys)}"
    if not made:
        raise FoundTooLittleError(
            "found no two end stations with a path between them, and a scenario needs a stream\n"
            "hint: name all hosts and their interfaces in the lab; a port needs a link to be found"
        )


def _vids(found: Found, bridges: set[str]) -> set[int]:
    """VLANs in which frames keep their tag."""
    return {
        vid
        for end, interface in found.ports.items()
        if end.machine in bridges and (one := found.states[end.machine].ports.get(interface)) is not None
        for vid, is_untagged in (one.vlans or {}).items()
        if not is_untagged
    }


def _pairs(found: Found, stations: list[End], bridges: set[str], vid: int) -> Iterator[tuple[str, str]]:
    """Pairs of end stations whose frames of a VLAN reach each other."""
    far = {end: other for wire in found.wires for end, other in (wire.ends, wire.ends[::-1])}
    inside = [end for end in stations if _carries(found, far[end], bridges, vid)]
    for talker in inside:
        for listener in inside:
            if talker.machine == listener.machine or not _connected(
                found, bridges, talker.machine, listener.machine
            ):
                continue
            mac = _running(found, listener).mac
            tables = [found.states[name].addresses or {} for name in bridges if not _floods(found, name)]
            on_path = [table for table in tables if (mac, vid or 1) in table]
            if on_path or not tables:
                yield talker.machine, listener.machine


def _carries(found: Found, end: End, bridges: set[str], vid: int) -> bool:
    if end.machine not in bridges or not vid:
        return True
    return vid in (_running(found, end).vlans or {})


def _floods(found: Found, name: str) -> bool:
    state = found.states[name]
    own = [state.ports[one] for end, one in found.ports.items() if end.machine == name and one in state.ports]
    return any(one.flood for one in own)


def _connected(found: Found, bridges: set[str], talker: str, listener: str) -> bool:
    """Whether there is a path through bridges."""
    reached, left = {talker}, [talker]
    while left:
        at = left.pop()
        for wire in found.wires:
            names = [end.machine for end in wire.ends]
            if at in names:
                other = names[1 - names.index(at)]
                if other not in reached:
                    reached.add(other)
                    left += [other] if other in bridges else []
    return listener in reached
