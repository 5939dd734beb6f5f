"""Hosts as guests: an emulated machine for each host, with a kernel, a processor and a clock of its own.

Only in this lab can a host crash or stand still while the others go on, and only here do hosts have different
system clocks and TAI offsets. The network cards are virtio's, with software stamps and one queue. The guests
compete for the processors of this machine, so their delays say nothing about a network. The guests need no
root. Only this machine can reach their ssh servers, with keys of this lab only. No guest can reach anything
outside the lab.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from tsnbench.backends.kernel import traffic
from tsnbench.backends.vm import initramfs, kernel, machine
from tsnbench.hosts.lab import access, image, record
from tsnbench.hosts.lab.cells import inventory
from tsnbench.hosts.lab.record import Lab
from tsnbench.plan.network import Network

if TYPE_CHECKING:
    from tsnbench.plan.types import PlanDocument

LASTS_S = 8 * 3600
"""The guests end themselves after this time."""
TRIES = 3
"""Number of tries, as another program may take a port between its choice and its use."""
_WORDS = """\
A lab of guests: each host has a kernel and a clock of its own. Network cards have software stamps and one
queue. The guests share this machine's processors: delays say nothing about a network."""
_SYNC = "{below: 10 ms, attempts: 5, pause: 1 s, steady: 2 s, within: 60 s}"
_MAC = "52:54:00"


def missing(sshd: Path | None = None) -> str:
    """Why a lab is not possible here; empty if it is."""
    gone = set(initramfs.missing_tools(image.CONTENTS).values())
    if shutil.which(machine.QEMU) is None:
        gone.add("qemu-system-x86")
    if gone:
        return f"packages are missing: {', '.join(sorted(gone))}"
    return access.missing(sshd)


def up(plan: PlanDocument, folder: Path, sshd: Path | None = None, lasts_s: int = LASTS_S) -> Lab:
    """Makes a host for each node of a Plan, a wire for each link, and the lab's ``lab.yaml``.

    Args:
        plan: the Plan whose network the lab has; any Plan of the same network will do.
        folder: where the lab keeps its keys and its record; it is made.
        sshd: the ssh server, if it is not installed; its libraries are searched beside it.
        lasts_s: the time after which the guests end themselves.

    Raises:
        InputError: the folder has a lab, or other files.
        BackendError: this machine cannot have a lab.
    """
    folder = record.begun(folder, missing(sshd))
    network = Network(plan)
    hosts = [node["name"] for node in network.nodes]
    record.note(folder, hosts, [], [])
    try:
        for attempt in range(1, TRIES + 1):
            if _all_up(network, folder, access.server(sshd), lasts_s, last=attempt == TRIES):
                break
    except BaseException:
        record.down(folder)
        raise
    clock = "software" if "gptp" in plan.get("clocks", {}) else "none"
    (folder / "lab.yaml").write_text(inventory(network, _WORDS, _SYNC, clock), encoding="utf-8")
    return Lab(folder, f"ssh -F {shlex.quote(str(folder / 'client'))}")


def _all_up(network: Network, folder: Path, sshd: Path | None, lasts_s: int, *, last: bool) -> bool:
    """Whether all guests are up; if not, other programs took their ports meanwhile."""
    hosts = [node["name"] for node in network.nodes]
    ports = image.free_ports(len(hosts))
    access.keys(folder, {name: ("127.0.0.1", port) for name, port in zip(hosts, ports, strict=True)})
    processes: list[subprocess.Popen[bytes]] = []
    for number, port in enumerate(ports):
        processes.append(_boot(network, number, folder, sshd, port, lasts_s))
        record.note(folder, hosts, [], [process.pid for process in processes])
    for name, process in zip(hosts, processes, strict=True):
        if not image.ready(process, folder / f"{name}.log", last=last):
            for one in processes:
                one.kill()
                one.wait()
            return False
    return True


def _boot(
    network: Network, number: int, folder: Path, sshd: Path | None, port: int, lasts_s: int
) -> subprocess.Popen[bytes]:
    name = network.nodes[number]["name"]
    guest = kernel.find()
    baked, _ = initramfs.bake(guest, traffic.program(), None, image.CONTENTS)
    assert sshd is not None
    archive = image.with_server(folder, sshd)
    archive.file("lab/init.sh", ("\n".join(_script(name)) + "\n").encode(), 0o755)
    # The image contains keys, so it is a file in memory without a name, which no other program can open.
    with machine.memory("image") as whole, (folder / f"{name}.log").open("wb") as console:
        with baked.open("rb") as base:
            shutil.copyfileobj(base, whole)
        whole.write(bytes(-whole.tell() % 512) + archive.finish())
        whole.flush()
        words = ["timeout", "--kill-after=5", str(lasts_s), machine.QEMU, *machine.COMMON]
        words += ["-seed", str(number + 1), "-rtc", f"base={datetime.now(UTC):%Y-%m-%dT%H:%M:%S}"]
        words += ["-netdev", f"user,id=m,restrict=on,ipv6=off,hostfwd=tcp:127.0.0.1:{port}-10.0.2.15:22"]
        words += ["-device", "virtio-net-pci,netdev=m,romfile="]
        for place, own in enumerate(network.ports_of(number)):
            words += _wire(number, place, own, network.ports[own]["peer"])
        words += ["-serial", "stdio", "-monitor", "none", "-pidfile", f"{name}.process"]
        words += ["-kernel", str(guest.image), "-initrd", f"/proc/self/fd/{whole.fileno()}"]
        words += ["-append", f"{machine.APPEND} net.ifnames=0"]
        # In the lab's folder, because the path of a socket has at most 107 octets.
        return subprocess.Popen(
            words,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=console,
            stderr=console,
            start_new_session=True,
            pass_fds=[whole.fileno()],
        )


def _wire(number: int, place: int, port: int, peer: int) -> list[str]:
    """One end of a wire: frames are datagrams between two sockets."""
    ends = f"local.type=unix,local.path={record.WIRE}{port},remote.type=unix,remote.path={record.WIRE}{peer}"
    mac = f"{_MAC}:{number >> 8:02x}:{number & 255:02x}:{place + 1:02x}"
    return [
        *("-netdev", f"dgram,id=d{place},{ends}"),
        *("-device", f"virtio-net-pci,netdev=d{place},mac={mac},romfile="),
    ]


def _script(name: str) -> list[str]:
    return [
        "ip link set lo up",
        "ip addr add 10.0.2.15/24 dev eth0; ip link set eth0 up",
        f"hostname {shlex.quote(name)}; mkdir -p /run/lab",
        "HOME=/root /usr/sbin/sshd -D -e -f /lab/sshd.conf >/tmp/sshd 2>&1 &",
        "until grep -q listening /tmp/sshd; do sleep 0.1; done",
        f'echo "{image.UP}"',
        "while :; do sleep 1000000; done",
    ]


__all__ = ["missing", "up"]
