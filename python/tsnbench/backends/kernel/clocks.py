"""Clocks of nodes: the Plan's oscillators in the guest's own device, ptp4l beside them, their true errors.

ptp4l(8); IEEE 802.1AS-2020.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tsnbench.backends.kernel import ports
from tsnbench.backends.kernel.site import Site
from tsnbench.backends.kernel.topology import name
from tsnbench.errors import BackendError
from tsnbench.exports.network import Network
from tsnbench.exports.notes import Notes
from tsnbench.linux import ptp
from tsnbench.runs.clearing import claim
from tsnbench.runs.folder import CLOCK_ERROR

PRIORITY = 45
"""Of ptp4l under ``SCHED_FIFO``: below talkers, whose time is told them by others; above listeners."""
MOST_MOMENTS = 4_000_000
"""Notes of one clock; the device has room for no more."""
LINK_ALONE = "01:80:C2:00:00:0E"
"""The address that no bridge passes on. IEEE 802.1Q-2022, 8.6.3."""
FARTHEST_NS = 1_000_000
"""By more than this no clock is set."""
_LATE = "its talkers would be late, which ends a run"
_NODES_KEY = "tsnbench.nodes"


def present(plan: dict[str, Any]) -> bool:
    """Whether nodes have clocks of their own."""
    return bool(plan.get("clocks"))


def refused(plan: dict[str, Any], dilate: int = 1) -> Iterator[str]:
    """What of clocks, or beside them, a kernel cannot do."""
    clocks = plan.get("clocks")
    if not clocks:
        return
    if dilate != 1:
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
    if _moments(plan) > MOST_MOMENTS:
        yield f"clocks: {_moments(plan)} moments at which errors are noted: at most {MOST_MOMENTS}"
    yield from _protocol(plan, clocks.get("gptp") or {})
    yield from _one_system_clock(plan)


def _protocol(plan: dict[str, Any], gptp: dict[str, Any]) -> Iterator[str]:
    for key, what in (
        ("bmca", "elections"),
        ("one_step", "one step (the device stamps frames and does not write to them)"),
        ("visible", "PTP's frames at taps"),
    ):
        if gptp.get(key):
            yield f"clocks: {what}"
    if (gptp.get("ieee_1588") or {}).get("transparent"):
        yield "clocks: transparent clocks"
    if gptp:
        notes = Notes("vm")
        for key, what in (("sync_interval_ns", "Sync interval"), ("pdelay_interval_ns", "delay interval")):
            ptp.log_interval(gptp[key], f"clocks: a {what}", notes)
        yield from (f"{note.what} (PTP's are powers of two of a second)" for note in notes if note.lost)


def _one_system_clock(plan: dict[str, Any]) -> Iterator[str]:
    """All nodes share the guest's CLOCK_TAI; only what the device does goes by the node's own clock."""
    own = "goes by the system's clock, which all nodes of a guest share"
    for port in plan["ports"]:
        qdisc = port.get("qdisc") or {}
        if qdisc.get("taprio") and qdisc.get("mode") != "full-offload":
            yield f"port {port['name']}: taprio in software beside clocks ({own})"
        if any(one["kind"] == "etf" for one in qdisc.get("children", ())):
            yield f"port {port['name']}: etf beside clocks ({own})"
    for entry in plan.get("policing", ()):
        if entry.get("gates"):
            yield f"node {plan['nodes'][entry['node']]['name']}: stream gates beside clocks (act_gate {own})"
    for stream in plan["streams"]:
        if (stream.get("socket") or {}).get("txtime"):
            yield f"stream {stream['name']}: SO_TXTIME beside clocks ({own})"
    for tap in plan["taps"]:
        if tap["stage"] not in ("tx", "rx"):
            yield f"tap {tap['name']}: stages of software beside clocks (their stamp {own})"


def files(plan: dict[str, Any]) -> dict[str, bytes]:
    """ptp4l's configurations, and what happens while the Plan runs."""
    if not present(plan):
        return {}
    network, notes = Network(plan), Notes("vm")
    found = {"clock-steps": "".join(f"{at}\t{line}\n" for at, line in _steps(plan)).encode()}
    for node in range(len(plan["nodes"])):
        if (text := ptp.ptp4l(network, node, ports.profile(plan), notes)) is not None:
            # Roles are given, so nobody announces anything, as in the simulator: else a Sync counts for
            # nothing until its sender has announced itself often enough.
            own = f"[global]\nuds_address /tmp/ptp4l-{node}\ninhibit_announce 1\nignore_source_id 1\n"
            if "ieee_1588" in plan["clocks"]["gptp"]:
                # The other address (01-1B-19-00-00-00) passes the kernel's bridge, round a boundary clock.
                own += f"ptp_dst_mac {LINK_ALONE}\np2p_dst_mac {LINK_ALONE}\n"
            found[f"ptp4l-{node}.conf"] = text.replace("[global]\n", own, 1).encode()
    return found


def _steps(plan: dict[str, Any]) -> list[tuple[int, str]]:
    """Lines for a shell: ptp4l begins when the Plan does, as simulated; oscillators and clocks change."""
    clocks, network = plan["clocks"], Network(plan)
    taking_part = sorted({network.ports[port]["node"] for port in ptp.ports(network)})
    found = [
        (
            0,
            f"$IP netns exec {name(node)} ptp4l -f $JOB/ptp4l-{node}.conf -m"
            f" >$RESULTS/ptp4l-{node}.log 2>&1 & echo {node} $! >>$SCRATCH/ptp4l",
        )
        for node in taking_part
    ]
    for node, own in enumerate(clocks["nodes"]):
        mine = [fault for fault in clocks.get("faults", ()) if fault["node"] == node]
        found += [(at, _tell(node, f"error $((EPOCH + {at})) {ppt}")) for at, ppt in _pace(own, mine)[1:]]
        found += [
            (fault["at_ns"], _tell(node, f"step $((EPOCH + {fault['at_ns']})) {fault['by_ns']}"))
            for fault in mine
            if fault["kind"] == "clock-step"
        ]
    return sorted(found, key=lambda one: one[0])


def _pace(own: dict[str, Any], faults: list[dict[str, Any]]) -> list[tuple[int, int]]:
    """From when on the oscillator is how fast: ns, parts of 10^12."""
    jumps = [fault for fault in faults if fault["kind"] == "frequency-jump"]
    base = [
        (0, own["deviation_ppt"]),
        *((one["at_ns"], one["deviation_ppt"]) for one in own.get("changes", ())),
    ]
    edges = {at for at, _ in base} | {one[edge] for one in jumps for edge in ("from_ns", "until_ns")}
    found: list[tuple[int, int]] = []
    for at in sorted(edges):
        ppt = [value for begins, value in base if begins <= at][-1]
        jump = sum(one["by_ppt"] for one in jumps if one["from_ns"] <= at < one["until_ns"])
        # A jump is a part of what the oscillator does.
        ppt += jump + ppt * jump // 10**12
        if not found or found[-1][1] != ppt:
            found.append((at, ppt))
    return found


def _tell(node: int, what: str) -> str:
    return f'echo "{what}" >{ports.CONTROL}/clock-{node}/tell'


def prepare(plan: dict[str, Any]) -> list[str]:
    """Lines for the job before anything goes by a clock: at the Plan's zero each shows what it is to show."""
    if not present(plan):
        return []
    lines = []
    record, moments = plan["clocks"]["record_ns"], _moments(plan)
    for node, own in enumerate(plan["clocks"]["nodes"]):
        if not _has_clock(plan, node):
            continue
        folder = f"{ports.CONTROL}/clock-{node}"
        mine = [one for one in plan["clocks"].get("faults", ()) if one["node"] == node]
        first, offset = _pace(own, mine)[0][1], own["offset_ns"]
        lines += [
            f"echo {own['granularity_ns']} >{folder}/granularity_ns || fail clock {node}",
            f"echo {own['jitter_ns']} >{folder}/jitter_ns || fail clock {node}",
            f"{_tell(node, f'error $EPOCH {first}')} || fail clock {node}",
            f"{_tell(node, f'show $EPOCH $((EPOCH + {offset}))')} || fail clock {node}",
        ]
        if moments:
            lines.append(
                f"{_tell(node, f'note $((EPOCH + {record})) {record} {moments}')} || fail clock {node}"
            )
    return lines


def begin(plan: dict[str, Any], site: Site) -> list[str]:
    """Starts what waits for the Plan's zero."""
    if not present(plan):
        return []
    return [
        # The shell that the steps are told to would take its own ip.
        f"IP={site.ip} JOB={site.job} RESULTS={site.results} SCRATCH={site.scratch}",
        "export EPOCH IP JOB RESULTS SCRATCH",
        f": >{site.scratch}/ptp4l",
        f"{site.talker} steps {site.job}/clock-steps --epoch $EPOCH --log {site.results}/clock-steps"
        f" -- chrt -f {PRIORITY} sh &"
        ' talkers="$talkers $!"',
    ]


def end(plan: dict[str, Any], site: Site) -> list[str]:
    """Every ptp4l is still there; notes are taken, and then it may go."""
    if not present(plan):
        return []
    lines = [
        f"while read node pid; do kill -0 $pid || {{ tail -n 5 {site.results}/ptp4l-$node.log;"
        f" fail ptp4l of node $node ended; }}; done <{site.scratch}/ptp4l"
    ]
    lines += [
        f"cat {ports.CONTROL}/clock-{node}/notes >{site.results}/clock-{node} || fail clock {node}"
        for node in range(len(plan["nodes"]))
        if _has_clock(plan, node)
    ]
    return [*lines, f"while read node pid; do kill $pid; done <{site.scratch}/ptp4l"]


def talker(plan: dict[str, Any], node: int) -> str:
    """The option of a node's talker."""
    return f" --phc /dev/ptp$(cat {ports.CONTROL}/clock-{node}/index)" if present(plan) else ""


def errors(back: dict[str, bytes], plan: dict[str, Any]) -> dict[int, list[int]]:
    """By node: how far its clock was ahead of true time at every moment, in ps.

    Raises:
        BackendError: moments are missing.
    """
    found = {}
    for node, own in enumerate(plan["nodes"]):
        if not _has_clock(plan, node) or not _moments(plan):
            continue
        found[node] = [int(line) for line in back.get(f"clock-{node}", b"").split()]
        if len(found[node]) != _moments(plan):
            raise BackendError(
                f"the clock of {own['name']} has {len(found[node])} notes of its error, not {_moments(plan)}"
            )
    return found


def write(back: dict[str, bytes], plan: dict[str, Any], folder: Path) -> None:
    """The table of clocks' errors, as the simulator's, and what each ptp4l said."""
    if not present(plan):
        return
    import polars as pl

    noted = errors(back, plan)
    gptp = plan["clocks"].get("gptp")
    follow: set[int] = set()
    leader: list[int] = []
    if gptp:
        follow = {gptp["grandmaster"], *(plan["ports"][port]["node"] for port in gptp["slaves"])}
        leader = noted.get(gptp["grandmaster"], [])
    record = plan["clocks"]["record_ns"]
    rows = [
        (node, (place + 1) * record, error, error - leader[place] if node in follow else None)
        for place in range(_moments(plan))
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
        if (said := back.get(f"ptp4l-{node}.log"))
    }
    claim(folder, logs)
    for log, said in logs.items():
        (folder / log).write_bytes(said)


def _moments(plan: dict[str, Any]) -> int:
    """From the first interval on, to the last that is over when the run is."""
    return int((plan["duration_ns"] + plan["drain_ns"]) // plan["clocks"]["record_ns"])


def _has_clock(plan: dict[str, Any], node: int) -> bool:
    return any(port["node"] == node for port in plan["ports"])
