"""Restores hosts after a controller was killed together with its agents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tsnbench.backends.kernel import traffic
from tsnbench.errors import BackendError, InputError
from tsnbench.hosts import devices
from tsnbench.hosts.remote.agent import Agent, run_all
from tsnbench.hosts.remote.reach import reach

if TYPE_CHECKING:
    from tsnbench.hosts.inventory import Inventory


DEVICES = "devices by NETCONF"


@dataclass(frozen=True)
class Restored:
    """The result for one host."""

    host: str
    done: bool
    words: str

    def __str__(self) -> str:
        return f"{self.host}: {self.words}"


def restore_hosts(inventory: Inventory) -> list[Restored]:
    """Undoes the steps of killed agents, on all hosts at once. A host that is in use is not touched."""
    agents = [
        Agent(name, reach(host.ssh), program=traffic.program()) for name, host in inventory.hosts.items()
    ]

    def one_host(agent: Agent) -> Restored:
        try:
            steps = agent.restore_leftovers()
        except (BackendError, InputError) as error:
            return Restored(agent.name, False, str(error).removeprefix(f"{agent.name}: "))
        words = f"{steps} steps undone" if steps else "nothing to undo"
        return Restored(agent.name, True, words)

    return [*run_all(agents, one_host), *_devices(inventory)]


def _devices(inventory: Inventory) -> Iterator[Restored]:
    """Restores devices with NETCONF that a killed run left with its Plan."""
    for note in devices.Note.all(inventory):
        try:
            yield Restored(DEVICES, not note.running, devices.restore_noted(inventory, note))
        except (BackendError, InputError) as error:
            yield Restored(DEVICES, False, str(error))
