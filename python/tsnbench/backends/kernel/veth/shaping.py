"""A port's classes, shapers and gates as qdiscs.

A veth interface accepts frames at any rate, so a qdisc must limit the rate as a MAC does: an HTB class with
the port's rate, which lets a frame pass when the previous one is on the wire; strict priority is below it.
Under taprio, which must be the root, each class has an HTB of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from tsnbench.backends.kernel.port_traffic import ENDLESS, PortTraffic
from tsnbench.backends.kernel.shell import after_epoch
from tsnbench.backends.kernel.veth import vlan_priority
from tsnbench.backends.kernel.veth.htb import Element, HtbClass
from tsnbench.linux.qdiscs import Qdisc, Root
from tsnbench.plan.gates import Entry, Span, entries_and_spans

if TYPE_CHECKING:
    from tsnbench.backends.kernel.environment import Capabilities
    from tsnbench.plan.types import Gates, Port

OVERHEAD = 24
"""Octets of a frame on the wire that the kernel does not count: preamble, delimiter, FCS, gap."""
VETH_BPS = 10_000_000_000
"""The rate that a veth interface reports, which cbs and taprio use."""
CATCH_UP_NS = 4000
"""How much a port may catch up when the kernel woke it late; the following wire still serialises exactly."""
SHORTEST_NS = 100
"""Shorter gate entries are left out: the kernel rejects entries without room for a frame."""
QUEUES_FROM = 0x20
"""The queue of class n has the handle 20 + n, hexadecimal."""
_MACS_FROM = 0x10


def lines(device: str, elements: list[Element], moment: Callable[[int], str] = after_epoch) -> list[str]:
    """Lines for ``tc``, in the order in which the elements are added; ``moment`` formats an instant of the
    Plan."""
    found = []
    for one in elements:
        if isinstance(one, Root):
            found.append(one.line(device, moment, "add"))
        else:
            found.append(one.line(device, "add"))
    # A qdisc that is added below resets taprio, and its timer stops for ever (Linux 6.12): so the schedule is
    # set again.
    found += [one.schedule_line(device, moment) for one in elements if isinstance(one, Root)]
    return found


def shape(port: Port, traffic: PortTraffic, can: Capabilities) -> list[Element]:
    """The qdiscs of one port."""
    overhead = OVERHEAD + traffic.hidden_at_port
    classes = port["classes"]
    found: list[Element] = []
    if gates := port.get("gates"):
        found.append(_taprio(port, gates, traffic, overhead))
        for place in range(len(classes)):
            own = f"{_MACS_FROM + place:x}"
            found += _mac(port, f"parent 100:{place + 1}", own, 0)
            found += _class(port, place, f"parent {own}:1")
        return found
    found += _mac(port, "root", "1", overhead)
    if len(classes) == 1:
        return [*found, *_class(port, 0, "parent 1:1")]
    if "prio" not in can.qdiscs:
        more, places = vlan_priority.bands(port, "parent 1:1")
        found += more
    else:
        # Band 0 is served first, so it is for the highest class.
        bands = [len(classes) - 1 - port["pcp_to_class"][min(priority, 7)] for priority in range(16)]
        options = (("bands", str(len(classes))), ("priomap", " ".join(map(str, bands))))
        found.append(Qdisc("parent 1:1", "prio", options, "2:"))
        places = [f"parent 2:{len(classes) - place:x}" for place in range(len(classes))]
    for place, where in enumerate(places):
        found += _class(port, place, where)
    return found


def _mac(port: Port, place: str, handle: str, overhead: int) -> list[Element]:
    rate = f"{port['rate_bps']}bit"
    burst = f"{max(1, port['rate_bps'] * CATCH_UP_NS // 8_000_000_000)}b"
    options = (("rate", rate), ("ceil", rate), ("burst", burst), ("cburst", burst), ("quantum", "60000"))
    return [
        Qdisc(place, "htb", (("default", "1"),), f"{handle}:", overhead),
        HtbClass(f"{handle}:", f"{handle}:1", options),
    ]


def _class(port: Port, number: int, place: str) -> list[Element]:
    """The queue of one class, after its shaper if it has one."""
    own = port["classes"][number]
    handle = QUEUES_FROM + number
    limit = (("limit", str(own.get("limit_frames") or ENDLESS)),)
    cbs = own.get("cbs")
    if not cbs:
        return [Qdisc(place, "pfifo", limit, f"{handle:x}:")]
    idle = cbs["idle_slope_bps"]
    # The kernel computes a frame's time from the interface's rate, not from the port's rate. With a send
    # slope that is steeper in this proportion, and credit for the longest frame, the gaps between frames are
    # the same.
    drain = (idle - cbs["send_slope_bps"]) * VETH_BPS // port["rate_bps"]
    options = (
        ("idleslope", str(idle // 1000)),
        ("sendslope", str((idle - drain) // 1000)),
        ("hicredit", str(-(-cbs["hi_credit_bits"] // 8))),
        ("locredit", "-10000"),
        ("offload", "0"),
    )
    return [
        Qdisc(place, "cbs", options, f"{handle:x}:"),
        Qdisc(f"parent {handle:x}:1", "pfifo", limit, f"{handle + 0x20:x}:"),
    ]


def _taprio(port: Port, gates: Gates, traffic: PortTraffic, overhead: int) -> Root:
    """Classes, queues and the schedule."""
    cycle = gates["cycle_ns"]
    entries, spans = entries_and_spans(gates, len(port["classes"]))
    if not gates.get("unguarded"):
        entries = guarded(entries, spans, guards(port, traffic))
    return Root(
        "taprio",
        num_tc=len(port["classes"]),
        map=tuple(port["pcp_to_class"][min(priority, 7)] for priority in range(16)),
        queues=tuple((1, place) for place in range(len(port["classes"]))),
        # A base time in the past is advanced by whole cycles: the list is in force before the first frame.
        base_time=gates["base_time_ns"] % cycle - (2_000_000_000 // cycle) * cycle,
        cycle_time=cycle,
        entries=tuple(("S", mask, interval) for mask, interval in entries),
        overhead=overhead,
    )


def guards(port: Port, traffic: PortTraffic) -> list[int]:
    """By class: how long before its gate closes its longest frame must begin, in ns, without taprio's own
    guard.

    taprio delays a frame that would not end in time at the interface's rate, not at the port's.
    """
    slower = 8 * 10**9 / port["rate_bps"] - 8 * 10**9 / VETH_BPS
    # The inter-frame gap after a frame is not counted, because it may be outside the window.
    return [int(max(0, octets + 8 if octets else 0) * slower) for octets in traffic.longest]


def guarded(entries: list[Entry], windows: list[list[Span] | None], ahead: list[int]) -> list[Entry]:
    """The list with every gate closed earlier by its guard; a gate that never closes stays open."""
    cycle = sum(interval for _, interval in entries)
    starts = [0, *accumulate(interval for _, interval in entries)]
    open_at: list[list[Span]] = []
    for spans, early in zip(windows, ahead, strict=True):
        if spans is None:
            open_at.append([(0, cycle)])
        else:
            open_at.append([(begin, end - early) for begin, end in spans if end - early > begin])
    edges = sorted(
        {0, cycle, *starts} | {edge % cycle for spans in open_at for span in spans for edge in span}
    )
    kept = [edges[0]]
    for edge in edges[1:]:
        if edge - kept[-1] >= SHORTEST_NS:
            kept.append(edge)
    kept[-1] = cycle
    found: list[Entry] = []
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
