"""The stay of one host in a network: it asks for streams, is configured, sends and receives, and leaves.

The agent of :mod:`tsnbench.hosts` works on the host: it undoes every step when the conversation ends, also if
this process is killed.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from tsnbench import quantities
from tsnbench.backends.kernel import traffic
from tsnbench.cnc.client import Answer, AnswerError, Connection
from tsnbench.cnc.joining.station import JoinError, Station, fitted, lab_of
from tsnbench.errors import BackendError, InputError
from tsnbench.hosts import attempt
from tsnbench.hosts.job import PROGRAM, HostJob, Program, jobs
from tsnbench.hosts.remote.agent import Agent
from tsnbench.hosts.state import facts
from tsnbench.live.receiving import Received, heard
from tsnbench.live.sending import Sent, said
from tsnbench.plan.document import Plan, without_hash

if TYPE_CHECKING:
    from tsnbench.foreign import Json
    from tsnbench.hosts.remote.reach import Reach
    from tsnbench.plan.types import PlanDocument

ROUND_NS = 864_000 * 10**9
"""The longest Plan, ten days: then the talkers begin again."""
LEAD_NS = 800_000_000
WATCH_S = 2.0
"""The time after which the service is asked whether the streams are still there."""
LOOK_S = 0.1
END_S = 20.0
ATTEMPTS, PAUSE_S = 10, 0.5
"""How often a service is asked to remove the streams, and the time between two requests."""
RING_KIB = 16 << 10
LISTENER, HEARD = "listener", "heard.json"
NO_PTP = (
    "this host's TAI is that of UTC, so no PTP daemon has set its clock: releases are at the network's times "
    "only if the clocks agree"
)
PLACE = ("offset_ns", "period_ns", "pcp", "vid", "destination_mac", "path")
"""Facts of a flow that its talker keeps to."""


class LeftError(BackendError):
    """The stay ended: a stream is not the host's any more, or a program of the host ended."""


@dataclass(frozen=True)
class Asked:
    """What a host asks for.

    Args:
        node: the end station that it is. interface: its interface. streams: by name, as in a scenario.
    """

    node: str
    interface: str
    streams: Mapping[str, Json]


@dataclass
class Ended:
    """What came of a stay."""

    sent: Sent | None = None
    received: Received | None = None
    late: list[str] = field(default_factory=list)
    """Streams whose frames were later than the schedule's margin, in words."""
    left_behind: list[str] = field(default_factory=list)
    """What could not be undone, in words."""


class Join:
    """One host in a network.

    Args:
        service: the CNC. asked: what is asked for. way: to the host. round_ns: the time after which the
            talkers begin again.
    """

    def __init__(self, service: Connection, asked: Asked, way: Reach, round_ns: int = ROUND_NS) -> None:
        self.service, self.asked, self.round_ns = service, asked, round_ns
        self.agent = Agent(asked.node, way, program=traffic.program())
        self._facts: facts.Facts | None = None
        self._job: HostJob | None = None
        self._station: Station | None = None
        self._flows: list[Json] = []
        self._in_force_ns = 0
        """The instant (TAI) from which on the network has the windows of the streams."""
        self._plan = ""
        self._numbers: dict[int, dict[str, None]] = {}
        """The streams that have had a number in the network's Plan."""
        self._names: tuple[str, ...] = ()
        """Streams that the service has accepted for this host."""

    def station(self) -> Station:
        """The station in the Plan in force.

        Raises:
            JoinError: the network has no such station. AnswerError: no answer, or a refusal.
        """
        answer = self.service.ask("GET", "/api/plan")
        if answer.status != 200:
            why = answer.document.get("detail", answer.status)
            raise AnswerError(f"{self.service.address}: {why}")
        return Station(Plan(without_hash(cast("PlanDocument", answer.document))).document, self.asked.node)

    def preview(self) -> list[str]:
        """What would be asked and set, in words, by the Plan in force; nothing is changed."""
        station = self.station()
        job = self._job_of(station, station.own_plan(self.asked.streams, self.round_ns), None, 0)
        asked = [f"# asks for {name}: {json.dumps(one)}" for name, one in self.asked.streams.items()]
        note = "# by the Plan in force; gates, offsets and addresses come with the answer"
        return [*asked, note, *job.lines()]

    def open(self) -> None:
        """Looks at the station and at the host; nothing is changed yet.

        Raises:
            JoinError: there is no such station, it has nothing to do, or the interface is in use.
            BackendError: the host cannot be used.
        """
        station = self.station()
        if not self.asked.streams and not station.listens():
            raise JoinError(f"expected streams of {self.asked.node}, found none, and none that it receives")
        self._facts = facts.look(self.agent, self.agent.open(), [self.asked.interface])
        self._job_of(station, station.own_plan((), 1), self._facts, 0)

    def ask(self) -> Answer:
        """Asks for all streams at once; the same words as before change nothing."""
        if not self.asked.streams:
            return Answer(200, {"outcome": "accepted", "streams": []})
        # Without an answer the streams may be there.
        self._names = tuple(self.asked.streams)
        answer = self.service.ask("POST", "/api/changes", {"add": dict(self.asked.streams)})
        if answer.status < 300:
            self._flows = list(answer.document["streams"])
            self._in_force_ns = answer.document.get("in_force_ns") or 0
        else:
            self._names = ()
        return answer

    def start(self) -> list[str]:
        """Configures the host by the Plan with its streams, and starts to send and receive; returns notes.

        Raises:
            JoinError: the host cannot keep what was promised. BackendError: a step or program failed.
        """
        assert self._facts is not None
        self._station = station = self.station()
        self._know_numbers(one["name"] for one in station.document["streams"])
        document, notes = fitted(station, station.own_plan(self._names, self.round_ns), self._facts.can)
        cycle_ns = station.cycle_ns(self._names)
        phase_ns = -(-(self.agent.now_ns() + attempt.SOON_NS) // cycle_ns) * cycle_ns
        job = self._job_of(station, document, self._facts, phase_ns)
        notes += attempt.set_up({self.asked.node: self.agent}, {self.asked.node: job})
        if cycle_ns > 1 and not self._facts.ready.tai_minus_utc_s:
            notes.append(NO_PTP)
        self._send(job, phase_ns, cycle_ns, station.settle_ns())
        return notes

    def _send(self, job: HostJob, phase_ns: int, cycle_ns: int, settle_ns: int) -> None:
        """Starts all programs; the talkers have a zero with the phase of the network's."""
        attempt.begin(self.agent, job, self._text)
        least = max(self.agent.now_ns() + LEAD_NS + settle_ns, self._in_force_ns)
        attempt.give_start(self.agent, job, phase_ns - (phase_ns - least) // cycle_ns * cycle_ns)
        self._job = job

    def stay(self, for_ns: int | None) -> None:
        """Stays for a time, or until Ctrl-C.

        Raises:
            LeftError: the stay ended by itself.
        """
        until = None if for_ns is None else time.monotonic() + for_ns / 1e9
        next_look = time.monotonic() + WATCH_S
        with suppress(KeyboardInterrupt):
            while True:
                time.sleep(LOOK_S)
                self._check_programs()
                if time.monotonic() >= next_look:
                    self._check_streams()
                    next_look = time.monotonic() + WATCH_S
                if until is not None and time.monotonic() >= until:
                    return

    def _check_programs(self) -> None:
        assert self._job is not None
        if self.agent.lost:
            raise LeftError(f"{self.asked.node}: {self.agent.lost}")
        for one in (*self._job.beside, *self._job.armed):
            program = self.agent.programs[one.name]
            if program.code is not None and (program.code or one in self._job.beside):
                raise LeftError(f"{one.name} ended with {program.code}: {program.err.strip()[-300:]}")
            if program.code == 0:
                # The longest Plan is over.
                assert self._station is not None
                cycle_ns = self._station.cycle_ns(self._names)
                phase_ns = -(-self.agent.now_ns() // cycle_ns) * cycle_ns
                beside, self._job.beside = self._job.beside, []
                self._send(self._job, phase_ns, cycle_ns, 0)
                self._job.beside = beside
                return

    def _know_numbers(self, names: Iterable[str]) -> None:
        """Notes the numbers that frames of talkers carry which join now."""
        for number, name in enumerate(names):
            self._numbers.setdefault(number, {})[name] = None

    def _check_streams(self) -> None:
        """Compares the streams with what was promised; a service that does not answer changes nothing."""
        assert self._station is not None
        with suppress(AnswerError):
            plan = self.service.ask("GET", "/api/network").document.get("plan", "")
            if plan != self._plan and self._station.listens():
                there = self.service.ask("GET", "/api/streams").document.get("streams", ())
                self._know_numbers(one["flow"] for one in there)
                self._plan = plan
        for name in self._names:
            try:
                answer = self.service.ask("GET", f"/api/streams/{name}")
            except AnswerError:
                return
            if answer.status == 404:
                self._names = tuple(one for one in self._names if one != name)
                raise LeftError(f"streams.{name}: somebody removed it")
            if answer.status != 200:
                return
            was = [{key: one[key] for key in PLACE} for one in self._flows if one["stream"] == name]
            if was != [{key: one[key] for key in PLACE} for one in answer.document["flows"]]:
                raise LeftError(f"streams.{name}: it has another place in the network now\nhint: join again")

    def leave(self) -> Ended:
        """Ends all programs, removes the streams, and undoes what was changed on the host; safe to repeat."""
        found = Ended()
        try:
            self._end_programs(found)
        except BackendError as error:
            found.left_behind.append(str(error))
        self._remove(found)
        found.left_behind += self._restore()
        return found

    def _end_programs(self, found: Ended) -> None:
        job, station, self._job = self._job, self._station, None
        if job is None or station is None or self.agent.lost:
            return
        for one in job.armed:
            names = [flow["name"] for flow in station.document["streams"]]
            found.sent = said(self._log_of(one, f"talk-{station.node}"), names)
            own = {flow["name"] for flow in station.talks() if flow["group"] in self.asked.streams}
            found.sent["streams"] = [counts for counts in found.sent["streams"] if counts["stream"] in own]
            time.sleep(station.leave_ns(self._names, self._flows) / 1e9)
        for one in job.beside:
            if one.name == LISTENER:
                found.received = heard(self._log_of(one, HEARD))
                for stream in found.received["streams"]:
                    stream["stream"] = self._name_of(stream["stream"])
            else:
                self.agent.signal(one.name)
        margins = {one["name"]: station.margin_ns(one) for one in station.talks()}
        for counts in found.sent["streams"] if found.sent else ():
            margin, late = margins[counts["stream"]], counts["late_most_ns"]
            if margin is not None and late > margin:
                found.late.append(
                    f"{counts['stream']}: frames were sent up to {quantities.time(late)} late, and the "
                    f"schedule has a margin of {quantities.time(margin)}"
                )

    def _log_of(self, one: Program, file: str) -> str:
        """Ends a program, and reads what it counted."""
        self.agent.signal(one.name)
        program = self.agent.wait_for_end(one.name, time.monotonic() + END_S)
        if program.code:
            raise BackendError(f"{one.name} ended with {program.code}: {program.err.strip()[-300:]}")
        return self.agent.get(file).decode()

    def _name_of(self, number: int | str) -> int | str:
        """The name of a stream's number; several if the number went from one stream to another."""
        known = self._numbers.get(number, {}) if isinstance(number, int) else {}
        return " or ".join(known) or number

    def _remove(self, found: Ended) -> None:
        names, self._names = self._names, ()
        if not names:
            return
        try:
            answer = self._ask_again("POST", "/api/changes", {"remove": list(names)})
        except (AnswerError, InputError) as error:
            found.left_behind.append(f"{error}\nhint: tsnbench cnc remove {' '.join(names)}")
            return
        if answer.status >= 300 and answer.document.get("decision", {}).get("outcome") != "unknown":
            detail = answer.document.get("detail", answer.status)
            found.left_behind.append(f"{', '.join(names)}: the network has them still: {detail}")

    def _ask_again(self, method: str, path: str, document: Json) -> Answer:
        """One request, several times while no service answers: another one may lead soon."""
        for _ in range(ATTEMPTS):
            with suppress(AnswerError):
                answer = self.service.ask(method, path, document)
                if answer.status != 503:
                    return answer
            time.sleep(PAUSE_S)
        return self.service.ask(method, path, document)

    def _restore(self) -> list[str]:
        before, self._facts = self._facts, None
        if before is None or self.agent.lost or not self.agent.reserved:
            return self.agent.restore()
        try:
            failed = self.agent.undo()
            failed += facts.differences(before.state, facts.state_of(self.agent))
        except BackendError as error:
            failed = [str(error)]
        return failed + self.agent.restore()

    def _job_of(
        self, station: Station, document: PlanDocument, known: facts.Facts | None, phase_ns: int
    ) -> HostJob:
        """The steps and programs of the host."""
        inventory, mapped = lab_of(station, self.asked.interface)
        all_facts = {} if known is None else {station.name: known}
        job = jobs(document, inventory, mapped, all_facts, phase_ns)[station.name]
        own = any(one["group"] in self._names or known is None for one in station.talks())
        # The time in the frames is TAI, so that listeners know delays without the network's Plan.
        talkers = [Program(one.name, (*one.argv, "--absolute"), one.ready) for one in job.armed if own]
        job.armed = talkers
        if station.listens():
            ring = ("--ring", str(RING_KIB), "--log", HEARD, "--priority", "40")
            argv = (PROGRAM, "listen", "--port", f"0={self.asked.interface}", *ring)
            job.beside.append(Program(LISTENER, argv, "listening"))
        job.read = []
        self._text = Plan(document).to_json()
        return job
