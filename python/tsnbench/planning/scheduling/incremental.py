"""An earlier Plan's schedule: the parts that a new Plan keeps, and the changes of every scheduled stream.

Running streams stay unchanged where possible: a stream of both Plans keeps its release, its path and its
times on every link, and so its windows. Streams that must move are listed with reasons.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tsnbench import foreign, quantities
from tsnbench.plan.document import Plan, PlanReadError, check, without_hash
from tsnbench.plan.streams import periodic, release_ns
from tsnbench.planning.draft import Draft, Flow, Hop
from tsnbench.planning.scheduling.member_streams import expanded, tree_of

if TYPE_CHECKING:
    from tsnbench.plan.types import PlanDocument, Requirements, Stream
    from tsnbench.planning.scheduling.problem import Placed


@dataclass(frozen=True)
class Change:
    """The change of one scheduled stream's flow."""

    flow: str
    what: str
    """``kept``, ``moved``, ``added`` or ``removed``."""
    why: str = ""
    """The reason of a move."""
    before_ns: int | None = None
    """Its earlier release in its period; None for a new flow."""
    now_ns: int | None = None

    def __str__(self) -> str:
        if self.what != "moved":
            return f"{self.flow}: {self.what}"
        before, now = quantities.time(self.before_ns or 0), quantities.time(self.now_ns or 0)
        released = f"released at {before} before, at {now} now"
        return f"{self.flow}: moved, {released}: {self.why}"

    def document(self) -> dict[str, str | int]:
        """The change for JSON."""
        found = {"stream": self.flow, "what": self.what, "why": self.why}
        times = {"before_ns": self.before_ns, "now_ns": self.now_ns}
        words = {key: text for key, text in found.items() if text}
        return words | {key: ns for key, ns in times.items() if ns is not None}


def read_earlier(path: Path) -> Plan:
    """Reads a Plan's file, or the output of ``plan --keep-schedule --json``, with the Plan in ``plan``.

    Raises:
        PlanReadError: as :meth:`Plan.read`.
    """
    try:
        found = foreign.read_json(path)
    except OSError:
        return Plan.read(path)
    if not isinstance(found, dict) or not isinstance(found.get("plan"), dict):
        return Plan.read(path)
    try:
        check(json.dumps(found["plan"]), found["plan"])
    except ValueError as error:
        raise PlanReadError(f"{path}: {error}") from error
    return Plan(without_hash(found["plan"]))


def placed_before(draft: Draft, flows: Sequence[Flow], queues: Sequence[int]) -> list[Placed | None]:
    """The decision of the earlier Plan per flow, in the form of ``crates/schedule``; None without one.

    Args:
        draft: the new draft; ``earlier`` is the old Plan.
        flows: the scheduled flows; those that have a place already keep it.
        queues: each queue's PCP.
    """
    if draft.earlier is None:
        return []
    scheduled = _scheduled(draft.earlier)
    ports = {port.name: port.number for port in draft.ports}
    return [
        _in_place(flow, queues)
        if flow.scheduled
        else _placed(draft, flow, draft.earlier, scheduled.get(flow.name), ports, queues)
        for flow in flows
    ]


def _in_place(flow: Flow, queues: Sequence[int]) -> Placed:
    """The decision of a flow that has its place from an earlier draft of the same network, on one path."""
    assert flow.scheduled is not None
    assert flow.pattern["kind"] == "periodic"
    return {
        "offset_ns": (flow.start_ns + flow.pattern["offset_ns"]) % flow.pattern["period_ns"],
        "tree": tree_of(flow.route),
        "starts_ps": [start for (start,) in flow.scheduled["starts_ps"]],
        "queue": queues.index(flow.stream.pcp),
        "behind": flow.scheduled.get("behind", []),
    }


def _placed(
    draft: Draft,
    flow: Flow,
    earlier: PlanDocument,
    before: Stream | None,
    ports: Mapping[str, int],
    queues: Sequence[int],
) -> Placed | None:
    if before is None:
        return None
    period = periodic(before)["period_ns"]
    talker = earlier["nodes"][before["talker"]]["name"]
    names = [name for name, _ in _path(earlier, before)]
    # A stream with another talker or period is another stream; a path that does not exist any more cannot be
    # kept.
    if talker != draft.nodes[flow.talker].name or not all(name in ports for name in names):
        return None
    if period != _period(flow) or before["pcp"] not in queues:
        return None
    route = [Hop(ports[name], parent) for name, parent in _path(earlier, before)]
    tree, starts = route, [own[0] for own in _starts(before)]
    if flow.redundancy or any(len(own) > 1 for own in _starts(before)):
        # After a merge point, each entry has a time for every path: all paths are kept, or none.
        if route != list(flow.route):
            return None
        copies = expanded(flow)
        left = [list(own) for own in _starts(before)]
        if sorted(copies.entries) != sorted(n for n, own in enumerate(left) for _ in own):
            return None
        tree, starts = copies.tree, [left[entry].pop(0) for entry in copies.entries]
    return {
        "offset_ns": release_ns(before),
        "tree": tree_of(tree),
        "starts_ps": starts,
        "queue": queues.index(before["pcp"]),
        "behind": before["scheduled"].get("behind", []),
    }


def changes(earlier: PlanDocument, now: PlanDocument) -> list[Change]:
    """The changes of every scheduled flow between two Plans, in the order of the new one, removed ones
    last."""
    before, after = _scheduled(earlier), _scheduled(now)
    new = [name for name in after if name not in before]
    other = [name for name in after if name in before and _demand(before[name], after[name])]
    found = []
    for name, stream in after.items():
        old = before.get(name)
        release = release_ns(stream)
        if old is None:
            found.append(Change(name, "added", now_ns=release))
        elif _times(earlier, old) == _times(now, stream):
            found.append(Change(name, "kept", "", release_ns(old), release))
        else:
            why = _demand(old, stream) or _network(earlier, old, now, stream) or _room(new, other)
            found.append(Change(name, "moved", why, release_ns(old), release))
    found += [
        Change(name, "removed", "", release_ns(old)) for name, old in before.items() if name not in after
    ]
    return found


def change_lines(found: Sequence[Change]) -> Iterator[str]:
    """The changes in words: the number of each kind, then all flows that did not stay."""
    count = {what: sum(one.what == what for one in found) for what in ("kept", "moved", "added", "removed")}
    yield "scheduled streams: " + ", ".join(f"{number} {what}" for what, number in count.items())
    yield from (str(one) for one in found if one.what != "kept")


def _scheduled(document: PlanDocument) -> dict[str, Stream]:
    return {stream["name"]: stream for stream in document["streams"] if "scheduled" in stream}


def _starts(stream: Stream) -> list[list[int]]:
    return stream["scheduled"]["starts_ps"]


def _period(flow: Flow) -> int | None:
    return flow.pattern["period_ns"] if flow.pattern["kind"] == "periodic" else None


def _path(document: PlanDocument, stream: Stream) -> list[tuple[str, int | None]]:
    return [(document["ports"][hop["port"]]["name"], hop.get("parent")) for hop in stream["route"]]


def _times(document: PlanDocument, stream: Stream) -> tuple[Any, ...]:
    """The times of a stream at its links."""
    return (
        release_ns(stream),
        periodic(stream)["period_ns"],
        stream["pcp"],
        _path(document, stream),
        _starts(stream),
    )


def _demand(old: Stream, stream: Stream) -> str:
    """The changed requests of a stream; empty if there are none."""
    periods = [periodic(one)["period_ns"] for one in (old, stream)]
    if periods[0] != periods[1]:
        return f"its period was {quantities.time(periods[0])} and is {quantities.time(periods[1])}"
    if old["size"] != stream["size"]:
        return "its frames have another size"
    was, required = old.get("requirements", {}), stream.get("requirements", {})
    for name, before, now in (
        ("delay", was.get("delay_ns"), required.get("delay_ns")),
        ("delay from release", was.get("release_delay_ns"), required.get("release_delay_ns")),
        ("jitter", _jitter(was), _jitter(required)),
    ):
        if before != now:
            texts = ["none" if ns is None else quantities.time(ns) for ns in (before, now)]
            return f"its limit of {name} was {texts[0]} and is {texts[1]}"
    return ""


def _jitter(required: Requirements) -> int | None:
    """The lowest limit of the jitter, which a schedule keeps."""
    return min((limit["limit_ns"] for limit in required.get("jitter", ())), default=None)


def _network(earlier: PlanDocument, old: Stream, now: PlanDocument, stream: Stream) -> str:
    """The changes on its path, as far as they concern the stream; empty if there are none."""
    ends = [[document["nodes"][one["talker"]]["name"]] for document, one in ((earlier, old), (now, stream))]
    for own, document, one in ((ends[0], earlier, old), (ends[1], now, stream)):
        own += [document["nodes"][listener["node"]]["name"] for listener in one["listeners"]]
    if ends[0] != ends[1]:
        return "it has another talker or other listeners"
    ports = {port["name"]: port for port in now["ports"]}
    for hop in old["route"]:
        before = earlier["ports"][hop["port"]]
        after = ports.get(before["name"])
        if after is None:
            return f"its path led over {before['name']}, which is no more"
        if before["rate_bps"] != after["rate_bps"] or before["propagation_ps"] != after["propagation_ps"]:
            return f"the link {before['name']} has another rate or length"
        nodes = [earlier["nodes"][before["node"]], now["nodes"][after["node"]]]
        if nodes[0]["processing_ns"] != nodes[1]["processing_ns"]:
            return f"{nodes[0]['name']} takes another time"
    if old["scheduled"].get("margin_ps", 0) != stream["scheduled"].get("margin_ps", 0):
        return "the schedule's margin is another one"
    return ""


def _room(new: Sequence[str], other: Sequence[str]) -> str:
    makers = [*new, *other]
    return f"it made room for {quantities.some(makers)}" if makers else "other streams are elsewhere now"
