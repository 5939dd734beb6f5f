"""How a program is started on a host: over ssh, or in a network namespace of this machine."""

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
        "put your public key there (ssh-copy-id {host}); passwords are not asked for",
    ),
)


class Reach(Protocol):
    """One way to a host. Only one thing is possible: to start a program with pipes to it."""

    @property
    def scope(self) -> str:
        """What tells hosts apart that share a file system; empty where each has its own."""
        ...

    def command(self, words: list[str]) -> list[str]:
        """The words that start a program there, as this machine's own."""
        ...

    def explain(self, code: int, said: str) -> str:
        """Why no program was started, with a hint; empty where that is not known."""
        ...


@dataclass(frozen=True)
class Ssh:
    """The system's OpenSSH client: the user's own configuration, agents and jump hosts hold.

    ``TSNBENCH_SSH`` names another client, with its options.
    """

    host: str
    scope = ""

    def __post_init__(self) -> None:
        """A name that begins with a dash would be an option.

        Raises:
            InputError: that is no name of a host.
        """
        if not _NAME.fullmatch(self.host) or self.host.startswith("-"):
            raise InputError(
                f"expected a host as ssh takes it (host, user@host, ssh://host:port), found {self.host}"
            )

    def command(self, words: list[str]) -> list[str]:
        """One connection of its own, without a terminal and without questions.

        Raises:
            BackendError: there is no ssh here.
        """
        client = shlex.split(os.environ.get("TSNBENCH_SSH", "ssh"))
        if not client or shutil.which(client[0]) is None:
            program = client[0] if client else "ssh"
            raise BackendError(f"there is no program {program} here\nhint: apt-get install openssh-client")
        options = ["-T", "-o", "BatchMode=yes", "-o", f"ConnectTimeout={CONNECT_S}"]
        # What ssh is given becomes one line for a shell there.
        return [*client, *options, "--", self.host, shlex.join(words)]

    def explain(self, code: int, said: str) -> str:
        """What ssh's own words mean."""
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
        """As root."""
        return ["ip", "netns", "exec", self.name, *words]

    def explain(self, code: int, said: str) -> str:
        """Nothing is known."""
        return ""


def reach(target: str) -> Reach:
    """By the destination in an inventory: ``netns://NAME`` is a namespace, everything else is for ssh.

    Raises:
        InputError: it is neither.
    """
    if target.startswith("netns://"):
        name = target.removeprefix("netns://")
        if not re.fullmatch(r"[A-Za-z0-9_][\w.-]{0,80}", name):
            raise InputError(f"expected netns:// and the name of a network namespace, found {target}")
        return Space(name)
    return Ssh(target)
