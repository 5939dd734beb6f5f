"""Several Plans and scripts in one guest, in sequence: each with namespaces and ports of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tsnbench.backends.kernel.environment import Environment
from tsnbench.backends.vm.backend import VirtualMachine, boot
from tsnbench.errors import BackendError
from tsnbench.runs import Run, manifest
from tsnbench.runs.folder import end
from tsnbench.runs.manifest import State

if TYPE_CHECKING:
    from tsnbench.foreign import Json
    from tsnbench.plan.document import Plan

_TIDY = """
killall -q -9 tsnbench-traffic tcpdump ptp4l
/tools/ip -all netns del
# A namespace is removed somewhat later than its name.
sleep 1
rmmod tsnport 2>/dev/null; insmod /modules/tsnport.ko || exit 1
"""


@dataclass(frozen=True)
class Part:
    """One of the Plans."""

    on: VirtualMachine
    plan: Plan
    folder: Path


@dataclass(frozen=True)
class Script:
    """One of the scripts. Its folders are ``$JOB``, with the files beside it, and ``$RESULTS``."""

    text: str
    files: Mapping[str, bytes] = field(default_factory=dict)
    limit_s: float = 300


Ended = Run | dict[str, bytes] | BackendError
"""The run of a Plan, the results of a script, or why there are none."""


def execute(parts: Sequence[Part | Script]) -> list[Ended]:
    """Run all; what has no result has an error instead, which is also in the run folder of a Plan.

    Raises:
        InputError: a guest does not support one of these Plans; nothing was run.
        BackendError: the guest itself gave no results.
    """
    plans = [part for part in parts if isinstance(part, Part)]
    for part in plans:
        part.on.check_supported(part.plan)
    for part in plans:
        part.on.prepare(part.plan, part.folder)
    limit_s = sum(part.on.limit_s(part.plan) if isinstance(part, Part) else part.limit_s for part in parts)
    seed = plans[0].plan.document["seed"] if plans else 1
    try:
        facts, back = boot(files(parts), seed, limit_s)
    except BaseException as error:
        for part in plans:
            end(part.folder, State.INTERRUPTED if isinstance(error, KeyboardInterrupt) else State.FAILED)
        raise
    found: list[Ended] = []
    for place, part in enumerate(parts):
        own = {
            name.partition("/")[2]: content for name, content in back.items() if name.startswith(f"{place}/")
        }
        try:
            if isinstance(part, Part):
                found.append(_collected(part, own, {**facts, "shared": {"place": place, "of": len(parts)}}))
            else:
                found.append(_ended(own))
        except BackendError as error:
            found.append(error)
    return found


def _collected(part: Part, own: dict[str, bytes], facts: Json) -> Run:
    try:
        seen = part.on.collect_results(part.plan, part.folder, own, pcap=False)
    except BackendError as error:
        end(part.folder, State.FAILED, str(error))
        raise
    manifest.note(part.folder, {"dilate": part.on.dilate, "guest": {**facts, **seen}})
    end(part.folder, State.COMPLETE)
    return part.on.collect(part.folder)


def _ended(own: dict[str, bytes]) -> dict[str, bytes]:
    if own.get("job.status", b"").strip() != b"0":
        raise BackendError(
            f"the script has failed: {own.get('job.log', b'').decode(errors='replace')[-500:]}"
        )
    return own


def files(parts: Sequence[Part | Script]) -> dict[str, bytes]:
    """The files of the whole job."""
    told: dict[str, bytes] = {}
    lines = []
    for place, part in enumerate(parts):
        # The set-up begins at any instant of a second, and waiting costs a guest nothing.
        own = Environment(job=f"/job/{place}", results=f"/results/{place}", scratch=f"/tmp/{place}", lead_s=4)
        if isinstance(part, Part):
            job = part.on.job(part.plan, own)
        else:
            job = {"job.sh": f'ip() {{ /tools/ip "$@"; }}\n{part.text}'.encode(), **part.files}
        told |= {f"{place}/{name}": content for name, content in job.items()}
        lines += [
            f"export JOB={own.job} RESULTS={own.results}; mkdir -p {own.results} {own.scratch}",
            f"/bin/busybox sh {own.job}/job.sh >{own.results}/job.log 2>&1",
            f"echo $? >{own.results}/job.status",
            _TIDY,
        ]
    return told | {"job.sh": ("\n".join(lines) + "\n").encode()}
