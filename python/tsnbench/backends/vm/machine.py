"""The emulated machine: one processor, time as a count of instructions, no network, one disk for results."""

from __future__ import annotations

import io
import os
import shutil
import signal
import subprocess
import tarfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import BinaryIO

from tsnbench.backends.vm.cores import core
from tsnbench.backends.vm.cpio import Archive
from tsnbench.errors import BackendError

QEMU = "qemu-system-x86_64"
MEMORY_MB = 1024
RESULTS_MB = 600
"""Greatest size of a run's results."""
CLOCK = "2026-01-01T00:00:00"
"""The guest's clock at every boot."""


COMMON = (
    *("-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"),
    # With emulation (tcg) and one processor, guest time is a count of executed instructions.
    *("-accel", "tcg", "-smp", "1", "-m", str(MEMORY_MB)),
    *("-cpu", "max,-rdrand,-rdseed"),
)
"""The common options of all guests, except for their time while they are idle."""
APPEND = (
    "console=ttyS0 quiet panic=-1 nokaslr mitigations=off ipv6.disable=1 random.trust_bootloader=on "
    # Translated code is found by its address, so programs have the same addresses at each start.
    "norandmaps cryptomgr.notests "
    # init_on_alloc=0: memory is not cleared before its use, because about every 19th frame allocates 32 KB.
    "tsc=reliable rcupdate.rcu_expedited=1 audit=0 init_on_alloc=0"
)
"""The kernel's command line."""


def command(kernel: Path, image: Path, results: Path, seed: int) -> list[str]:
    """The command of QEMU with its seed."""
    return [
        QEMU,
        *COMMON,
        *("-icount", "shift=0,sleep=off", "-seed", str(seed)),
        *("-rtc", f"base={CLOCK},clock=vm"),
        *("-net", "none", "-serial", "stdio", "-monitor", "none"),
        *("-drive", f"file={results},format=raw,if=virtio,cache=unsafe"),
        *("-kernel", str(kernel), "-initrd", str(image)),
        *("-append", APPEND),
    ]


def run(
    kernel: Path,
    image: Path,
    job: Mapping[str, bytes],
    seed: int,
    limit_s: float,
    watch: Callable[[], None] = lambda: None,
) -> dict[str, bytes]:
    """Boot, run ``/job/job.sh`` with the job's files beside it, and return the files in ``/results``.

    Raises:
        BackendError: the machine did not start, or gave no results in time.
    """
    if shutil.which(QEMU) is None:
        raise BackendError(f"{QEMU} is missing\nhint: apt-get install qemu-system-x86")
    extra = Archive()
    for name, content in job.items():
        extra.file(f"job/{name}", content, 0o644)
    with memory("image") as whole, memory("results") as results, memory("console") as console:
        with image.open("rb") as base:
            shutil.copyfileobj(base, whole)
        whole.write(bytes(-whole.tell() % 512) + extra.finish())
        whole.flush()
        results.truncate(RESULTS_MB << 20)
        words = command(kernel, _path(whole), _path(results), seed)
        with core() as mine:
            said = _boot([*_pinned(mine), *words], [whole, results], console, limit_s, watch)
        results.seek(0)
        try:
            with tarfile.open(fileobj=results) as archive:
                return {
                    member.name.removeprefix("./"): _content(archive, member)
                    for member in archive
                    if member.isfile()
                }
        except (tarfile.TarError, OSError) as error:
            raise BackendError(f"the guest returned no results ({error}); its last words:\n{said}") from error


def memory(name: str) -> BinaryIO:
    """A file without a name on any disk: it is gone when the last process closes it."""
    return os.fdopen(os.memfd_create(name), "w+b")


def _path(file: BinaryIO) -> Path:
    return Path(f"/proc/self/fd/{file.fileno()}")


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = archive.extractfile(member) or io.BytesIO()
    return file.read()


def _boot(
    words: list[str], files: list[BinaryIO], console: BinaryIO, limit_s: float, watch: Callable[[], None]
) -> str:
    """Waits until the guest switches itself off; the process has always ended afterwards."""
    process = subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=console,
        stderr=console,
        start_new_session=True,
        pass_fds=[file.fileno() for file in files],
    )
    try:
        end = time.monotonic() + limit_s
        while process.poll() is None:
            watch()
            if time.monotonic() > end:
                raise BackendError(
                    f"the guest has not finished after {limit_s:.0f} s; its last words:\n{_said(console)}"
                )
            time.sleep(0.1)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    if process.returncode:
        raise BackendError(f"{QEMU} failed:\n{_said(console)}")
    return _said(console)


def _said(console: BinaryIO) -> str:
    """The last lines of a console."""
    console.seek(0)
    return "\n".join(console.read().decode(errors="replace").splitlines()[-5:])


def _pinned(number: int | None) -> list[str]:
    """A command on that core, or on any core; it ends when this process ends, even when it is killed."""
    words = []
    if shutil.which("setpriv"):
        words += ["setpriv", "--pdeathsig", "KILL"]
    if number is not None and shutil.which("taskset"):
        words += ["taskset", "-c", str(number)]
    return words
