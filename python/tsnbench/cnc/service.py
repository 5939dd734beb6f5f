"""The service: one thread decides about changes, one after the other; everybody else reads what it made.

A reader gets the network of one moment, which never changes. A client waits for the decision about its
change.
"""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar

from tsnbench.cnc.admission import Parts, Rules, decide, disagreement, first
from tsnbench.cnc.changes import Change, Decision, Kind, NotAcceptedError, reasons_of
from tsnbench.cnc.changing.at_once import Ready, Tried, tried
from tsnbench.cnc.changing.tidying import tidied
from tsnbench.cnc.changing.transition import drain_ns, leaving, told
from tsnbench.cnc.changing.writer import Waiting, Writer, fulfil
from tsnbench.cnc.facts import stream_facts
from tsnbench.cnc.network import Base, Network
from tsnbench.cnc.remedies import PATIENCE_S, with_remedy
from tsnbench.cnc.store import FullStoreError, LostStoreError, Store
from tsnbench.cnc.store.denied import REMEMBERED as ROWS
from tsnbench.cnc.store.denied import DeniedLog
from tsnbench.errors import BackendError, InputError
from tsnbench.planning.errors import PlanningProblem
from tsnbench.planning.scheduling.hints import patience
from tsnbench.planning.scheduling.schedule import prepare_beside

if TYPE_CHECKING:
    from tsnbench.plan.types import PlanDocument

MOST_UNCHECKED = 100
"""Accepted changes after which everything is planned and bounded again, even if others wait."""
IDLE_S = 0.5
"""Time without a change after which that is done at the latest."""
BEAT_S = 1.0
"""Time without a change after which the service looks whether the store is still its own."""
REMEMBERED = 1_000
"""Decisions that clients can read."""


class Devices(Protocol):
    """Where a Plan goes."""

    lists_from_ns: int | None
    """From this instant on (TAI), the gate control lists of all devices are those of the Plan."""

    def put(self, document: PlanDocument, *, together: bool = False, drain_ns: int = 0) -> Sequence[str]:
        """Gives every device its part of a Plan; returns notes.

        ``together``: streams move, so all devices have to change at one instant. ``drain_ns``: the
        instant is later than this from now on.

        Raises:
            BackendError: all devices have their earlier configuration, or the text says which have not.
        """
        ...

    def differences(self, document: PlanDocument) -> Sequence[str]:
        """What would change on the devices if they got a Plan; nothing is changed."""
        ...

    def close(self) -> None:
        """Ends what is open towards the devices."""
        ...


Result = TypeVar("Result")
Fit = Callable[[Network], Change | None]


class Service:
    """The CNC of one network.

    Args:
        base: the scenario. store: keeps what was accepted; None: nothing stays after the end.
        devices: gets every accepted Plan; None: nobody. rules: what is permitted.
    """

    def __init__(
        self,
        base: Base,
        store: Store | None = None,
        devices: Devices | None = None,
        rules: Rules | None = None,
    ) -> None:
        self.base, self.store, self.devices = base, store, devices
        self.rules = rules or Rules()
        self.network: Network = (store.network() if store else None) or first(base)
        """The network in force. Only the writer replaces it."""
        self.checked = -1 if self.network.draft is None else self.network.number
        """The number of the network that was planned and bounded as a whole last."""
        self.halted = ""
        """Why nothing is admitted any more: planning everything finds another Plan than the one in force."""
        self.lost = ""
        """Why the service ended: the store is not its own any more, and another one may lead."""
        self._when_lost: list[Callable[[], None]] = []
        self.decisions: deque[Decision] = deque(store.decisions(REMEMBERED) if store else (), REMEMBERED)
        self.denied = DeniedLog(store.denied(ROWS) if store else ())
        """Requests that were refused before a decision."""
        self._number = self.decisions[-1].number if self.decisions else 0
        self._listeners: list[Callable[[Decision], None]] = []
        self._finish()
        self._prepare()
        self._writer = Writer(self._decide_all, self._rest, self._pause_s)

    def _prepare(self) -> None:
        """Makes now what the first change would need before its answer."""
        if self.base.separable:
            # What changes are compared with.
            self.network.read.beside(self.network.plan.document, self.network.plan.document)
            if self.network.draft is not None:
                prepare_beside(self.network.draft, self.network.read)
        if self.store is not None:
            # If it cannot be written, the first change tells why.
            with suppress(FullStoreError):
                self.store.start(self.network)
        _settle()

    def _finish(self) -> None:
        """Ends a change that was under way when the process ended: the devices tell which Plan they have.

        Raises:
            BackendError: the devices cannot be read, or did not take the earlier Plan again.
        """
        pending = self.store.pending() if self.store else None
        if pending is None or self.store is None:
            return
        decisions, after = pending
        self._number = max(self._number, decisions[-1].number)
        if self.devices is not None and not self.devices.differences(after.plan.document):
            notes, at = ["the service ended meanwhile; all devices had it"], self.devices.lists_from_ns
            self._told_all([replace(one, notes=notes, in_force_ns=at) for one in decisions], after)
            return
        if self.devices is not None:
            self.devices.put(self.network.plan.document)
        why = BackendError("the end of the service meanwhile")
        self._told_all([_not_deployed(one, self.network, why) for one in decisions], None)

    def close(self) -> None:
        """Ends the writer after the changes that wait, and frees the devices and the store."""
        self._writer.close()
        if self.devices is not None:
            self.devices.close()
        if self.store is not None:
            with suppress(FullStoreError):
                self.denied.write(self.store.keep_denied)
            self.store.close()

    def listen(self, told: Callable[[Decision], None]) -> Callable[[], None]:
        """``told`` is called with every decision, by the writer; returns how to end that."""
        self._listeners.append(told)
        return lambda: self._listeners.remove(told)

    def ask(self, change: Change) -> Future[Decision]:
        """Puts a change into the queue.

        Raises:
            BusyError: too many changes wait already, or the service ends.
        """
        return self._writer.ask(change)

    def soon(self, what: Callable[[], Result]) -> Future[Result]:
        """Puts something into the queue that the writer does, such as several decisions.

        Raises:
            BusyError: too many changes wait already, or the service ends.
        """
        return self._writer.soon(what)

    def when_lost(self, ended: Callable[[], None]) -> None:
        """``ended`` is called by the writer if another service may lead: then this one ends."""
        self._when_lost.append(ended)

    def _beat(self) -> None:
        """Looks whether the store is still this service's, and writes which requests were denied."""
        if self.store is None or self.lost:
            return
        try:
            self.store.beat()
            self.denied.write(self.store.keep_denied)
        except FullStoreError as error:
            self._lose(error)

    def _lose(self, error: FullStoreError) -> None:
        if isinstance(error, LostStoreError) and not self.lost:
            self.lost = str(error)
            for ended in self._when_lost:
                ended()

    def _pause_s(self) -> float:
        """After this time without a change, the service looks at its network and its store."""
        unchecked = self.network.number - self.checked
        return 0 if unchecked > MOST_UNCHECKED else IDLE_S if unchecked else BEAT_S

    def _rest(self) -> None:
        self.check()
        self._beat()

    def _decide_all(self, waiting: Sequence[Waiting]) -> None:
        """Decides about changes that waited at the same time, and tells each client."""
        changes, found = [one.change for one in waiting], Tried({})
        if len(waiting) > 1 and not self.halted:
            # A defect of one decision is told to its client below; the others have their answers.
            with suppress(Exception):
                found = tried(self.base, self.network, changes, self.rules)
        group = [waiting[place] for place in found.group]
        try:
            for one, decision in zip(group, self._decide_at_once(changes, found), strict=True):
                one.done.set_result(decision)
        except Exception as error:  # the writer goes on, and the clients are told
            for one in group:
                one.done.set_exception(error)
        for place, one in enumerate(waiting):
            ready = found.ready.get(place) or found.slow.get(place)
            if place not in found.group:
                fulfil(one.done, partial(self.decide, one.change, ready=ready))

    def check(self) -> None:
        """Plans, proves and bounds everything again; nothing is admitted any more if anything differs.

        Decisions look at what they touch. Only the writer calls it, behind its answers.
        """
        now = self.network
        if now.number == self.checked:
            return
        self.checked = now.number
        if self.store is not None:
            # If it cannot be written, the changes are there, and the next beat tells why.
            with suppress(FullStoreError):
                self.store.settle(now)
        try:
            found, draft = disagreement(self.base, now)
        except Exception as error:  # the writer goes on; what is not checked is not trusted
            found, draft = f"none: {error}", None
        _settle()
        if now.draft is None:
            # It is that of a store: another version may plan otherwise, so only equal decisions are used.
            if draft:
                prepare_beside(draft, now.read)
                self.network = replace(now, draft=draft)
            return
        if found:
            self.halted = found
            self._number += 1
            decision = Decision(self._number, _time(), "", {}, Kind.HALTED.value, now.hash)
            with suppress(FullStoreError):
                self._told(replace(decision, reasons=reasons_of([self._why_halted()])), None)

    def _why_halted(self) -> PlanningProblem:
        hint = "the network keeps its Plan; start the service again, and report this"
        return PlanningProblem("network", "the Plan that planning everything finds", self.halted, hint)

    def decide(self, change: Change, fit: Fit | None = None, ready: Ready | None = None) -> Decision:
        """Decides about a change, and puts the network after it into force. Only the writer calls it.

        ``fit`` gets the network after a change that can be admitted, and returns another change to decide
        about in its place, or None. ``ready``: what the change makes of the network, if that was found.

        Raises:
            FullStoreError: the store cannot be written; the network stays as it was.
        """
        parts = Parts()
        now = self.network
        self._number += 1
        decision = Decision(self._number, _time(), change.client, change.document(), "accepted", now.hash)
        try:
            if self.halted:
                raise NotAcceptedError(Kind.HALTED, [self._why_halted()])
            judge = tidied if change.tidy else decide
            with patience(PATIENCE_S):
                if ready is not None and ready.before is now:
                    parts = Parts(ready.parts_ms)
                    after = ready.after
                else:
                    after = judge(self.base, now, change, self.rules, parts)
                while fit is not None and (other := fit(after)) is not None:
                    after = decide(self.base, now, other, self.rules, parts)
        except NotAcceptedError as error:
            problems = error.problems
            if error.kind is Kind.REFUSED and not change.tidy:
                problems = tuple(with_remedy(self.base, now, change, self.rules, problems))
                parts.done("remedy")
            decision = replace(
                decision, outcome=error.kind.value, reasons=reasons_of(problems), parts_ms=parts.ms
            )
            return self._told(decision, None)
        facts = stream_facts(after, [*change.add, *_moved(now, after, change.tidy)])
        parts.done("facts")
        decision = replace(decision, plan=after.hash, streams=facts, parts_ms=parts.ms)
        parts.done("hash")
        if after is now:
            # All of it is there already: an answer was lost, and the client asked again.
            return self._told(replace(decision, in_force_ns=self.in_force_ns), None)
        drain = drain_ns(now, leaving(now, after, change))
        return self._in_force([decision], after, bool(change.tidy), drain)[0]

    def _decide_at_once(self, changes: Sequence[Change], found: Tried) -> list[Decision]:
        """Admits the changes that were planned at once, all or none.

        Raises:
            FullStoreError: the store cannot be written; the network stays as it was.
        """
        if found.whole is None:
            return []
        after, parts = found.whole.after, Parts(found.whole.parts_ms)
        facts = {place: stream_facts(after, changes[place].add) for place in found.group}
        parts.done("facts")
        group, at = found.told(changes, self._number + 1), _time()
        decisions = []
        for place, streams in facts.items():
            self._number += 1
            asked = changes[place]
            one = Decision(self._number, at, asked.client, asked.document(), "accepted", after.hash)
            decisions.append(replace(one, streams=streams, parts_ms=parts.ms, together=group))
        return self._in_force(decisions, after)

    def _in_force(
        self, decisions: Sequence[Decision], after: Network, together: bool = False, drain: int | None = 0
    ) -> list[Decision]:
        """Puts the network after accepted changes into force, all or none.

        ``together``: whether streams move. ``drain``: as for :func:`told`.

        Raises:
            FullStoreError: the store cannot be written; the network stays as it was.
        """
        parts = Parts()
        try:
            notes = self._deployed(decisions, after, together, drain or 0)
        except FullStoreError as error:
            self._lose(error)
            raise
        except (BackendError, InputError) as error:
            return self._told_all([_not_deployed(one, self.network, error) for one in decisions], None)
        parts.done("deploy")
        at = self.in_force_ns
        made = [replace(one, parts_ms={**one.parts_ms, **parts.ms}, notes=notes) for one in decisions]
        own = [replace(one, in_force_ns=at, transition=told(drain, at)) for one in made]
        return self._told_all(own, after)

    def differing(self) -> Sequence[str]:
        """What the devices have otherwise than the Plan in force. Only the writer calls it.

        Raises:
            BackendError: a device cannot be read. InputError: it gives no access.
        """
        return () if self.devices is None else self.devices.differences(self.network.plan.document)

    def overwrite(self, client: str) -> Decision:
        """Gives the devices the Plan in force once more. Only the writer calls it.

        Raises:
            FullStoreError: the store cannot be written.
        """
        self._number += 1
        asked = {"add": {}, "remove": [], "devices": "overwrite"}
        decision = Decision(self._number, _time(), client, asked, "accepted", self.network.hash)
        notes: Sequence[str] = ()
        try:
            if self.devices is not None:
                notes = self.devices.put(self.network.plan.document)
        except FullStoreError as error:
            self._lose(error)
            raise
        except (BackendError, InputError) as error:
            return self._told(_not_deployed(decision, self.network, error), None)
        return self._told(replace(decision, notes=notes, in_force_ns=self.in_force_ns), None)

    @property
    def in_force_ns(self) -> int | None:
        """From this instant on (TAI) all devices have the lists of the network; None without devices."""
        return None if self.devices is None else self.devices.lists_from_ns

    def _deployed(
        self, decisions: Sequence[Decision], after: Network, together: bool, drain_ns: int
    ) -> Sequence[str]:
        """Gives the Plan to the devices; the store has it before, so that no end of the process is a third
        state. ``together``, ``drain_ns``: as for :meth:`Devices.put`."""
        if self.devices is None:
            return ()
        if self.store is not None:
            self.store.intend([one.logged() for one in decisions], after)
        return self.devices.put(after.plan.document, together=together, drain_ns=drain_ns)

    def _told(self, decision: Decision, after: Network | None) -> Decision:
        return self._told_all([decision], after)[0]

    def _told_all(self, decisions: Sequence[Decision], after: Network | None) -> list[Decision]:
        """Keeps decisions, puts the network after them into force, and tells everybody.

        Raises:
            FullStoreError: the store cannot be written; the network stays as it was.
        """
        parts = Parts()
        if self.store is not None:
            try:
                self.store.keep([one.logged() for one in decisions], after, self.network)
            except FullStoreError as error:
                self._lose(error)
                if after is not None and self.devices is not None and not self.lost:
                    self.devices.put(self.network.plan.document)
                raise
        parts.done("store")
        found = [replace(one, parts_ms={**one.parts_ms, **parts.ms}) for one in decisions]
        if after is not None:
            self.network = after
        for logged in [one.logged() for one in found]:
            self.decisions.append(logged)
            for listener in list(self._listeners):
                listener(logged)
        return found


def _settle() -> None:
    """Removes what is in cycles alone, and does not look there again while a change waits for its answer."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()


def _not_deployed(decision: Decision, now: Network, error: Exception) -> Decision:
    """The decision if the devices did not take the Plan, and the network stays."""
    problem = PlanningProblem("devices", "devices that take the Plan", str(error))
    failed = replace(decision, outcome=Kind.DEVICES.value, plan=now.hash, streams=(), together=())
    return replace(failed, reasons=reasons_of([problem]))


def _moved(now: Network, after: Network, tidy: Sequence[str]) -> list[str]:
    """The streams of these that have another place."""
    return [name for name in tidy if after is not now and after.flows(name) != now.flows(name)]


def _time() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
