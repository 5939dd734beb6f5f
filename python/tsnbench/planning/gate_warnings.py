"""Classes whose gates never open, open too shortly for a frame, or let less through than is asked for.

IEEE 802.1Q-2022, 8.6.8.4.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from tsnbench.planning import words
from tsnbench.planning.delay import BEFORE_STAMP, transmission_ps
from tsnbench.planning.load import ClassLoad, class_loads
from tsnbench.planning.policing import chosen_by_gates
from tsnbench.planning.priorities import priorities_of
from tsnbench.planning.redundancy import tag_octets
from tsnbench.planning.sizes import sizes
from tsnbench.planning.windows import gate_lists, open_ns, open_windows

Doubt = tuple[str, str, str]


def gate_doubts(document: Mapping[str, Any]) -> Iterator[Doubt]:
    """Kinds: gate-never-open, gate-too-short, gate-overload."""
    if not any("gates" in port for port in document["ports"]):
        return
    crossing: dict[tuple[int, int], list[tuple[Mapping[str, Any], int]]] = defaultdict(list)
    chosen = chosen_by_gates(document)
    for number, stream in enumerate(document["streams"]):
        pcps = priorities_of(document, stream)
        for place, hop in enumerate(stream["route"]):
            traffic_class = document["ports"][hop["port"]]["pcp_to_class"][pcps[place]]
            if (number, place) in chosen:
                continue
            crossing[hop["port"], traffic_class].append((stream, tag_octets(stream, place)))
    loads = class_loads(document)
    for (number, traffic_class), streams in sorted(crossing.items(), key=lambda item: item[0]):
        port = document["ports"][number]
        if "gates" in port:
            yield from _class(port, traffic_class, streams, loads[number][traffic_class])


def _class(
    port: Mapping[str, Any], traffic_class: int, streams: list[tuple[Mapping[str, Any], int]], load: ClassLoad
) -> Iterator[Doubt]:
    where = port["name"]
    lists = gate_lists(port["gates"])
    for gates in lists:
        behind = f" in the list asked for at {words.time(gates['at_ns'])}" if "at_ns" in gates else ""
        windows = open_windows(gates, traffic_class)
        if windows is None:
            continue
        if not windows:
            names = words.some(list(dict.fromkeys(stream["group"] for stream, _ in streams)))
            text = f"the gate of class {traffic_class} never opens{behind}: {names} cannot pass"
            yield "gate-never-open", where, text
            continue
        longest = max(windows)
        for group, octets in sorted(_largest(streams).items()):
            needs_ps = transmission_ps(BEFORE_STAMP + octets, port["rate_bps"])
            if needs_ps > longest * 1_000 and not _may_overrun(port, traffic_class):
                yield (
                    "gate-too-short",
                    where,
                    f"a frame of {group} ({octets} B, {words.time(-(-needs_ps // 1_000))}) fits no window "
                    f"of class {traffic_class}{behind}, the longest is {words.time(longest)}",
                )
        open_rate = port["rate_bps"] * open_ns(gates, traffic_class) // gates["cycle_ns"]
        if load.rate_bps > open_rate:
            asked = f"class {traffic_class} is asked for {words.rate(load.rate_bps)}"
            yield "gate-overload", where, f"{asked}, its gate is open for {words.rate(open_rate)}{behind}"


def _may_overrun(port: Mapping[str, Any], traffic_class: int) -> bool:
    """Whether frames longer than a window may begin in it: there is no guard, or a hold cuts them."""
    preemption = port.get("preemption")
    holds = any(
        entry.get("mac") == "hold" for gates in gate_lists(port["gates"]) for entry in gates["entries"]
    )
    held = preemption is not None and holds and not preemption["express"] >> traffic_class & 1
    return held or port["gates"].get("unguarded", False)


def _largest(streams: list[tuple[Mapping[str, Any], int]]) -> dict[str, int]:
    """Stream to its largest frame."""
    largest: dict[str, int] = {}
    for stream, tag in streams:
        if stream["group"] not in largest:
            largest[stream["group"]] = sizes(stream["size"]).largest + tag
    return largest
