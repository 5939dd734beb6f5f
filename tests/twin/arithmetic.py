"""Closed forms from lengths, rates and schedules, independent of the simulator."""

from __future__ import annotations

from typing import Any

PREAMBLE = 8
GAP = 12

Plan = dict[str, Any]


def stream_of(plan: Plan, name: str) -> dict[str, Any]:
    """The flow of this name."""
    return next(stream for stream in plan["streams"] if stream["name"] == name)


def port_of(plan: Plan, name: str) -> dict[str, Any]:
    """The egress port of this name."""
    return next(port for port in plan["ports"] if port["name"] == name)


def octets_of(plan: Plan, name: str) -> int:
    """Octets from destination address to check sequence."""
    return int(stream_of(plan, name)["size"]["octets"])


def way_of(plan: Plan, name: str) -> list[dict[str, Any]]:
    """The egress ports from the talker to the only listener."""
    stream = stream_of(plan, name)
    at, way = stream["listeners"][0]["route"], []
    while at is not None:
        hop = stream["route"][at]
        way.append(plan["ports"][hop["port"]])
        at = hop.get("parent")
    return way[::-1]


def alone_us(plan: Plan, name: str) -> float:
    """From a frame's first bit out (after its preamble) to its last bit in, without other frames."""
    octets, total = octets_of(plan, name), 0.0
    for place, port in enumerate(way_of(plan, name)):
        on_wire = octets + (PREAMBLE if place else 0)
        total += on_wire * 8e6 / port["rate_bps"] + port["propagation_ps"] / 1e6
        if place:
            total += plan["nodes"][port["node"]]["processing_ns"] / 1e3
    return total


def releases_us(plan: Plan, name: str) -> list[float]:
    """The releases of a periodic stream's frames."""
    stream = stream_of(plan, name)
    pattern = stream["pattern"]
    begin = stream["start_ns"] + pattern["offset_ns"]
    return [at / 1e3 for at in range(begin, stream["stop_ns"], pattern["period_ns"])]


def served_us(plan: Plan, port_name: str, names: list[str]) -> dict[str, list[float]]:
    """By stream, the starts of its frames (preamble) at a port that all streams reach over one link each.

    Strict priority without pre-emption: when the wire is free, the frame of the highest class is sent, in the
    order of arrival. The only source is IEEE 802.1Q-2022, 8.6.8.1.
    """
    port = port_of(plan, port_name)
    waiting: list[tuple[float, int, str]] = []
    for name in names:
        first = way_of(plan, name)[0]
        on_wire = (octets_of(plan, name) + PREAMBLE) * 8e6 / first["rate_bps"]
        way = on_wire + first["propagation_ps"] / 1e6
        own = port["pcp_to_class"][stream_of(plan, name)["pcp"]]
        waiting += [(at + way, own, name) for at in releases_us(plan, name)]
    waiting.sort()
    begun: dict[str, list[float]] = {name: [] for name in names}
    free = 0.0
    while waiting:
        now = max(free, waiting[0][0])
        there = [one for one in waiting if one[0] <= now]
        chosen = min(there, key=lambda one: (-one[1], one[0]))
        waiting.remove(chosen)
        begun[chosen[2]].append(now)
        free = now + (octets_of(plan, chosen[2]) + PREAMBLE + GAP) * 8e6 / port["rate_bps"]
    return begun


def delays_past_us(plan: Plan, port_name: str, names: list[str], name: str) -> list[float]:
    """Delays of a stream whose frames meet others at one port, the last port of their path."""
    port = port_of(plan, port_name)
    rest = (octets_of(plan, name) + PREAMBLE) * 8e6 / port["rate_bps"] + port["propagation_ps"] / 1e6
    first = way_of(plan, name)[0]
    # Stamps are taken after the preamble.
    stamped = PREAMBLE * 8e6 / first["rate_bps"]
    begun = served_us(plan, port_name, names)[name]
    return [
        begin + rest - release - stamped
        for begin, release in zip(begun, releases_us(plan, name), strict=True)
    ]


def quantile(values: list[float], part: float) -> float:
    """A quantile by nearest rank."""
    ordered = sorted(values)
    return ordered[max(0, -(-int(part * len(ordered) * 1000) // 1000) - 1)]
