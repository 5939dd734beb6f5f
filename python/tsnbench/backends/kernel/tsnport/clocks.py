"""Clocks of nodes: the Plan's oscillators in the guest's own device, ptp4l for each node, and their true
errors.

ptp4l(8); IEEE 802.1AS-2020.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from tsnbench.backends.kernel.device import Write, space
from tsnbench.backends.kernel.shell import Shell
from tsnbench.errors import BackendError
from tsnbench.libraries import polars as pl
from tsnbench.linux import ptp
from tsnbench.plan.network import Network
from tsnbench.plan.notes import Notes
from tsnbench.runs.clearing import claim
from tsnbench.runs.file_names import CLOCK_ERROR

if TYPE_CHECKING:
    from tsnbench.backends.kernel.results.returned import Returned
    from tsnbench.linux.profile import Profile
    from tsnbench.plan.types import Clocks, FrequencyJumpClockFault, Gptp, NodeClock, PlanDocument

CONTROL = "/sys/kernel/debug/tsnport"
"""The files for settings of the device for which no standard tool has a command."""
MOST_MOMENTS = 4_000_000
"""Most records of one clock in the device's memory."""
LINK_ALONE = "01:80:C2:00:00:0E"
"""An address that no bridge forwards. IEEE 802.1Q-2022, 8.6.3."""
FARTHEST_NS = 1_000_000
"""Greatest change of a clock."""
_LATE = "its talkers would be late, which ends a run"
_NODES_KEY = "tsnbench.nodes"


def unsupported(plan: PlanDocument, dilation: int = 1) -> Iterator[str]:
    """The parts of clocks, or combinations with them, that a kernel does not support."""
    clocks = plan.get("clocks")
    if not clocks:
        return
    if dilation != 1:
        yield "clocks: --dilate (PTP's intervals and servos are not stretched)"
    for node, own in zip(plan["nodes"], clocks["nodes"], strict=True):
        if own.get("wander"):
            yield f"clock of {node['name']}: wander"
        if abs(own["offset_ns"]) > FARTHEST_NS:
            yield f"clock of {node['name']}: an offset of more than 1 ms ({_LATE})"
    for fault in clocks.get("faults", ()):
        if fault["kind"] == "clock-step" and abs(fault["by_ns"]) > FARTHEST_NS:
            yield f"clock of {plan['nodes'][fault['node']]['name']}: a step of more than 1 ms ({_LATE})"
        if fault["kind"] == "ptp-down":
            yield f"clock of {plan['nodes'][fault['node']]['name']}: PTP that fails and comes back"
    if _moments(plan, clocks) > MOST_MOMENTS:
        moments = _moments(plan, clocks)
        yield f"clocks: {moments} moments at which errors are noted: at most {MOST_MOMENTS}"
    if gptp := clocks.get("gptp"):
        yield from _protocol(gptp)
    yield from _one_system_clock(plan)


def _protocol(gptp: Gptp) -> Iterator[str]:
    for there, what in (
        (gptp.get("bmca"), "elections"),
        (gptp.get("one_step"), "one step (the device stamps frames and does not write to them)"),
        (gptp.get("visible"), "PTP's frames at taps"),
    ):
        if there:
            yield f"clocks: {what}"
    if gptp.get("ieee_1588", {}).get("transparent"):
        yield "clocks: transparent clocks"
    notes = Notes("vm")
    ptp.log_interval(gptp["sync_interval_ns"], "clocks: a Sync interval", notes)
    ptp.log_interval(gptp["pdelay_interval_ns"], "clocks: a delay interval", notes)
    yield from (f"{note.what} (PTP's are powers of two of a second)" for note in notes if note.lost)


def _one_system_clock(plan: PlanDocument) -> Iterator[str]:
    """All nodes share the guest's CLOCK_TAI; only the device uses the node's own clock."""
    own = "uses the system's clock, which all nodes of a guest share"
    for port in plan["ports"]:
        qdisc = port.get("qdisc")
        if qdisc and qdisc.get("taprio"):
            yield f"port {port['name']}: taprio in software beside clocks ({own})"
        if qdisc and any(one["kind"] == "etf" for one in qdisc["children"]):
            yield f"port {port['name']}: etf beside clocks ({own})"
    for entry in plan.get("policing", ()):
        if entry.get("gates"):
            yield f"node {plan['nodes'][entry['node']]['name']}: stream gates beside clocks (act_gate {own})"
    for stream in plan["streams"]:
        if stream.get("socket", {}).get("txtime"):
            yield f"stream {stream['name']}: SO_TXTIME beside clocks ({own})"
    for tap in plan["taps"]:
        if tap["stage"] not in ("tx", "rx"):
            yield f"tap {tap['name']}: stages of software beside clocks (their stamp {own})"


def files(network: Network, clocks: Clocks, how: Profile) -> dict[str, bytes]:
    """ptp4l's configurations, and the events during the run."""
    notes = Notes("vm")
    found = {"clock-steps": "".join(f"{at}\t{line}\n" for at, line in _steps(network, clocks)).encode()}
    for node in range(len(network.nodes)):
        # Roles are configured, so ptp4l sends no Announce messages, as in the simulator. If it did, a slave
        # would ignore a Sync until its sender has sent enough Announce messages.
        own = [f"uds_address /tmp/ptp4l-{node}", "inhibit_announce 1", "ignore_source_id 1"]
        if "ieee_1588" in clocks.get("gptp", {}):
            # The other address (01-1B-19-00-00-00) passes the kernel's bridge, and so bypasses a boundary
            # clock.
            own += [f"ptp_dst_mac {LINK_ALONE}", f"p2p_dst_mac {LINK_ALONE}"]
        if (text := ptp.ptp4l(network, node, how, notes, first=own)) is not None:
            found[f"ptp4l-{node}.conf"] = text.encode()
    return found


def _steps(network: Network, clocks: Clocks) -> list[tuple[int, str]]:
    """Lines for a shell: ptp4l begins with the Plan, as in the simulator; oscillators and clocks change."""
    taking_part = sorted({network.ports[port]["node"] for port in ptp.ports(network)})
    found = [
        (
            0,
            f"$IP netns exec {space(node)} ptp4l -f $JOB/ptp4l-{node}.conf -m"
            f" >$RESULTS/ptp4l-{node}.log 2>&1 & echo {node} $! >>$SCRATCH/ptp4l",
        )
        for node in taking_part
    ]
    for node, own in enumerate(clocks["nodes"]):
        told = [(at, f"error $((EPOCH + {at})) {ppt}") for at, ppt in _pace(own, _jumps(clocks, node))[1:]]
        told += [
            (fault["at_ns"], f"step $((EPOCH + {fault['at_ns']})) {fault['by_ns']}")
            for fault in clocks.get("faults", ())
            if fault["node"] == node and fault["kind"] == "clock-step"
        ]
        found += [(at, f'echo "{what}" >{CONTROL}/{_commands(node)}') for at, what in told]
    return sorted(found, key=lambda one: one[0])


def _jumps(clocks: Clocks, node: int) -> list[FrequencyJumpClockFault]:
    return [
        fault
        for fault in clocks.get("faults", ())
        if fault["kind"] == "frequency-jump" and fault["node"] == node
    ]


def _pace(own: NodeClock, jumps: list[FrequencyJumpClockFault]) -> list[tuple[int, int]]:
    """The rate of the oscillator over time: ns, parts of 10^12."""
    base = [
        (0, own["deviation_ppt"]),
        *((one["at_ns"], one["deviation_ppt"]) for one in own.get("changes", ())),
    ]
    edges = {at for at, _ in base} | {at for one in jumps for at in (one["from_ns"], one["until_ns"])}
    found: list[tuple[int, int]] = []
    for at in sorted(edges):
        ppt = [value for begins, value in base if begins <= at][-1]
        jump = sum(one["by_ppt"] for one in jumps if one["from_ns"] <= at < one["until_ns"])
        # A jump is relative to the oscillator's rate.
        ppt += jump + ppt * jump // 10**12
        if not found or found[-1][1] != ppt:
            found.append((at, ppt))
    return found


def _commands(node: int) -> str:
    return f"clock-{node}/commands"


def initial_writes(plan: PlanDocument, clocks: Clocks) -> Iterator[Write]:
    """Settings that come before any use of a clock: at the Plan's zero each clock must show its initial
    time."""
    record, moments = clocks["record_ns"], _moments(plan, clocks)
    for node in nodes(plan):
        own = clocks["nodes"][node]
        first, offset = _pace(own, _jumps(clocks, node))[0][1], own["offset_ns"]
        told = [
            (f"clock-{node}/granularity_ns", str(own["granularity_ns"])),
            (f"clock-{node}/jitter_ns", str(own["jitter_ns"])),
            (_commands(node), Shell(f'"error $EPOCH {first}"')),
            (_commands(node), Shell(f'"show $EPOCH $((EPOCH + {offset}))"')),
        ]
        if moments:
            sample = f'"sample $((EPOCH + {record})) {record} {moments}"'
            told.append((_commands(node), Shell(sample)))
        yield from (Write(value, file, f"clock {node}") for file, value in told)


def errors(returned: Returned, plan: PlanDocument, clocks: Clocks) -> dict[int, list[int]]:
    """By node: the error of its clock at every moment, in ps.

    Raises:
        BackendError: moments are missing.
    """
    found: dict[int, list[int]] = {}
    moments = _moments(plan, clocks)
    for node in nodes(plan) if moments else ():
        found[node] = [int(line) for line in returned.text(f"clock-{node}").split()]
        if len(found[node]) != moments:
            name = plan["nodes"][node]["name"]
            raise BackendError(
                f"the clock of {name} has {len(found[node])} samples of its error, not {moments}"
            )
    return found


def write(returned: Returned, plan: PlanDocument, folder: Path) -> None:
    """Writes the table of clocks' errors, as the simulator does, and the output of each ptp4l."""
    clocks = plan.get("clocks")
    if not clocks:
        return

    noted = errors(returned, plan, clocks)
    gptp = clocks.get("gptp")
    follow: set[int] = set()
    leader: list[int] = []
    if gptp:
        follow = {gptp["grandmaster"], *(plan["ports"][port]["node"] for port in gptp["slaves"])}
        leader = noted.get(gptp["grandmaster"], [])
    record = clocks["record_ns"]
    rows = [
        (node, (place + 1) * record, error, error - leader[place] if node in follow else None)
        for place in range(_moments(plan, clocks))
        for node, own in noted.items()
        for error in (own[place],)
    ]
    schema = {"node": pl.UInt32, "t_true_ns": pl.Int64, "error_ps": pl.Int64, "offset_ps": pl.Int64}
    table = pl.DataFrame(rows, schema=schema, orient="row")
    names = json.dumps([node["name"] for node in plan["nodes"]])
    table.write_parquet(folder / CLOCK_ERROR, metadata={_NODES_KEY: names})
    logs = {
        f"ptp4l-{own['name']}.log": said
        for node, own in enumerate(plan["nodes"])
        if (said := returned.files.get(f"ptp4l-{node}.log"))
    }
    claim(folder, logs)
    for log, said in logs.items():
        (folder / log).write_bytes(said)


def nodes(plan: PlanDocument) -> list[int]:
    """Nodes with a clock on the device: those with ports."""
    return sorted({port["node"] for port in plan["ports"]})


def _moments(plan: PlanDocument, clocks: Clocks) -> int:
    """Number of intervals from the first one to the last one that ends within the run."""
    return (plan["duration_ns"] + plan["drain_ns"]) // clocks["record_ns"]
