"""A Plan on a real Linux kernel: a guest in QEMU, one processor, time counted in instructions."""

from __future__ import annotations

import math
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from tsnbench.backends.kernel import job, results, traffic
from tsnbench.backends.kernel.device import Device
from tsnbench.backends.kernel.environment import Environment
from tsnbench.backends.kernel.tsnport import TSNPORT
from tsnbench.backends.kernel.unsupported import check_dilation, refuse, unsupported
from tsnbench.backends.protocol import Backend, Progress
from tsnbench.backends.vm import cache, device, initramfs, kernel, machine
from tsnbench.errors import BackendError
from tsnbench.runs import manifest
from tsnbench.runs.folder import begin, end, under_way
from tsnbench.runs.manifest import State

if TYPE_CHECKING:
    from tsnbench.foreign import Json
    from tsnbench.plan.document import Plan


def unavailable() -> str | None:
    """Why this machine cannot run guests; None if it can."""
    gone = sorted({*initramfs.missing_tools().values(), *device.missing_tools()})
    if shutil.which(machine.QEMU) is None:
        gone.append("qemu-system-x86")
    if gone:
        return f"packages are missing: {', '.join(gone)}"
    try:
        traffic.program()
        device.module(kernel.find())
    except BackendError as error:
        return str(error).partition("\n")[0]
    return None


class VirtualMachine(Backend):
    """Runs a Plan in a guest of its own. This machine's network is not changed."""

    name = "vm"

    def __init__(self, dilate: int = 1, device: Device = TSNPORT) -> None:
        self.dilate = dilate
        """How many times slower the experiment runs in the guest; all results are in the Plan's time."""
        self.device = device
        """The kind of interfaces for the Plan's ports."""

    def prepare(self, plan: Plan, folder: Path) -> None:
        """Make the run folder, in state ``running``.

        Raises:
            InputError: the Plan has parts that a guest does not support.
            FolderError: the folder has other content.
        """
        self.check_supported(plan)
        if why := unavailable():
            raise BackendError(f"--on vm: {why}")
        begin(plan, folder, backend=self.name)

    def check_supported(self, plan: Plan) -> None:
        """Checks that a guest supports the Plan.

        Raises:
            InputError: it does not.
        """
        check_dilation(self.dilate)
        found = unsupported(plan.document, self.device, dilation=self.dilate)
        refuse(self.name, plan.name, found, "run it in the simulator")

    def run(self, plan: Plan, folder: Path, *, pcap: bool = False, progress: Progress | None = None) -> None:
        """Boot, run, fetch the results; the folder's state is then ``complete``, ``interrupted`` or
        ``failed``."""
        with under_way(folder):
            facts = self._run(plan, folder, pcap, progress)
        manifest.note(folder, {"dilate": self.dilate, "guest": facts})
        end(folder, State.COMPLETE)

    def _run(self, plan: Plan, folder: Path, pcap: bool, progress: Progress | None) -> Json:
        tell = progress or (lambda passed, hops: None)
        facts, back = boot(self.job(plan), plan.document["seed"], self.limit_s(plan), lambda: tell(0, 0))
        return {**facts, **self.collect_results(plan, folder, back, pcap)}

    def job(self, plan: Plan, environment: Environment | None = None) -> dict[str, bytes]:
        """The files of the guest's job."""
        return job.files(plan.document, plan.to_json(), self.dilate, self.device, environment)

    def limit_s(self, plan: Plan) -> float:
        """Time limit of a run: emulation takes some ten times the guest's time, or more."""
        spans_ns: int = plan.document["duration_ns"] + plan.document["drain_ns"]
        return 120.0 + math.ceil(40 * spans_ns * self.dilate / 1e9)

    def collect_results(self, plan: Plan, folder: Path, back: dict[str, bytes], pcap: bool) -> Json:
        """Checks the guest's results and writes the run folder's files.

        Raises:
            BackendError: the results are invalid.
        """
        done = results.Job(plan.document, plan.to_json(), self.dilate, self.device)
        seen = results.collect(back, done, folder, pcap=pcap)
        return {"wire": self.device.name, "notes": self.device.notes(plan.document), **seen}

    def restore(self) -> None:
        """There is nothing to restore: all changes were in the guest, which is gone."""


def boot(
    told: dict[str, bytes], seed: int, limit_s: float, watch: Callable[[], None] = lambda: None
) -> tuple[Json, dict[str, bytes]]:
    """Runs a job in a guest: returns the facts about the guest, and the results.

    Raises:
        BackendError: the guest did not start, or gave no results in time.
    """
    guest = kernel.find()
    module = device.module(guest)
    image, image_hash = initramfs.bake(guest, traffic.program(), module)
    facts = {
        "kernel": guest.release,
        "kernel_package_sha256": guest.sha256,
        "image_sha256": image_hash,
        "device_sha256": cache.sha256(module),
        "qemu": _qemu_version(),
        "seed": seed % (1 << 32),
        "host_load": round(os.getloadavg()[0], 2),
    }
    return facts, machine.run(guest.image, image, told, seed % (1 << 32), limit_s, watch)


def _qemu_version() -> str:
    said = subprocess.run([machine.QEMU, "--version"], capture_output=True, text=True, check=False).stdout
    return said.partition("\n")[0].removeprefix("QEMU emulator version ")
