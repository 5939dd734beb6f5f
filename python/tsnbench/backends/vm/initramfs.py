"""The guest's file system: tools of this machine with their libraries, and the modules that networks need."""

from __future__ import annotations

import hashlib
import lzma
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tsnbench.backends.kernel.environment import QDISCS
from tsnbench.backends.vm import cache
from tsnbench.backends.vm.cpio import Archive
from tsnbench.backends.vm.kernel import Kernel
from tsnbench.errors import BackendError

TOOLS = {
    "busybox": "busybox-static",
    "ip": "iproute2",
    "tc": "iproute2",
    "bridge": "iproute2",
    "ethtool": "ethtool",
    "tcpdump": "tcpdump",
    "ptp4l": "linuxptp",
    "phc2sys": "linuxptp",
    "phc_ctl": "linuxptp",
    "pmc": "linuxptp",
    "chrt": "util-linux",
}
"""Each program with the package that contains it."""

MODULES = (
    "virtio_blk",
    "veth",
    "8021q",
    "bridge",
    "dummy",
    "hsr",
    "sch_ingress",
    *(f"sch_{name}" for name in QDISCS if name not in ("pfifo", "clsact")),
    "cls_flower",
    "cls_matchall",
    "act_gact",
    "act_mirred",
    "act_vlan",
    "act_gact",
    "act_skbedit",
    "act_gate",
    "act_police",
)

SIGNED = b"~Module signature appended~\n"

INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/tools:/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t debugfs debug /sys/kernel/debug
mkdir -p /run /tmp /results
mount -t tmpfs -o size=75% tmpfs /results
echo 0 >/proc/sys/kernel/printk
for module in $(cat /modules/order); do insmod /modules/$module.ko || echo "no module $module"; done
/tools/ip link set lo up
# Frames that arrive while a talker wakes up are handled by this thread, which must not wait until the talker
# has sent.
/tools/chrt -f -p 90 $(pidof ksoftirqd/0) >/dev/null || echo "network thread not first"
/bin/busybox sh /job/job.sh >/results/job.log 2>&1
echo $? >/results/job.status
cd /results
tar -cf /dev/vda . 2>/dev/console
sync
poweroff -f
"""


@dataclass(frozen=True)
class Contents:
    """The contents of a guest: its first script, its programs, and the kernel's modules."""

    init: str = INIT
    tools: Mapping[str, str] = field(default_factory=lambda: TOOLS)
    """Each program with the package that contains it."""
    modules: tuple[str, ...] = MODULES


JOB = Contents()
"""A guest that does one job and switches itself off."""


def missing_tools(contents: Contents = JOB) -> dict[str, str]:
    """Missing programs, and their packages."""
    return {tool: package for tool, package in contents.tools.items() if _program(tool) is None}


def bake(
    kernel: Kernel, traffic: Path, device: Path | None = None, contents: Contents = JOB
) -> tuple[Path, str]:
    """The image for a kernel, from the cache if its inputs have not changed; and its SHA-256.

    ``device``: a module that is loaded after all others.

    Raises:
        BackendError: a tool or a module is missing.
    """
    programs = {tool: _program(tool) for tool in contents.tools}
    gone = [f"{tool} ({contents.tools[tool]})" for tool, path in programs.items() if path is None]
    if gone:
        raise BackendError(f"programs are missing: {', '.join(gone)}\nhint: apt-get install the packages")
    found = {tool: path for tool, path in programs.items() if path is not None} | {
        "tsnbench-traffic": traffic
    }
    order = closure(kernel.modules, contents.modules)
    wanted = {library for tool, path in found.items() if tool != "busybox" for library in libraries(path)}
    inputs = hashlib.sha256()
    for path in [*found.values(), *sorted(wanted)]:
        inputs.update(f"{path}\0{cache.sha256(path)}\0".encode())
    inputs.update(f"{kernel.sha256}\0{' '.join(order)}\0unsigned\0{contents.init}".encode())
    if device is not None:
        inputs.update(f"{device.stem}\0{cache.sha256(device)}".encode())
    folder = cache.folder() / "images"
    folder.mkdir(exist_ok=True)
    image = folder / f"{kernel.release}-{inputs.hexdigest()[:16]}.cpio"
    digest = cache.whole(image)
    if digest is None:
        archive = Archive()
        for name in ("bin", "dev", "proc", "sys", "modules", "job", "lib", "lib64"):
            archive.directory(name)
        archive.device("dev/console", 5, 1)
        archive.file("init", contents.init.encode(), 0o755)
        for tool, path in found.items():
            archive.file(f"{'bin' if tool == 'busybox' else 'tools'}/{tool}", path.read_bytes(), 0o755)
        for library in sorted(wanted):
            archive.file(str(library).lstrip("/"), library.read_bytes(), 0o755)
        for name in order:
            archive.file(f"modules/{name}.ko", _module(kernel.modules, name), 0o644)
        archive.file("etc/passwd", b"root:x:0:0:root:/:/bin/sh\n", 0o644)
        archive.file("etc/group", b"root:x:0:\n", 0o644)
        if device is not None:
            # The name without the hash that the cache adds.
            name = device.stem.partition("-")[0]
            archive.file(f"modules/{name}.ko", device.read_bytes(), 0o644)
            order.append(name)
        archive.file("modules/order", ("\n".join(order) + "\n").encode(), 0o644)
        digest = cache.keep(image, archive.finish())
    return image, digest


def closure(modules: Path, wanted: tuple[str, ...]) -> list[str]:
    """The modules and their dependencies, in the order in which they are loaded.

    Raises:
        BackendError: the kernel has no such module.
    """
    table = _dependencies(modules, wanted)
    order: list[str] = []

    def add(name: str) -> None:
        if name in order:
            return
        if name not in table:
            raise BackendError(f"the guest's kernel has no module {name}")
        for needed in table[name]:
            add(needed)
        order.append(name)

    built_in = _built_in(modules)
    for name in wanted:
        if name not in built_in:
            add(name)
    return order


def _dependencies(modules: Path, first: tuple[str, ...]) -> dict[str, list[str]]:
    """The dependencies are read from the modules: an unpacked package has no ``modules.dep``."""
    table = {}
    for path in modules.rglob("*.ko*"):
        table[path.name.split(".ko")[0].replace("-", "_")] = path
    found: dict[str, list[str]] = {}
    pending = [name for name in first if name in table]
    while pending:
        name = pending.pop()
        if name in found:
            continue
        needed = re.search(rb"(?:^|\0)depends=([^\0]*)\0", _read(table[name]))
        names = needed[1].decode().split(",") if needed and needed[1] else []
        found[name] = [one.replace("-", "_") for one in names]
        pending += [one for one in found[name] if one in table]
    return found


def _built_in(modules: Path) -> set[str]:
    text = modules / "modules.builtin"
    lines = text.read_text(encoding="utf-8").split() if text.exists() else []
    return {Path(line).name.split(".ko")[0].replace("-", "_") for line in lines}


def _module(modules: Path, name: str) -> bytes:
    path = next(
        path for path in modules.rglob("*.ko*") if path.name.split(".ko")[0].replace("-", "_") == name
    )
    return unsigned(_read(path))


def unsigned(module: bytes) -> bytes:
    """A module without the signature at its end: checking all signatures would take a second of a guest's
    time. The package's hash has been checked, and the device's own module has no signature.
    """
    if not module.endswith(SIGNED):
        return module
    # Three lengths: of the signer, of the key's name, and of the signature. linux/module_signature.h.
    head = module[-len(SIGNED) - 12 : -len(SIGNED)]
    length = head[3] + head[4] + int.from_bytes(head[8:12], "big")
    return module[: -len(SIGNED) - 12 - length]


def _read(path: Path) -> bytes:
    octets = path.read_bytes()
    return lzma.decompress(octets) if path.suffix == ".xz" else octets


def _program(name: str) -> Path | None:
    found = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin:/usr/bin:/bin")
    return Path(found).resolve() if found else None


def libraries(program: Path, beside: str = "") -> set[Path]:
    """The libraries that the program's loader would load, and the loader.

    ``beside``: folders of libraries that are not installed.
    """
    variables = os.environ | ({"LD_LIBRARY_PATH": beside} if beside else {})
    words = ["ldd", str(program)]
    text = subprocess.run(words, capture_output=True, text=True, check=False, env=variables).stdout
    return {Path(path) for path in re.findall(r"(?:=> |^\s*)(/\S+) \(0x", text, re.MULTILINE)}
