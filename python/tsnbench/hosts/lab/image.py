"""The image of a lab's guests: programs and an ssh server, and how to know that a guest is up."""

from __future__ import annotations

import socket
import subprocess
import time
from contextlib import ExitStack
from pathlib import Path

from tsnbench.backends.vm import initramfs
from tsnbench.backends.vm.cpio import Archive
from tsnbench.backends.vm.initramfs import Contents
from tsnbench.errors import BackendError
from tsnbench.hosts.lab import access

READY_S = 180
LOOK_S = 0.1
UP = "lab: up"
"""What a guest says when its servers listen."""

_INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/tools:/usr/sbin:/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t debugfs debug /sys/kernel/debug
mkdir -p /run/sshd /tmp /root /dev/pts /var/empty
ln -s /run /var/run
mount -t devpts devpts /dev/pts
echo 0 >/proc/sys/kernel/printk
for module in $(cat /modules/order); do insmod /modules/$module.ko || echo "no module $module"; done
ln -sf /tools/dash /bin/sh
exec /bin/sh /lab/init.sh
"""
CONTENTS = Contents(
    init=_INIT,
    tools={**initramfs.TOOLS, "unshare": "util-linux", "dash": "dash"},
    modules=(*initramfs.MODULES, "virtio_pci", "virtio_net"),
)
_SSHD = f"""\
{access.SSHD.format(folder="/lab")}LoginGraceTime 0
TCPKeepAlive no
UseDNS no
MaxStartups 100
Ciphers aes128-ctr
MACs umac-64@openssh.com
SetEnv PATH=/tools:/usr/sbin:/bin
"""
"""Login without a time limit: a guest with a busy processor is slower than its clock. The cipher is the
cheapest for an emulated processor; the connection does not leave this machine."""


def with_server(folder: Path, sshd: Path) -> Archive:
    """The files of one lab: keys and the ssh server; ``/lab/init.sh`` is still missing."""
    archive = Archive()
    root = access.root_of(sshd)
    beside = ":".join(str(root / path) for path in access.libraries_of(root)) if root else ""
    archive.file("usr/sbin/sshd", sshd.read_bytes(), 0o755)
    for library in sorted(initramfs.libraries(sshd, beside)):
        place = library.relative_to(root) if root and library.is_relative_to(root) else library
        archive.file(str(place).lstrip("/"), library.read_bytes(), 0o755)
    people = "root:x:0:0:root:/root:/bin/sh\nsshd:x:101:65534::/run/sshd:/bin/false\n"
    archive.file("etc/passwd", people.encode(), 0o644)
    archive.file("etc/group", b"root:x:0:\nnogroup:x:65534:\n", 0o644)
    archive.file("lab/host-key", (folder / "host-key").read_bytes(), 0o600)
    archive.file("lab/allowed", (folder / "allowed").read_bytes(), 0o644)
    archive.file("lab/sshd.conf", _SSHD.encode(), 0o644)
    return archive


def free_ports(count: int) -> list[int]:
    """Free ports of this machine's loopback, all different."""
    with ExitStack() as open_ones:
        sockets = [open_ones.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [int(one.getsockname()[1]) for one in sockets]


def ready(process: subprocess.Popen[bytes], console: Path, *, last: bool) -> bool:
    """Whether the guest is up; if not, other programs took its ports meanwhile.

    Raises:
        BackendError: the guest does not start.
    """
    until = time.monotonic() + READY_S
    while UP not in (said := console.read_text(errors="replace")):
        if process.poll() is not None:
            if "host forwarding" in said and not last:
                return False
            raise BackendError(f"the lab's guest has ended: {said.strip()[-500:]}")
        if time.monotonic() > until:
            raise BackendError(f"the lab's guest is not up after {READY_S} s: {said.strip()[-500:]}")
        time.sleep(LOOK_S)
    return True
