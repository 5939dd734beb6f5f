"""Reads the running state of all hosts of a lab at once. Nothing is changed there."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from tsnbench.backends.kernel import traffic
from tsnbench.discover import running
from tsnbench.discover.running import RunningHost
from tsnbench.errors import BackendError
from tsnbench.hosts.remote.agent import Agent, run_all
from tsnbench.hosts.remote.reach import reach

if TYPE_CHECKING:
    from tsnbench.hosts.inventory import Inventory

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
