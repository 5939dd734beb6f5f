"""Several Plans in one guest, in sequence: each with namespaces and ports of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tsnbench.backends.kernel.environment import Environment
from tsnbench.backends.vm.backend import VirtualMachine, boot
from tsnbench.errors import BackendError
from tsnbench.runs import Run, manifest
from tsnbench.runs.folder import end
from tsnbench.runs.manifest import State

if TYPE_CHECKING:
    from tsnbench.plan.document import Plan

_TIDY = """
killall -q -9 tsnbench-traffic tcpdump ptp4l
for space in $(/tools/ip netns list | cut -d' ' -f1); do /tools/ip netns del $space; done
# A namespace is removed somewhat later than its name.
sleep 1
rmmod tsnport && insmod /modules/tsnport.ko || exit 1
"""


@dataclass(frozen=True)
class Part:
    """One of the Plans."""

    on: VirtualMachine
    plan: Plan
    folder: Path


def execute(parts: Sequence[Part]) -> list[Run | BackendError]:
    """Run all Plans; a run without a result has an error instead, which is also in its folder.

    Raises:
        InputError: a guest does not support one of these Plans; nothing was run.
        BackendError: the guest itself gave no results.
    """
    for part in parts:
        part.on.check_supported(part.plan)
    for part in parts:
        part.on.prepare(part.plan, part.folder)
    try:
        facts, back = boot(
            files(parts), parts[0].plan.document["seed"], sum(part.on.limit_s(part.plan) for part in parts)
        )
    except BaseException as error:
        for part in parts:
            end(part.folder, State.INTERRUPTED if isinstance(error, KeyboardInterrupt) else State.FAILED)
        raise
    found: list[Run | BackendError] = []
    for place, part in enumerate(parts):
        own = {
            name.partition("/")[2]: content for name, content in back.items() if name.startswith(f"{place}/")
        }
        try:
            seen = part.on.collect_results(part.plan, part.folder, own, pcap=False)
        except BackendError as error:
            end(part.folder, State.FAILED, str(error))
            found.append(error)
            continue
        shared = {"place": place, "of": len(parts)}
        manifest.note(part.folder, {"dilate": part.on.dilate, "guest": {**facts, "shared": shared, **seen}})
        end(part.folder, State.COMPLETE)
        found.append(part.on.collect(part.folder))
    return found


def files(parts: Sequence[Part]) -> dict[str, bytes]:
    """The files of the whole job."""
    told: dict[str, bytes] = {}
    lines = []
    for place, part in enumerate(parts):
        # The set-up begins at any instant of a second, and waiting costs a guest nothing.
        own = Environment(job=f"/job/{place}", results=f"/results/{place}", scratch=f"/tmp/{place}", lead_s=4)
        told |= {f"{place}/{name}": content for name, content in part.on.job(part.plan, own).items()}
        lines += [
            f"mkdir -p {own.results} {own.scratch}",
            f"/bin/busybox sh {own.job}/job.sh >{own.results}/job.log 2>&1",
            f"echo $? >{own.results}/job.status",
            _TIDY,
        ]
    return told | {"job.sh": ("\n".join(lines) + "\n").encode()}
