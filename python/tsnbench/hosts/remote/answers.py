"""What a host is told to do, and what it answers, as data."""

from __future__ import annotations

from dataclasses import dataclass, field

from tsnbench.errors import BackendError


class AgentLost(BackendError):  # noqa: N818 - what happened
    """The connection to a host is gone. The host undoes everything by itself."""


@dataclass(frozen=True)
class Step:
    """A command on a host, and what undoes it."""

    argv: tuple[str, ...]
    stdin: str = ""
    undo: tuple[tuple[str, ...], ...] = ()
    """Commands, the last one first; written down on the host once the step has succeeded."""
    may_fail: bool = False
    limit_ms: int = 30_000


@dataclass(frozen=True)
class Done:
    """What became of a step."""

    step: Step
    code: int
    out: str
    err: str
    begun_ns: int
    ended_ns: int
    """TAI, by the host's clock."""


@dataclass
class Program:
    """A program that was started beside the conversation."""

    argv: tuple[str, ...]
    lines: list[str] = field(default_factory=list)
    code: int | None = None
    err: str = ""


@dataclass(frozen=True)
class Ready:
    """What a host said when its agent began."""

    work: str
    program: str
    kernel: str
    machine: str
    hostname: str
    boot: str
    """The same for all namespaces of one kernel."""
    ssh: str
    """Both ends of the ssh connection, as sshd says; empty without one."""
    tai_minus_utc_s: int
    ahead_ns: tuple[int, int]
    """Its clock against this machine's: the least and the most that it can be ahead."""
    left: int
    """Steps of a killed agent that were undone first."""
    not_undone: tuple[str, ...]
