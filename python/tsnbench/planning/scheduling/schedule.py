"""Scheduled streams: their releases, the gates that open for them, and the proof that they do not meet other
frames.

IEEE 802.1Q-2022, 8.6.8.4. The search is in ``crates/schedule``, the proof in ``crates/verify``; they share
no code.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import TYPE_CHECKING

from tsnbench import _native
from tsnbench.plan.frames import data_units
from tsnbench.planning.draft import Draft, Flow, Gates, Hop, Port
from tsnbench.planning.scheduling import reserved_bandwidth
from tsnbench.planning.scheduling.engines import may_leave_more, search
from tsnbench.planning.scheduling.hints import Hints, streams_of
from tsnbench.planning.scheduling.impossible_alone import impossible_alone, named
from tsnbench.planning.scheduling.incremental import placed_before
from tsnbench.planning.scheduling.late_frames import drop_late
from tsnbench.planning.scheduling.member_streams import by_route_entry, expanded, tree_of
from tsnbench.planning.scheduling.queues import give_queue, queues_beside, queues_of
from tsnbench.planning.scheduling.spare_windows import with_spare_windows
from tsnbench.planning.scheduling.written_gates import refuse, unfit, with_written_gates, written_gates
from tsnbench.planning.topology.devices import device_of, limited, long_enough
from tsnbench.planning.topology.ptp import ports_with_messages
from tsnbench.planning.topology.stages import check_scheduled
from tsnbench.quantities import time
from tsnbench.scenario import model

if TYPE_CHECKING:
    from tsnbench._native import ReadPlan, ScheduleNetwork
    from tsnbench.plan.types import PlanDocument
    from tsnbench.planning.scheduling.problem import (
        Found,
        FoundBeside,
        GateColumns,
        Limits,
        Network,
        Placed,
        Problem,
        Reason,
        TreeEntry,
    )
    from tsnbench.planning.scheduling.problem import Stream as StreamToPlace


def schedule_flows(draft: Draft) -> None:
    """Fills offsets and ``scheduled`` of scheduled flows, their ``route`` if it is free, and ``gates``."""
    flows = [flow for flow in draft.flows if flow.stream.scheduled]
    if not flows:
        return
    passed = {hop.port for flow in flows for hop in flow.route}
    hindered = {number for number in passed if _hinders(draft, draft.ports[number])}
    patterns: set[int] = set()
    for flow in flows:
        # Thousands of streams of one size have the same pattern, which is one object.
        plain = not (hindered or flow.redundancy or flow.number) and flow.size["kind"] == "frame"
        if plain and id(flow.stream.pattern) in patterns:
            continue
        before = len(draft.problems)
        _check(draft, flow, hindered)
        if len(draft.problems) == before and plain:
            patterns.add(id(flow.stream.pattern))
    draft.raise_problems()
    queues = queues_of(draft, flows)
    problem = _problem(draft, flows, queues)
    draft.raise_problems()
    wanted = draft.scenario.schedule
    lists = written_gates(draft, flows, queues)
    draft.raise_problems()
    own, problem = problem, with_written_gates(problem, lists)
    earlier = _padded(placed_before(draft, flows, queues), problem)
    try:
        found = search(wanted, problem, earlier, draft.reopened)
        if found["reasons"] and lists:
            without = search(wanted, own, earlier[: len(flows)])
            if not without["reasons"]:
                refuse(draft, flows, lists, own)
                return
            found, problem = without, own
    except ValueError as error:
        words = named(str(error), _names(draft, flows))
        draft.problem("schedule", "periods, rates and times that can be scheduled", words)
        return
    _refuse(draft, flows, queues, problem, found)
    draft.raise_problems()
    if wanted.spare_windows:
        planned = [port.shaper.gates is None for port in draft.ports]
        problem, found = with_spare_windows(draft, problem, found, earlier, planned)
        draft.raise_problems()
        earlier = _padded(earlier, problem)
    _obey(draft, flows, queues, found)
    lacking = reserved_bandwidth.shortfalls(draft)
    # Earlier streams stay, if that leaves enough; otherwise none has to.
    kept = [earlier, []] if any(earlier) else [[]]
    while lacking and kept and may_leave_more(wanted):
        more = wanted.model_copy(update={"objective": "most-bandwidth-left"})
        better = search(more, problem, kept.pop(0))
        if not better["reasons"]:
            _obey(draft, flows, queues, better)
            lacking = reserved_bandwidth.shortfalls(draft)
    drop_late(draft, flows, {one.port.number: one.gates for one in lists})
    for one in lacking:
        draft.problem("schedule.keep", one.expected, one.found, reserved_bandwidth.HINT)


def schedule_beside(draft: Draft, joined: Sequence[Flow], plan: ReadPlan, left: Set[int]) -> bool:
    """Fills offsets and ``scheduled`` of scheduled flows that joined, and ``gates`` of the reopened ports.

    False if that needs the search of :func:`schedule_flows`, which also tells reasons: nothing was filled
    then.

    Args:
        draft: the flows that joined, and at least one of those of the Plan that are alike at a reopened port.
        plan: its flows stay where they are, apart from those at the places ``left``.
    """
    flows = [flow for flow in joined if flow.stream.scheduled]
    hindered = {hop.port for flow in flows for hop in flow.route if _hinders(draft, draft.ports[hop.port])}
    for flow in flows:
        _check(draft, flow, hindered)
    own = [flow for flow in draft.flows if flow.stream.scheduled]
    queues = queues_beside(draft, flows, plan.scheduled_pcps(left))
    streams = _streams(draft, flows, queues)
    if draft.problems or draft.reopened is None or not all("tree" in stream for stream in streams):
        return False
    network = _native_network(draft, queues)
    text = network.place(plan, _native.compact(streams), draft.reopened, left, queues)
    if text is None:
        return False
    found: FoundBeside = json.loads(text)
    before = [(flow, flow.pattern.copy()) for flow in flows]
    for flow, placed in zip(flows, found["placed"], strict=True):
        _release(draft, flow, placed, draft.scenario.schedule.margin * 1_000)
    _open(draft, own, queues, found["gates"])
    for flow, pattern in before if draft.problems else ():
        flow.pattern, flow.scheduled = pattern, None
    return not draft.problems


def prepare_beside(draft: Draft, plan: ReadPlan) -> None:
    """Reads what :func:`schedule_beside` needs, before the first stream joins."""
    queues = queues_beside(draft, (), plan.scheduled_pcps(set()))
    if queues:
        _native_network(draft, queues).prepare(plan, queues)


def _native_network(draft: Draft, queues: Sequence[int]) -> ScheduleNetwork:
    known = draft.native_networks
    if len(queues) not in known:
        known[len(queues)] = _native.ScheduleNetwork(_native.compact(_problem(draft, [], queues)))
    return known[len(queues)]


def _padded(earlier: list[Placed | None], problem: Problem) -> list[Placed | None]:
    """Decisions for all streams of a problem, also for those that never send; empty if there are none."""
    return [*earlier, *[None] * (len(problem["streams"]) - len(earlier))] if earlier else []


def _refuse(draft: Draft, flows: list[Flow], queues: Sequence[int], problem: Problem, found: Found) -> None:
    """Reports the reasons why there is no schedule."""
    hints = Hints(draft, flows, queues, problem, alone=impossible_alone(found))
    said: set[tuple[str, ...]] = set()
    for reason, sentence in zip(found["reasons"], found["sentences"], strict=True):
        # Two streams that meet do so on all shared links, and so do their flows; a limit of one flow alone
        # also applies to its stream's other flows.
        groups = set()
        if reason["kind"] in ("pair", "together"):
            groups = {flows[number].group for number in streams_of(reason)}
        elif reason["kind"] in ("deadline", "jitter", "period", "frame"):
            groups = {flows[reason["stream"]].group}
        key = (reason["kind"], *sorted(groups)) if groups else (sentence,)
        # A remedy is tried before it is told.
        if reason["kind"] == "without" and not hints.works_without(streams_of(reason)):
            sentence = sentence.partition(", but one")[0]
        if key not in said:
            said.add(key)
            _refused(draft, flows, reason, sentence, hints)


def _obey(draft: Draft, flows: list[Flow], queues: Sequence[int], found: Found) -> None:
    """Writes the result into flows and ports."""
    margin = draft.scenario.schedule.margin * 1_000
    # Spare windows and the time that written gates take follow the streams.
    for flow, placed in zip(flows, found["outcome"]["placed"], strict=False):
        assert placed is not None  # there are no reasons against it
        _release(draft, flow, placed, margin)
        give_queue(draft, flow, queues[placed["queue"]])
    draft.raise_problems()
    for port in draft.ports:
        # An earlier result may have led over other ports.
        port.gates = None
    _open(draft, flows, queues, found["gates"])
    draft.raise_problems()


def prove(document: PlanDocument, text: str) -> list[str]:
    """The violations of a Plan's scheduled streams; empty if it is proved that there are none.

    Raises:
        ValueError: the Plan contradicts itself.
    """
    return violations(document, _native.ReadPlan(text))


def violations(document: PlanDocument, read: ReadPlan) -> list[str]:
    """The violations of :func:`prove` in a Plan that was read before."""
    wrong = read.violations()
    if not wrong:
        return []
    names = {
        "stream": [stream["name"] for stream in document["streams"]],
        "port": [port["name"] for port in document["ports"]],
        "node": [node["name"] for node in document["nodes"]],
    }
    return [named(sentence, names) for sentence in wrong]


def _names(draft: Draft, flows: Sequence[Flow]) -> dict[str, list[str]]:
    """The names of a problem's streams, links and nodes, by index."""
    return {
        "stream": [flow.name for flow in flows],
        "link": [_link(draft, port) for port in draft.ports],
        "node": [node.name for node in draft.nodes],
    }


def _link(draft: Draft, port: Port) -> str:
    """A port, with the hardware whose limits count there."""
    device = device_of(draft, port)
    return port.name if device is None else f"{port.name} of {device.name}"


def _hinders(draft: Draft, port: Port) -> bool:
    """Whether scheduled frames cannot leave by this port, or only the frames of its own node."""
    node = draft.nodes[port.node]
    return unfit(port) is not None or node.cut_through_octets is not None or node.further is not None


def _check(draft: Draft, flow: Flow, hindered: Set[int]) -> None:
    """Reports requests that cannot be scheduled, once per stream. ``hindered``: see :func:`_hinders`."""
    if flow.number:
        return
    stream, path = flow.stream, f"streams.{flow.group}"
    pattern = stream.pattern
    if not isinstance(pattern, model.Periodic):
        draft.problem(f"{path}.scheduled", "a period", f"a {pattern.kind} stream", "write period: 1 ms")
    elif pattern.jitter:
        draft.problem(f"{path}.jitter", "releases without jitter in a scheduled stream", "jitter")
    if flow.size["kind"] != "frame" and len(set(flow.size["octets"])) != 1:
        draft.problem(f"{path}.scheduled", "data units of one size", "several sizes", "write payload: 1000 B")
    if flow.redundancy.get("active"):
        hint = "write frer in place of failover: the times of all its copies are planned"
        draft.problem(f"{path}.scheduled", "a scheduled stream without failover", "failover", hint)
    if flow.redundancy and (circle := expanded(flow).circle):
        nodes = sorted({draft.nodes[draft.ports[flow.route[entry].port].node].name for entry in circle})
        draft.problem(
            f"{path}.scheduled",
            "merge points that follow each other in one order",
            f"{' and '.join(nodes)}, which merge frames of each other",
            "leave out scheduled, or one of these merge points",
        )
    for place, hop in enumerate(flow.route if hindered else ()):
        if hop.port not in hindered:
            continue
        port = draft.ports[hop.port]
        node = draft.nodes[port.node]
        if place and (node.cut_through_octets is not None or node.further is not None):
            how = "cuts through" if node.further is None else "takes times that differ"
            draft.problem(
                f"{path}.scheduled",
                "nodes on its way that store frames for a fixed time",
                f"{node.name} {how}",
            )
        if (why := unfit(port)) is not None:
            hint = f"leave the gates of {port.name} out: they are planned"
            draft.problem(
                f"{path}.scheduled",
                "ports with one gate control list from the begin on, or with none, for planned ones",
                f"gates at {port.name} {why}",
                hint,
            )


def _problem(draft: Draft, flows: list[Flow], queues: Sequence[int]) -> Problem:
    """The problem in the form of ``crates/schedule``: every port is a link."""
    known = draft.problems_by_queues
    if len(queues) not in known:
        known[len(queues)] = _network(draft, len(queues))
    return {
        **known[len(queues)],
        "streams": _streams(draft, flows, queues),
        "granularity_ns": draft.scenario.schedule.granularity,
    }


def _network(draft: Draft, queues: int) -> Network:
    own = draft.scenario.schedule
    return {
        "nodes": [
            {"processing_ps": node.processing_ns * 1_000, "forwards": node.forwards} for node in draft.nodes
        ],
        "links": [
            {
                "from": port.node,
                "to": port.to,
                "rate_bps": port.rate_bps,
                "propagation_ps": port.propagation_ps,
                "margin_ps": own.margin * 1_000,
                "queues": queues,
                "limits": _limits(limited(draft, port, own)),
            }
            for port in draft.ports
        ],
    }


def _limits(own: model.Schedule) -> Limits:
    return {
        "entries": own.most_entries,
        "shortest_interval_ns": own.shortest_interval,
        "granularity_ns": own.granularity,
        "longest_cycle_ns": own.longest_cycle,
    }


def _streams(draft: Draft, flows: list[Flow], queues: Sequence[int]) -> list[StreamToPlace]:
    """The streams to place. Of flows with the same pattern, size and limits, one is read; others differ in
    their nodes and paths."""
    made: list[StreamToPlace] = []
    known: dict[tuple[object, ...], tuple[StreamToPlace, bool]] = {}
    for flow in flows:
        stream, size = flow.stream, flow.size
        problems = len(draft.problems)
        octets = size["octets"] if size["kind"] == "frame" else id(size)
        kind = (
            id(stream.pattern),
            id(stream.requires),
            id(stream.release),
            octets,
            stream.pcp,
            flow.start_ns,
            stream.via is None,
        )
        if flow.redundancy or kind not in known:
            found = _stream(draft, flow, queues)
            if not flow.redundancy and len(draft.problems) == problems:
                known[kind] = found, "tree" in found
        else:
            alike, with_path = known[kind]
            found = alike.copy()
            found["talker"], found["listeners"] = flow.talker, list(flow.listeners)
            if with_path:
                found["tree"] = _path(flow)
        made.append(found)
    return made


def _stream(draft: Draft, flow: Flow, queues: Sequence[int]) -> StreamToPlace:
    pattern, required = flow.stream.pattern, flow.stream.requires.least_delay
    assert isinstance(pattern, model.Periodic)
    frames = data_units(flow.size)[0]
    own = draft.scenario.schedule
    earliest, latest = _window(flow)
    first, step = -(-earliest // own.granularity) * own.granularity, own.granularity
    if first > latest:
        field = "release" if flow.stream.release else "offset"
        found = time(latest) if earliest == latest else f"{time(earliest)} to {time(latest)}"
        hint = f"{time(first - step)} and {time(first)} are; or another granularity"
        draft.problem(
            f"streams.{flow.group}.{field}", f"a release that is a multiple of {time(step)}", found, hint
        )
    copies = expanded(flow) if flow.redundancy else None
    limits = [limit.limit for limit in flow.stream.requires.jitter]
    made: StreamToPlace = {
        "talker": flow.talker,
        "listeners": list(flow.listeners),
        "period_ns": pattern.period,
        "frames": frames,
        "deadline_ns": pattern.period if required is None else required,
        "earliest_ns": earliest,
        "latest_ns": latest,
    }
    if not own.pcps:
        made["queue"] = queues.index(flow.stream.pcp)
    if limits:
        made["jitter_ns"] = min(limits)
    if copies is not None:
        made["copies"], made["more_octets"] = copies.most, copies.more_octets
    if _keeps_its_path(draft, flow):
        made["tree"] = _path(flow) if copies is None else tree_of(copies.tree)
    return made


def _path(flow: Flow) -> list[TreeEntry] | list[int]:
    """The route to one listener is a chain of links."""
    return tree_of(flow.route) if len(flow.listeners) > 1 else [hop.port for hop in flow.route]


def _keeps_its_path(draft: Draft, flow: Flow) -> bool:
    """Whether the search may not choose another path."""
    ways = draft.scenario.schedule.ways
    return ways == "shortest" or flow.stream.via is not None or bool(flow.redundancy)


def _window(flow: Flow) -> tuple[int, int]:
    """Earliest and latest release. A written offset is kept; otherwise all releases are equally good."""
    pattern, window = flow.stream.pattern, flow.stream.release
    assert isinstance(pattern, model.Periodic)
    if window is not None:
        return window.earliest, pattern.period - 1 if window.latest is None else window.latest
    if pattern.offset:
        first = (flow.start_ns + pattern.offset) % pattern.period
        return first, first
    return 0, pattern.period - 1


def _release(draft: Draft, flow: Flow, placed: Placed, margin_ps: int) -> None:
    assert flow.pattern["kind"] == "periodic"
    flow.pattern["offset_ns"] = (placed["offset_ns"] - flow.start_ns) % flow.pattern["period_ns"]
    if flow.redundancy:
        starts = by_route_entry(flow, placed["starts_ps"])
    else:
        if not _keeps_its_path(draft, flow):
            flow.route = tuple(Hop(entry["link"], entry.get("parent")) for entry in placed["tree"])
            last = {draft.ports[hop.port].to: place for place, hop in enumerate(flow.route)}
            flow.ends = tuple(last[listener] for listener in flow.listeners)
        starts = [[start] for start in placed["starts_ps"]]
    flow.scheduled = {"starts_ps": starts}
    if margin_ps:
        flow.scheduled["margin_ps"] = margin_ps
    if placed.get("behind"):
        flow.scheduled["behind"] = sorted(placed["behind"])


def _open(draft: Draft, flows: list[Flow], queues: Sequence[int], lists: list[GateColumns]) -> None:
    """Sets the gates of the ports of scheduled frames: only their classes are open while they pass, otherwise
    all others."""
    classes: dict[int, dict[int, int]] = defaultdict(dict)
    seen: dict[tuple[int, int], set[int]] = {
        (pcp, queue): set() for pcp in range(8) for queue in range(len(queues))
    }
    numbers = {pcp: queues.index(pcp) for pcp in queues}
    policed = bool(draft.policing)
    for flow in flows:
        queue = numbers[flow.stream.pcp]
        passed = seen[flow.stream.pcp, queue]
        # Most of thousands of streams pass only ports that earlier ones have passed.
        if not (policed or flow.redundancy) and passed.issuperset([port for port, _ in flow.route]):
            continue
        for hop, pcp in zip(flow.route, draft.priorities(flow), strict=True):
            passed = seen[pcp, queue]
            if hop.port in passed or not (draft.reopened is None or hop.port in draft.reopened):
                continue
            passed.add(hop.port)
            check_scheduled(draft, draft.ports[hop.port], f"streams.{flow.group}", "scheduled streams")
            traffic = draft.ports[hop.port].pcp_to_class[pcp]
            if classes[hop.port].setdefault(traffic, queue) != queue:
                port = draft.ports[hop.port]
                pcps = (
                    f"PCP {queues[classes[hop.port][traffic]]} and PCP {queues[queue]} share class {traffic}"
                )
                path = f"streams.{flow.group}"
                draft.problem(path, f"a class for each queue of scheduled streams at {port.name}", pcps)
    by_link = {found["link"]: found for found in lists}
    for number, own in sorted(classes.items()):
        # Written lists stay as they are.
        if draft.ports[number].shaper.gates is None:
            _gates(draft, draft.ports[number], own, by_link[number])
    _without_ptp(draft, classes)
    _without_interruptions(draft, classes)
    for flow in draft.flows:
        if flow.stream.scheduled or flow.number:
            continue
        for hop, pcp in zip(flow.route, draft.priorities(flow), strict=True):
            port = draft.ports[hop.port]
            if port.pcp_to_class[pcp] in classes.get(hop.port, ()):
                draft.problem(
                    f"streams.{flow.group}",
                    f"a class of its own for scheduled streams at {port.name}",
                    f"PCP {pcp}, which shares it",
                    "give one of them another PCP, or write scheduled: true here, too",
                )
                break


def _without_ptp(draft: Draft, classes: Mapping[int, Mapping[int, int]]) -> None:
    """Reports messages of PTP in a class of scheduled frames: each takes a window, all later frames wait."""
    gptp = draft.scenario.clocks.gptp if draft.scenario.clocks else None
    if gptp is None:
        return
    ports = [draft.ports[number] for number in ports_with_messages(draft, gptp)]

    def shared(pcp: int) -> Iterator[Port]:
        return (port for port in ports if port.pcp_to_class[pcp] in classes.get(port.number, ()))

    for port in shared(gptp.pcp):
        free = next((pcp for pcp in range(7, -1, -1) if not any(shared(pcp))), None)
        another = "" if free is None else f", or another PCP to PTP: pcp: {free}"
        draft.problem(
            "clocks.gptp" if gptp.ieee_1588 is None else "clocks.ptp",
            f"messages of PTP outside the classes of scheduled streams at {port.name}",
            f"PCP {gptp.pcp}, class {port.pcp_to_class[gptp.pcp]} as scheduled streams",
            f"give PCP {gptp.pcp} a class of its own in queues{another}",
        )
        return


def _without_interruptions(draft: Draft, classes: Mapping[int, Mapping[int, int]]) -> None:
    """Reports ports where express frames interrupt others: these continue behind the end of their window.

    IEEE 802.1Q-2022, 6.7.2: the gate decides when a frame begins, not when its parts continue.
    """
    for number in sorted(classes):
        port = draft.ports[number]
        preemption = port.shaper.preemption
        if preemption is None:
            continue
        present = {
            port.pcp_to_class[pcp]
            for flow in draft.flows
            if not flow.stream.scheduled
            for hop, pcp in zip(flow.route, draft.priorities(flow), strict=True)
            if hop.port == number
        }
        express = present & {port.pcp_to_class[pcp] for pcp in preemption.express}
        if express and present - express:
            pcps = ", ".join(str(pcp) for pcp in range(8) if port.pcp_to_class[pcp] in express)
            draft.problem(
                f"shapers.{port.name}.preemption",
                "no express frames beside scheduled streams that interrupt others",
                f"express PCP {pcps}: interrupted frames continue in windows of the schedule",
                f"leave PCP {pcps} out of express",
            )


def _gates(draft: Draft, port: Port, classes: Mapping[int, int], found: GateColumns) -> None:
    """``classes``: traffic class to queue."""
    rest = ((1 << port.classes) - 1) & ~sum(1 << traffic for traffic in classes)
    # A list has hundreds of entries and few different masks.
    masks = {
        (queues, others): (rest if others else 0)
        | sum(1 << traffic for traffic, queue in classes.items() if queues >> queue & 1)
        for queues, others in set(zip(found["queues"], found["others"], strict=True))
    }
    opens = map(masks.__getitem__, zip(found["queues"], found["others"], strict=True))
    gates = Gates(found["base_ns"], tuple(zip(opens, found["intervals_ns"], strict=True)))
    port.gates = long_enough(draft, port, gates)


def _refused(draft: Draft, flows: list[Flow], reason: Reason, sentence: str, hints: Hints) -> None:
    """Reports a reason as a mistake of the stream that it concerns."""
    number = reason.get("stream")
    if number is None and reason["kind"] in ("pair", "together", "without"):
        # Of streams that are impossible alone there is a reason of their own.
        about = streams_of(reason)
        number = min([one for one in about if one not in hints.alone], default=about[0])
    path = "schedule" if number is None else f"streams.{flows[number].group}"
    found, _, needed = named(sentence, _names(draft, flows)).partition("; ")
    draft.problem(path, "a schedule", found, hints.of(reason) or needed or None)
