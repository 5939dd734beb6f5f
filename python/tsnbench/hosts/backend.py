"""Runs a Plan on real machines: they are reserved, checked, configured and used, and get their earlier state
back."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tsnbench import quantities
from tsnbench.backends.kernel import results, traffic
from tsnbench.backends.kernel.unsupported import check_dilation, refuse, unsupported
from tsnbench.backends.protocol import Backend, Progress
from tsnbench.errors import BackendError, InputError, UnmeasuredError
from tsnbench.hosts import attempt, devices, job, records, refusals, wiring
from tsnbench.hosts.attempt import Rejected
from tsnbench.hosts.clocks.synchronisation import Synchronisation
from tsnbench.hosts.mapping import Mapped, map_plan
from tsnbench.hosts.remote.agent import Agent, run_all
from tsnbench.hosts.remote.answers import Step
from tsnbench.hosts.remote.reach import reach
from tsnbench.hosts.returned import HostPorts, late_at, merge
from tsnbench.hosts.state import facts, tuning
from tsnbench.hosts.state.links import Disturbed, Links
from tsnbench.plan.slow_motion import dilated
from tsnbench.runs import manifest
from tsnbench.runs.clearing import claim
from tsnbench.runs.folder import begin, end, under_way
from tsnbench.runs.manifest import State

if TYPE_CHECKING:
    from tsnbench.foreign import Json
    from tsnbench.hosts.inventory import Inventory
    from tsnbench.hosts.job import HostJob
    from tsnbench.hosts.state.facts import Facts
    from tsnbench.hosts.state.ports import HostState
    from tsnbench.plan.document import Plan
    from tsnbench.plan.types import PlanDocument

ATTEMPTS = "attempts.json"
NO_WIRE = (
    "virtual interfaces have no wire: a frame arrives when its transmission begins, and each hop is "
    "shorter by the time of a frame and of the cable; delays are those of the machine that they share"
)
DEPLOYED = "deploy.json"
"""File below that folder with the earlier configuration of devices with NETCONF."""
ASSUMED = (
    "# No host was contacted: words that end in -BEFORE stand for values that a host will report.",
    "# Gates count from 0 here, and from an instant of TAI in a run.",
    "# Every card is assumed to keep gates itself (flags 0x2), and every kernel to be Linux 6.3 or later.",
)
"""The first lines of the commands for hosts that were not contacted."""


class Hosts(Backend):
    """Runs a Plan on the hosts of an inventory."""

    name = "hosts"

    def __init__(
        self,
        inventory: Inventory,
        given: Mapping[str, str] | None = None,
        *,
        campaign: bool = False,
        dilate: int = 1,
        tell: Callable[[str], None] | None = None,
    ) -> None:
        self.inventory = inventory
        self.given = given or {}
        """Nodes mapped to machines; they come before the inventory's own ``map``."""
        self.campaign = campaign
        """Whether hosts stay connected and configured from run to run, until :meth:`close`."""
        self.dilate = dilate
        """How many times slower the experiment runs on the hosts; all results are in the Plan's time. Links
        must be slower by the same factor."""
        self._tell = tell or (lambda line: None)
        """Called with a sentence when a run waits for clocks, and when an attempt is rejected."""
        self._clocks = Synchronisation(inventory)
        self._links = Links()
        self._disturbed = False
        """Whether hosts must be checked and set up anew, although the set-up is the same."""
        self._phase_ns = 0
        self._jobs: dict[str, HostJob] = {}
        """The present configuration of hosts."""
        self._agents: dict[str, Agent] = {}
        self._facts: dict[str, Facts] = {}
        self._mapped: Mapped | None = None
        self._confirmed: dict[str, str] = {}
        """The confirmed checklists of devices."""

    def prepare(self, plan: Plan, folder: Path) -> None:
        """Maps the Plan to the lab, and makes the run folder; no host is contacted yet.

        Raises:
            InputError: the Plan does not fit the lab, has parts that hosts do not support, or a device has to
                be configured first.
            FolderError: the folder has other content.
        """
        self.check_supported(plan)
        begin(plan, folder, backend=self.name)

    def check_supported(self, plan: Plan) -> None:
        """Maps the Plan to the lab, and checks that hosts support it; no host is contacted.

        Raises:
            InputError: they do not.
        """
        self._mapped = map_plan(self.inventory, plan.document, self.given)
        check_dilation(self.dilate)
        found = unsupported(plan.document, HostPorts(frozenset()), dilation=self.dilate)
        refuse(self.name, plan.name, found, "the simulator has everything")
        self._confirmed = devices.require(self.inventory, plan.document, self._place)

    def run(self, plan: Plan, folder: Path, *, pcap: bool = False, progress: Progress | None = None) -> None:
        """Repeats attempts until one is valid; the folder's state is then ``complete``.

        Raises:
            UnmeasuredError: no attempt was valid; the hosts can be used.
            BackendError: a host cannot be used.
        """
        try:
            with under_way(folder):
                told = self._with_devices(plan, folder, pcap, progress or (lambda passed, hops: None))
        except (BackendError, InputError) as error:
            # The first error may be the reason of the others: no later error may hide it.
            if left := self._restore():
                kind = InputError if isinstance(error, InputError) else BackendError
                raise kind("\n".join([str(error), *_not_as_before(left)])) from error
            raise
        except BaseException:
            self.close()
            raise
        if not self.campaign:
            self.close()
        manifest.note(folder, {"dilate": self.dilate, "host": told})
        end(folder, State.COMPLETE)

    def say(self, plan: Plan) -> list[str]:
        """Every command for every host, without contacting one: hosts are assumed to have network cards and
        kernels that support everything."""
        mapped = map_plan(self.inventory, plan.document, self.given)
        lines = [*ASSUMED]
        lines += [
            f"# not with --on hosts: {one}"
            for one in unsupported(plan.document, HostPorts(frozenset()), dilation=self.dilate)
        ]
        lines += [f"# {note}" for note in mapped.notes]
        slower = dilated(plan.document, self.dilate)
        for host, own in job.jobs(slower, self.inventory, mapped, {}, 0, self.dilate).items():
            lines.append(
                f"# {host} ({self.inventory.hosts[host].ssh}) is {plan.document['nodes'][own.node]['name']}"
            )
            lines += own.lines()
            lines += self._clocks.say(plan.document, mapped, host)
        for machine, device in self.inventory.devices.items():
            if (node := mapped.node(machine)) is not None:
                how = (
                    f"by hand, from {Path(device.checklist).name}"
                    if device.by_hand
                    else f"by NETCONF, {device.netconf}"
                )
                lines.append(f"# {machine} is {node}: configured {how}")
        return lines

    def restore(self) -> None:
        """Undo everything on all hosts, except for those that a campaign keeps; safe to repeat."""
        if not self.campaign:
            self.close()

    def close(self) -> None:
        """Undo everything on all hosts, and compare the state with the earlier one; safe to repeat.

        Raises:
            BackendError: the state differs from the earlier one.
        """
        if left := self._restore():
            raise BackendError("\n".join(_not_as_before(left)))

    @property
    def _place(self) -> Mapped:
        """Where the prepared Plan's nodes and ports are."""
        assert self._mapped is not None
        return self._mapped

    def _with_devices(self, plan: Plan, folder: Path, pcap: bool, progress: Progress) -> Json:
        """Runs all attempts while devices with NETCONF have the Plan's configuration."""
        record = folder / records.HOSTS / DEPLOYED
        if devices.by_netconf(self.inventory, self._place):
            claim(folder, [f"{records.HOSTS}/{DEPLOYED}"])
            record.parent.mkdir(exist_ok=True)
        with devices.deployed(self.inventory, plan.document, self._place, record) as changed:
            told = self._run(plan, folder, pcap, progress)
        for device in changed:
            told["devices"][device] = {"node": self._place.node(device), "configured": "by NETCONF"}
        return told

    def _run(self, plan: Plan, folder: Path, pcap: bool, progress: Progress) -> Json:
        document = dilated(plan.document, self.dilate)
        machines = self._hosts(document)
        tried: list[Json] = []
        lasting = False
        bounds = self.inventory.sync
        try:
            for number in range(1, bounds.attempts + 1):
                if number > 1:
                    time.sleep(bounds.pause_ns / 1e9)
                began = time.clock_gettime_ns(time.CLOCK_TAI)
                try:
                    self._open(machines)
                    seen = self._once(plan, document, folder, pcap, progress)
                except Rejected as error:
                    tried.append(
                        {"attempt": number, "valid": False, "host": error.host, "reason": error.reason}
                        | {"began_ns": began, "rejected_ns": time.clock_gettime_ns(time.CLOCK_TAI)}
                    )
                    after = f"; the next one begins in {quantities.time(bounds.pause_ns)}"
                    last = number == bounds.attempts
                    self._tell(
                        f"attempt {number} of {bounds.attempts} was rejected: {error}{'' if last else after}"
                    )
                    lasting = error.lasting
                    self._disturbed = self._disturbed or isinstance(error, Disturbed)
                    self._reopen_lost()
                    continue
                tried.append({"attempt": number, "valid": True, "began_ns": began})
                return seen | {"attempts": len(tried)}
        finally:
            claim(folder, [ATTEMPTS])
            (folder / ATTEMPTS).write_text(json.dumps(tried, indent=2) + "\n", encoding="utf-8")
        reasons = "\n".join(f"  {one['attempt']}: {one['host']}: {one['reason']}" for one in tried)
        times = "attempt was" if len(tried) == 1 else "attempts were"
        text = (
            f"{len(tried)} {times} rejected, and none is a measurement:\n{reasons}\n"
            f"hint: `sync: {{attempts: …, pause: …}}` in {self.inventory.file} says how often to try"
        )
        if lasting:
            raise BackendError(text)
        # The other lines are hints, which stand in the whole text.
        reason = str(tried[-1]["reason"]).partition("\n")[0]
        raise UnmeasuredError(tried[-1]["host"], f"{reason} ({len(tried)} {times} rejected)", text)

    def _hosts(self, document: PlanDocument) -> list[str]:
        """The machines of a Plan that have agents, in the order of its nodes."""
        machines = (self._place.machines[node["name"]] for node in document["nodes"])
        return [name for name in machines if name in self.inventory.hosts]

    def _open(self, machines: list[str]) -> None:
        """Connects to every host that is not connected, and reads its state.

        Hosts are reserved one after the other, in an order that all controllers have: of two that want the
        same hosts at the same time, one gets all of them.

        Raises:
            BackendError: a host cannot be used.
        """
        program = traffic.program()
        new = [name for name in machines if name not in self._agents]

        def one_host(agent: Agent) -> tuple[str, Facts]:
            host = self.inventory.hosts[agent.name]
            seen = facts.look(agent, ready[agent.name], list(host.ports.values()))
            return agent.name, replace(seen, before=tuning.read(agent, host, job.tuned(host, seen)))

        hosts = {name: self.inventory.hosts[name] for name in new}
        made = {
            name: Agent(name, reach(host.ssh), program=program, folder=host.folder)
            for name, host in hosts.items()
        }
        self._agents |= made
        run_all(made.values(), Agent.connect)
        ready = {name: made[name].reserve() for name in sorted(made, key=lambda name: hosts[name].ssh)}
        self._facts |= dict(run_all(made.values(), one_host))
        refusals.unfit(self.inventory, {name: self._facts[name] for name in machines})

    def _reopen_lost(self) -> None:
        """Connects again to hosts with a lost connection: such a host has undone everything by itself and
        must be set up again."""
        for name, agent in list(self._agents.items()):
            if agent.lost:
                agent.restore()
                del self._agents[name]
                self._facts.pop(name, None)
                self._jobs.pop(name, None)

    def _once(self, plan: Plan, document: PlanDocument, folder: Path, pcap: bool, progress: Progress) -> Json:
        """Makes one attempt; ``document`` is the Plan in the hosts' time."""
        refusals.unsupported_by_kernels(document, self._facts)
        free = refusals.judged_without_clocks(self.inventory, self._facts, document, self._place)
        ports = refusals.ports_of(document, self._facts, self._planned(document), self.dilate)
        agents = {name: self._agents[name] for name in self._hosts(document)}
        notes = self._configure(document, agents)
        self._links.begin(agents, self._jobs, document)
        self._clocks.begin(agents, self._facts, document, self._place)
        self._clocks.wait(agents, lambda: self._links.settle(agents), self._tell)
        text = plan.to_json()
        before: dict[str, HostState] = {}
        done = attempt.run(
            agents,
            self._jobs,
            document,
            text,
            self._phase_ns,
            lambda passed: progress(passed // self.dilate, 0),
            lambda: self._watch(agents),
            lambda: before.update(self._links.ready(agents)),
        )
        self._links.check(agents)
        kernels = {name: self._facts[name].ready.boot for name in before}
        notes += self._links.compare(before, self._links.state(agents), kernels)
        seen = self._collect(plan, document, done, ports, folder, pcap)
        unseen = self._record(document, folder, done)
        return {
            "hosts": {name: records.described(self._facts[name], own) for name, own in self._jobs.items()},
            "devices": {
                name: {"node": self._place.node(name), "configured": "by hand"} for name in self._confirmed
            },
            "inventory": self.inventory.file,
            "clock": self._clock(),
            "least_ahead_ns": done.least_ahead_ns,
            "stamps": {name: one.get("stamps") for name, one in done.captures.items()},
            "notes": [
                *self._place.notes,
                *notes,
                *([NO_WIRE] if ports.virtual else []),
                *unseen,
                *(f"{name}: its delays compare clocks that are not synchronised" for name in free),
                *seen.pop("warnings", []),
            ],
            **seen,
        }

    def _watch(self, agents: Mapping[str, Agent]) -> None:
        """Raises :class:`Rejected` if the attempt is not valid any more."""
        self._links.check(agents)
        self._clocks.watch(agents)

    def _planned(self, document: PlanDocument) -> dict[str, HostJob]:
        """The jobs of the hosts for the present phase."""
        return job.jobs(document, self.inventory, self._place, self._facts, self._phase_ns, self.dilate)

    def _configure(self, document: PlanDocument, agents: Mapping[str, Agent]) -> list[str]:
        """Checks the wires and sets the hosts up, unless they have this set-up already; returns notes."""
        in_phase = self._phase_ns % attempt.common_cycle_ns(document) == 0
        planned = self._planned(document)
        if in_phase and not self._disturbed and _setups(planned) == _setups(self._jobs):
            self._jobs = planned
            return []
        if self._jobs:
            run_all([agents[name] for name in self._jobs], Agent.undo)
        self._jobs, self._disturbed = {}, False
        needed = set(self._place.ends.values())
        wires = [wire for wire in self.inventory.wires if needed.issuperset(wire.ends)]
        notes = wiring.check(agents, self._facts, self.inventory, wires)
        self._phase_ns = attempt.phase(document, attempt.now_ns(agents.values()))
        self._jobs = self._planned(document)
        notes += attempt.set_up(agents, self._jobs)
        cards = {host: self._cards(host, own) for host, own in self._jobs.items()}
        wiring.rates(agents, document, cards)
        return notes

    def _collect(
        self,
        plan: Plan,
        document: PlanDocument,
        done: attempt.Attempt,
        ports: HostPorts,
        folder: Path,
        pcap: bool,
    ) -> Json:
        """Checks the results of an attempt, and writes the run folder's files.

        Raises:
            Rejected: the results are no valid measurement.
        """
        first = next(iter(self._facts.values()))
        returned = merge(done, self._jobs, first.ready.tai_minus_utc_s)
        kernel = replace(results.SHARED, words="the hosts", can=refusals.least(self._facts))
        told = results.Job(plan.document, plan.to_json(), self.dilate, ports, kernel)
        try:
            return results.collect(returned, told, folder, pcap=pcap)
        except BackendError as error:
            late = late_at(returned, document, kernel.latest_ns)
            raise Rejected(self._place.machines[late] if late else "the hosts", str(error)) from error

    def _record(self, document: PlanDocument, folder: Path, done: attempt.Attempt) -> list[str]:
        """Writes what hosts did and what their clocks showed; returns, in words, unread clocks."""
        used = {host: self._agents[host] for host in self._jobs}
        records.write(folder, used, self._facts, self._confirmed, done.others)
        unseen = records.write_stamps(
            self.inventory, self._facts, self._clocks, document, folder, done, self._jobs, self.dilate
        )
        if self._clocks.on:
            claim(folder, ["sync.parquet"])
            self._clocks.write(folder)
        return unseen

    def _clock(self) -> str:
        """The hosts' clocks, for the manifest and the report."""
        if self._clocks.on:
            return "synchronised, see sync.parquet"
        kernels = {one.ready.boot for one in self._facts.values()}
        return "one clock for all hosts" if len(kernels) == 1 else "every host's clock runs free"

    def _cards(self, host: str, own: HostJob) -> dict[int, str]:
        """Ports of the Plan that are network cards there; virtual interfaces have no rate."""
        known = self._facts[host].interfaces
        return {port: name for port, name in own.names.items() if not known[name].virtual}

    def _other_settings(self, agent: Agent, known: Facts) -> list[str]:
        """The settings of cards, processors and interrupts that differ from the earlier ones, in words."""
        if known.before is None:
            return []
        host = self.inventory.hosts[agent.name]
        return tuning.differences(known.before, tuning.read(agent, host, job.tuned(host, known)))

    def _restore(self) -> list[str]:
        """Undoes everything, and compares the state with the earlier one; returns the differences in
        words."""
        agents, known = list(self._agents.values()), self._facts
        self._agents, self._facts, self._jobs = {}, {}, {}

        def one_host(agent: Agent) -> list[str]:
            if agent.lost or not agent.reserved:
                agent.restore()
                return []
            try:
                failed = agent.undo()
                if agent.name in known:
                    failed += facts.differences(known[agent.name].state, facts.state_of(agent))
                    failed += self._other_settings(agent, known[agent.name])
            except BackendError as error:
                failed = [str(error)]
            return [f"{agent.name}: {one}" for one in failed + agent.restore()]

        return [one for own in run_all(agents, one_host) for one in own]


def _not_as_before(left: list[str]) -> list[str]:
    return ["not everything is as it was:", *(f"  {line}" for line in left)]


def _setups(jobs: Mapping[str, HostJob]) -> dict[str, list[Step]]:
    return {name: own.setup for name, own in jobs.items()}
