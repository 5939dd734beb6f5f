"""Reads the running state of all hosts of a lab at once. Nothing is changed there."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tsnbench.backends.kernel import traffic
from tsnbench.discover import by_netconf, ptp, running, wires
from tsnbench.discover.ptp import PtpClock
from tsnbench.discover.recorded import Heard
from tsnbench.discover.running import RunningHost
from tsnbench.discover.scenario import Found
from tsnbench.discover.wires import Neighbour, Wires
from tsnbench.errors import BackendError, InputError
from tsnbench.exports.scenario_text import valid_name
from tsnbench.hosts import wiring
from tsnbench.hosts.inventory.types import End, Host, Inventory, Wire
from tsnbench.hosts.remote.agent import Agent, run_all
from tsnbench.hosts.remote.answers import Step
from tsnbench.hosts.remote.reach import reach

if TYPE_CHECKING:
    from tsnbench.hosts.remote.answers import Done

CARDS = ("", "veth")
"""Kinds of interfaces that wires can be at."""
_ADDRESSES = Step(("ip", "-o", "addr", "show"), may_fail=True)
Asked = tuple[RunningHost | None, str]
"""The state of a host, or the reason why nothing is known about it."""


def agents(inventory: Inventory, hosts: Collection[str]) -> list[Agent]:
    """The agents of hosts, which are not connected yet.

    Raises:
        BackendError: the live program is missing on this machine.
    """
    program = traffic.program()
    chosen = [inventory.hosts[name] for name in hosts]
    return [Agent(one.name, reach(one.ssh), program=program, folder=one.folder) for one in chosen]


def hear(inventory: Inventory, hosts: Collection[str]) -> dict[str, Heard]:
    """What hosts answer, by name, or why a host did not answer.

    Raises:
        BackendError: the live program is missing on this machine.
    """

    def one_host(agent: Agent) -> Heard:
        try:
            ready = agent.open()
            return Heard(ready.kernel, agent.steps(running.steps()))
        except BackendError as error:
            return Heard(why=str(error).removeprefix(f"{agent.name}: "))
        finally:
            agent.restore()

    chosen = agents(inventory, hosts)
    return {agent.name: found for agent, found in zip(chosen, run_all(chosen, one_host), strict=True)}


def ask_host(inventory: Inventory, host: str, further: Sequence[Step]) -> tuple[RunningHost, list[Done]]:
    """The running state of one host, and what it answers to further questions, in which ``PROGRAM`` is the
    live program.

    Raises:
        BackendError: it did not answer, or the live program is missing on this machine.
    """
    (agent,) = agents(inventory, [host])
    try:
        ready = agent.open()
        own = running.steps()
        asked = [replace(one, argv=tuple(map(agent.path, one.argv))) for one in further]
        done = agent.steps([*own, *asked])
        return running.read(host, ready.kernel, done[: len(own)]), done[len(own) :]
    finally:
        agent.restore()


def named(destinations: Sequence[str]) -> Inventory:
    """A lab of hosts by their ssh destinations (``root@zgw6``), whose interfaces are not known yet.

    Raises:
        InputError: a destination is none, or comes twice.
    """
    taken: set[str] = set()
    hosts: dict[str, Host] = {}
    for one in destinations:
        if not one or destinations.count(one) > 1:
            raise InputError(f"--hosts: expected a lab (lab.yaml) or hosts for ssh, found {one or 'nothing'}")
        own = one.removeprefix("ssh://").rpartition("@")[2].partition(":")[0]
        name = valid_name(own, taken, "host")
        hosts[name] = Host(name, one, {})
    return Inventory(",".join(destinations), hosts)


def discover(inventory: Inventory, probes: bool = True) -> Found:
    """What runs in a lab, and its wires.

    Neighbours that hosts report by LLDP come first. Of the ports that are left, each sends one probe frame,
    which shows where its wire leads.

    Args:
        inventory: the hosts, with the interfaces that count; its wires are not used. Of a host without
            interfaces, all count but that of the ssh connection.
        probes: whether probes may be sent.

    Raises:
        BackendError: the live program is missing on this machine, or a host cannot send probes.
    """
    chosen = agents(inventory, list(inventory.hosts))
    try:
        asked = dict(zip(inventory.hosts, run_all(chosen, _look), strict=True))
        states = {name: one.state for name, one in asked.items() if one.state is not None}
        ports = {
            End(name, port): interface
            for name, host in inventory.hosts.items()
            if name in states
            for port, interface in (host.ports or asked[name].interfaces()).items()
            if interface in states[name].ports
        }
        found = wires.by_neighbours(ports, states, {name: one.near for name, one in asked.items()})
        if probes:
            there = [agent for agent in chosen if agent.name in states]
            found.found += _probed(there, ports, states, found.found)
    finally:
        run_all(chosen, Agent.restore)
    silent = {name: one.why for name, one in asked.items() if one.state is None}
    notes = []
    for device in inventory.devices.values():
        told = by_netconf.ask(device) if device.netconf else by_netconf.Answer(None, "it has no NETCONF")
        if told.state is None:
            silent[device.name] = "; ".join(told.why.splitlines())
            continue
        states[device.name] = told.state
        ends = {End(device.name, port): own for port, own in device.ports.items() if own in told.state.ports}
        ports |= ends
        own_wires = [wire for wire in inventory.wires if any(end in ends for end in wire.ends)]
        found.found += [wire for wire in own_wires if all(end in ports for end in wire.ends)]
        notes.append(f"{device.name}: read by NETCONF; its wires are those of the lab, and were not checked")
    notes += [f"{name}: {one.why}" for name, one in asked.items() if one.state is not None and one.why]
    notes += [f"{end}: no link" for end, one in ports.items() if not states[end.machine].ports[one].carrier]
    notes += [f"{wire}: in {Path(inventory.file).name}, and not found" for wire in _beside(inventory, found)]
    notes += _for_the_lab(inventory, ports)
    clocks = {name: one.clock for name, one in asked.items() if one.clock is not None}
    known = sorted(found.found, key=str)
    return Found(inventory.file, ports, states, silent, known, [*notes, *found.notes], clocks)


def _for_the_lab(inventory: Inventory, ports: Mapping[End, str]) -> Iterator[str]:
    """The lines of a lab for hosts of which only the destinations were given."""
    for name, host in inventory.hosts.items():
        own = ", ".join(f"{end.port}: {port}" for end, port in ports.items() if end.machine == name)
        if not host.ports and own:
            yield f"for the lab: {name}: {{ssh: {host.ssh}, ports: {{{own}}}}}"


def _beside(inventory: Inventory, found: Wires) -> list[Wire]:
    """The wires of the inventory that were not found."""
    pairs = {frozenset(wire.ends) for wire in found.found}
    return [wire for wire in inventory.wires if frozenset(wire.ends) not in pairs]


@dataclass(frozen=True)
class _Looked:
    """What one host said."""

    state: RunningHost | None = None
    near: list[Neighbour] = field(default_factory=list)
    why: str = ""
    """Why something is not known."""
    clock: PtpClock | None = None
    reached_by: str = ""
    """The interface of the ssh connection."""

    def interfaces(self) -> dict[str, str]:
        """Network cards and the like, without bridges and VLAN devices; each is its own name."""
        ports = {} if self.state is None else self.state.ports
        return {name: name for name, one in ports.items() if one.kind in CARDS and name != self.reached_by}


def _look(agent: Agent) -> _Looked:
    """The state of a host, its neighbours, and its clock."""
    try:
        ready = agent.open()
        *done, said, clock, addresses = agent.steps([*running.steps(), wires.LOOK, ptp.LOOK, _ADDRESSES])
    except BackendError as error:
        return _Looked(why=str(error).removeprefix(f"{agent.name}: "))
    seen = _Looked(
        running.read(agent.name, ready.kernel, done), reached_by=_interface_of(ready.ssh, addresses.out)
    )
    whys, near = [], []
    try:
        if said.code:
            whys.append("no LLDP (apt-get install lldpd, there): its wires are found by probes")
        else:
            near = wires.neighbours(said.out)
    except InputError as error:
        whys.append(str(error))
    try:
        seen = replace(seen, clock=ptp.read(clock))
    except InputError as error:
        whys.append(str(error))
    return replace(seen, near=near, why="; ".join(whys))


def _interface_of(ssh: str, addresses: str) -> str:
    """The interface with the address at which sshd was reached; empty if none has it.

    Args:
        ssh: both ends of the connection, as sshd reports them.
        addresses: lines of ``ip -o addr``.
    """
    words = ssh.split()
    for line in addresses.splitlines():
        row = line.split()
        if len(words) > 2 and len(row) > 3 and row[3].partition("/")[0] == words[2]:
            return row[1]
    return ""


def _probed(
    agents: list[Agent], ports: Mapping[End, str], states: Mapping[str, RunningHost], known: list[Wire]
) -> list[Wire]:
    """The wires between ports with a link whose neighbours are not known."""
    taken = {end for wire in known for end in wire.ends}
    by_host: dict[str, dict[str, End]] = {}
    for end, interface in ports.items():
        if end not in taken and states[end.machine].ports[interface].carrier:
            by_host.setdefault(end.machine, {})[interface] = end
    ends = {str(end): end for own in by_host.values() for end in own.values()}
    if len(ends) < 2:
        return []
    chosen = [agent for agent in agents if agent.name in by_host]
    heard = wiring.probed(chosen, by_host, lambda heard: False)
    pairs = wires.by_probes({name: heard.get(name, set()) for name in ends})
    return [Wire(ends[one], ends[other]) for one, other in pairs]
