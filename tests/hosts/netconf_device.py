"""A device by NETCONF for runs on hosts: a server on this machine, and a user whose login it accepts."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.netconf_server import PASSWORD, USER, NetconfServer
from tsnbench.deploy import PASSWORD as PASSWORD_NAME
from tsnbench.deploy import Access
from tsnbench.deploy.device import connect

MODULES = Path(os.environ.get("TSNBENCH_YANG", Path(__file__).parents[3] / "shared/yang"))


@dataclass(frozen=True)
class NetconfDevice:
    """A running server, and the home folder of its user."""

    server: NetconfServer
    home: Path

    @property
    def where(self) -> str:
        """The device's entry in an inventory."""
        return f"netconf: {USER}@127.0.0.1:{self.server.port}"

    def has(self) -> str:
        """Its present configuration."""
        access = Access(USER, PASSWORD, known_hosts=self.server.known_hosts)
        device = connect("s", "127.0.0.1", self.server.port, access)
        try:
            return device.has().told.text_of()
        finally:
            device.close()


@contextmanager
def netconf_device(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[NetconfDevice]:
    """Runs a server; tsnbench finds its key and its password in the environment."""
    home = folder / "home"
    (home / ".ssh").mkdir(parents=True)
    with NetconfServer(folder / "server", MODULES) as server:
        (home / ".ssh/known_hosts").write_text(server.known_hosts.read_text())
        monkeypatch.setenv("HOME", str(home))
        monkeypatch.setenv(PASSWORD_NAME, PASSWORD)
        yield NetconfDevice(server, home)
