"""The same Plan on a real Linux kernel: a guest in QEMU, one processor, time counted in instructions."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tsnbench.backends.kernel import clocks, job, ports, results, traffic
from tsnbench.backends.kernel.refusals import refusals
from tsnbench.backends.kernel.site import Site
from tsnbench.backends.kernel.wire import Wire
from tsnbench.backends.protocol import Backend, Progress
from tsnbench.backends.vm import cache, device, initramfs, kernel, machine
from tsnbench.errors import BackendError, InputError
from tsnbench.runs import manifest
from tsnbench.runs.folder import begin, end, under_way
from tsnbench.runs.manifest import State

if TYPE_CHECKING:
    from tsnbench.planning.document import Plan


def unavailable() -> str | None:
    """Why this machine cannot run guests; None where it can."""
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
    """Runs a Plan in a guest of its own. Nothing of this machine's network is touched."""

    name = "vm"

    def __init__(self, dilate: int = 1, wire: Wire = Wire.TSNPORT) -> None:
        self.dilate = dilate
        """How many times slower the experiment runs in the guest; all results are in the Plan's time."""
        self.wire = wire
        """Which interfaces stand for the Plan's ports."""

    def prepare(self, plan: Plan, folder: Path) -> None:
        """Make the run folder, in state ``running``.

        Raises:
            InputError: the Plan has what a guest cannot run.
            FolderError: something else is in the way.
        """
        self.able(plan)
        if why := unavailable():
            raise BackendError(f"--on vm: {why}")
        begin(plan, folder, backend=self.name)

    def able(self, plan: Plan) -> None:
        """Whether a guest can run it.

        Raises:
            InputError: it cannot.
        """
        if self.dilate < 1:
            raise InputError(f"--dilate: expected a whole number from 1 on, found {self.dilate}")
        if found := refusals(plan.document, self.wire, dilate=self.dilate):
            more = [f"and {len(found) - 12} more"] if len(found) > 12 else []
            listed = "\n".join(f"  {line}" for line in [*found[:12], *more])
            raise InputError(
                f"{plan.name}: --on vm cannot run all of this plan:\n{listed}\nhint: run it in the simulator"
            )

    def run(self, plan: Plan, folder: Path, *, pcap: bool = False, progress: Progress | None = None) -> None:
        """Boot, run, bring back; the folder's state then is ``complete``, ``interrupted`` or ``failed``."""
        with under_way(folder):
            facts = self._run(plan, folder, pcap, progress)
        manifest.note(folder, {"dilate": self.dilate, "guest": facts})
        end(folder, State.COMPLETE)

    def _run(self, plan: Plan, folder: Path, pcap: bool, progress: Progress | None) -> dict[str, Any]:
        tell = progress or (lambda passed, hops: None)
        facts, back = boot(self.job(plan), plan.document["seed"], self.limit_s(plan), lambda: tell(0, 0))
        return {**facts, **self.brought(plan, folder, back, pcap)}

    def job(self, plan: Plan, site: Site | None = None) -> dict[str, bytes]:
        """What the guest is told."""
        return job.files(plan.document, plan.to_json(), self.dilate, self.wire, site)

    def limit_s(self, plan: Plan) -> float:
        """So long a run takes at most: emulation some ten times as long as the guest thinks, or more."""
        spans_ns: int = plan.document["duration_ns"] + plan.document["drain_ns"]
        return 120.0 + math.ceil(40 * spans_ns * self.dilate / 1e9)

    def brought(self, plan: Plan, folder: Path, back: dict[str, bytes], pcap: bool) -> dict[str, Any]:
        """Checks what the guest brought back and writes the run folder's files.

        Raises:
            BackendError: it is no result.
        """
        document, wire = plan.document, self.wire
        seen = results.check(back, document, self.dilate, wire)
        results.observe(back, document, plan.to_json(), folder, self.dilate, pcap, wire)
        clocks.write(back, document, folder)
        listed = {
            name: results.read_json(back[name].decode()) for name in sorted(back) if name.endswith(".json")
        }
        (folder / "kernel.json").write_text(json.dumps(listed, indent=1) + "\n", encoding="utf-8")
        notes = ports.notes(document) if wire is Wire.TSNPORT else []
        return {"wire": wire.value, "notes": notes, **seen}

    def restore(self) -> None:
        """Nothing to put back: all that was changed was in the guest, and it is gone."""


def boot(
    told: dict[str, bytes], seed: int, limit_s: float, watch: Callable[[], None] = lambda: None
) -> tuple[dict[str, Any], dict[str, bytes]]:
    """A guest does a job: what is known of the guest, and what it brought back.

    Raises:
        BackendError: it did not start, or brought nothing back in time.
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
