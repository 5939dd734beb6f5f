"""Checks the cables against the inventory: a port's probe must arrive at its peer, and nowhere else."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from tsnbench import quantities
from tsnbench.errors import BackendError, InputError
from tsnbench.hosts.job import PROGRAM
from tsnbench.hosts.remote.agent import Agent, run_all
from tsnbench.hosts.remote.answers import Step

if TYPE_CHECKING:
    from tsnbench.hosts.inventory import Inventory
    from tsnbench.hosts.inventory.types import End, Wire
    from tsnbench.hosts.state.facts import Facts
    from tsnbench.plan.types import PlanDocument

CARRIER_S = 5.0
"""Time limit for a link to come up."""
LISTEN_S = 2.0
LOOK_S = 0.05
STRAY_S = 0.2
MOST_PROBES_S = 10.0


def check(
    agents: Mapping[str, Agent], facts: Mapping[str, Facts], inventory: Inventory, wires: Sequence[Wire]
) -> list[str]:
    """Probes every wire between two hosts; returns, in words, the wires that could not be checked.

    Args:
        agents: the agents by host.
        facts: the facts of the hosts before.
        inventory: the lab.
        wires: the wires that the Plan needs.

    Raises:
        BackendError: a probe did not arrive, or arrived elsewhere; all affected ports are named.
    """
    ours = [wire for wire in wires if all(end.machine in agents for end in wire.ends)]
    notes = [
        f"{wire}: not checked, since {end.machine} cannot be asked what it hears"
        for wire in wires
        for end in wire.ends
        if end.machine not in agents
    ]
    ends = [end for wire in ours for end in wire.ends]
    by_host: dict[str, dict[str, End]] = {}
    for end in ends:
        by_host.setdefault(end.machine, {})[inventory.interface(end)] = end
    chosen = [agents[host] for host in by_host]
    down = run_all(chosen, lambda agent: _up(agent, facts[agent.name], list(by_host[agent.name])))
    dark = {str(by_host[agent.name][name]) for agent, own in zip(chosen, down, strict=True) for name in own}
    # No probe crosses a wire without a link, so nothing is waited for there.
    linked = [wire for wire in ours if dark.isdisjoint(map(str, wire.ends))]
    heard = probed(chosen, by_host, lambda heard: not _wrong(linked, heard))
    if wrong := _wrong(ours, heard, dark):
        listed = "\n".join(f"  {line}" for line in wrong)
        raise BackendError(
            f"the cables are not as {inventory.file} says:\n{listed}\n"
            "hint: plug them as the inventory says, or correct its `wires`; nothing has been changed"
        )
    return notes


def probed(
    agents: Sequence[Agent],
    by_host: Mapping[str, Mapping[str, End]],
    is_complete: Callable[[dict[str, set[str]]], bool],
) -> dict[str, set[str]]:
    """Sends a probe from each port, and returns by port where it arrived.

    Args:
        agents: the agents of the hosts.
        by_host: the ports of each host by interface; all of them are up.
        is_complete: whether no more probe is waited for.

    Raises:
        BackendError: a host cannot send or listen.
    """
    run_all(agents, lambda agent: _listen(agent, list(by_host[agent.name])))
    run_all(agents, lambda agent: _send(agent, by_host[agent.name]))
    until = time.monotonic() + LISTEN_S
    while not is_complete(_heard(agents, by_host)) and time.monotonic() < until:
        time.sleep(LOOK_S)
    # A probe that also arrives at a wrong port may need a little more time.
    time.sleep(STRAY_S)
    for agent in agents:
        agent.signal("probe")
    for agent in agents:
        agent.wait_for_end("probe", time.monotonic() + MOST_PROBES_S)
    return _heard(agents, by_host)


def rates(agents: Mapping[str, Agent], plan: PlanDocument, ports: Mapping[str, Mapping[int, str]]) -> None:
    """Checks that links have the Plan's rates, once they are up.

    Args:
        agents: the agents by host.
        plan: the Plan of the run.
        ports: by host, ports of the Plan with network cards.

    Raises:
        InputError: a link has another rate; all are named.
    """

    def one_host(agent: Agent) -> list[str]:
        own = ports[agent.name]
        done = agent.steps(
            [Step(("cat", f"/sys/class/net/{name}/speed"), may_fail=True) for name in own.values()]
        )
        told = dict(zip(own, (one.out for one in done), strict=True))
        return other_rates(agent.name, plan, own, told)

    chosen = [agents[host] for host in ports]
    if wrong := [line for own in run_all(chosen, one_host) for line in own]:
        listed = "\n".join(f"  {line}" for line in wrong)
        raise InputError(
            f"{plan['name']}: links do not have the rates of the Plan:\n{listed}\n"
            "hint: write the rate that the link has in the scenario, or set it on the host (ethtool -s); "
            "a cable or a port at the other end may allow no more"
        )


def other_rates(
    host: str, plan: PlanDocument, ports: Mapping[int, str], told: Mapping[int, str]
) -> list[str]:
    """The links whose rate in the kernel (Mbit/s) differs from the Plan's, in words."""
    found = []
    for port, said in told.items():
        one = plan["ports"][port]
        text = said.strip()
        if text.isdecimal() and int(text) * 10**6 != one["rate_bps"]:
            has, wanted = quantities.rate(int(text) * 10**6), quantities.rate(one["rate_bps"])
            found.append(f"{host}: {ports[port]} has {has}, and {one['name']} in the Plan has {wanted}")
    return found


def _heard(agents: Sequence[Agent], by_host: Mapping[str, Mapping[str, End]]) -> dict[str, set[str]]:
    """By port, where its probe arrived."""
    found: dict[str, set[str]] = {}
    for agent in agents:
        for line in list(agent.programs["probe"].lines):
            interface, _, sender = line.partition(" ")
            if interface in by_host[agent.name] and sender:
                found.setdefault(sender, set()).add(str(by_host[agent.name][interface]))
    return found


def _wrong(wires: Sequence[Wire], heard: Mapping[str, set[str]], dark: Collection[str] = ()) -> list[str]:
    """One line for each port whose probe did not arrive at its peer, or arrived elsewhere.

    Args:
        wires: the wires that were probed.
        heard: by port, where its probe arrived.
        dark: the ports without a link.
    """
    found = []
    for wire in wires:
        for end, peer in (wire.ends, wire.ends[::-1]):
            at = heard.get(str(end), set())
            if at != {str(peer)}:
                seen = f"its probe arrived at {' and '.join(sorted(at))}" if at else "nobody heard its probe"
                if lost := [str(one) for one in (end, peer) if str(one) in dark]:
                    seen += f"; no link at {' and '.join(lost)}"
                found.append(f"{end}: expected {peer} at the other end; {seen}")
    return found


def _up(agent: Agent, facts: Facts, interfaces: list[str]) -> list[str]:
    """Sets interfaces up and waits for their links; returns those that have no link in time."""
    steps = [
        Step(
            ("ip", "link", "set", "dev", name, "up"),
            undo=() if facts.interfaces[name].up else (("ip", "link", "set", "dev", name, "down"),),
        )
        for name in interfaces
    ]
    for done in agent.steps(steps):
        if done.code:
            raise BackendError(f"{agent.name}: {' '.join(done.step.argv)}: {done.err.strip()}")
    until = time.monotonic() + CARRIER_S
    look = [Step(("cat", f"/sys/class/net/{name}/carrier"), may_fail=True) for name in interfaces]
    while True:
        seen = zip(interfaces, agent.steps(look), strict=True)
        down = [name for name, one in seen if one.out.strip() != "1"]
        if not down or time.monotonic() > until:
            return down
        time.sleep(LOOK_S)


def _listen(agent: Agent, interfaces: list[str]) -> None:
    agent.clear(["probe"])
    listen_s = f"{LISTEN_S + MOST_PROBES_S:g}s"
    agent.start("probe", [agent.path(PROGRAM), "probe", "listen", *interfaces, "--for", listen_s])
    agent.wait_for_line("probe", "listening", time.monotonic() + MOST_PROBES_S)


def _send(agent: Agent, ends: Mapping[str, End]) -> None:
    steps = [Step((agent.path(PROGRAM), "probe", "send", name, str(end))) for name, end in ends.items()]
    for done in agent.steps(steps):
        if done.code:
            raise BackendError(f"{agent.name}: no probe could be sent: {done.err.strip()}")
