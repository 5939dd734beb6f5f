"""The data that a run lacks: frames never sent, lost, dropped, or without a timestamp; and missing parts of
the run folder."""

from __future__ import annotations

from dataclasses import dataclass

from tsnbench.report.facts import Counted, Measure, RunFacts
from tsnbench.report.formatting import count

REASONS = {
    "never_sent": "never sent: a gap in the talker's sequence numbers already at the first tap",
    "lost": "lost: sent, but never observed at the listener",
    "in_network_at_end": "still in the network when the run ended",
    "duplicate": "observed more than once at the listener; only the first counts",
    "duplicate_tx": "observed more than once at the talker; only the first counts",
    "reordered": "arrived after a frame with a higher sequence number",
    "unmatched_rx": "observed at the listener but never at the talker, so without a delay",
    "missing_timestamp": "received, but without a timestamp at one end, so without a delay",
    "before_first": "numbered below the first observed frame; it is unknown whether they were sent",
    "restarts": "jumps in the numbers because the talker began again, not lost frames",
}
"""Counters of the measures that are subtracted from the sent frames, with their meanings."""


_ON_THE_WAY = (
    "dropped by a full queue on the path",
    "dropped on the path, by a full queue, a filter or a scheduler",
)


@dataclass(frozen=True)
class Gap:
    """A reason and its number of frames."""

    who: str
    frames: int
    reason: str


def gaps(run: RunFacts) -> list[Gap]:
    """All missing data, stream by stream; empty if none is missing."""
    found = [
        Gap(group.label, group.counts[kind], reason)
        for group in run.groups
        for kind, reason in REASONS.items()
        if group.counts.get(kind)
    ]
    members: dict[tuple[str, str], list[Measure]] = {}
    for flow in run.flows:
        members.setdefault((flow.group, flow.listener), []).append(flow)
    for group in run.groups:
        found += [
            Gap(group.label, frames, f"of the lost: last observed at {tap}")
            for tap, frames in _where(members.get((group.group, group.listener), []), group)
        ]
        if group.delay is None:
            found.append(Gap(group.label, 0, "no frame has a delay, so there is no statistic"))
    if run.counters is None:
        return found
    for name, at_talker, on_the_way in run.counters.streams:
        if at_talker:
            found.append(Gap(name, at_talker, "dropped at the talker, before the first link"))
        if on_the_way:
            found.append(Gap(name, on_the_way, _ON_THE_WAY[bool(run.counters.policed)]))
    for port in run.counters.ports:
        for own in port.classes:
            if own.overruns:
                what = f"of class {own.traffic_class} were still on the wire when their gate closed"
                found.append(Gap(port.port, own.overruns, what))
            if own.late:
                what = f"of cyclic queue {own.traffic_class} left after their own cycle"
                found.append(Gap(port.port, own.late, what))
    told = any(group.counts.get("in_network_at_end") for group in run.groups)
    if run.counters.under_way and not told:
        found.append(Gap("all streams", run.counters.under_way, "still in the network when the run ended"))
    return found


def _where(members: list[Measure], group: Measure) -> list[tuple[str, int]]:
    if group.lost_where:
        return list(group.lost_where)
    total: dict[str, int] = {}
    for flow in members:
        for tap, frames in flow.lost_where:
            total[tap] = total.get(tap, 0) + frames
    return [(tap, frames) for tap, frames in total.items() if frames]


@dataclass(frozen=True)
class Drop:
    """Frames that a traffic class of a port dropped, and its greatest backlog."""

    port: str
    traffic_class: str
    sent: str
    dropped: str
    octets: str
    most_frames: str
    most_octets: str


def drops(counters: Counted | None) -> list[Drop]:
    """Every class of every port that dropped frames."""
    found = []
    for port in counters.ports if counters else ():
        if port.faults:
            found.append(Drop(port.port, "any: a fault", "\u2013", count(port.faults), *["\u2013"] * 3))
        found += [
            Drop(
                port.port,
                str(own.traffic_class),
                count(own.sent_frames),
                count(own.dropped_frames)
                + (f" ({count(own.over_max_sdu)} over the largest unit)" if own.over_max_sdu else "")
                + (f" ({count(own.delay_exceeded)} late)" if own.delay_exceeded else ""),
                count(own.dropped_octets),
                count(own.most_frames),
                count(own.most_octets),
            )
            for own in port.classes
            if own.dropped_frames
        ]
    return found
