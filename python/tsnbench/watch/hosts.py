"""The hosts of a Plan, read again and again: differences from the Plan, links, and clocks."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tsnbench.discover import running
from tsnbench.discover.asking import Asked, agents
from tsnbench.discover.differences import Difference, differences
from tsnbench.errors import BackendError, InputError
from tsnbench.hosts.clocks import sync
from tsnbench.hosts.clocks.sync import Reading
from tsnbench.hosts.clocks.synchronisation import one_reading
from tsnbench.hosts.state import ports
from tsnbench.hosts.state.ports import PortState

if TYPE_CHECKING:
    from tsnbench.discover.running import RunningHost
    from tsnbench.hosts import Inventory, Mapped
    from tsnbench.hosts.remote.agent import Agent
    from tsnbench.plan.types import PlanDocument

NOT_YET = "not read yet"
LIMIT_MS = 5_000
"""Time limit of each command on a host."""
STALE_ROUNDS = 2
STALE_S = 3.0
"""A host is away whose last reading is older than :data:`STALE_ROUNDS` rounds and this time."""
AGAIN_S = 1.0
"""The least time between two attempts to reach a host."""
END_S = 5.0
"""How long the end waits for a host that does not answer."""


@dataclass(frozen=True)
class HostReading:
    """What was read from one host at one moment."""

    state: RunningHost
    ports: Mapping[str, PortState] = field(default_factory=dict)
    """Links and counters of the interfaces that the Plan uses."""
    clock: Reading | None = None
    """What ptp4l says; None without one."""
    unix_s: float = 0.0
    """When it was read, on this machine's clock."""


@dataclass(frozen=True)
class Change:
    """What is other than in the round before."""

    unix_s: float
    host: str
    text: str
    difference: Difference | None = None
    """The setting, if it is about one."""


class WatchedHosts:
    """The hosts of a Plan. Each is read by a thread of its own, so that one that is silent delays no other.

    Args:
        plan: the Plan, in the hosts' time.
        inventory: the lab.
        mapped: the mapping of the Plan to the lab.
        every_s: time between two readings of a host.
        tell: is called with each change, by one thread at a time.
    """

    def __init__(
        self,
        plan: PlanDocument,
        inventory: Inventory,
        mapped: Mapped,
        every_s: float,
        tell: Callable[[Change], None],
    ) -> None:
        self.names = tuple(name for name in inventory.hosts if mapped.node(name) is not None)
        self.machines = mapped.machines
        """By node of the Plan, its machine."""
        self._plan, self._inventory, self._mapped = plan, inventory, mapped
        self._every_s, self._tell = every_s, tell
        self._interfaces = {
            name: [mapped.interfaces[port] for port, end in mapped.ends.items() if end.machine == name]
            for name in self.names
        }
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._readings: dict[str, tuple[HostReading, float]] = {}
        """By host, its last reading, and when it was read (``time.monotonic``)."""
        self._last: dict[str, RunningHost] = {}
        """By host, its state when it was read last."""
        self._away: dict[str, str] = dict.fromkeys(self.names, NOT_YET)
        self._found: list[Difference] = []
        self._threads = [
            threading.Thread(target=self._keep_reading, args=(name,), name=name, daemon=True)
            for name in self.names
        ]

    def begin(self) -> None:
        """Begins to read all hosts.

        Raises:
            BackendError: the live program is missing on this machine.
        """
        agents(self._inventory, ())
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        """Ends all connections; the hosts are left as they were found."""
        self._over.set()
        until = time.monotonic() + END_S
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))

    def check(self) -> None:
        """Takes hosts as away that have been silent for too long."""
        now = time.monotonic()
        with self._lock:
            since = {name: now - at for name, (_, at) in self._readings.items()}
        for name, silent_s in since.items():
            if silent_s > STALE_ROUNDS * self._every_s + STALE_S:
                self._take(name, None, f"has not answered for {silent_s:.0f} s")

    def readings(self) -> dict[str, HostReading]:
        """The last reading of each host that is there."""
        with self._lock:
            return {name: one for name, (one, _) in self._readings.items()}

    def differences(self) -> list[Difference]:
        """The differences from the Plan, of the hosts that are there."""
        with self._lock:
            return list(self._found)

    def _keep_reading(self, name: str) -> None:
        agent: Agent | None = None
        kernel = ""
        while not self._over.is_set():
            began, pause_s = time.monotonic(), self._every_s
            try:
                if agent is None:
                    (agent,) = agents(self._inventory, [name])
                    kernel = agent.open().kernel
                self._take(name, self._read(agent, kernel), "")
            except (BackendError, InputError) as error:
                pause_s = max(pause_s, AGAIN_S)
                if agent is not None:
                    agent.restore()
                    agent = None
                self._take(name, None, str(error).removeprefix(f"{name}: "))
            self._over.wait(max(0.0, began + pause_s - time.monotonic()))
        if agent is not None:
            agent.restore()

    def _read(self, agent: Agent, kernel: str) -> HostReading:
        steps = [*running.steps(), ports.step(self._interfaces[agent.name]), one_reading(agent)]
        done = agent.steps([replace(one, limit_ms=LIMIT_MS) for one in steps])
        agent.log.clear()
        *settings, links, clock = done
        told = sync.read(agent.name, clock.out.strip())
        return HostReading(
            running.read(agent.name, kernel, settings),
            ports.read(links.out).ports,
            None if told is None or "error" in told.told else told,
            time.time(),
        )

    def _take(self, name: str, reading: HostReading | None, why: str) -> None:
        with self._lock:
            before = self._readings.pop(name, None)
            was_away = self._away.pop(name, "")
            if reading is None:
                self._away[name] = why
                if why != was_away:
                    self._tell(Change(time.time(), name, f"{name}: away: {'; '.join(why.splitlines())}"))
            else:
                self._readings[name] = reading, time.monotonic()
                self._last[name] = reading.state
                if was_away != NOT_YET and was_away:
                    self._tell(Change(reading.unix_s, name, f"{name}: answers again"))
            is_new = reading is None or before is None or before[0].state != reading.state
            if is_new and NOT_YET not in self._away.values():
                self._compare()

    def _compare(self) -> None:
        """Compares the hosts that are there with the Plan, and tells what is other than before."""
        asked: dict[str, Asked] = {name: (None, why) for name, why in self._away.items()}
        # Of a host that is away, the addresses count as they were: tables of bridges have them.
        asked |= {name: (state, "") for name, state in self._last.items()}
        every = differences(self._plan, self._inventory, self._mapped, asked)
        before, self._found = self._found, [one for one in every if one.host in self._readings]
        for change in changes(before, self._found, self._readings):
            self._tell(change)


def changes(before: Iterable[Difference], after: Iterable[Difference], hosts: Iterable[str]) -> list[Change]:
    """What became different, and what is as planned again, of hosts that are there."""
    old, new = ({(one.host, one.port, one.setting): one for one in all_} for all_ in (before, after))
    now = time.time()
    there = set(hosts)
    found = [Change(now, one.host, str(one), one) for key, one in new.items() if old.get(key) != one]
    return found + [
        Change(now, one.host, f"{one.host} {one.port}".strip() + f": {one.setting}: as planned again")
        for key, one in old.items()
        if key not in new and one.host in there
    ]
