"""Orders to a host, and its answers, as data."""

from __future__ import annotations

from dataclasses import dataclass, field

from tsnbench.errors import BackendError


class AgentLost(BackendError):  # noqa: N818 - what happened
    """The connection to a host is lost. The host undoes everything by itself."""


@dataclass(frozen=True)
class Step:
    """A command on a host, and the commands that undo it."""

    argv: tuple[str, ...]
    stdin: str = ""
    undo: tuple[tuple[str, ...], ...] = ()
    """Commands, the last one first; the host records them once the step has succeeded."""
    may_fail: bool = False
    limit_ms: int = 30_000


@dataclass(frozen=True)
class Done:
    """The result of a step."""

    step: Step
    code: int
    out: str
    err: str
    begun_ns: int
    ended_ns: int
    """TAI on the host's clock."""


@dataclass
class Program:
    """A program that was started during the conversation."""

    argv: tuple[str, ...]
    lines: list[str] = field(default_factory=list)
    code: int | None = None
    err: str = ""


@dataclass(frozen=True)
class Ready:
    """The first answer of an agent."""

    work: str
    program: str
    kernel: str
    machine: str
    hostname: str
    boot: str
    """An identifier that is equal for all namespaces of one kernel."""
    ssh: str
    """Both ends of the ssh connection, as sshd reports them; empty without ssh."""
    tai_minus_utc_s: int
    ahead_ns: tuple[int, int]
    """The least and the greatest possible offset of its clock from this machine's."""
    left: int
    """Number of steps of a killed agent that were undone first."""
    not_undone: tuple[str, ...]
