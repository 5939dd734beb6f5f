"""Programs that synchronise the hosts' clocks and report the offsets; a run waits for the gate and is
monitored.

A ptp4l that already runs on a host is read and not changed. If there is none and the Plan has PTP, ptp4l and
phc2sys are started with the Plan's files, and end with all other programs.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tsnbench.errors import BackendError
from tsnbench.hosts.attempt import Rejected
from tsnbench.hosts.clocks.sync import Gate, Monitor, Reading, read, rows
from tsnbench.hosts.inventory.types import Clock
from tsnbench.hosts.job import PROGRAM
from tsnbench.hosts.remote.agent import Agent, run_all
from tsnbench.hosts.remote.answers import Step
from tsnbench.libraries import polars as pl
from tsnbench.linux import ptp
from tsnbench.linux.profile import Profile
from tsnbench.plan.network import Network
from tsnbench.plan.notes import Notes

if TYPE_CHECKING:
    from tsnbench.hosts.inventory import Inventory
    from tsnbench.hosts.mapping import Mapped
    from tsnbench.hosts.state.facts import Facts
    from tsnbench.plan.types import PlanDocument, Stream

SOCKET = "/var/run/ptp4l"
EVERY = "500ms"
LOOK_S = 0.1
TOLD_S = 10.0
"""How often a run that waits tells the state of the clocks."""
PROGRAMS = ("ptp4l", "phc2sys", "sync")
"""The programs that were started on a host; none of them ends by itself."""
LAST_LINES, LAST_LETTERS = 3, 200
"""Most lines that a program that has ended said last, and most letters of each."""
END_S = 5.0
UTC_OFFSET_S = 37
"""TAI - UTC in the kernel of a host that was not contacted."""
STEP_NS = 20_000
"""linuxptp's own bound for the first step (``first_step_threshold``)."""


def needed(inventory: Inventory, facts: Mapping[str, Facts]) -> tuple[str, ...]:
    """Hosts whose clocks must be synchronised; none if all hosts share one clock."""
    hosts = [name for name in facts if inventory.hosts[name].clock is not Clock.NONE]
    one_kernel = len({facts[name].ready.boot for name in hosts}) <= 1
    own = any(facts[name].phcs for name in hosts)
    stamped = any(inventory.hosts[name].clock is Clock.SOFTWARE for name in hosts)
    return () if one_kernel and not own and not stamped else tuple(hosts)


def unsynchronised(
    inventory: Inventory, facts: Mapping[str, Facts], plan: PlanDocument, mapped: Mapped
) -> list[Stream]:
    """Streams that begin or end at a host with ``clock: none``, if hosts have kernels of their own.

    Their delays compare two clocks that are not synchronised.
    """
    if len({one.ready.boot for one in facts.values()}) <= 1:
        return []
    free = {mapped.node(name) for name in facts if inventory.hosts[name].clock is Clock.NONE}
    names = [node["name"] for node in plan["nodes"]]
    return [
        stream
        for stream in plan["streams"]
        if free & {names[stream["talker"]], *(names[one["node"]] for one in stream["listeners"])}
    ]


def one_reading(agent: Agent) -> Step:
    """Asks the ptp4l of a host once; :func:`tsnbench.hosts.clocks.sync.read` reads the answer."""
    return Step((agent.path(PROGRAM), "sync", "--socket", SOCKET, "--count", "1"), may_fail=True)


class Synchronisation:
    """The clocks of one lab."""

    def __init__(self, inventory: Inventory) -> None:
        self.inventory = inventory
        self.readings: list[Reading] = []
        """All readings of the last attempt."""
        self._gate: Gate | None = None
        self._monitor: Monitor | None = None
        self._read: dict[str, int] = {}
        """By host, the number of lines read."""

    @property
    def hosts(self) -> tuple[str, ...]:
        """Hosts with synchronised clocks."""
        return self._gate.hosts if self._gate is not None else ()

    @property
    def on(self) -> bool:
        """Whether clocks must be synchronised."""
        return self._gate is not None

    def begin(
        self, agents: Mapping[str, Agent], facts: Mapping[str, Facts], plan: PlanDocument, mapped: Mapped
    ) -> None:
        """Starts the programs that do not run yet; safe to repeat.

        Raises:
            BackendError: a program cannot be started.
        """
        hosts = needed(self.inventory, facts)
        if not hosts:
            self._gate = None
            return
        if self._gate is None or self._gate.hosts != hosts:
            self._gate = Gate(hosts, self.inventory.sync)

        def one_host(agent: Agent) -> None:
            if agent.runs("sync") and not _ended(agent):
                return
            if agent.runs("sync"):
                agent.signal("sync")
                agent.wait_for_end("sync", time.monotonic() + END_S)
            boots = [one.ready.boot for one in facts.values()]
            ready = facts[agent.name].ready
            shared = boots.count(ready.boot) > 1
            socket = self._ptp4l(agent, plan, mapped, shared, ready.tai_minus_utc_s)
            phcs = [word for phc in facts[agent.name].phcs for word in ("--phc", phc)]
            agent.programs.pop("sync", None)
            self._read[agent.name] = 0
            agent.start("sync", [agent.path(PROGRAM), "sync", "--socket", socket, *phcs, "--every", EVERY])

        run_all([agents[name] for name in hosts], one_host)

    def wait(
        self, agents: Mapping[str, Agent], watch: Callable[[], None], tell: Callable[[str], None]
    ) -> None:
        """Waits until the gate is open.

        Args:
            agents: the agents by host.
            watch: called now and then; it raises :class:`Rejected` if there is nothing to wait for.
            tell: called now and then with the state of each host's clock.

        Raises:
            Rejected: the gate stays closed for too long; with the host that keeps it closed, and the reason.
                Or a program that synchronises clocks has ended; with its last lines.
        """
        if self._gate is None:
            return
        limit_s = self._gate.bounds.within_ns / 1e9
        began = time.monotonic()
        told = began
        while not self._gate.open:
            for reading in self._take(agents):
                self._gate.take(reading)
            watch()
            for host in self._gate.hosts:
                if why := _ended(agents[host]):
                    raise Rejected(host, why)
            now = time.monotonic()
            if now - told >= TOLD_S:
                told = now
                states = "; ".join(self._gate.states())
                tell(f"waiting for synchronised clocks, {now - began:.0f} of at most {limit_s:g} s: {states}")
            if now - began > limit_s:
                host, why = self._gate.closed_because()
                raise Rejected(
                    host, f"clocks were not synchronised within {limit_s:g} s: {why}", lasting=True
                )
            time.sleep(LOOK_S)
        self._monitor = Monitor(self._gate.bounds)
        self.readings = self._monitor.readings

    def watch(self, agents: Mapping[str, Agent]) -> None:
        """Adds the readings since the last call.

        Raises:
            Rejected: one of the readings is bad.
        """
        if self._gate is None or self._monitor is None:
            return
        for reading in self._take(agents):
            self._gate.take(reading)
            if why := self._monitor.take(reading):
                raise Rejected(reading.host, f"at {reading.tai_ns} ns TAI: {why}")
        for host in self._gate.hosts:
            if not agents[host].runs("sync") and not agents[host].lost:
                said = agents[host].programs["sync"].err.strip()[-300:]
                raise Rejected(host, f"its clocks cannot be read any more: {said}")

    def write(self, folder: Path) -> None:
        """``sync.parquet``: every reading during the run."""
        columns: dict[str, list[Any]] = rows(self.readings)
        pl.DataFrame(
            columns, schema_overrides={"offset_ns": pl.Int64, "uncertainty_ns": pl.Int64}
        ).write_parquet(folder / "sync.parquet")

    def _take(self, agents: Mapping[str, Agent]) -> list[Reading]:
        found = []
        assert self._gate is not None
        for host in self._gate.hosts:
            program = agents[host].programs.get("sync")
            lines = program.lines if program else []
            new, self._read[host] = lines[self._read.get(host, 0) :], len(lines)
            found += [one for line in new if (one := read(host, line)) is not None]
        return found

    def _ptp4l(
        self, agent: Agent, plan: PlanDocument, mapped: Mapped, shared: bool, utc_offset_s: int
    ) -> str:
        """The socket of the host's own ptp4l, or of one that is started there.

        If hosts share a kernel and so its clock (``shared``), that clock is not adjusted. ``utc_offset_s`` is
        TAI - UTC in the host's kernel.
        """
        told = agent.steps([one_reading(agent)])[0]
        reading = read(agent.name, told.out.strip())
        if reading is not None and "error" not in reading.told:
            return SOCKET
        socket = f"{agent.work}/ptp4l.socket"
        programs = self._programs(agent.name, plan, mapped, socket, shared, utc_offset_s)
        if not programs:
            raise BackendError(
                f"{agent.name}: has a clock of its own, runs no ptp4l, and the Plan has no PTP for it\n"
                "hint: start ptp4l and phc2sys there, or write `clocks: {gptp: …}` in the scenario"
            )
        for argv, file, content in programs:
            agent.programs.pop(argv[0], None)
            agent.put(file, content.encode())
            agent.start(argv[0], argv)
        return socket

    def _programs(
        self,
        host: str,
        plan: PlanDocument,
        mapped: Mapped,
        socket: str,
        shared: bool,
        utc_offset_s: int = UTC_OFFSET_S,
    ) -> list[tuple[list[str], str, str]]:
        """ptp4l and phc2sys of a host: the commands, and the names and contents of their files."""
        network = Network(plan)
        name = mapped.node(host)
        node = next(place for place, one in enumerate(network.nodes) if one["name"] == name)
        clock = self.inventory.hosts[host].clock
        if clock is Clock.NONE:
            return []
        software = clock is Clock.SOFTWARE
        # A clock follows its master before that master follows its own. So it may be far off once more, and
        # would take hours without a second step. Offsets that a run allows are corrected without steps.
        step_ns = max(STEP_NS, self.inventory.sync.below_ns)
        profile = Profile(
            interfaces=mapped.ports_of(host),
            software_stamps=software,
            utc_offset_s=utc_offset_s,
            step_ns=step_ns,
        )
        first = [f"uds_address {socket}", *(["free_running 1"] if shared and software else [])]
        config = ptp.ptp4l(network, node, profile, Notes("hosts"), first)
        if config is None:
            return []
        found = [(["ptp4l", "-f", "ptp4l.conf", "-m"], "ptp4l.conf", config)]
        follow = ptp.phc2sys(network, node, step_ns)
        leads = plan["clocks"].get("gptp", {}).get("grandmaster") == node
        # A system clock that hosts share is not adjusted: the grandmaster's card follows it.
        if follow is not None and not software and (leads or not shared):
            words = ["phc2sys", "-f", "phc2sys.conf", "-z", socket, "-a", "-rr" if leads else "-r", "-m"]
            found.append((words, "phc2sys.conf", follow))
        return found

    def say(self, plan: PlanDocument, mapped: Mapped, host: str) -> list[str]:
        """The programs that a host without a ptp4l of its own starts, with their files, as text."""
        lines = []
        for argv, file, content in self._programs(host, plan, mapped, "WORK/ptp4l.socket", shared=False):
            lines += [f"cat >{file} <<END", *content.splitlines(), "END", f"{shlex.join(argv)} &"]
        told = "# where no ptp4l runs there, once all is set up (utc_offset: that of the host's kernel):"
        return lines and [told, *lines]


def _ended(agent: Agent) -> str:
    """Which program of a host has ended, with its last lines, in words; empty if all of them run."""
    for name in PROGRAMS:
        program = agent.programs.get(name)
        if program is not None and program.code is not None:
            lines = [*program.lines, *program.err.splitlines()][-LAST_LINES:]
            said = " | ".join(line.strip()[:LAST_LETTERS] for line in lines)
            return f"{name} ended with {program.code}: {said or 'it said nothing'}"
    return ""
