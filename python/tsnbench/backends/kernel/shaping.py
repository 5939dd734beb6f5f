"""A port's classes, shapers and gates as qdiscs.

A veth interface takes frames at any pace, so something has to hold them back as a MAC does: an HTB class of
the port's rate, which lets a frame go when the one before it is on the wire; strict priority below it. Under
taprio, which must be the root, each class has such an HTB of its own.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from tsnbench.backends.kernel import tags
from tsnbench.backends.kernel.site import GUEST, Abilities

QUEUES = 8
"""Hardware queues that every interface has: as many as there are traffic classes."""
OVERHEAD = 24
"""Octets that a frame costs on the wire beyond what the kernel counts: preamble, delimiter, FCS, gap."""
VETH_BPS = 10_000_000_000
"""What a veth interface says its rate is; cbs and taprio believe it."""
CATCH_UP_NS = 4000
"""How far a port may catch up when the kernel woke it late; the wire behind it still serialises exactly."""
SHORTEST_NS = 100
"""Shorter gate entries are left out: the kernel refuses what has no room for a frame."""


def bits(rate_bps: int, dilate: int) -> str:
    """A rate as ``tc`` reads it."""
    return f"{rate_bps // dilate}bit"


def shape(plan: dict[str, Any], number: int, dilate: int, can: Abilities = GUEST) -> list[str]:
    """The qdiscs of one port."""
    port = plan["ports"][number]
    stab = f"stab overhead {OVERHEAD + hidden_tag(plan, number, forwarded=True)} linklayer ethernet"
    classes = port["classes"]
    device = f"dev p{number}"
    if port.get("gates"):
        queues, schedule = _taprio(plan, number, dilate)
        lines = [f"qdisc add {device} {stab} root handle 100: taprio {queues} {schedule} clockid CLOCK_TAI"]
        for place in range(len(classes)):
            own = f"{0x10 + place:x}"
            lines += _mac(port, device, f"parent 100:{place + 1}", own, dilate)
            lines += _class(port, place, f"{device} parent {own}:1", f"{0x20 + place:x}", dilate)
        # A qdisc that is put below resets taprio, and its timer stops for ever (Linux 6.12): tell it again.
        return [*lines, f"qdisc change {device} root handle 100: taprio {schedule} clockid CLOCK_TAI"]
    lines = _mac(port, device, f"{stab} root", "1", dilate)
    if len(classes) == 1:
        return [*lines, *_class(port, 0, f"{device} parent 1:1", "20", dilate)]
    if "prio" not in can.qdiscs:
        more, parents = tags.bands(port, device, "1:1")
        lines += more
        for place, own in enumerate(parents):
            lines += _class(port, place, f"{device} parent {own}", f"{0x20 + place:x}", dilate)
        return lines
    # Band 0 goes first, and so has the highest class.
    bands = [len(classes) - 1 - port["pcp_to_class"][min(priority, 7)] for priority in range(16)]
    priomap = " ".join(map(str, bands))
    lines += [f"qdisc add {device} parent 1:1 handle 2: prio bands {len(classes)} priomap {priomap}"]
    for place in range(len(classes)):
        lines += _class(
            port, place, f"{device} parent 2:{len(classes) - place:x}", f"{0x20 + place:x}", dilate
        )
    return lines


def hidden_tag(plan: dict[str, Any], number: int, *, forwarded: bool = False) -> int:
    """Octets of tagged frames that qdiscs at a port do not see: 4 where frames are tagged.

    The kernel takes the tag off whatever it receives and carries it beside the frame, whose length is then 4
    less (Linux 6.12). Only a talker's own frames still have it in them, where nothing was received yet.
    """
    return 4 * any(
        stream.get("vid") is not None and (hop.get("parent") is not None or not forwarded)
        for stream in plan["streams"]
        for hop in stream["route"]
        if hop["port"] == number
    )


def _mac(port: dict[str, Any], device: str, where: str, handle: str, dilate: int) -> list[str]:
    rate = port["rate_bps"] // dilate
    burst = max(1, rate * CATCH_UP_NS // 8_000_000_000)
    return [
        f"qdisc add {device} {where} handle {handle}: htb default 1",
        f"class add {device} parent {handle}: classid {handle}:1 htb rate {rate}bit ceil {rate}bit"
        f" burst {burst}b cburst {burst}b quantum 60000",
    ]


def _class(port: dict[str, Any], place: int, where: str, handle: str, dilate: int) -> list[str]:
    """The queue of one class, behind its shaper where it has one."""
    own = port["classes"][place]
    limit = own.get("limit_frames") or 100_000
    fifo = f"pfifo limit {limit}"
    cbs = own.get("cbs")
    if not cbs:
        return [f"qdisc add {where} handle {handle}: {fifo}"]
    idle = cbs["idle_slope_bps"] // dilate
    # The kernel takes a frame's time from the interface's rate, not the port's: with this send slope, and
    # credit for as long a frame as there is, frames are spaced as the idle slope says whatever that rate is.
    send = idle - VETH_BPS
    high = -(-cbs["hi_credit_bits"] // 8)
    return [
        f"qdisc add {where} handle {handle}: cbs idleslope {idle // 1000} sendslope {send // 1000}"
        f" hicredit {high} locredit -10000 offload 0",
        f"qdisc add {where.split(' parent ')[0]} parent {handle}:1 handle {int(handle, 16) + 0x20:x}: {fifo}",
    ]


def _taprio(plan: dict[str, Any], number: int, dilate: int) -> tuple[str, str]:
    """Classes and queues; and the schedule."""
    port = plan["ports"][number]
    gates = port["gates"]
    count = len(port["classes"])
    cycle = gates["cycle_ns"] * dilate
    entries = [(entry["open"], entry["interval_ns"] * dilate) for entry in gates["entries"]]
    if not gates.get("unguarded"):
        entries = guarded(entries, guards(plan, number, dilate))
    mapping = " ".join(str(port["pcp_to_class"][min(priority, 7)]) for priority in range(16))
    queues = " ".join(f"1@{place}" for place in range(count))
    # A base time in the past is moved on by whole cycles: the list is in force well before the first frame.
    base = gates["base_time_ns"] * dilate % cycle - (2_000_000_000 // cycle) * cycle
    listed = " ".join(f"sched-entry S {mask:02x} {interval}" for mask, interval in entries)
    return (
        f"num_tc {count} map {mapping} queues {queues}",
        f"base-time EPOCH{base:+d} {listed} cycle-time {cycle}",
    )


def guards(plan: dict[str, Any], number: int, dilate: int) -> list[int]:
    """By class: how long before its gate closes its longest frame must begin, in ns; less taprio's part.

    taprio holds a frame back that would not end in time at the interface's rate, not at the port's.
    """
    port = plan["ports"][number]
    longest = [0] * len(port["classes"])
    for stream in plan["streams"]:
        if any(hop["port"] == number for hop in stream["route"]):
            own = port["pcp_to_class"][stream["pcp"]]
            longest[own] = max(longest[own], largest_frame(stream))
    slower = 8 * 10**9 * dilate / port["rate_bps"] - 8 * 10**9 / VETH_BPS
    # The gap behind a frame may lie behind the window.
    return [int(max(0, octets + 8 if octets else 0) * slower) for octets in longest]


def largest_frame(stream: dict[str, Any]) -> int:
    """Octets from destination address to FCS."""
    size = stream["size"]
    if size["kind"] == "frame":
        return int(size["octets"])
    if size["kind"] == "list":
        return int(max(size["octets"]))
    return int(min(max(size["octets"]), size["most_per_frame"]) + size["overhead"])


def guarded(entries: list[tuple[int, int]], ahead: list[int]) -> list[tuple[int, int]]:
    """The list with every gate closed so much earlier; a gate that never closes stays open."""
    cycle = sum(interval for _, interval in entries)
    starts = [0]
    for _, interval in entries:
        starts.append(starts[-1] + interval)
    open_at: list[list[tuple[int, int]]] = []
    for place, early in enumerate(ahead):
        spans: list[tuple[int, int]] = []
        for (mask, _), (begin, end) in zip(entries, pairwise(starts), strict=True):
            if mask >> place & 1:
                if spans and spans[-1][1] == begin:
                    spans[-1] = (spans[-1][0], end)
                else:
                    spans.append((begin, end))
        if spans != [(0, cycle)]:
            if len(spans) > 1 and spans[0][0] == 0 and spans[-1][1] == cycle:
                # Open over the end of the cycle.
                spans[0:1], last = [], spans[0]
                spans[-1] = (spans[-1][0], cycle + last[1])
            spans = [(begin, end - early) for begin, end in spans if end - early > begin]
        open_at.append(spans)
    edges = sorted(
        {0, cycle, *starts} | {edge % cycle for spans in open_at for span in spans for edge in span}
    )
    kept = [edges[0]]
    for edge in edges[1:]:
        if edge - kept[-1] >= SHORTEST_NS:
            kept.append(edge)
    kept[-1] = cycle
    found: list[tuple[int, int]] = []
    for begin, end in pairwise(kept):
        mask = sum(
            1 << place
            for place, spans in enumerate(open_at)
            if any(first <= at < last for first, last in spans for at in (begin, begin + cycle))
        )
        if found and found[-1][0] == mask:
            found[-1] = (mask, found[-1][1] + end - begin)
        else:
            found.append((mask, end - begin))
    return found
