"""The guest's network device: a kernel module of our own, built against the headers of the guest's kernel.

Headers are Debian's packages, downloaded like the kernel's and unpacked, never installed.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from tsnbench.backends.vm import cache, debian
from tsnbench.backends.vm.kernel import Kernel
from tsnbench.errors import BackendError

NAME = "tsnport"
SOURCES = Path(__file__).parent / "module"
OLDEST = (6, 12)
"""The oldest version of Linux; earlier ones have another interface for timestamps."""
PROGRAMS = {"gcc": "gcc", "make": "make", "dpkg-deb": "dpkg"}
"""The programs of the build, with their packages."""


def missing_tools() -> list[str]:
    """Packages of missing programs."""
    return sorted({package for program, package in PROGRAMS.items() if shutil.which(program) is None})


def packages(release: str) -> list[str]:
    """Packages for building a module for this kernel: its headers, common headers, and build tools."""
    version, _, flavour = release.rpartition("-")
    if not version or flavour != "amd64":
        raise BackendError(f"the guest's kernel is not Debian's: {release}")
    if tuple(int(part) for part in re.findall(r"\d+", release)[:2]) < OLDEST:
        raise BackendError(
            f"the guest's device needs Linux 6.12, found {release}\n"
            "hint: put a package linux-image-6.12.*-amd64-unsigned beside it"
        )
    return [f"linux-headers-{release}", f"linux-headers-{version}-common", f"linux-kbuild-{version}"]


def module(kernel: Kernel) -> Path:
    """The built module, from the cache if its inputs have not changed.

    Raises:
        BackendError: headers are not available, or the build fails.
    """
    if gone := missing_tools():
        raise BackendError(f"packages are missing: {', '.join(gone)}")
    debs = _headers(kernel)
    inputs = hashlib.sha256(f"{kernel.release}\0{_compiler()}\0".encode())
    for path in [*sorted(SOURCES.iterdir()), *debs]:
        if path.is_file():
            inputs.update(f"{path.name}\0{cache.sha256(path)}\0".encode())
    folder = cache.folder() / "modules"
    folder.mkdir(exist_ok=True)
    built = folder / f"{NAME}-{kernel.release}-{inputs.hexdigest()[:16]}.ko"
    if cache.whole(built) is None:
        with tempfile.TemporaryDirectory(dir=folder, prefix="part-") as part:
            cache.keep(built, _build(Path(part), debs, kernel.release).read_bytes())
    return built


def _compiler() -> str:
    said = subprocess.run(["gcc", "--version"], capture_output=True, text=True, check=False).stdout
    return said.partition("\n")[0]


def _headers(kernel: Kernel) -> list[Path]:
    folder = cache.folder() / "kernel"
    # The headers must be of the build of the kernel's own package, whose name ends with its version.
    version = kernel.image.parents[1].name.rpartition("_")[0].rpartition("_")[2]
    found = []
    for name in packages(kernel.release):
        there = sorted(folder.glob(f"{name}_*.deb"))
        same = [path for path in there if path.name.startswith(f"{name}_{version}_")]
        hint = f"put the Debian package {name} into {folder}"
        found.append((same or there or [debian.download(folder, name, hint)])[-1])
    return found


def _build(part: Path, debs: list[Path], release: str) -> Path:
    if found := re.search(r"[^\w./+@,~-]", str(part)):
        # With other characters in the path, make splits the path or reads a part of it as a function.
        raise BackendError(
            f"{part.parent}: the module {NAME} cannot be built in a folder with {found[0]!r} in its path\n"
            "hint: name another one in TSNBENCH_CACHE"
        )
    tree = part / "tree"
    for deb in debs:
        debian.unpack(deb, tree)
    headers = tree / "usr/src" / f"linux-headers-{release}"
    first = headers / "Makefile"
    # The Makefile names /usr/src, because the packages are usually installed; here they are only unpacked.
    text = first.read_text(encoding="utf-8")
    first.write_text(re.sub(r"(?<=\s)/usr/src/", f"{tree}/usr/src/", text), encoding="utf-8")
    # vmlinux is used only for the type information of debuggers, and needs a program that may be missing.
    (headers / "vmlinux").unlink(missing_ok=True)
    sources = part / NAME
    shutil.copytree(SOURCES, sources)
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}
    done = subprocess.run(
        ["make", "-s", "-C", headers, f"M={sources}", "CC=gcc", "CROSS_COMPILE=", "modules"],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    built = sources / f"{NAME}.ko"
    if done.returncode or not built.exists():
        raise BackendError(f"the module {NAME} cannot be built:\n{(done.stdout + done.stderr)[-1500:]}")
    return built
