"""The results of all hosts, merged as if they were one kernel's: interfaces have the names of the Plan's
ports."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from tsnbench.backends.kernel.device import Ports, Queue, interface, space
from tsnbench.backends.kernel.results.returned import Returned
from tsnbench.backends.kernel.unsupported import listed
from tsnbench.backends.kernel.veth import VETH
from tsnbench.backends.kernel.veth.device import differences
from tsnbench.errors import BackendError
from tsnbench.linux.readback import read_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tsnbench.backends.kernel.environment import Capabilities
    from tsnbench.hosts.attempt import Attempt
    from tsnbench.hosts.job import HostJob
    from tsnbench.linux.readback import ReportedQdisc
    from tsnbench.plan.types import PlanDocument


def merge(attempt: Attempt, jobs: Mapping[str, HostJob], tai_minus_utc_s: int) -> dict[str, bytes]:
    """Files with the names that :mod:`tsnbench.backends.kernel.results.returned` expects.

    Raises:
        InputError: the output of a host's tc or ip is no JSON.
    """
    found: dict[str, bytes] = {"job.status": b"0\n", "job.log": b""}
    # The timestamps of captures are on the system's clock, or on a card's, which follows TAI as talkers do.
    found["epoch"] = f"{attempt.epoch_ns - tai_minus_utc_s * 10**9}\n".encode()
    found["tai-epoch"] = f"{attempt.epoch_ns}\n".encode()
    by_card = [name for name, counts in attempt.captures.items() if counts.get("stamps") == "hardware"]
    found["stamped-by-card"] = "".join(f"{name}\n" for name in by_card).encode()
    counted: dict[str, list[bytes]] = {"softnet-before": [], "softnet-after": []}
    for host, job in jobs.items():
        ports = {name: interface(port) for port, name in job.names.items()}
        for name, octets in attempt.files[host].items():
            if name in counted:
                counted[name].append(octets)
            elif name in (f"qdisc-{job.node}", f"link-{job.node}"):
                kind = name.partition("-")[0]
                found[f"{kind}-{space(job.node)}.json"] = _renamed(octets, ports)
            else:
                found[name] = octets
    for name, counts in attempt.captures.items():
        found[f"{name}.counts"] = f"{counts['frames']} {counts['dropped']}\n".encode()
    return found | {name: b"".join(parts) for name, parts in counted.items()}


def late_at(files: dict[str, bytes], plan: PlanDocument, most_ns: int) -> str | None:
    """The node of the latest talker, if it is later than ``most_ns``."""
    talked = Returned(files).talked
    latest = max(talked, key=lambda stream: talked[stream].latest_ns, default=None)
    if latest is None or talked[latest].latest_ns <= most_ns:
        return None
    return str(plan["nodes"][plan["streams"][latest]["talker"]]["name"])


def _renamed(octets: bytes, ports: Mapping[str, str]) -> bytes:
    """The host's output, with interfaces renamed to their ports; other interfaces are left out."""
    kept = []
    for one in read_json(octets.decode(errors="replace")):
        key = "dev" if "dev" in one else "ifname"
        if one.get(key) in ports:
            kept.append(one | {key: ports[one[key]]})
    return json.dumps(kept).encode()


class HostPorts(Ports):
    """Interfaces of hosts as a Plan's ports: virtual ones, and network cards."""

    name = "host"
    most_frame = 1518
    more: Mapping[str, frozenset[str]] = {
        "plan": frozenset({"clocks"}),
        "class": frozenset({"limit_octets"}),
    }
    """The hosts' own clocks replace those of the Plan; its PTP is the configuration of ptp4l. Only network
    cards have queues with a limit in octets."""

    def __init__(self, virtual: frozenset[int]) -> None:
        self.virtual = virtual
        """Nodes whose interfaces accept frames at any rate."""

    def unsupported(self, plan: PlanDocument, can: Capabilities, dilation: int) -> Iterator[str]:
        """Faults are not supported: nobody unplugs a cable of a lab. Errors of clocks are not recorded."""
        if plan.get("faults"):
            yield "faults: run them in the simulator or with --on vm"
        if plan.get("measure_from") == {"kind": "settled"}:
            yield "measure-from settled: errors of the hosts' clocks are not recorded (write a time)"
        if plan.get("clocks") and dilation != 1:
            yield "clocks: --dilate (PTP's intervals and servos are not stretched)"
        for port in plan["ports"]:
            if port["node"] in self.virtual and any("limit_octets" in one for one in port["classes"]):
                yield f"port {port['name']}: limit_octets on a virtual interface"

    def read_back(self, plan: PlanDocument, returned: Returned, words: str, can: Capabilities) -> None:
        """Checks every qdisc that decides when a frame leaves a virtual interface.

        Raises:
            BackendError: a qdisc has another configuration.
        """
        reported = {name: own for name, own in returned.qdiscs().items() if int(name[1:]) in self.virtual}
        if wrong := differences(plan, reported, can):
            raise BackendError(f"{words} differ from the requested configuration:\n{listed(wrong)}")

    def queues(self, plan: PlanDocument, reported: Mapping[int, list[ReportedQdisc]]) -> list[list[Queue]]:
        """Finds queues by the handles of the virtual interfaces' disciplines."""
        return VETH.queues(plan, reported)
