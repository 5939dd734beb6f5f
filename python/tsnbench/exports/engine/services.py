"""Services of EnGINE that send, as streams."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from tsnbench.errors import ContentError
from tsnbench.exports.engine.files import STACKS, TRUE, name_of, whole_number
from tsnbench.exports.engine.links import End, Links
from tsnbench.exports.scenario_text import Notes, flow, listed
from tsnbench.foreign import Part, mapping_of
from tsnbench.quantities import exact

IPERF_PORT, UDP_PAYLOAD = 5000, 1460
SEND_PORT, SEND_PACKETS, SEND_INTERVAL_NS, SEND_DELAY_NS, SEND_PAYLOAD = 6600, 60_000, 100_000, 300_000, 256
"""Defaults of EnGINE's role ``send_udp``; the payload is that of the paper's Fig. 18."""
MOST_PAYLOAD = 1472
"""UDP payload of a frame of 1518 octets, untagged; larger units are cut."""


def streams(
    stack: Part,
    flows: Mapping[str, list[tuple[End, End]]],
    links: Links,
    seconds: int,
    notes: Notes,
) -> tuple[list[str], bool]:
    """One line per stream, and whether a stream has launch times."""
    lines: list[str] = []
    names: dict[str, int] = {}
    launches = False
    for node, services in mapping_of(stack.get("services")).items():
        for service in services if isinstance(services, list) else ():
            own = mapping_of(service)
            kind, role = str(own.get("name")), own.get("role")
            if kind == "tcpdump" or (kind == "iperf" and role == "server"):
                continue
            who = f"{kind} on {node}"
            if (kind, role) not in (("iperf", "client"), ("send_udp", "source")):
                notes.add("services other than iperf and send_udp", who)
                continue
            path = flows.get(str(own.get("flow")))
            if path is None:
                known = ", ".join(list(flows)[:8])
                raise ContentError(
                    f"{STACKS}: {who}: expected a flow of the network ({known}), found {own.get('flow')}"
                )
            if path[-1][1][0] == node:
                path = [(b, a) for a, b in reversed(path)]
            if path[0][0][0] != node:
                notes.add("clients that are not at the end of their flow", f"{who}, flow {own.get('flow')}")
                continue
            port = own.get("port", IPERF_PORT if kind == "iperf" else SEND_PORT)
            name = f"flow{own.get('flow')}-{port}"
            names[name] = names.get(name, 0) + 1
            if names[name] > 1:
                name = f"{name}-{names[name]}"
            if kind == "iperf":
                keys = _iperf(own, f"{who}, port {port}", seconds, notes)
            else:
                launches = True
                keys = _send_udp(own, who, seconds)
            via = listed(f"{after[0]}{links.number(before, after)}" for before, after in path)
            chosen = via if len(path) > 1 or "#" in via else None
            ends = {"from": path[0][0][0], "to": path[-1][1][0], "via": chosen}
            lines.append(f"  {name_of(name)}: {flow({**ends, **keys})}")
    return lines, launches


def _iperf(own: Part, who: str, seconds: int, notes: Notes) -> dict[str, str]:
    """iperf3 sends units of ``size`` octets so that the payload has the rate ``limit``."""
    size = whole_number(STACKS, own.get("size", UDP_PAYLOAD), f"{who}: size", least=1)
    limit = whole_number(STACKS, own.get("limit", 0), f"{who}: limit")
    keys = {"pcp": _priority(own.get("prio", 0), who, notes)}
    if own.get("udp") not in TRUE:
        notes.add("acknowledgements of TCP; written: frames in one direction", who)
    fits = size <= MOST_PAYLOAD or not limit
    keys |= {"payload": f"{min(size, MOST_PAYLOAD)} B"} if fits else {"units": f"[{size} B]"}
    if limit == 0:
        keys["saturating"] = "true"
    else:
        period = Fraction(size * 8 * 10**9, limit)
        if period.denominator != 1:
            notes.add("periods that are no whole ns; written: the nearest", who)
        keys["period"] = exact(max(1, round(period)))
    start = whole_number(STACKS, own.get("wait", 0), f"{who}: wait")
    if start:
        keys["start"] = f"{start} s"
    lasts = whole_number(STACKS, own.get("time", 0), f"{who}: time")
    if lasts and start + lasts < seconds:
        keys["stop"] = f"{start + lasts} s"
    return keys


def _send_udp(own: Part, who: str, seconds: int) -> dict[str, str]:
    interval = whole_number(STACKS, own.get("interval", SEND_INTERVAL_NS), f"{who}: interval", least=1)
    packets = whole_number(STACKS, own.get("number_packets", SEND_PACKETS), f"{who}: number_packets", least=1)
    delay = whole_number(STACKS, own.get("delay", SEND_DELAY_NS), f"{who}: delay")
    pcp = whole_number(STACKS, own.get("priority", 0), f"{who}: priority")
    keys = {"pcp": str(min(pcp, 7)), "payload": f"{SEND_PAYLOAD} B", "period": exact(interval)}
    if packets * interval < seconds * 10**9:
        keys["stop"] = exact(packets * interval)
    if own.get("tsn") in TRUE or own.get("tsnd") in TRUE:
        deadline = "true" if own.get("tsnd") in TRUE else None
        keys["send"] = flow({"advance": exact(min(delay, 10**9)), "txtime": "true", "deadline": deadline})
    return keys


def _priority(written: Any, who: str, notes: Notes) -> str:
    number = whole_number(STACKS, written, f"{who}: prio")
    if number > 7:
        notes.add("priorities above 7, which no VLAN tag carries; written: 7", who)
    return str(min(number, 7))
