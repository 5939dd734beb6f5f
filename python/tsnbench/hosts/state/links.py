"""Watches the links of all hosts from their set-up to the end of an attempt.

``ip monitor`` tells each change with the host's time, and wakes up for nothing else. The kernel merges
changes that are close to each other; its counters, read before and after an attempt, show these, too.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tsnbench.hosts.attempt import Rejected
from tsnbench.hosts.job import BRIDGE
from tsnbench.hosts.remote.agent import Agent, run_all
from tsnbench.hosts.state import ports

if TYPE_CHECKING:
    from tsnbench.hosts.job import HostJob
    from tsnbench.hosts.state.ports import HostState
    from tsnbench.plan.types import PlanDocument

PROGRAM = "links"
READY_S = 20.0
LOST = "lost its link"
BACK_S = 5.0
"""How long a link may be away before an attempt begins."""
OTHER_END_S = 0.2
"""How long the other end of a link has to tell the same change."""
_MONITOR = ("sh", "-c", "echo watching; TZ=UTC0 exec ip -ts -o monitor link")
_LINE = re.compile(r"\[([0-9T:.-]+)\] (Deleted )?(\d+): ([^:@]+)[^<]*<([^>]*)>(.*)")


class Disturbed(Rejected):
    """The network of an attempt has changed: hosts must be checked and set up anew."""


@dataclass(frozen=True)
class Report:
    """A link that a host lost."""

    at: str
    """The host's time, UTC; empty if only the kernel's counters show it."""
    host: str
    index: str
    words: str
    """:data:`LOST`, for example; empty if the interface has its link."""
    name: str
    """The name of the interface at that time."""


def report(host: str, line: str) -> Report | None:
    """Parses a line of ``ip -ts -o monitor link``; None if no link is lost by what it tells."""
    found = _LINE.match(line)
    if found is None:
        return None
    at, gone, index, name, flags, rest = found.groups()
    on = flags.split(",")
    if gone:
        words = "was taken out of its bridge" if " master " in rest else "was removed"
    elif "UP" not in on:
        words = "was set down"
    elif "NO-CARRIER" in on:
        words = LOST
    else:
        words = ""
    return Report(f"{at}Z", host, index, words, name)


class Links:
    """The links of the hosts of a run."""

    def __init__(self) -> None:
        self._watched: dict[str, dict[str, tuple[str, str]]] = {}
        """By host, the watched interfaces by index: the name, and what it is for people."""
        self._read: dict[str, int] = {}
        """By host, the number of lines read."""
        self._ready: dict[str, HostState] = {}
        """The states from which the attempt began."""

    def begin(self, agents: Mapping[str, Agent], jobs: Mapping[str, HostJob], plan: PlanDocument) -> None:
        """Begins to watch hosts that are set up.

        Raises:
            Disturbed: a port has no link.
        """

        def one_host(agent: Agent) -> None:
            if not agent.runs(PROGRAM):
                agent.programs.pop(PROGRAM, None)
                agent.start(PROGRAM, _MONITOR)
                agent.wait_for_line(PROGRAM, "watching", time.monotonic() + READY_S)
            names = jobs[agent.name].names.items()
            called = {name: f"{name} ({plan['ports'][port]['name']})" for port, name in names}
            called[BRIDGE] = f"the bridge {BRIDGE}"
            self._watched[agent.name] = {
                one.index: (name, called[name])
                for name, one in ports.look(agent, list(called)).ports.items()
                if one.index
            }

        self._watched = {host: {} for host in jobs}
        run_all([agents[host] for host in jobs], one_host)
        self.ready(agents)

    def ready(self, agents: Mapping[str, Agent]) -> dict[str, HostState]:
        """The states of all hosts, from which an attempt begins; what was told before is forgotten.

        Raises:
            Disturbed: a port has no link.
        """
        self._read = {host: len(agents[host].programs[PROGRAM].lines) for host in self._watched}
        found = self._ready = self.state(agents)
        for host, state in found.items():
            if dark := [self._called(host, name) for name in _dark(state)]:
                raise Disturbed(host, f"no link (carrier) at {', '.join(dark)}", lasting=True)
        return found

    def settle(self, agents: Mapping[str, Agent]) -> None:
        """Reads what hosts have told before an attempt begins. Cards may start anew when they begin to make
        stamps, so a link may be lost for a short time.

        Raises:
            Disturbed: a link was lost, and did not come back.
            Rejected: a host's links cannot be watched any more.
        """
        try:
            self.check(agents)
        except Disturbed:
            until = time.monotonic() + BACK_S
            while any(any(_dark(state)) for state in self.state(agents).values()):
                if time.monotonic() > until:
                    raise
                time.sleep(OTHER_END_S)

    def check(self, agents: Mapping[str, Agent]) -> None:
        """Reads what hosts have told since the last call.

        Raises:
            Disturbed: a link was lost; with the host, the port and the time.
            Rejected: a host's links cannot be watched any more.
        """
        lost = list(self._take(agents))
        if lost:
            time.sleep(OTHER_END_S)
            lost += [*self._take(agents), *self._counted(agents)]
            first, *others = sorted(
                {(one.host, one.index): one for one in reversed(lost)}.values(), key=_when
            )
            words = [self._words(first), *(f"{one.host}: {self._words(one)}" for one in others)]
            raise Disturbed(first.host, "; ".join(words))
        for host in self._watched:
            if not agents[host].runs(PROGRAM) and not agents[host].lost:
                said = agents[host].programs[PROGRAM].err.strip()[-300:]
                raise Rejected(host, f"its links cannot be watched any more: {said}")

    def state(self, agents: Mapping[str, Agent]) -> dict[str, HostState]:
        """The present state of all watched hosts."""

        def one_host(agent: Agent) -> HostState:
            return ports.look(agent, [name for name, _ in self._watched[agent.name].values()])

        chosen = [agents[host] for host in self._watched]
        return dict(zip(self._watched, run_all(chosen, one_host), strict=True))

    def compare(
        self, before: Mapping[str, HostState], after: Mapping[str, HostState], kernels: Mapping[str, str]
    ) -> list[str]:
        """What disturbed an attempt without ending it, in words.

        Args:
            before: the states before the attempt, by host.
            after: the states after it.
            kernels: by host, an identifier of its kernel, whose processors are told once.

        Raises:
            Disturbed: a link or a setting changed meanwhile.
        """
        for host, was in before.items():
            if found := [
                f"{self._called(host, name)}: {words}" for name, words in ports.changed(was, after[host])
            ]:
                raise Disturbed(host, f"changed during the attempt: {'; '.join(found)}")
        notes = []
        first = {kernel: host for host, kernel in reversed([*kernels.items()])}
        for host, was in before.items():
            lost = [f"{self._called(host, name)}: {words}" for name, words in ports.losses(was, after[host])]
            if first[kernels[host]] == host:
                lost += ports.disturbances(was, after[host])
            notes += [f"{host}: {words} during the run" for words in lost]
        return notes

    def _take(self, agents: Mapping[str, Agent]) -> Iterator[Report]:
        for host, known in self._watched.items():
            program = agents[host].programs.get(PROGRAM)
            lines = program.lines if program else []
            new, self._read[host] = lines[self._read[host] :], len(lines)
            for line in new:
                one = report(host, line)
                if one is not None and one.index in known and (one.words or one.name != known[one.index][0]):
                    yield one

    def _counted(self, agents: Mapping[str, Agent]) -> Iterator[Report]:
        """Links that were lost without a word: the kernel tells changes at most once a second, and a link
        that is back by then was never away for ``ip monitor``."""
        for host, state in self.state(agents).items():
            for name, one in state.ports.items():
                was = self._ready[host].ports.get(name)
                if was is not None and was.index == one.index and was.changes != one.changes:
                    yield Report("", host, one.index, LOST, name)

    def _words(self, one: Report) -> str:
        name, called = self._watched[one.host][one.index]
        words = one.words if one.name == name else f"was renamed to {one.name}"
        return f"{called} {words}{one.at and f' at {one.at}'}"

    def _called(self, host: str, name: str) -> str:
        return next((called for own, called in self._watched[host].values() if own == name), name)


def _when(one: Report) -> tuple[bool, bool, str]:
    """What somebody did to an interface comes before what its peer saw of it; then the time counts."""
    return one.words == LOST, not one.at, one.at


def _dark(state: HostState) -> Iterator[str]:
    """The ports without a link; a bridge has none of its own."""
    return (name for name, one in state.ports.items() if name != BRIDGE and not one.linked)
