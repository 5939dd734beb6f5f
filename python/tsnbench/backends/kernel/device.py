"""Interfaces of a kernel as the ports of a Plan: a protocol for all kinds, and one for the kinds that a job
configures.

All functions take the network in the kernel's time (see :mod:`tsnbench.plan.slow_motion`), unless they
state otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from tsnbench.backends.kernel.environment import Capabilities, Environment
    from tsnbench.backends.kernel.results.returned import Returned
    from tsnbench.foreign import Json
    from tsnbench.linux.readback import ReportedQdisc
    from tsnbench.plan.types import PlanDocument


@dataclass
class Namespace:
    """Lines for the batch modes of three programs, in the order in which they run."""

    ip: list[str] = field(default_factory=list)
    bridge: list[str] = field(default_factory=list)
    tc: list[str] = field(default_factory=list)

    def batches(self) -> list[tuple[str, list[str]]]:
        """Each program with its lines, if it has any."""
        programs = (("ip", self.ip), ("bridge", self.bridge), ("tc", self.tc))
        return [(program, lines) for program, lines in programs if lines]


@dataclass(frozen=True)
class Step:
    """A line for ``tc``, to be executed at a moment."""

    at_ns: int
    line: str


@dataclass(frozen=True)
class Steps:
    """The changes that one program makes to a namespace during the run, in the order of time."""

    name: str
    namespace: str
    steps: list[Step]

    def lines(self, dilation: int) -> list[str]:
        """One line per step, with moments of the Plan: the program that runs them applies the dilation
        itself."""
        return [f"{step.at_ns // dilation}\t{step.line}" for step in self.steps]


@dataclass(frozen=True)
class Write:
    """A value that is written to a file of the device."""

    value: str
    file: str
    what: str
    """The name of the value in error messages."""


@dataclass
class Setup:
    """The parts that a device adds to a job."""

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
    """Files beside the script."""


@dataclass(frozen=True)
class Queue:
    """The counters of the queue of one class."""

    counters: Mapping[str, int]
    overhead: int
    """Octets that it counted for each frame in addition to the frame's octets."""


class Ports(Protocol):
    """Interfaces as the ports of a Plan, however they were configured: the parts that they support, and their
    reports."""

    name: str
    """The name in the manifest."""
    most_frame: int
    """Octets of the largest untagged frame of the interfaces."""
    more: Mapping[str, frozenset[str]]
    """Keys of a Plan's objects (plan, node, port, class, gates) that it supports beyond the usual ones."""

    def unsupported(self, plan: PlanDocument, can: Capabilities, dilation: int) -> Iterator[str]:
        """The parts of a Plan, in its own time, that such interfaces do not support."""
        ...

    def read_back(self, plan: PlanDocument, returned: Returned, words: str, can: Capabilities) -> None:
        """Checks that the kernel's configuration at the end is the requested one.

        Raises:
            BackendError: the two differ.
        """
        ...

    def gate_changes(self, plan: PlanDocument, returned: Returned, dilation: int) -> dict[int, Json]:
        """By port, which gate control lists came into force when, in the Plan's own time; none for ports with
        one list.

        Raises:
            BackendError: a list came into force at another moment than the Plan's.
        """
        return {}

    def queues(self, plan: PlanDocument, reported: Mapping[int, list[ReportedQdisc]]) -> list[list[Queue]]:
        """The queues by port and class; ``reported``: the qdiscs of each port at the end."""
        ...

    def record(self, plan: PlanDocument, returned: Returned, folder: Path) -> None:
        """Writes additional results, if there are any, into the run folder; the Plan is in its own time.

        Raises:
            BackendError: results are missing.
        """
        return None  # noqa: RET501 - not abstract

    def notes(self, plan: PlanDocument) -> list[str]:
        """Notes for the reader of the results."""
        return []


class Device(Ports, Protocol):
    """One kind of interfaces that a job makes and configures in one kernel."""

    template: str
    """The template of the job's script."""
    zero_last: bool
    """Whether the Plan's zero is chosen when all programs are ready, or before the set-up, which then needs
    it."""

    def setup(self, plan: PlanDocument, environment: Environment, dilation: int) -> Setup:
        """The configuration of the kernel."""
        ...


def space(node: int) -> str:
    """The namespace of a node."""
    return f"n{node}"


def interface(port: int) -> str:
    """The interface of a port in its node's namespace."""
    return f"p{port}"
