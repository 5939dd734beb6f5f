"""Streams whose requirements no network can meet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tsnbench import quantities
from tsnbench.plan.delay import SmallestDelays
from tsnbench.plan.frames import sizes
from tsnbench.plan.load import flow_rate
from tsnbench.plan.streams.facts import Facts
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
        yield from _delay(document, stream, delays)
        yield from _rate(stream)
        yield from _etf(document, stream)


def _first(pattern: Pattern) -> int:
    """Time from the talker's start to its first release, in ns."""
    if pattern["kind"] == "periodic":
        return pattern["offset_ns"]
    return pattern["gaps_ns"][0] if pattern["kind"] == "trace" else 0


def _delay(document: PlanDocument, stream: Stream, delays: SmallestDelays) -> Iterator[Doubt]:
    required = stream["requirements"]
    limits = []
    if "delay_ns" in required:
        limits.append(("delay", required["delay_ns"]))
    if "release_delay_ns" in required:
        limits.append(("delay from release", required["release_delay_ns"]))
    for percentile in required.get("delay_percentiles", ()):
        limits.append((f"delay p{percentile['share_ppm'] / 10_000:g}", percentile["delay_ns"]))
    if not limits:
        return
    frames = sizes(stream["size"])
    for place, listener in enumerate(stream["listeners"]):
        for name, limit in limits:
            # Every frame must keep a limit on the delay, also the largest one. Only a share of the frames
            # must keep a percentile's limit, and this share may consist of the smallest frames.
            octets = frames.largest if name in ("delay", "delay from release") else frames.smallest
            find = delays.since_release_ns if name == "delay from release" else delays.ns
            least = find(stream, place, octets)
            if least > limit:
                to = document["nodes"][listener["node"]]["name"]
                text = f"{name} {quantities.time(limit)} can never hold"
                why = f"a frame to {to} takes {quantities.time(least)} in an empty network"
                path = f"streams.{stream['group']}.requires.{name}"
                yield Doubt("impossible-delay", stream["group"], f"{text}: {why}", path)


def _rate(stream: Stream) -> Iterator[Doubt]:
    required = stream["requirements"].get("rate_bps")
    offered = flow_rate(stream["pattern"], stream["size"])
    if required is None or offered is None:
        return
    frames = sizes(stream["size"])
    offered *= frames.frame_bits / frames.phy_bits
    if offered < required:
        text = f"rate {quantities.rate(required)} can never hold: it sends {quantities.rate(offered)}"
        path = f"streams.{stream['group']}.requires.rate"
        yield Doubt("impossible-rate", stream["group"], text, path)


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
            why, hint = "one of socket and etf goes by a deadline", "deadline: true on both sides, or on none"
        else:
            continue
        text = f"etf at {port['name']} drops all of it: {why} (write {hint})"
        yield Doubt("etf-drops", stream["group"], text, f"streams.{stream['group']}.send")
