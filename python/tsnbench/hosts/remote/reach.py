"""The ways to start a program on a host: over ssh, or in a network namespace of this machine."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from dataclasses import dataclass
from typing import Protocol

from tsnbench.errors import BackendError, InputError

CONNECT_S = 10
_NAME = re.compile(r"(?:[\w.+-]+@)?[\w.:%\[\]-]+|ssh://[\w.@:%\[\]-]+/?")
_REASONS = (
    (
        r"Could not resolve hostname",
        "its name is not known here",
        "look for a typing error; or give its address",
    ),
    (
        r"Connection refused",
        "nothing listens for ssh there",
        "start sshd there, or name the right port (ssh://host:port)",
    ),
    (r"timed out|No route to host|unreachable", "it cannot be reached", "is it on, and on this network?"),
    (
        r"Host key verification failed|REMOTE HOST IDENTIFICATION",
        "its host key is not the one that is known here, or not known at all",
        "connect once by hand and compare the key: ssh {host}",
    ),
    (
        r"Permission denied|Too many authentication failures",
        "it does not let us in",
        "put your public key there (ssh-copy-id {host}); passwords are not used",
    ),
)


class Reach(Protocol):
    """A way to reach a host. Its only operation is to start a program with pipes to it."""

    @property
    def scope(self) -> str:
        """An identifier of hosts that share a file system; empty if each has its own."""
        ...

    def command(self, words: list[str]) -> list[str]:
        """The command of this machine that starts a program there."""
        ...

    def explain(self, code: int, said: str) -> str:
        """Why no program was started, with a hint; empty if that is unknown."""
        ...


@dataclass(frozen=True)
class Ssh:
    """The system's OpenSSH client with the user's own configuration, agents and jump hosts.

    ``TSNBENCH_SSH`` names another client, with its options.
    """

    host: str
    scope = ""

    def __post_init__(self) -> None:
        """A name that begins with a dash would be an option.

        Raises:
            InputError: the name is no name of a host.
        """
        if not _NAME.fullmatch(self.host) or self.host.startswith("-"):
            raise InputError(
                f"expected a host as ssh takes it (host, user@host, ssh://host:port), found {self.host}"
            )

    def command(self, words: list[str]) -> list[str]:
        """A connection of its own, without a terminal and without questions.

        Raises:
            BackendError: ssh is not installed here.
        """
        client = shlex.split(os.environ.get("TSNBENCH_SSH", "ssh"))
        if not client or shutil.which(client[0]) is None:
            program = client[0] if client else "ssh"
            raise BackendError(f"there is no program {program} here\nhint: apt-get install openssh-client")
        options = ["-T", "-o", "BatchMode=yes", "-o", f"ConnectTimeout={CONNECT_S}"]
        # ssh joins its arguments to one line, which a shell on the host reads; so the words are quoted.
        return [*client, *options, "--", self.host, shlex.join(words)]

    def explain(self, code: int, said: str) -> str:
        """The meaning of ssh's own messages."""
        last = next((line for line in reversed(said.strip().splitlines()) if line.strip()), "nothing").strip()
        for pattern, reason, remedy in _REASONS:
            if re.search(pattern, said):
                return f"{reason}\nssh says: {last}\nhint: {remedy.format(host=self.host)}"
        return f"ssh failed\nssh says: {last}" if code == 255 else ""


@dataclass(frozen=True)
class Space:
    """A network namespace of this machine, for networks that need no ssh."""

    name: str

    @property
    def scope(self) -> str:
        return f"-{self.name}"

    def command(self, words: list[str]) -> list[str]:
        """The command, run as root."""
        return ["ip", "netns", "exec", self.name, *words]

    def explain(self, code: int, said: str) -> str:
        """There is no explanation."""
        return ""


@dataclass(frozen=True)
class Here:
    """This machine, in the network namespace of this process; ``scope`` as in :class:`Reach`."""

    scope: str = ""

    def command(self, words: list[str]) -> list[str]:
        """The command itself."""
        return words

    def explain(self, code: int, said: str) -> str:
        """There is no explanation."""
        return ""


def reach(target: str) -> Reach:
    """The way to a destination of an inventory: ``netns://NAME`` is a namespace, all others use ssh.

    Raises:
        InputError: the destination is neither.
    """
    if target.startswith("netns://"):
        name = target.removeprefix("netns://")
        if not re.fullmatch(r"[A-Za-z0-9_][\w.-]{0,80}", name):
            raise InputError(f"expected netns:// and the name of a network namespace, found {target}")
        return Space(name)
    return Ssh(target)
