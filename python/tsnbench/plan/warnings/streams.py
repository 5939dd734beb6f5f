"""Streams whose requirements no network can meet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tsnbench import quantities
from tsnbench.plan.delay import SmallestDelays
from tsnbench.plan.streams.facts import Facts
from tsnbench.plan.streams.limits import broken_delays, broken_rate
from tsnbench.plan.warnings.doubt import Doubt

if TYPE_CHECKING:
    from tsnbench.plan.types import Pattern, PlanDocument, Stream


def stream_doubts(facts: Facts) -> Iterator[Doubt]:
    """Kinds: impossible-delay, impossible-rate, silent, untagged-priority, etf-drops."""
    document, delays = facts.document, facts.delays
    for stream in document["streams"]:
        where = stream["group"]
        first = stream["start_ns"] + _first(stream["pattern"])
        if first >= stream["stop_ns"]:
            text = f"sends nothing: its first frame is due at {quantities.time(first)}"
            text = f"{text}, it stops at {quantities.time(stream['stop_ns'])}"
            yield Doubt("silent", where, text, f"streams.{where}")
        if stream["pcp"] and "vid" not in stream:
            text = f"has priority {stream['pcp']}, but its frames have no tag to carry it"
            text = f"{text}: other bridges treat them as priority 0"
            yield Doubt("untagged-priority", where, text, f"streams.{where}.pcp")
        yield from _limits(document, stream, delays)
        yield from _etf(document, stream)


def _first(pattern: Pattern) -> int:
    """Time from the talker's start to its first release, in ns."""
    if pattern["kind"] == "periodic":
        return pattern["offset_ns"]
    return pattern["gaps_ns"][0] if pattern["kind"] == "trace" else 0


def _limits(document: PlanDocument, stream: Stream, delays: SmallestDelays) -> Iterator[Doubt]:
    group = stream["group"]
    for name, limit, takes, to in broken_delays(document, stream, delays):
        text = f"{name} {quantities.time(limit)} can never be met"
        why = f"a frame to {to} takes {quantities.time(takes)} in an empty network"
        yield Doubt("impossible-delay", group, f"{text}: {why}", f"streams.{group}.requires.{name}")
    rate = broken_rate(stream)
    if rate is not None:
        required, offered = quantities.rate(rate[0]), quantities.rate(rate[1])
        text = f"rate {required} can never be met: it sends {offered}"
        yield Doubt("impossible-rate", group, text, f"streams.{group}.requires.rate")


def _etf(document: PlanDocument, stream: Stream) -> Iterator[Doubt]:
    """Streams of which the talker's own queueing discipline drops every frame."""
    socket = stream.get("socket", {})
    for hop in stream["route"]:
        port = document["ports"][hop["port"]]
        if "parent" in hop or "qdisc" not in port:
            continue
        child = port["qdisc"]["children"][port["pcp_to_class"][stream["pcp"]]]
        unchecked = child.get("skip_sock_check", False)
        given = unchecked and "taprio" in port["qdisc"]
        if child["kind"] != "etf" or given or (unchecked and socket.get("txtime")):
            continue
        if not socket.get("txtime"):
            why, hint = "its frames carry no transmission time", "send: {txtime: true}"
        elif socket.get("other_clock"):
            why, hint = "its socket has another clock", "clock: tai"
        elif bool(socket.get("deadline")) != bool(child.get("deadline")):
            why, hint = (
                "only one of socket and etf uses a deadline",
                "deadline: true on both sides, or on none",
            )
        else:
            continue
        text = f"etf at {port['name']} drops all of it: {why} (write {hint})"
        yield Doubt("etf-drops", stream["group"], text, f"streams.{stream['group']}.send")
