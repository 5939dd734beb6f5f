"""Hosts as guests: an emulated machine for each host, with a kernel, a processor and a clock of its own.

Only in this lab can a host crash or stand still while the others go on, and only here do hosts have different
system clocks and TAI offsets. The network cards are virtio's, with software stamps and one queue. The guests
compete for the processors of this machine, so their delays say nothing about a network. The guests need no
root. Only this machine can reach their ssh servers, with keys of this lab only. No guest can reach anything
outside the lab.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from tsnbench.backends.kernel import traffic
from tsnbench.backends.vm.initramfs import bake
from tsnbench.backends.vm.kernel import find
from tsnbench.hosts.lab import access, boot, image, record
from tsnbench.hosts.lab.boot import Started
from tsnbench.hosts.lab.record import Made

if TYPE_CHECKING:
    from tsnbench.plan.network import Network
    from tsnbench.plan.types import PlanDocument

_WORDS = """\
A lab of guests: each host has a kernel and a clock of its own. Network cards have software stamps and one
queue. The guests share this machine's processors: delays say nothing about a network."""
_SYNC = "{below: 10 ms, attempts: 5, pause: 1 s, steady: 2 s, within: 60 s}"
_MAC = "52:54:00"


def missing(sshd: Path | None = None) -> str:
    """Why a lab is not possible here; empty if it is."""
    return boot.missing(sshd)


def make(plan: PlanDocument, network: Network, folder: Path, sshd: Path | None, lasts_s: int) -> Made:
    """Makes a guest for each host.

    Raises:
        BackendError: a guest does not start.
    """
    hosts = [node["name"] for node in network.nodes]
    kernel = find()
    baked, _ = bake(kernel, traffic.program(), None, image.CONTENTS)

    def begin(ports: list[int]) -> Iterator[Started]:
        for number, port in enumerate(ports):
            archive = image.with_server(folder, sshd)
            archive.file("lab/init.sh", ("\n".join(_script(hosts[number])) + "\n").encode(), 0o755)
            options = _options(network, number, port)
            yield boot.start(folder, f"{hosts[number]}.", kernel, baked, archive, options, lasts_s)

    boot.try_ports(folder, hosts, hosts, begin)
    clock = "software" if "gptp" in plan.get("clocks", {}) else "none"
    return Made(access.client(folder), _WORDS, _SYNC, clock)


def _options(network: Network, number: int, port: int) -> list[str]:
    """The options of QEMU for time, for ssh, and for the wires of a host."""
    words = ["-seed", str(number + 1), "-rtc", boot.now()]
    words += boot.reached(f"hostfwd=tcp:127.0.0.1:{port}-10.0.2.15:22")
    for place, own in enumerate(network.ports_of(number)):
        words += _wire(number, place, own, network.ports[own]["peer"])
    return words


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


__all__ = ["make", "missing"]
