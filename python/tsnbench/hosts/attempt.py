"""One attempt of a run: programs get ready, all of them get the instant of the start, the Plan's time passes,
results are collected."""

from __future__ import annotations

import json
import math
import re
import signal
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tsnbench.errors import BackendError
from tsnbench.foreign import Json
from tsnbench.hosts.job import DRAIN_NS, OTHER, PROGRAM, HostJob, Program
from tsnbench.hosts.remote.agent import KEPT, Agent, run_all
from tsnbench.hosts.remote.answers import AgentLost, Step
from tsnbench.hosts.remote.answers import Program as Started
from tsnbench.linux import explain
from tsnbench.plan.gates import gate_lists

if TYPE_CHECKING:
    from tsnbench.plan.types import PlanDocument

READY_S = 20.0
"""Time limit for all programs of a host to report that they are ready."""
FULL_KB = 64
"""A disk with less space is full."""
END_S = 2.0
"""Time limit for programs to end when they are told to. A program that waits for the start does not."""
LEAD_NS = 800_000_000
"""Time from the choice of the start to the start: enough for several messages to each host."""
LEAST_AHEAD_NS = 50_000_000
"""A host that gets the start later than this before it may have been too late for it."""
MOST_APART_NS = 10 * 10**9
"""Hosts whose clocks are further apart have no common start: the start would be that far away for some."""
LONGEST_CYCLE_NS = 10 * 10**9
SOON_NS = 2 * 10**9
"""Time from the set-up to the first instant that it names."""
LOOK_S = 0.05
_UP = 'cd "$0" && for one in *; do [ ! -f "$one" ] || mv -- "$one" "$0=$one"; done'
"""Moves the files of a folder to the folder above, with the folder's name before theirs."""


class Rejected(BackendError):  # noqa: N818 - what became of an attempt
    """The attempt is no valid measurement; another attempt may be."""

    def __init__(self, host: str, reason: str, lasting: bool = False) -> None:
        self.host, self.reason = host, reason
        self.lasting = lasting
        """Whether any other run would meet it, too, until somebody repairs it."""
        super().__init__(f"{host}: {reason}")


@dataclass
class Attempt:
    """The results of an attempt."""

    epoch_ns: int = 0
    """The Plan's zero, on TAI."""
    files: dict[str, dict[str, bytes]] = field(default_factory=dict)
    """By host, the files that its programs wrote."""
    captures: dict[str, Json] = field(default_factory=dict)
    """By the file of a tap's capture: its counters."""
    others: dict[str, dict[str, bytes]] = field(default_factory=dict)
    """By host, the output and files of additional programs."""
    least_ahead_ns: int = 0
    """The least time, over all programs, between the arrival of the start on a host and the start itself."""


def common_cycle_ns(plan: PlanDocument) -> int:
    """The time after which all gate control lists are at the same phase again; 1 if there are none.

    Raises:
        BackendError: the cycle is too long to choose an instant by it.
    """
    cycle = 1
    for port in plan["ports"]:
        if gates := port.get("gates"):
            cycle = math.lcm(cycle, *(one["cycle_ns"] for one in gate_lists(gates)))
    if cycle > LONGEST_CYCLE_NS:
        raise BackendError(
            f"all gate control lists together repeat after {cycle / 1e9:.0f} s: no instant can be chosen\n"
            "hint: let cycle times be multiples of each other"
        )
    return cycle


def phase(plan: PlanDocument, now_ns: int) -> int:
    """An instant of TAI soon after now that has the phase of the Plan's zero.

    Devices count their cycles from 1970-01-01 TAI, so it is a whole number of common cycles after that.
    """
    cycle = common_cycle_ns(plan)
    return -(-(now_ns + SOON_NS) // cycle) * cycle


def now_ns(agents: Iterable[Agent]) -> int:
    """TAI on the host whose clock is the farthest ahead; this machine's own clock may be wrong."""
    return max(one.now_ns() for one in agents)


def set_up(agents: Mapping[str, Agent], jobs: Mapping[str, HostJob]) -> list[str]:
    """Configures all hosts at once; returns, in words, the steps that failed and that a run does not need.

    Raises:
        BackendError: a step failed on a host; with the command and the meaning of the error.
    """

    def one_host(agent: Agent) -> list[str]:
        refused = []
        for done in agent.steps(jobs[agent.name].setup):
            if not done.code:
                continue
            said = done.err.strip() or f"exit code {done.code}"
            told = " ".join(done.step.argv)
            if not done.step.may_fail:
                found = explain(said)
                why = f"\nthat is: {found.reason}\nhint: {found.remedy}" if found else ""
                raise BackendError(f"{agent.name}: {told}: {said}{why}")
            refused.append(f"{agent.name}: {told}: {said}")
        return refused

    return [one for own in run_all([agents[host] for host in jobs], one_host) for one in own]


def run(
    agents: Mapping[str, Agent],
    jobs: Mapping[str, HostJob],
    plan: PlanDocument,
    text: str,
    phase_ns: int,
    tell: Callable[[int], None],
    watch: Callable[[], None],
    armed: Callable[[], None],
) -> Attempt:
    """Runs the Plan once on hosts that are set up.

    Args:
        agents: the agents by host.
        jobs: the jobs by host.
        plan: the Plan in its own time.
        text: the Plan's text that its hash is of.
        phase_ns: an instant that has the phase of the Plan's zero.
        tell: called now and then with the number of ns that have passed.
        watch: called now and then; it raises :class:`Rejected` if the run is not valid any more.
        armed: called when all programs are ready, before the instant of the start is chosen.

    Raises:
        Rejected: the attempt is no valid measurement.
    """
    chosen = [agents[host] for host in jobs]
    try:
        run_all(chosen, lambda agent: begin(agent, jobs[agent.name], text))
        armed()
        attempt = Attempt()
        before = run_all(chosen, _softnet)
        attempt.epoch_ns = _choose(chosen, phase_ns, common_cycle_ns(plan))
        attempt.least_ahead_ns = min(
            run_all(chosen, lambda agent: give_start(agent, jobs[agent.name], attempt.epoch_ns)),
            default=LEAD_NS,
        )
        _wait(agents, jobs, plan, attempt.epoch_ns, tell, watch)
        # A listener's host may end its capture only when the talkers of all other hosts have ended.
        run_all(chosen, lambda agent: _await_armed(agent, jobs[agent.name]))
        run_all(chosen, lambda agent: _end_captures(agent, jobs[agent.name]))
        after = run_all(chosen, _softnet)
        for agent, early, late in zip(chosen, before, after, strict=True):
            attempt.files[agent.name] = _collect(agent, jobs[agent.name])
            attempt.others[agent.name] = _of_others(agent, jobs[agent.name])
            attempt.files[agent.name] |= {"softnet-before": early, "softnet-after": late}
            for one in jobs[agent.name].captures:
                attempt.captures[one.name] = _counted(agent, one)
        return attempt
    except AgentLost as error:
        host, _, reason = str(error).partition(": ")
        raise Rejected(host, reason) from error
    finally:
        for agent in chosen:
            _stop(agent, jobs[agent.name])


def begin(agent: Agent, job: HostJob, text: str) -> None:
    """Starts the programs of a host, and waits until they are ready.

    Raises:
        Rejected: one is not.
    """
    agent.clear([one.name for one in (*job.beside, *job.captures, *job.armed, *job.others)])
    agent.put("plan.json", text.encode())
    until = time.monotonic() + READY_S
    for programs in (job.beside, job.captures, job.armed):
        for one in programs:
            agent.start(one.name, [agent.path(word) for word in one.argv])
        for one in programs:
            try:
                agent.wait_for_line(one.name, one.ready, until)
            except AgentLost:
                raise
            except BackendError as error:
                raise Rejected(agent.name, str(error).partition(": ")[2]) from error
    # These programs do not report that they are ready, so they start before the common instant is chosen.
    for one in job.others:
        agent.start(one.name, list(one.argv))


def _choose(agents: Sequence[Agent], phase_ns: int, cycle_ns: int) -> int:
    """An instant in the future at which all gate control lists have the phase of the Plan's zero.

    Raises:
        BackendError: clocks that run free are too far apart.
    """
    ahead = dict(zip((one.name for one in agents), run_all(agents, Agent.measure_clock), strict=True))
    if why := far_apart(ahead):
        raise BackendError(why)
    least = now_ns(agents) + LEAD_NS
    return phase_ns - (phase_ns - least) // cycle_ns * cycle_ns


def far_apart(ahead: Mapping[str, tuple[int, int]]) -> str:
    """Which two hosts have clocks without a common start, in words; empty if all clocks are near.

    Args:
        ahead: by host, the least and the greatest possible offset of its clock from this machine's, in ns.
    """
    first = max(ahead, key=lambda host: ahead[host][0])
    last = min(ahead, key=lambda host: ahead[host][1])
    apart_ns = ahead[first][0] - ahead[last][1]
    if apart_ns <= MOST_APART_NS:
        return ""
    return (
        f"the clocks of the hosts are too far apart: {first} is {apart_ns / 1e9:.1f} s ahead of {last}\n"
        "hint: set the clocks of the hosts (`date -s`, NTP, or ptp4l and phc2sys), and run again"
    )


def give_start(agent: Agent, job: HostJob, epoch_ns: int) -> int:
    """Sends the instant to a host; returns how long before the instant the host's last program got it."""
    for one in job.armed:
        agent.tell(one.name, str(epoch_ns))
    until = time.monotonic() + READY_S
    found = [LEAD_NS]
    for one in job.armed:
        ahead_ns = int(agent.wait_for_line(one.name, "ahead", until).split()[1])
        if ahead_ns < LEAST_AHEAD_NS:
            raise Rejected(
                agent.name,
                f"{one.name} got the start {ahead_ns / 1e6:.1f} ms before its instant: too late",
            )
        found.append(ahead_ns)
    return min(found)


def _wait(
    agents: Mapping[str, Agent],
    jobs: Mapping[str, HostJob],
    plan: PlanDocument,
    epoch_ns: int,
    tell: Callable[[int], None],
    watch: Callable[[], None],
) -> None:
    """Waits until the Plan's time is over; a program that ends with an error ends the wait."""
    whole_ns = plan["duration_ns"] + plan["drain_ns"]
    chosen = [agents[host] for host in jobs]
    end_ns = epoch_ns + whole_ns + DRAIN_NS
    while not _past(chosen, end_ns):
        passed = now_ns(chosen) - epoch_ns
        tell(max(0, min(passed, whole_ns)))
        watch()
        for host, job in jobs.items():
            if agents[host].lost:
                raise AgentLost(f"{host}: {agents[host].lost}")
            for one in (*job.captures, *job.armed, *job.others):
                program = agents[host].programs[one.name]
                ended_early = one in job.captures and program.code is not None
                if ended_early or program.code not in (None, 0):
                    raise _ended(agents[host], one.name, program)
        time.sleep(LOOK_S)


def _past(agents: Sequence[Agent], at_ns: int) -> bool:
    """Whether it is later than ``at_ns`` on every host; the clock of an emulated host is slower than this
    machine's."""
    if now_ns(agents) < at_ns:
        return False
    return all(
        ahead[0] + time.clock_gettime_ns(time.CLOCK_TAI) >= at_ns
        for ahead in run_all(agents, Agent.measure_clock)
    )


def _await_armed(agent: Agent, job: HostJob) -> None:
    until = time.monotonic() + READY_S
    for one in job.others:
        program = agent.programs[one.name]
        if program.code:
            raise _ended(agent, one.name, program)
        agent.signal(one.name)
    _await(agent, job.armed, until)


def _end_captures(agent: Agent, job: HostJob) -> None:
    until = time.monotonic() + READY_S
    for one in job.captures:
        agent.signal(one.name)
    _await(agent, job.captures, until)


def _await(agent: Agent, programs: Iterable[Program], until: float) -> None:
    """Waits until the programs have ended without an error."""
    for one in programs:
        program = agent.wait_for_end(one.name, until)
        if program.code:
            raise _ended(agent, one.name, program)


def _ended(agent: Agent, name: str, program: Started) -> Rejected:
    said = program.err.strip()[-300:] or _full(agent) or "it said nothing"
    return Rejected(agent.name, f"{name} ended with {program.code}: {said}")


def _full(agent: Agent) -> str:
    """That the disk of the work folder is full, in words: a program can then not say it itself."""
    (done,) = agent.steps([Step(("df", "-Pk", agent.work), may_fail=True)])
    words = (done.out.splitlines() or [""])[-1].split()
    if len(words) < 6 or not words[3].isdecimal() or int(words[3]) > FULL_KB:
        return ""
    return f"the disk of {words[5]} is full: {words[3]} kB left"


def _collect(agent: Agent, job: HostJob) -> dict[str, bytes]:
    """The kernel's counters, then the files of the programs."""
    found = {}
    for (name, _), done in zip(job.read, agent.steps([Step(argv) for _, argv in job.read]), strict=False):
        if done.code:
            raise Rejected(agent.name, f"{' '.join(done.step.argv)}: {done.err.strip()}")
        found[name] = done.out.encode()
    for name in agent.files():
        if name not in KEPT and not name.endswith(".err") and not name.startswith(OTHER):
            found[name] = agent.get(name)
    return found


def _of_others(agent: Agent, job: HostJob) -> dict[str, bytes]:
    """The output of additional programs, and the files that they left in their working folders."""
    until = time.monotonic() + READY_S
    found = {}
    for one in job.others:
        name = one.name.removeprefix(OTHER)
        program = agent.wait_for_end(one.name, until)
        said = "".join(f"{line}\n" for line in program.lines)
        found[f"{name}.out"] = (said + program.err).encode()
        agent.steps([Step(("sh", "-c", _UP, f"{agent.work}/{one.name}"), may_fail=True)])
        for left in agent.files():
            if re.fullmatch(rf"{re.escape(one.name)}=[A-Za-z0-9_.+-]+", left):
                found[f"{name}-{left.partition('=')[2]}"] = agent.get(left)
    return found


def _counted(agent: Agent, one: Program) -> Json:
    line = next((line for line in agent.programs[one.name].lines if line.startswith("{")), "")
    try:
        found = dict(json.loads(line))
    except ValueError:
        raise Rejected(agent.name, f"{one.name} has not said what it counted") from None
    if found.get("dropped"):
        raise Rejected(agent.name, f"the capture at {one.argv[2]} lost {found['dropped']} frames")
    if found.get("stamps") == "hardware" and found["missing_stamps"]:
        raise Rejected(agent.name, f"{one.name}: {found['missing_stamps']} frames have no stamps")
    return found


def _softnet(agent: Agent) -> bytes:
    return agent.steps([Step(("cat", "/proc/net/softnet_stat"))])[0].out.encode()


def _stop(agent: Agent, job: HostJob) -> None:
    """Ends all programs of this attempt; a program that does not obey in time is killed."""
    if agent.lost:
        return
    running = [one for one in (*job.beside, *job.captures, *job.armed, *job.others) if agent.runs(one.name)]
    for number in (signal.SIGTERM, signal.SIGKILL):
        for one in running:
            agent.signal(one.name, number)
        until = time.monotonic() + END_S
        for one in running:
            try:
                agent.wait_for_end(one.name, until)
            except AgentLost:
                return
            except BackendError:
                continue


__all__ = ["PROGRAM", "Attempt", "Rejected", "common_cycle_ns", "far_apart", "phase", "run", "set_up"]
