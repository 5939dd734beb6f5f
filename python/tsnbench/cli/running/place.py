"""Where runs are made: ``--on``, ``--dilate``, ``--hosts`` and ``--map``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tsnbench.backends.protocol import Backend
from tsnbench.backends.simulation import Simulation
from tsnbench.cli.console.options import pairs_of
from tsnbench.cli.console.output import Exit, fail, print_line, print_message, user_errors
from tsnbench.cli.parts import host_backend, inventory, netns, virtual_machine
from tsnbench.plan.document import Plan

WHOLE_BELOW = 1_000_000
"""Frames over links below which a run is not searched for a repetition: they take under a second."""


@dataclass(frozen=True)
class Place:
    """The options that name a backend."""

    on: str
    dilate: int
    hosts: Path | None
    machines: list[str]
    """``NODE=MACHINE``"""
    exact: bool = True
    """Whether every frame is simulated, also of a run that repeats."""
    predict: bool = False
    """Whether the runs are predictions, which are simulated."""

    def backend(self) -> Backend:
        """The backend; options that do not fit end the command."""
        if self.predict and self.on != "simulation":
            fail(Exit.INPUT_WRONG, f"--predict: expected --on simulation, found {self.on}")
        if self.on == "hosts":
            return self._hosts()
        if self.hosts is not None or self.machines:
            fail(Exit.INPUT_WRONG, "--hosts and --map: only for --on hosts")
        if self.on == "vm":
            return virtual_machine.VirtualMachine(self.dilate)
        if self.on == "netns":
            return netns.Namespaces(self.dilate)
        if self.on != "simulation":
            fail(Exit.INPUT_WRONG, f"--on: expected simulation, vm, netns or hosts, found {self.on}")
        if self.dilate != 1:
            fail(Exit.INPUT_WRONG, "--dilate: only for --on vm, netns and hosts")
        return Simulation(None if self.exact else WHOLE_BELOW)

    def _hosts(self) -> Backend:
        if self.hosts is None:
            hint = "hint: docs/guides/hosts.md; tsnbench lab up makes a lab on this machine"
            fail(Exit.INPUT_WRONG, f"--on hosts: expected a lab, such as --hosts lab.yaml\n{hint}")
        machines = pairs_of("--map", "NODE=MACHINE", self.machines)
        with user_errors():
            lab = inventory.load_inventory(self.hosts)
            return host_backend.Hosts(lab, machines, campaign=True, dilate=self.dilate, tell=print_message)

    def words(self) -> list[str]:
        """The options of the command for another backend than the simulator."""
        if self.on == "simulation":
            return []
        more = ["--dilate", str(self.dilate)] if self.dilate != 1 else []
        more += [] if self.hosts is None else ["--hosts", str(self.hosts)]
        return ["--on", self.on, *more, *(word for one in self.machines for word in ("--map", one))]


def say(place: Place, backend: Backend, plans: Sequence[Plan]) -> None:
    """Prints every command for every host, in place of runs."""
    if place.on != "hosts":
        fail(Exit.INPUT_WRONG, "--dry-run: only for --on hosts")
    assert isinstance(backend, host_backend.Hosts)
    for plan in plans:
        for line in backend.say(plan):
            print_line(line)
