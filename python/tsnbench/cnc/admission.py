"""Whether a change can be admitted: planned beside the streams in place, proved, and bounded as a whole.

Three checks pass before a change is accepted. The planner finds a Plan in which every stream in place is as
it was; ``crates/verify``, which shares no code with the planner, proves the schedule of the whole; and the
bounds of the whole keep every limit that they kept before, and all limits of the new streams.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from time import perf_counter
from typing import TYPE_CHECKING, ClassVar

from tsnbench.cnc.changes import Change, Kind, NotAcceptedError
from tsnbench.cnc.changing.transition import together
from tsnbench.cnc.network import Base, Network, Requested, of_groups
from tsnbench.cnc.policy import Moves, beyond
from tsnbench.cnc.requests import problems_of
from tsnbench.measure.verdict import worst_cases
from tsnbench.plan.bounds import Known, bounds_of_read
from tsnbench.plan.bounds.proven import Beside, bounds_beside, without_hash
from tsnbench.planning.beside import Before, beside
from tsnbench.planning.errors import PlanningErrors, PlanningProblem
from tsnbench.planning.passes import Finished, planned
from tsnbench.quantities import quantity, some
from tsnbench.scenario import ScenarioErrors

if TYPE_CHECKING:
    from tsnbench.plan.bounds.types import FlowBounds
    from tsnbench.plan.types import PlanDocument
    from tsnbench.planning.draft import Draft
    from tsnbench.runs.measures import WorstCaseRow

MOST_CHANGES = 200
"""Streams in one change."""
Row = tuple[str, str, str]
"""Stream, listener and requirement."""


class Parts:
    """The time of each part of a decision, in ms."""

    clock: ClassVar[Callable[[], float]] = perf_counter
    """In seconds: that on the wall; benchmarks on a busy machine take the thread's own."""

    def __init__(self, ms: Mapping[str, float] | None = None) -> None:
        self.ms = dict(ms or {})
        self._before = Parts.clock()

    def done(self, part: str) -> None:
        """A part has ended."""
        now = Parts.clock()
        self.ms[part] = round(self.ms.get(part, 0) + (now - self._before) * 1e3, 3)
        self._before = now


@dataclass(frozen=True)
class Rules:
    """What a service permits."""

    most_streams: int = 10_000
    """Streams of all clients."""
    most_of: Callable[[str], int | None] = lambda client: None
    """Streams of one client; None: no limit of its own."""
    may_change: Callable[[str, str], bool] = lambda client, owner: client == owner
    """Whether a client may remove or replace a stream of an owner."""
    shares: Mapping[int, Fraction] = field(default_factory=dict)
    """By PCP the greatest share of a link for requested streams; empty: no limit."""
    moves: Moves = Moves.NEVER
    """Whether streams in place may move."""


def first(base: Base) -> Network:
    """The network before any change."""
    read = base.read()
    bounds = without_hash(bounds_of_read(Known(base.plan.document, read), False, base.memory))
    return Network(0, {}, base.plan, bounds, read, base.draft)


def decide(base: Base, now: Network, change: Change, rules: Rules, parts: Parts | None = None) -> Network:
    """The network after a change.

    Args:
        base: the scenario. now: the network before. change: the request. rules: what is permitted.
        parts: gets the time of each part.

    Raises:
        NotAcceptedError: the change is wrong or cannot be admitted; ``now`` stays.
    """
    return decide_together(base, now, [change], rules, parts)


def decide_together(
    base: Base, now: Network, changes: Sequence[Change], rules: Rules, parts: Parts | None = None
) -> Network:
    """The network after changes of several clients, all or none; their streams are planned at once.

    Args: as for :func:`decide`; a stream that one of several changes adds, no other one removes.

    Raises:
        NotAcceptedError: a change is wrong, or not all can be admitted; ``now`` stays.
    """
    parts = parts or Parts()
    requested, new = _requested(base, now, changes, rules)
    removed = {name for change in changes for name in change.remove if name in now.requested}
    left = {name for name in removed if requested.get(name) is not now.requested[name]}
    if not new and not left:
        return now
    made = _planned(base, now, requested, new, left, parts)
    differs = made.read.differs(now.read)
    if harm := harmed(now.plan.document, made.plan.document, left, differs and differs[1]):
        about = next(iter(new), "")
        found = f"{some(harm)} would have to change"
        path = f"streams.{about}" if about else "streams"
        problem = PlanningProblem(path, "streams in place that stay as they are", found)
        raise NotAcceptedError(Kind.REFUSED, [problem])
    bounds = bounds_of(base, made, now)
    after = Network(now.number + 1, requested, made.plan, bounds.bounds, made.read, made.draft)
    parts.done("bounds")
    if problems := [*broken(base, now, after, new, bounds), *beyond(after, new, rules.shares)]:
        raise NotAcceptedError(Kind.REFUSED, problems)
    parts.done("judge")
    if new:
        hint = "remove streams in one change, and add others in the next one" if left else ""
        during(base, now, after, left, hint)
        parts.done("transition")
    return after


def expect(now: Network, change: Change) -> None:
    """Compares the network with the one that the client knows.

    Raises:
        NotAcceptedError: it is another one.
    """
    if change.expected and change.expected != now.hash:
        problem = PlanningProblem("network", f"the Plan {change.expected[:12]}", f"the Plan {now.hash[:12]}")
        raise NotAcceptedError(Kind.CHANGED, [problem])


def bounds_of(base: Base, made: Finished, now: Network) -> Beside:
    """The bounds of a Plan, and which of them the one before has not; what has the same arrivals as before is
    not computed again.

    Streams whose bounds the proof of the schedule has are not analysed.
    """
    plan = Known(made.plan.document, made.read)
    # Stamps without ticks need no look at all taps.
    fine = base.scenario.taps.granularity == 1
    tick = 1 if fine else made.plan.facts.release_tick
    if made.is_beside and (fine or tick == now.plan.facts.release_tick):
        found = bounds_beside(plan, now.bounds, base.memory, tick)
        if found is not None:
            return found
    whole = without_hash(bounds_of_read(plan, False, base.memory))
    return Beside(whole, now.bounds["flows"], whole["flows"])


def disagreement(base: Base, now: Network) -> tuple[str, Draft | None]:
    """What is different if everything is read, planned, proved and bounded again; empty if nothing is. Then
    also the decisions, typed.

    Every stream keeps its place, so the Plan has to be the same octet by octet, in whatever order streams
    joined and left.
    """
    try:
        made = planned(base.with_streams(now.requested), now.plan)
    except (ScenarioErrors, PlanningErrors) as error:
        return f"none: {error}", None
    was: Mapping[str, object] = now.plan.document
    parts = [key for key, value in made.plan.document.items() if value != was.get(key)]
    if parts or made.hash != now.hash or not made.read.is_same(now.read):
        return f"Plan {made.hash[:12]} with other {some(parts) if parts else 'octets'}", None
    # The same Plan is there twice. Of this one, only the proof is needed: ten thousand streams are large.
    delays, draft = made.read.proven_delays(), now.draft or made.draft
    del made, parts
    whole = bounds_of_read(Known(now.plan.document, now.read, delays), hops=False)
    both = zip(whole["flows"], now.bounds["flows"], strict=True)
    differ = [one["stream"] for one, own in both if one != own]
    return (f"other bounds of {some(differ)}", None) if differ else ("", draft)


def _planned(
    base: Base,
    now: Network,
    requested: dict[str, Requested],
    new: dict[str, Requested],
    left: Collection[str],
    parts: Parts,
) -> Finished:
    """The Plan after a change, proved: of what the change touches, or else of everything.

    Raises:
        NotAcceptedError: a stream is wrong, or there is no such Plan.
    """
    try:
        made = _beside(base, now, requested, new, left)
    except PlanningErrors as error:
        raise NotAcceptedError(Kind.REFUSED, error.problems) from error
    if made is not None:
        parts.done("plan and prove")
        return made
    try:
        scenario = base.with_streams(requested)
    except (ScenarioErrors, PlanningErrors) as error:
        raise NotAcceptedError(Kind.WRONG, error.problems) from error
    parts.done("read")
    try:
        made = planned(scenario, now.plan)
    except PlanningErrors as error:
        raise NotAcceptedError(Kind.REFUSED, error.problems) from error
    parts.done("plan and prove")
    return made


def _beside(
    base: Base,
    now: Network,
    requested: dict[str, Requested],
    new: dict[str, Requested],
    left: Collection[str],
) -> Finished | None:
    """The Plan in which only what the change touches was planned; None if that cannot tell."""
    if now.draft is None or not base.separable:
        return None
    stayed = [name for name in now.requested if name not in left] if left else list(now.requested)
    if [*requested] != [*stayed, *new]:
        return None
    streams = dict(now.draft.scenario.streams)
    for name in left:
        streams.pop(name, None)
    if new:
        read = base.streams(new)
        if read is None:
            return None  # the mistakes of the whole are told
        streams.update(read)
    scenario = base.scenario.model_copy(update={"streams": streams})
    before = Before(now.plan, now.read, now.draft, base.bare)
    return beside(before, scenario, left, [*new])


def _requested(
    base: Base, now: Network, changes: Sequence[Change], rules: Rules
) -> tuple[dict[str, Requested], dict[str, Requested]]:
    """All streams after the changes, and those that are new or replaced.

    A stream that the same client added before with the same words stays: a client that lost an answer asks
    again.

    Raises:
        NotAcceptedError: a name is wrong or taken, a stream belongs to another client, or the network is not
            the one that a client knows.
    """
    requested: dict[str, Requested] = dict(now.requested)
    new: dict[str, Requested] = {}
    slots = base.free_slots(now.requested)
    for change in changes:
        expect(now, change)
        _check_size(change)
        for name in change.remove:
            _check_removal(base, requested, name, change.client, rules)
            del requested[name]
        for name, written in change.add.items():
            if problems := problems_of(name, written):
                raise NotAcceptedError(Kind.WRONG, problems)
            before = new.get(name) or now.requested.get(name)
            if before is not None and before.client == change.client and before.written == written:
                requested[name] = before
                continue
            _check_name(base, requested, name)
            slot = before.slot if before is not None else next(slots)
            requested[name] = new[name] = Requested(change.client, written, slot)
    _check_numbers(requested, {change.client for change in changes} if new else (), rules)
    return requested, new


def _check_size(change: Change) -> None:
    number = len(change.add) + len(change.remove)
    if number > MOST_CHANGES:
        expected = f"at most {MOST_CHANGES} streams in one change"
        raise NotAcceptedError(Kind.WRONG, [PlanningProblem("streams", expected, f"{number}")])


def _check_name(base: Base, requested: Mapping[str, Requested], name: str) -> None:
    if name in base.names or name in requested:
        hint = "choose another name, or replace the stream (remove and add it in one change)"
        problem = PlanningProblem(f"streams.{name}", "a name that no other stream has", name, hint)
        raise NotAcceptedError(Kind.TAKEN, [problem])


def _check_numbers(requested: Mapping[str, Requested], clients: Collection[str], rules: Rules) -> None:
    """Compares the numbers of all streams, and of those of some clients, with their limits."""
    if len(requested) > rules.most_streams:
        problem = PlanningProblem("streams", f"at most {rules.most_streams} requested streams", "more")
        raise NotAcceptedError(Kind.REFUSED, [problem])
    for client in clients:
        most = rules.most_of(client)
        if most is not None and sum(one.client == client for one in requested.values()) > most:
            problem = PlanningProblem("streams", f"at most {most} streams of {client}", "more")
            raise NotAcceptedError(Kind.REFUSED, [problem])


def _check_removal(
    base: Base, requested: Mapping[str, Requested], name: str, client: str, rules: Rules
) -> None:
    path = f"streams.{name}"
    if name in base.names:
        problem = PlanningProblem(path, "a stream that was requested", "a stream of the scenario")
        raise NotAcceptedError(Kind.FOREIGN, [problem])
    if name not in requested:
        problem = PlanningProblem("streams", "a stream that was requested", "none of this name")
        raise NotAcceptedError(Kind.UNKNOWN, [problem])
    if not rules.may_change(client, requested[name].client):
        problem = PlanningProblem(path, "a stream of this client", "a stream of another client")
        raise NotAcceptedError(Kind.FOREIGN, [problem])


def harmed(
    before: PlanDocument, after: PlanDocument, left: Collection[str], gone: Sequence[int] | None = None
) -> list[str]:
    """Streams in place that differ in any value: release, times on links, path, priority or addresses.

    Nodes and ports are the same in both Plans, so their numbers are, too. The same objects never change:
    ``gone`` has the places of those that the Plan after the change has not, if they were looked for.
    """
    other = before["streams"] if gone is None else [before["streams"][place] for place in gone]
    stay = [stream for stream in other if stream["group"] not in left]
    now = {stream["name"]: stream for stream in after["streams"]} if stay else {}
    return [stream["name"] for stream in stay if now.get(stream["name"]) != stream]


def broken(
    base: Base, before: Network, after: Network, new: Mapping[str, Requested], differ: Beside
) -> Iterator[PlanningProblem]:
    """Limits that the worst case does not keep, of new streams and of those in place that it kept before.

    ``differ``: the bounds after the change that the network before it has not.
    """
    about = next(iter(new), "")
    earlier, flows = differ.was, differ.now
    if base.answers:
        # Answers to other streams depend on the bounds of those.
        earlier, flows = before.bounds["flows"], after.bounds["flows"]
    known = {(flow["stream"], flow["listener"]): flow for flow in earlier}
    both = [(flow, known.get((flow["stream"], flow["listener"]))) for flow in flows]
    changed = [(flow, own) for flow, own in both if base.answers or flow["group"] in new or own != flow]
    names = {flow["stream"] for flow, _ in changed}
    rows = _rows(after, flows, names)
    stay = {flow["stream"] for flow, _ in changed if flow["group"] not in new}
    proved = {key for key, row in _rows(before, earlier, stay).items() if _is_proved(row)}
    for key, row in rows.items():
        if row["group"] in new and not _is_proved(row):
            yield _own(row)
        elif row["group"] not in new and key in proved and not _is_proved(row):
            found = f"{row['stream']} to {row['listener']} with {_worst(row)}"
            limit = quantity(row["limit"], row["limit_unit"])
            expected = f"that {row['stream']} keeps its {row['requirement']} of {limit}"
            yield PlanningProblem(f"streams.{about}" if about else "streams", expected, found)
    for flow, own in changed:
        if flow["group"] in new or own is not None:
            yield from _unbounded(flow, None if flow["group"] in new else own, about)


def during(base: Base, now: Network, after: Network, left: Collection[str], hint: str) -> None:
    """Compares the bounds around a change with the limits that streams keep after it, and kept before it.

    Args:
        base: the scenario. now, after: the networks before and after it.
        left: the streams that leave or move. hint: for a refusal.

    Raises:
        NotAcceptedError: a limit is not kept while frames, or lists, of both networks are there.
    """
    try:
        both = together(now, after, left, base.memory_around)
    except NotAcceptedError as error:
        problem = replace(error.problems[0], hint=hint)
        raise NotAcceptedError(error.kind, [problem]) from error
    if both is None or both is now or both is after:
        return
    known = {(flow["stream"], flow["listener"]): flow for flow in both.bounds["flows"]}
    # A talker that joins begins when all lists have changed: it can meet only frames of those that leave.
    waiting = {
        one["name"]
        for one in after.plan.document["streams"]
        if "scheduled" not in one and (left or one["group"] in now.requested or one["group"] in base.names)
    }
    flows = after.bounds["flows"]
    around = _rows(both, both.bounds["flows"], waiting)
    late = {key: row for key, row in _rows(after, flows, waiting).items() if not _is_proved(around[key])}
    was = _rows(now, now.bounds["flows"], {row["stream"] for row in late.values()})
    problems: list[PlanningProblem] = []
    for key, row in late.items():
        if _is_proved(row) and _is_proved(was.get(key, row)):
            limit = quantity(row["limit"], row["limit_unit"])
            expected = f"a {row['requirement']} of {row['stream']} within {limit} while the network changes"
            path = f"streams.{row['group']}"
            problems.append(
                PlanningProblem(path, expected, f"{_worst(around[key])} at {row['listener']}", hint)
            )
    for flow in flows:
        if flow["stream"] in waiting:
            problems += _unbounded(known[flow["stream"], flow["listener"]], flow, flow["group"])
    if problems:
        raise NotAcceptedError(Kind.REFUSED, problems)


def _rows(network: Network, flows: Sequence[FlowBounds], names: Collection[str]) -> dict[Row, WorstCaseRow]:
    """The worst case of the requirements of these streams, all of whose flows are there."""
    if not names:
        return {}
    own = [flow for flow in flows if flow["stream"] in names]
    whole = network.plan.document
    streams = of_groups(whole["streams"], {flow["group"] for flow in own})
    document: PlanDocument = {**whole, "streams": [one for one in streams if one["name"] in names]}
    found = worst_cases(document, {**network.bounds, "flows": own})
    return {(row["stream"], row["listener"], row["requirement"]): row for row in found}


def _is_proved(row: WorstCaseRow) -> bool:
    return row["proof"] == "proved"


def _worst(row: WorstCaseRow) -> str:
    if row["worst_case"] is None:
        return f"no worst case: {row['worst_case_reason']}"
    return f"a worst case of {quantity(row['worst_case'], row['limit_unit'])}"


def _own(row: WorstCaseRow) -> PlanningProblem:
    """A limit of a new stream that its worst case does not keep."""
    path = f"streams.{row['group']}.requires.{row['requirement']}"
    limit = quantity(row["limit"], row["limit_unit"])
    return PlanningProblem(path, f"a worst case within {limit}", f"{_worst(row)} at {row['listener']}")


def _unbounded(flow: FlowBounds, was: FlowBounds | None, about: str) -> Iterator[PlanningProblem]:
    """Why a flow has no bound, or may lose frames, where it did not before; a new flow needs both."""
    path = f"streams.{flow['group'] if was is None else about}"
    name = f"{flow['stream']} to {flow['listener']}"
    bounded = was is None or was["upper_ns"] is not None
    if bounded and flow["upper_ns"] is None:
        yield PlanningProblem(path, f"a bounded delay of {name}", str(flow["reason"]))
    lossless = was is None or was["loss_reason"] is None
    if lossless and flow["loss_reason"] is not None:
        yield PlanningProblem(path, f"that no frame of {name} is lost", flow["loss_reason"])
