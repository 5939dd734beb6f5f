"""The image of a lab's guests: programs and an ssh server."""

from __future__ import annotations

from pathlib import Path

from tsnbench.backends.vm import initramfs
from tsnbench.backends.vm.cpio import Archive
from tsnbench.backends.vm.initramfs import Contents
from tsnbench.hosts.lab import access

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
SetEnv PATH=/tools:/usr/sbin:/bin
"""
"""Login without a time limit: a guest with a busy processor is slower than its clock."""


def with_server(folder: Path, sshd: Path | None) -> Archive:
    """The files of one lab: keys and the ssh server; ``/lab/init.sh`` is still missing."""
    assert sshd is not None
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
