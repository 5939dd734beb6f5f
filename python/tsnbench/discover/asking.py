"""Reads the running state of all hosts of a lab at once. Nothing is changed there."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tsnbench.backends.kernel import traffic
from tsnbench.discover import running, wires
from tsnbench.discover.running import RunningHost
from tsnbench.discover.scenario import Found
from tsnbench.discover.wires import Neighbour, Wires
from tsnbench.errors import BackendError, InputError
from tsnbench.hosts import wiring
from tsnbench.hosts.inventory.types import End, Wire
from tsnbench.hosts.remote.agent import Agent, run_all
from tsnbench.hosts.remote.reach import reach

if TYPE_CHECKING:
    from tsnbench.hosts.inventory import Inventory
    from tsnbench.hosts.remote.answers import Done, Step

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


def ask(inventory: Inventory, hosts: Collection[str]) -> Mapping[str, Asked]:
    """The running state of hosts by name, or why a host did not answer.

    Raises:
        BackendError: the live program is missing on this machine.
    """

    def one_host(agent: Agent) -> Asked:
        try:
            ready = agent.open()
            return running.read(agent.name, ready.kernel, agent.steps(running.steps())), ""
        except BackendError as error:
            return None, str(error).removeprefix(f"{agent.name}: ")
        finally:
            agent.restore()

    chosen = agents(inventory, hosts)
    return {agent.name: found for agent, found in zip(chosen, run_all(chosen, one_host), strict=True)}


def ask_host(inventory: Inventory, host: str, further: Sequence[Step]) -> tuple[RunningHost, list[Done]]:
    """The running state of one host, and what it answers to further questions.

    Raises:
        BackendError: it did not answer, or the live program is missing on this machine.
    """
    (agent,) = agents(inventory, [host])
    try:
        ready = agent.open()
        own = running.steps()
        done = agent.steps([*own, *further])
        return running.read(host, ready.kernel, done[: len(own)]), done[len(own) :]
    finally:
        agent.restore()


def discover(inventory: Inventory, probes: bool = True) -> Found:
    """What runs in a lab, and its wires.

    Neighbours that hosts report by LLDP come first. Of the ports that are left, each sends one probe frame,
    which shows where its wire leads.

    Args:
        inventory: the hosts, with the interfaces that count; its wires are not used.
        probes: whether probes may be sent.

    Raises:
        BackendError: the live program is missing on this machine, or a host cannot send probes.
    """
    chosen = agents(inventory, list(inventory.hosts))
    try:
        asked = dict(zip(inventory.hosts, run_all(chosen, _look), strict=True))
        states = {name: state for name, (state, _, _) in asked.items() if state is not None}
        ports = {
            End(name, port): interface
            for name, host in inventory.hosts.items()
            for port, interface in host.ports.items()
            if name in states and interface in states[name].ports
        }
        found = wires.by_neighbours(ports, states, {name: near for name, (_, near, _) in asked.items()})
        if probes:
            there = [agent for agent in chosen if agent.name in states]
            found.found += _probed(there, ports, states, found.found)
    finally:
        run_all(chosen, Agent.restore)
    silent = {name: why for name, (state, _, why) in asked.items() if state is None}
    notes = [f"{name}: {why}" for name, (state, _, why) in asked.items() if state is not None and why]
    notes += [f"{end}: no link" for end, one in ports.items() if not states[end.machine].ports[one].carrier]
    notes += [f"{wire}: in {Path(inventory.file).name}, and not found" for wire in _beside(inventory, found)]
    return Found(inventory.file, ports, states, silent, sorted(found.found, key=str), [*notes, *found.notes])


def _beside(inventory: Inventory, found: Wires) -> list[Wire]:
    """The wires of the inventory that were not found."""
    pairs = {frozenset(wire.ends) for wire in found.found}
    return [wire for wire in inventory.wires if frozenset(wire.ends) not in pairs]


def _look(agent: Agent) -> tuple[RunningHost | None, list[Neighbour], str]:
    """The state of a host, its neighbours, and why one of them is not known."""
    try:
        ready = agent.open()
        *done, said = agent.steps([*running.steps(), wires.LOOK])
    except BackendError as error:
        return None, [], str(error).removeprefix(f"{agent.name}: ")
    state = running.read(agent.name, ready.kernel, done)
    if said.code:
        return state, [], "no LLDP (apt-get install lldpd, there): its wires are found by probes"
    try:
        return state, wires.neighbours(said.out), ""
    except InputError as error:
        return state, [], str(error)


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
