"""Streams with more than one path: member streams that are merged and eliminated, or a standby path.

IEEE 802.1CB-2017, 6 and 7. A standby path models the alternative path of a spanning tree (OCORA 3.4): frames
use it some time after a link of the first path fails, and leave it when the link returns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from tsnbench.planning.draft import Draft, Flow, Hop
from tsnbench.planning.parts import without_none
from tsnbench.planning.routing.disjoint import disjoint_paths
from tsnbench.planning.routing.member_streams import meetings, shared, split_and_merge
from tsnbench.planning.routing.survivable.planned import Known, from_failures
from tsnbench.scenario import model

if TYPE_CHECKING:
    from tsnbench.plan.types import Algorithm, Recovery

MAIN, OTHER = 0, 1
Spans = list[tuple[int, int]]
Links = Mapping[tuple[int, int], list[int]]
"""(node, next node) to the ports between them, in order."""
_NO_PATH = "add links, or write path: [sw3, sw4]"


def route_redundantly(draft: Draft, flow: Flow, links: Links, known: Known) -> None:
    """Fills ``route``, ``ends`` and ``redundancy`` of a flow with several paths.

    ``known`` keeps the links that were found for other flows.
    """
    if flow.stream.frer and flow.stream.frer.from_failures:
        planned = from_failures(draft, flow, known)
        if planned is not None:
            _merge(draft, flow, flow.stream.frer, *planned)
    elif flow.stream.frer:
        _copy(draft, flow, links, flow.stream.frer)
    elif flow.stream.failover:
        _stand_by(draft, flow, links, flow.stream.failover)


def _copy(draft: Draft, flow: Flow, links: Links, frer: model.Frer) -> None:
    paths = _frer_paths(draft, flow, links, frer)
    if paths is None:
        return
    if any(len({tuple(path) for path in own}) < len(own) for own in paths):
        draft.problem(f"streams.{flow.group}.frer", "paths that differ", "one twice")
        return
    at = [draft.node_numbers[name] for name in frer.at]
    if len(at) == len(paths) == 1 and at[0] not in _same_for_all(draft, paths[0]):
        draft.problem(f"streams.{flow.group}.frer.at", "a node from which all paths are the same", frer.at[0])
        return
    for name, node in zip(frer.at, at, strict=True):
        if sum(any(draft.ports[port].to == node for port in path) for own in paths for path in own) < 2:
            draft.problem(
                f"streams.{flow.group}.frer.at", "nodes where paths meet", f"{name}, on one path or none"
            )
            return
    nodes = meetings(draft, paths, at)
    if nodes is None:
        draft.problem(
            f"streams.{flow.group}.frer.at",
            "a node where the paths to each listener meet",
            ", ".join(frer.at),
        )
        return
    _merge(draft, flow, frer, paths, nodes)
    if not flow.redundancy:
        draft.problem(f"streams.{flow.group}.frer", "paths that differ", "one path")


def _merge(
    draft: Draft, flow: Flow, frer: model.Frer, paths: Sequence[Sequence[Sequence[int]]], nodes: Sequence[int]
) -> None:
    """Fills route and redundancy; paths that never part are a plain route."""
    merged_route = split_and_merge(draft, paths, nodes)
    flow.route, flow.ends = tuple(merged_route.route), tuple(merged_route.ends)
    if merged_route.merges:
        flow.redundancy = {
            "merges": [{"from": entries} for entries in merged_route.merges],
            "copies": merged_route.copies,
            "recovery": _recovery(frer),
        }


def _stand_by(draft: Draft, flow: Flow, links: Links, failover: model.Failover) -> None:
    paths = _failover_paths(draft, flow, links)
    if paths is None:
        return
    before, after = _shared(paths)
    own = [path[before : len(path) - after] for path in paths]
    if not all(own):
        draft.problem(f"streams.{flow.group}.failover", "paths that differ", "one twice")
        return
    route = [Hop(port, place - 1 if place else None) for place, port in enumerate(paths[0][:before])]
    ends, firsts = [], []
    for ports in own:
        firsts.append(len(route))
        for place, port in enumerate(ports):
            route.append(Hop(port, len(route) - 1 if place else before - 1 if before else None))
        ends.append(len(route) - 1)
    last = ends[0]
    for port in paths[0][len(paths[0]) - after :]:
        route.append(Hop(port, last))
        last = len(route) - 1
    flow.route, flow.ends = tuple(route), (last,)
    flow.redundancy = {
        "merges": [{"from": ends}],
        "active": [
            {"route": first, "spans": [{"from_ns": begin, "until_ns": end} for begin, end in spans]}
            for first, spans in zip(firsts, _times(draft, own, failover), strict=True)
        ],
    }


def _recovery(frer: model.Frer) -> Recovery:
    algorithm: Algorithm = (
        {"kind": "match"} if frer.recovery == "match" else {"kind": "vector", "history": frer.history}
    )
    written = frer.identification
    latent = frer.latent_errors
    return without_none(
        {
            # The pass `identify` chooses if the scenario does not.
            "identification": written if isinstance(written, str) else "ip",
            "algorithm": algorithm,
            "reset_ns": frer.reset,
            "individual": frer.individual or None,
            "latent": latent
            and {"period_ns": latent.period, "reset_ns": latent.reset, "difference": latent.difference},
        }
    )


def _frer_paths(draft: Draft, flow: Flow, links: Links, frer: model.Frer) -> list[list[list[int]]] | None:
    """The paths to each listener."""
    if frer.paths:
        written = [_ports(draft, flow, path, links) for path in frer.paths]
        paths = [[path for path in written if draft.ports[path[-1]].to == node] for node in flow.listeners]
        for node, own in zip(flow.listeners, paths, strict=True):
            if not own:
                name = draft.nodes[node].name
                draft.problem(
                    f"streams.{flow.group}.frer.paths", f"a path to {name}", "none", "end it with its name"
                )
                return None
        return paths
    paths = []
    for node in flow.listeners:
        own = disjoint_paths(draft, flow.talker, node, frer.disjoint)
        if len(own) < frer.disjoint:
            to = f" to {draft.nodes[node].name}" if len(flow.listeners) > 1 else ""
            hint = "paths share links at their ends only: add links, or write paths: [[…], […]]"
            found = str(len(own)) if own else "one at most"
            draft.problem(f"streams.{flow.group}.frer", f"{frer.disjoint} disjoint paths{to}", found, hint)
            return None
        paths.append(own)
    return paths


def _failover_paths(draft: Draft, flow: Flow, links: Links) -> list[list[int]] | None:
    stream = flow.stream
    assert stream.failover is not None
    main: list[int] | None = None
    if stream.via is not None:
        assert stream.via_links is not None
        main = _ports(draft, flow, model.StreamPath(nodes=stream.via, links=stream.via_links), links)
    if stream.failover.path is not None:
        other = _ports(draft, flow, stream.failover.path, links)
        if main is None:
            beside = disjoint_paths(draft, flow.talker, flow.listeners[0], 1, other)
            main = next(iter(beside), None)
        paths = [main, other] if main else []
    elif main is not None:
        beside = disjoint_paths(draft, flow.talker, flow.listeners[0], 1, main)
        paths = [main, *beside]
    else:
        paths = list(disjoint_paths(draft, flow.talker, flow.listeners[0], 2))
    if len(paths) < 2:
        draft.problem(f"streams.{flow.group}.failover", "a second path that shares no link", "none", _NO_PATH)
        return None
    return [path for path in paths if path is not None]


def _ports(draft: Draft, flow: Flow, path: model.StreamPath, links: Links) -> list[int]:
    """The ports of hops whose links the loader has checked."""
    numbers = draft.node_numbers
    ports = []
    for (node, to), link in zip(pairwise(path.nodes), path.links, strict=True):
        parallel = links[numbers[node], numbers[to]]
        ports.append(parallel[(flow.number if link is None else link - 1) % len(parallel)])
    return ports


def _shared(paths: Sequence[Sequence[int]]) -> tuple[int, int]:
    """Number of ports that all paths share at the begin, and at the end."""
    return shared(paths), shared([path[::-1] for path in paths])


def _same_for_all(draft: Draft, paths: Sequence[Sequence[int]]) -> set[int]:
    """The nodes from which all paths to one listener are the same."""
    return {draft.ports[port].to for port in paths[0][-1 - _shared(paths)[1] :]}


def _times(draft: Draft, own: Sequence[Sequence[int]], failover: model.Failover) -> list[Spans]:
    """The times at which each of two paths forwards, from the faults that cut their links.

    A failed link is detected at once; the standby path forwards after ``after``. When the link returns, the
    standby path stops at once, and the first path forwards after ``back``. Frames in between are lost.
    """
    end = draft.scenario.duration + draft.scenario.drain
    cuts: list[Spans] = []
    for ports in own:
        touched = {number for port in ports for number in (port, draft.ports[port].peer)}
        passed = {draft.ports[number].node for number in touched}
        down = [
            fault
            for fault in draft.faults
            if (fault["kind"] == "link-down" and fault["port"] in touched)
            or (fault["kind"] == "node-down" and fault["node"] in passed)
        ]
        cuts.append([(fault["from_ns"], fault["until_ns"]) for fault in down])
    changes = sorted({time for path in cuts for cut in path for time in cut if time < end})
    spans: list[Spans] = [[], []]
    wanted: int | None = MAIN
    forwarding: tuple[int, int] | None = (MAIN, 0)
    """(path, begin of its forwarding)."""
    for now in changes:
        up = [not any(begin <= now < until for begin, until in path) for path in cuts]
        ended = any(until == now for _, until in cuts[MAIN])
        want = MAIN if up[MAIN] else OTHER if up[OTHER] else None
        if want is None or (want == wanted and not (want == MAIN and ended)):
            continue
        starts = now + (failover.back if want == MAIN else failover.after)
        if want == MAIN:
            # A path that returned before it was left also restarts.
            spans[MAIN] = [(begin, min(until, now)) for begin, until in spans[MAIN]]
        if forwarding is not None:
            # A failed path stays active, with its cut, until the other one takes over.
            closes = now if want == MAIN else starts
            if forwarding[1] < closes:
                spans[forwarding[0]].append((forwarding[1], closes))
        wanted, forwarding = want, (want, starts)
    if forwarding is not None and forwarding[1] < end:
        spans[forwarding[0]].append((forwarding[1], end + 1))
    return [_ordered(path) for path in spans]


def _ordered(spans: Spans) -> Spans:
    """Ascending and disjoint: a path can be needed again before it was closed."""
    merged: Spans = []
    for begin, until in sorted(spans):
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], until))
        else:
            merged.append((begin, until))
    return merged
