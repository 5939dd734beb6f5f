"""The results of a kernel for the run folder: observations, counters, and checks of their validity."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tsnbench import _native, quantities
from tsnbench.backends.kernel import stages
from tsnbench.backends.kernel.environment import GUEST as GUEST_CAN
from tsnbench.backends.kernel.environment import Capabilities
from tsnbench.backends.kernel.results import counters
from tsnbench.backends.kernel.results.returned import Capture, Returned
from tsnbench.errors import BackendError, UnmeasuredError
from tsnbench.linux import explain
from tsnbench.linux.readback import read_json
from tsnbench.plan.slow_motion import dilated
from tsnbench.runs import file_names
from tsnbench.runs.clearing import claim
from tsnbench.runs.errors import DISK, unwritable

if TYPE_CHECKING:
    from tsnbench.backends.kernel.device import Ports
    from tsnbench.foreign import Json
    from tsnbench.plan.types import PlanDocument, Route, Stream, Tap

BUSIEST = 0.9
"""Greatest share of the guest's one processor: above it, delays are those of the processor."""
SHORTEST_S = 0.2
"""The load of a shorter run is not checked; late talkers and lost frames are."""
LATEST_NS = 1_000_000
"""A talker that is later than this in the Plan's time did not get the processor; in the kernel's time, it is
a warning."""
HOPELESS_NS = 50_000_000
"""A talker on a shared machine that is later than this cannot keep up with its work at all."""
NO_SEND = "only a node's own talkers and listeners say when frames pass its stages, and none did here"


@dataclass(frozen=True)
class Kernel:
    """The kernel of the results: a guest has its own processor, a machine is shared with other programs."""

    words: str
    source: str
    """The name of its captures in errors of native code."""
    latest_ns: int
    alone: bool
    can: Capabilities = GUEST_CAN


GUEST = Kernel("the guest's kernel", "guest", LATEST_NS, True)
SHARED = Kernel("this machine's kernel", "host", HOPELESS_NS, False)


@dataclass(frozen=True)
class Job:
    """The run and its settings."""

    plan: PlanDocument
    text: str
    """The Plan's text that its hash is of."""
    dilation: int
    device: Ports
    kernel: Kernel = GUEST


def collect(files: dict[str, bytes], job: Job, folder: Path, *, pcap: bool) -> Json:
    """Checks the results, and writes the run folder's files; returns the facts for the manifest.

    Raises:
        UnmeasuredError: frames were lost or talkers were late; the next run may be valid.
        BackendError: the results are invalid.
    """
    returned = Returned(files)
    gates = _obeyed(returned, job)
    with _unmeasured(job):
        seen = check(returned, job)
    observe(returned, job, folder, gates, pcap=pcap)
    job.device.record(job.plan, returned, folder)
    listed = {name: read_json(returned.text(name)) for name in sorted(files) if name.endswith(".json")}
    (folder / file_names.KERNEL).write_text(json.dumps(listed, indent=1) + "\n", encoding="utf-8")
    return seen


@contextmanager
def _unmeasured(job: Job) -> Iterator[None]:
    """What is found meanwhile says that this run is no measurement, and nothing of the next one."""
    try:
        yield
    except BackendError as error:
        reason = str(error).partition("\n")[0]
        raise UnmeasuredError(job.kernel.words, reason, str(error)) from error


def _obeyed(returned: Returned, job: Job) -> dict[int, Json]:
    """Checks the kernel's configuration; returns by port, which gate control lists came into force when.

    Raises:
        BackendError: the set-up failed, or differs from the requested one.
    """
    log = returned.text("job.log").strip()
    if returned.text("job.status").strip() != "0":
        raise BackendError(f"{job.kernel.words} did not execute all commands:\n{log[-1500:]}{_meaning(log)}")
    job.device.read_back(dilated(job.plan, job.dilation), returned, job.kernel.words, job.kernel.can)
    return job.device.gate_changes(job.plan, returned, job.dilation)


def check(returned: Returned, job: Job) -> Json:
    """The processor's load, the delays of talkers and steps, and the counters of qdiscs.

    Raises:
        BackendError: frames were lost without being counted, talkers were late, or the processor was
            saturated.
    """
    streams = job.plan["streams"]
    busy = _busy(returned, job)
    if dropped := returned.dropped_before_qdiscs():
        raise BackendError(f"{job.kernel.words} dropped {dropped} frames before they reached its qdiscs")
    for number, tap in enumerate(job.plan["taps"]):
        if f"tap-{number}.pcap" in returned.files:
            other_way = _other_direction(job.plan, tap)
            _capture(returned.capture(number), tap["name"], other_way)
    late = {
        streams[number]["name"]: {"most_ns": one.latest_ns, "mean_ns": one.mean_ns}
        for number, one in returned.talked.items()
    }
    stages.check(returned)
    for stream, facts in late.items():
        if facts["most_ns"] > job.kernel.latest_ns * job.dilation:
            raise BackendError(
                f"the talker of {stream} was up to {quantities.time(facts['most_ns'])} late\n"
                "hint: stretch time with --dilate 10, or let talkers talk less"
            )
    warnings = [
        f"the talker of {stream} was up to {quantities.time(facts['most_ns'])} late"
        for stream, facts in late.items()
        if facts["most_ns"] > LATEST_NS
    ]
    missed = {streams[number]["name"]: one.missed for number, one in returned.talked.items() if one.missed}
    found: Json = {
        "processor_busy": busy,
        "talkers_late": late,
        "qdiscs": counters.by_qdisc(returned, job.plan),
    }
    if done := returned.steps():
        found["steps"] = done
    if missed:
        found["launch_times_missed"] = missed
    return found | ({"warnings": warnings} if warnings else {})


def observe(returned: Returned, job: Job, folder: Path, gates: dict[int, Json], *, pcap: bool) -> None:
    """Writes ``observations.parquet`` and ``counters.json``; captures are kept if they are requested.

    Raises:
        BackendError: the captures cannot be read.
    """
    captures = folder / "captures"
    names = {}
    for number, tap in enumerate(job.plan["taps"]):
        if f"tap-{number}.pcap" in returned.files:
            words = "-".join(re.findall(r"[\w.]+", tap["name"]))[:60]
            names[number] = f"{number:02}-{words}.pcap"
    claim(folder, [f"captures/{name}" for name in (*names.values(), *stages.names(returned))])
    captures.mkdir()
    files = []
    for number, name in names.items():
        path = captures / name
        path.write_bytes(returned.files[f"tap-{number}.pcap"])
        files.append((number, str(path)))
    noted = stages.logs(returned, captures)
    asked = {
        "epoch_ns": returned.epoch_ns,
        "tai_epoch_ns": returned.tai_epoch_ns,
        "dilate": job.dilation,
        "files": files,
        "hardware": returned.stamped_by_card,
        "logs": noted,
    }
    try:
        sighted = json.loads(
            _native.observe_captures(
                job.text,
                json.dumps(asked),
                str(folder / file_names.OBSERVATIONS),
                job.kernel.source,
                NO_SEND,
            )
        )
    except OSError as error:
        if error.errno in DISK:
            raise unwritable(folder, error) from error
        raise BackendError(f"the {job.kernel.source}'s captures cannot be used: {error}") from error
    except ValueError as error:
        raise BackendError(f"the {job.kernel.source}'s captures cannot be used: {error}") from error
    for written in noted:
        Path(written).unlink()
    read = sum(sum(sighted["frames"][number]) for number, _ in files) + sighted["foreign"]
    captured = sum(returned.capture(number).frames or 0 for number, _ in files)
    if read != captured:
        raise BackendError(f"of {captured} captured frames {read} can be read")
    if not pcap:
        for _, written in files:
            Path(written).unlink()
        captures.rmdir()
    with _unmeasured(job):
        stages.check_stamps(job.plan, sighted["frames"], {number for number, _ in files})
    counted = counters.counters(returned, job.plan, sighted["frames"], job.device, gates)
    (folder / file_names.COUNTERS).write_text(json.dumps(counted, indent=2) + "\n", encoding="utf-8")


def _busy(returned: Returned, job: Job) -> float | None:
    """The processor's load while talkers send; None for short runs.

    Raises:
        BackendError: the processor was saturated.
    """
    talking_s = job.plan["duration_ns"] * job.dilation / 1e9
    if not job.kernel.alone or talking_s < SHORTEST_S:
        return None
    # The first reading is from before the talkers begin, the second from after the run's end.
    busy = round(returned.worked_s() / talking_s, 3)
    if busy > BUSIEST:
        raise BackendError(
            f"the guest's processor was busy {busy:.0%} of the time: its delays would be the processor's\n"
            "hint: stretch time with --dilate 10, or let talkers talk less"
        )
    return busy


def _other_direction(plan: PlanDocument, tap: Tap) -> bool:
    """Whether streams pass the port of a tap in the direction that the tap does not capture."""
    other = plan["ports"][tap["port"]]["peer"] if tap["stage"] == "tx" else tap["port"]
    return any(hop["port"] == other for stream in plan["streams"] for hop in _all_hops(stream))


def _all_hops(stream: Stream) -> list[Route]:
    return [*stream["route"], *stream.get("flood", ())]


def _capture(capture: Capture, name: str, other_direction: bool) -> None:
    """Checks that a capture is complete.

    Args:
        capture: the counters of tcpdump, or of the device.
        name: the name of the tap.
        other_direction: whether frames also pass in the other direction: tcpdump counts them as received, and
            does not write them, so that the two numbers do not show lost frames.

    Raises:
        BackendError: the capture is incomplete.
    """
    if capture.frames is None:
        raise BackendError(f"the capture at {name} broke off: {capture.said[-200:]}")
    if capture.lost:
        raise BackendError(f"the capture at {name} lost {capture.lost} frames")
    if capture.received is not None and capture.received > capture.frames and not other_direction:
        raise BackendError(f"the capture at {name} wrote {capture.frames} of {capture.received} frames")


def _meaning(log: str) -> str:
    """The meaning of a message of the kernel, if it is known."""
    found = explain(log)
    return f"\nthat is: {found.reason}\nhint: {found.remedy}" if found else ""
