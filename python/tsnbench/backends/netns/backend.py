"""A Plan on this machine's own kernel: live frames between namespaces that end with the run."""

from __future__ import annotations

import math
import os
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tsnbench.backends.kernel import job, results, traffic
from tsnbench.backends.kernel.environment import Capabilities, Environment
from tsnbench.backends.kernel.tsnport import TSNPORT
from tsnbench.backends.kernel.unsupported import check_dilation, refuse, unsupported
from tsnbench.backends.kernel.veth import VETH
from tsnbench.backends.netns import capabilities, probe, sandbox, state
from tsnbench.backends.protocol import Backend, Progress
from tsnbench.errors import BackendError
from tsnbench.runs import manifest
from tsnbench.runs.folder import begin, end, under_way
from tsnbench.runs.manifest import State

if TYPE_CHECKING:
    from tsnbench.foreign import Json
    from tsnbench.plan.document import Plan

JOB, RESULTS = "job", "results"
"""Folders in a run's own folder."""


def unavailable() -> str | None:
    """Why this machine cannot run networks in namespaces; None if it can."""
    if why := sandbox.unavailable():
        return why
    try:
        traffic.program()
        probe.probe()
    except BackendError as error:
        return str(error).partition("\n")[0]
    return None


class Namespaces(Backend):
    """Runs a Plan on this kernel. The machine's own network is not changed."""

    name = "netns"

    def __init__(self, dilate: int = 1) -> None:
        self.dilate = dilate
        """How many times slower the experiment runs; all results are in the Plan's time."""
        self._state: state.State | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def prepare(self, plan: Plan, folder: Path) -> None:
        """Make the run folder, in state ``running``.

        Raises:
            InputError: the Plan has parts that this kernel does not support.
            BackendError: this machine cannot run networks in namespaces.
            FolderError: the folder has other content.
        """
        check_dilation(self.dilate)
        if why := unavailable():
            raise BackendError(
                f"--on netns: {why}\nhint: tsnbench doctor tells more; --on simulation runs everywhere"
            )
        can = probe.abilities()
        found = [*unsupported(plan.document, VETH, can), *capabilities.missing(plan.document, can)]
        # A guest's network device has more functions of bridges than a veth; its talkers are the same.
        guest = "" if unsupported(plan.document, TSNPORT) else "--on vm has a kernel that can; "
        refuse(self.name, plan.name, found, f"{guest}the simulator supports everything")
        begin(plan, folder, backend=self.name)

    def run(self, plan: Plan, folder: Path, *, pcap: bool = False, progress: Progress | None = None) -> None:
        """Run, fetch the results, undo; the folder's state is then ``complete``, ``interrupted`` or
        ``failed``."""
        try:
            with under_way(folder):
                facts = self._run(plan, folder, pcap, progress)
        finally:
            self.restore()
        manifest.note(folder, {"dilate": self.dilate, "host": facts})
        end(folder, State.COMPLETE)

    def _run(self, plan: Plan, folder: Path, pcap: bool, progress: Progress | None) -> Json:
        document, text = plan.document, plan.to_json()
        can = probe.abilities()
        load = os.getloadavg()[0]
        self._state = state.begin(folder)
        scratch = Path(self._state.scratch)
        for name in (JOB, RESULTS):
            (scratch / name).mkdir()
        for name, content in job.files(document, text, self.dilate, VETH, _environment(can)).items():
            (scratch / JOB / name).write_bytes(content)
        run_s = (document["duration_ns"] + document["drain_ns"]) * self.dilate / 1e9
        self._job(scratch, self._state.mark, 60 + math.ceil(2 * run_s), progress)
        back = {path.name: path.read_bytes() for path in (scratch / RESULTS).iterdir() if path.is_file()}
        done = results.Job(document, text, self.dilate, VETH, replace(results.SHARED, can=can))
        seen = results.collect(back, done, folder, pcap=pcap)
        return {
            "kernel": os.uname().release,
            "kernel_has": {
                "qdiscs": sorted(can.qdiscs),
                "filters": sorted(can.filters),
                "actions": sorted(can.actions),
                "bridge_vlans": can.bridge_vlans,
            },
            "wires": "netem" if can.wires else None,
            "notes": capabilities.notes(can) + seen.pop("warnings", []),
            "host_load": {"before": round(load, 2), "after": round(os.getloadavg()[0], 2)},
            **seen,
        }

    def _job(self, scratch: Path, mark: str, limit_s: float, progress: Progress | None) -> None:
        tell = progress or (lambda passed, hops: None)
        with (scratch / RESULTS / "job.log").open("wb") as log:
            self._process = sandbox.start(scratch, f"{JOB}/job.sh", mark, log)
            until = time.monotonic() + limit_s
            while (code := self._process.poll()) is None:
                tell(0, 0)
                if time.monotonic() > until:
                    raise BackendError(f"the run has not finished after {limit_s:.0f} s")
                time.sleep(0.05)
        (scratch / RESULTS / "job.status").write_text(f"{code}\n")

    def restore(self) -> None:
        """End and remove everything that the run made; safe to repeat."""
        if self._process is not None and self._process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._process = None
        if self._state is not None:
            state.undo(self._state)
            self._state = None


def _environment(can: Capabilities) -> Environment:
    """The environment in the sandbox."""
    found = {tool: shutil.which(tool, path=sandbox.PATH) or tool for tool in ("ip", "tc")}
    return Environment(
        job=f"{sandbox.INSIDE}/{JOB}",
        results=f"{sandbox.INSIDE}/{RESULTS}",
        scratch=sandbox.INSIDE,
        ip=found["ip"],
        tc=found["tc"],
        talker=str(traffic.program().resolve()),
        console=f"{sandbox.INSIDE}/said",
        micros=False,
        # The lead is long, because other programs also use the processors.
        lead_s=3,
        tai_s=round(time.clock_gettime(time.CLOCK_TAI) - time.clock_gettime(time.CLOCK_REALTIME)),
        can=can,
    )
