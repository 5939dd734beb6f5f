"""What stands for the ports of a Plan on a kernel: a protocol for all, and one for what a job configures.

All functions take the network in the kernel's time (see :mod:`slow_motion`), but for those that say
otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from tsnbench.backends.kernel.environment import Capabilities, Environment
    from tsnbench.backends.kernel.returned import Returned
    from tsnbench.linux.readback import ReportedQdisc
    from tsnbench.plan.types import PlanDocument


@dataclass
class Namespace:
    """Lines for the batch modes of three programs, in the order in which they run."""

    ip: list[str] = field(default_factory=list)
    bridge: list[str] = field(default_factory=list)
    tc: list[str] = field(default_factory=list)

    def batches(self) -> list[tuple[str, list[str]]]:
        """Program and lines, where there are any."""
        programs = (("ip", self.ip), ("bridge", self.bridge), ("tc", self.tc))
        return [(program, lines) for program, lines in programs if lines]


@dataclass(frozen=True)
class Step:
    """A line for ``tc`` at a moment."""

    at_ns: int
    line: str


@dataclass(frozen=True)
class Steps:
    """What one program does to a namespace while the Plan runs, in the order of time."""

    name: str
    namespace: str
    steps: list[Step]

    def lines(self, dilation: int) -> list[str]:
        """One line per step, with moments of the Plan: the program that runs them stretches time itself."""
        return [f"{step.at_ns // dilation}\t{step.line}" for step in self.steps]


@dataclass(frozen=True)
class Write:
    """A value that is written to a file of the device."""

    value: str
    file: str
    what: str
    """Named where it fails."""


@dataclass
class Setup:
    """What a device adds to a job."""

    namespaces: dict[str, Namespace]
    """By name, in the order in which they are made."""
    steps: list[Steps] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    """Pairs of ports that the device makes."""
    writes: list[Write] = field(default_factory=list)
    faults: list[int] = field(default_factory=list)
    """Ports whose faults are counted."""
    gates: list[int] = field(default_factory=list)
    """Ports whose gate control lists change."""
    clocks: list[int] = field(default_factory=list)
    """Nodes with a clock of their own, whose errors are recorded."""
    files: dict[str, bytes] = field(default_factory=dict)
    """Beside the script."""


@dataclass(frozen=True)
class Queue:
    """What the queue of one class counted."""

    counters: Mapping[str, int]
    overhead: int
    """Octets of each frame that it counted besides those that it saw."""


class Ports(Protocol):
    """What stands for the ports of a Plan, whoever configured it: what it supports, and what it reports."""

    name: str
    """How the manifest calls it."""
    most_frame: int
    """Octets of an untagged frame: what fits the interfaces."""
    more: Mapping[str, frozenset[str]]
    """Keys of a Plan's objects (plan, node, port, class, gates) that it supports beyond the usual ones."""

    def unsupported(self, plan: PlanDocument, can: Capabilities, dilation: int) -> Iterator[str]:
        """What of a Plan, in its own time, such interfaces cannot do."""
        ...

    def read_back(self, plan: PlanDocument, returned: Returned, words: str, can: Capabilities) -> None:
        """What the kernel was told is what it does at the end.

        Raises:
            BackendError: it is not.
        """
        ...

    def gate_changes(
        self, plan: PlanDocument, returned: Returned, dilation: int
    ) -> dict[int, dict[str, Any]]:
        """By port, which gate control lists came into force when, in the time of the Plan, as it is given.

        Raises:
            BackendError: at other moments than the Plan has them.
        """
        ...

    def queues(self, plan: PlanDocument, reported: Mapping[int, list[ReportedQdisc]]) -> list[list[Queue]]:
        """By port and class; ``reported``: the qdiscs of each port at the end."""
        ...

    def record(self, plan: PlanDocument, returned: Returned, folder: Path) -> None:
        """Writes what else is known into the run folder; the Plan is in its own time.

        Raises:
            BackendError: some of it is missing.
        """
        ...

    def notes(self, plan: PlanDocument) -> list[str]:
        """What a reader of the results has to know."""
        ...


class Device(Ports, Protocol):
    """One kind of interfaces that a job makes and configures in one kernel."""

    template: str
    """Of the job's script."""
    zero_last: bool
    """The Plan's zero is chosen when all is ready; else before the set-up, which has to know it."""

    def setup(self, plan: PlanDocument, environment: Environment, dilation: int) -> Setup:
        """What the kernel is told."""
        ...


def space(node: int) -> str:
    """The namespace of a node."""
    return f"n{node}"


def interface(port: int) -> str:
    """The interface that stands for a port in its node's namespace."""
    return f"p{port}"
