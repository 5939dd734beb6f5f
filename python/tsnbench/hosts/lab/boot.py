"""Guests of a lab: how they are started, reached by ssh, and known to be up."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from tsnbench.backends.vm import initramfs, machine
from tsnbench.backends.vm.cpio import Archive
from tsnbench.backends.vm.kernel import Kernel
from tsnbench.errors import BackendError
from tsnbench.hosts.lab import access, image, record

READY_S = 180
LOOK_S = 0.1
TRIES = 3
"""Number of tries, as another program may take a port between its choice and its use."""


@dataclass(frozen=True)
class Started:
    """A guest that may not be up yet."""

    process: subprocess.Popen[bytes]
    console: Path
    """The file with its output."""


def missing(sshd: Path | None, more: Iterable[str] = ()) -> str:
    """Why guests with ssh are not possible here; empty if they are. ``more``: other missing packages."""
    gone = {*initramfs.missing_tools(image.CONTENTS).values(), *more}
    if shutil.which(machine.QEMU) is None:
        gone.add("qemu-system-x86")
    if gone:
        return f"packages are missing: {', '.join(sorted(gone))}"
    return access.missing(sshd)


def now() -> str:
    """The present time as the first part of QEMU's option ``-rtc``."""
    return f"base={datetime.now(UTC):%Y-%m-%dT%H:%M:%S}"


def reached(network: str) -> list[str]:
    """QEMU's options for a card that only this machine reaches; ``network``: more options of it."""
    netdev = f"user,id=m,restrict=on,ipv6=off,{network}"
    return ["-netdev", netdev, "-device", "virtio-net-pci,netdev=m,romfile="]


def start(
    folder: Path,
    prefix: str,
    kernel: Kernel,
    baked: Path,
    files: Archive,
    options: Sequence[str],
    lasts_s: int,
) -> Started:
    """Starts a guest.

    Args:
        folder: the folder of the lab.
        prefix: the first part of the names of the guest's files there.
        kernel: the guest's kernel.
        baked: the image of all guests.
        files: the files of this lab alone, which are added to the image.
        options: the options of QEMU that differ between guests.
        lasts_s: the time after which the guest ends itself.
    """
    name = folder / (f"{prefix}log" if prefix else record.CONSOLE)
    # The image contains keys, so it is a file in memory without a name, which no other program can open.
    with machine.memory("image") as whole, name.open("wb") as console:
        with baked.open("rb") as base:
            shutil.copyfileobj(base, whole)
        whole.write(bytes(-whole.tell() % 512) + files.finish())
        whole.flush()
        words = ["timeout", "--kill-after=5", str(lasts_s), machine.QEMU, *machine.COMMON, *options]
        words += ["-serial", "stdio", "-monitor", "none", "-pidfile", f"{prefix}{record.PROCESS}"]
        words += ["-kernel", str(kernel.image), "-initrd", f"/proc/self/fd/{whole.fileno()}"]
        # On a busy machine, the kernel's own test of its timer would end the boot.
        words += ["-append", f"{machine.APPEND} net.ifnames=0 no_timer_check"]
        # In the lab's folder, because the path of a socket has at most 107 octets.
        process = subprocess.Popen(
            words,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=console,
            stderr=console,
            start_new_session=True,
            pass_fds=[whole.fileno()],
        )
    return Started(process, name)


def try_ports(
    folder: Path, names: list[str], hosts: list[str], begin: Callable[[list[int]], Iterator[Started]]
) -> None:
    """Starts the guests of a lab, with other ports if other programs took them meanwhile.

    Args:
        folder: the folder of the lab.
        names: what ssh reaches, each at a port of its own.
        hosts: the hosts of the lab.
        begin: starts guests, given the ports.

    Raises:
        BackendError: a guest does not start.
    """
    for attempt in range(1, TRIES + 1):
        ports = _free_ports(len(names))
        access.keys(folder, {name: ("127.0.0.1", port) for name, port in zip(names, ports, strict=True)})
        started: list[Started] = []
        for one in begin(ports):
            started.append(one)
            record.note(folder, hosts, [], [one.process.pid for one in started])
        if all(_ready(one, last=attempt == TRIES) for one in started):
            return
        for one in started:
            one.process.kill()
            one.process.wait()


def _free_ports(count: int) -> list[int]:
    """Free ports of this machine's loopback, all different."""
    with ExitStack() as open_ones:
        sockets = [open_ones.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [int(one.getsockname()[1]) for one in sockets]


def _ready(one: Started, *, last: bool) -> bool:
    """Whether the guest is up; if not, other programs took its ports meanwhile.

    Raises:
        BackendError: the guest does not start.
    """
    until = time.monotonic() + READY_S
    while image.UP not in (said := one.console.read_text(errors="replace")):
        if one.process.poll() is not None:
            if "host forwarding" in said and not last:
                return False
            raise BackendError(f"the lab's guest has ended: {said.strip()[-500:]}")
        if time.monotonic() > until:
            raise BackendError(f"the lab's guest is not up after {READY_S} s: {said.strip()[-500:]}")
        time.sleep(LOOK_S)
    return True
