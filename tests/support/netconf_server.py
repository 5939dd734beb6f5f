"""A real NETCONF server for tests: Debian's ``netconfd``, behind SSH on a port of the loopback interface.

Keys, sockets and configuration are in a temporary folder; the machine's own SSH is neither used nor changed.
"""

from __future__ import annotations

import contextlib
import getpass
import os
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import paramiko

SERVER = "/usr/sbin/netconfd"
SUBSYSTEM = "/usr/sbin/netconf-subsystem"
OWN_MODULES = "/usr/share/yuma/modules"
PASSWORD = "of no worth"
USER = getpass.getuser()
BRIDGE = (
    "ietf-interfaces@2018-02-20",
    "iana-if-type",
    "ieee802-dot1q-bridge",
    "ieee802-dot1q-sched-bridge",
    "ieee802-dot1q-preemption-bridge",
    "ieee802-dot1q-cbsa-bridge",
    "ieee802-dot1cb-stream-identification",
    "ieee802-dot1cb-frer",
    "ieee1588-ptp-tt",
    "ieee802-dot1as-gptp",
)
"""The modules of a bridge with all mechanisms except stream filters."""


def missing(modules: Path) -> str | None:
    """The reason why no server can be started here, or none."""
    if not (modules / "ieee802-dot1q-sched.yang").is_file():
        return "needs IEEE's modules (TSNBENCH_YANG, or shared/yang beside the repository)"
    if not os.access(SERVER, os.X_OK) or shutil.which(SUBSYSTEM) is None:
        return "needs netconfd (Debian: netconfd)"
    return None


class NetconfServer:
    """One ``netconfd`` with SSH, as a context manager: it is stopped at the end in every case."""

    def __init__(
        self,
        folder: Path,
        modules: Path,
        load: tuple[str, ...] = BRIDGE,
        target: str = "candidate",
        rules: Callable[[bytes], bytes | None] | None = None,
        superuser: str = USER,
    ) -> None:
        self.folder = folder
        self.port = 0
        self.seen: list[bytes] = []
        """The pieces that clients have sent, in order."""
        self.rules = rules
        """A function that gets each piece from a client before the server; its result is the answer."""
        folder.mkdir(parents=True, exist_ok=True)
        # A socket's path has at most 107 octets, and pytest's folders are long.
        self._socket = Path(f"/tmp/tsnbench-nc-{os.getpid()}-{id(self):x}.sock")
        # The server compares the client's port with the one that sshd would report.
        self._arguments = [
            SERVER,
            "--config=/dev/null",
            "--no-startup",
            f"--modpath={modules}:{OWN_MODULES}",
            *(f"--module={modules / name}.yang" for name in load),
            f"--ncxserver-sockname={self._socket}",
            f"--superuser={superuser}",
            f"--target={target}",
            "--log-level=info",
            f"--log={folder / 'log'}",
            "--port=8300",
        ]
        self._process: subprocess.Popen[bytes] | None = None
        self._listener: socket.socket | None = None
        self._children: list[subprocess.Popen[bytes]] = []
        self._transports: list[paramiko.Transport] = []

    def __enter__(self) -> NetconfServer:
        try:
            self._start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _start(self) -> None:
        self._process = subprocess.Popen(
            self._arguments,
            env={"HOME": str(self.folder), "PATH": "/usr/bin:/bin"},
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        until = time.monotonic() + 60
        while not self._socket.exists():
            if self._process.poll() is not None or time.monotonic() > until:
                raise RuntimeError((self.folder / "log").read_text(errors="replace")[-2000:])
            time.sleep(0.05)
        self._key = paramiko.ECDSAKey.generate()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.known_hosts = self.folder / "known_hosts"
        self.known_hosts.write_text(
            f"[127.0.0.1]:{self.port} {self._key.get_name()} {self._key.get_base64()}\n"
        )
        threading.Thread(target=self._serve, daemon=True).start()

    def kill(self) -> None:
        """End without notice, as a device that loses its power."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
        for transport in self._transports:
            transport.close()

    def stop(self) -> None:
        if self._listener is not None:
            # Closing alone does not wake the thread that waits for a connection, and the port would stay
            # open.
            with contextlib.suppress(OSError):
                self._listener.shutdown(socket.SHUT_RDWR)
            self._listener.close()
        for transport in self._transports:
            transport.close()
        for child in self._children:
            child.kill()
            child.wait()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._socket.unlink(missing_ok=True)

    def _serve(self) -> None:
        assert self._listener is not None
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            transport = paramiko.Transport(connection)
            transport.add_server_key(self._key)
            self._transports.append(transport)
            with contextlib.suppress(paramiko.SSHException, EOFError):
                transport.start_server(server=_Door(self))

    def open_subsystem(self, channel: paramiko.Channel) -> None:
        child = subprocess.Popen(
            [SUBSYSTEM, f"--ncxserver-sockname=8300@{self._socket}"],
            env={"SSH_CONNECTION": "127.0.0.1 40000 127.0.0.1 8300", "USER": USER, "LOGNAME": USER},
            cwd=self.folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._children.append(child)
        threading.Thread(target=self._to_server, args=(channel, child), daemon=True).start()
        threading.Thread(target=self._to_client, args=(channel, child), daemon=True).start()

    def _to_server(self, channel: paramiko.Channel, child: subprocess.Popen[bytes]) -> None:
        assert child.stdin is not None
        with contextlib.suppress(OSError):
            while piece := channel.recv(65536):
                self.seen.append(piece)
                answer = self.rules(piece) if self.rules else None
                if answer is not None:
                    channel.sendall(answer)
                    continue
                child.stdin.write(piece)
                child.stdin.flush()
            child.stdin.close()

    def _to_client(self, channel: paramiko.Channel, child: subprocess.Popen[bytes]) -> None:
        assert child.stdout is not None
        with contextlib.suppress(OSError, EOFError):
            while piece := os.read(child.stdout.fileno(), 65536):
                channel.sendall(piece)
            channel.close()


class _Door(paramiko.ServerInterface):
    """Accepts the password, and requests for the subsystem only."""

    def __init__(self, server: NetconfServer) -> None:
        self.server = server

    def check_auth_password(self, username: str, password: str) -> int:
        if (username, password) == (USER, PASSWORD):
            return int(paramiko.AUTH_SUCCESSFUL)
        return int(paramiko.AUTH_FAILED)

    def get_allowed_auths(self, username: str) -> str:
        return "password"

    def check_channel_request(self, kind: str, chanid: int) -> int:
        return int(paramiko.OPEN_SUCCEEDED)

    def check_channel_subsystem_request(self, channel: paramiko.Channel, name: str) -> bool:
        if name != "netconf":
            return False
        self.server.open_subsystem(channel)
        return True
