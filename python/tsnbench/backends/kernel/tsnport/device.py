"""The guest's own device as a Plan's ports: how it is set up, used and read back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tsnbench.backends.kernel import multicast
from tsnbench.backends.kernel.device import Device, Namespace, Queue, Setup, Steps, space
from tsnbench.backends.kernel.environment import GUEST
from tsnbench.backends.kernel.forwarding import bridge, forwarding
from tsnbench.backends.kernel.port_traffic import port_traffic
from tsnbench.backends.kernel.shell import after_epoch
from tsnbench.backends.kernel.tsnport import clocks, config, faults, gate_changes, shaping
from tsnbench.errors import BackendError
from tsnbench.linux import compare, qdiscs
from tsnbench.plan.network import Network

if TYPE_CHECKING:
    from tsnbench.backends.kernel.environment import Capabilities, Environment
    from tsnbench.backends.kernel.results.returned import Returned
    from tsnbench.foreign import Json
    from tsnbench.linux.readback import ReportedQdisc
    from tsnbench.plan.types import PlanDocument


class _Tsnport(Device):
    name = "tsnport"
    template = "tsnport/job.sh.j2"
    zero_last = False
    most_frame = 1518
    more: Mapping[str, frozenset[str]] = {
        "plan": frozenset({"policing", "clocks"}),
        "port": frozenset({"qdisc"}),
        "class": frozenset({"max_sdu_octets", "limit_octets"}),
        "gates": frozenset({"cycle_extension_ns", "initial", "changes"}),
    }

    def unsupported(self, plan: PlanDocument, can: Capabilities, dilation: int) -> Iterator[str]:
        """Too many faults, unsupported filters, unsupported clocks."""
        yield from faults.unsupported(plan)
        if plan.get("policing"):
            yield from shaping.unsupported_filters(plan)
        yield from clocks.unsupported(plan, dilation)

    def setup(self, plan: PlanDocument, environment: Environment, dilation: int) -> Setup:
        """The ports already exist, each in its namespace."""
        how = shaping.profile(plan)
        network = Network(plan)
        arriving = shaping.arriving(network, how)
        bridges = forwarding(plan)
        spaces = {space(number): Namespace() for number in range(len(plan["nodes"]))}
        for number, port in enumerate(plan["ports"]):
            spaces[space(port["node"])].ip += [f"link set p{number} address {port['mac']}"]
        # clsact comes before taprio: a qdisc that is added later resets taprio, and its timer stops (Linux
        # 6.12).
        for node, arrivals in arriving.items():
            own = spaces[space(node)]
            own.tc += [line for one in arrivals for line in one.lines(after_epoch)]
            if node in bridges:
                links, own.bridge = bridge(plan, node, GUEST)
                own.ip += links
                own.tc += multicast.filters(plan, node, GUEST, has_clsact={one.port for one in arrivals})
        for number, (port, frames) in enumerate(zip(plan["ports"], port_traffic(plan), strict=True)):
            own = spaces[space(port["node"])]
            own.ip += [f"link set p{number} up"]
            root, children = shaping.shape(port, frames, how)
            own.tc += qdiscs.lines(root, children, f"p{number}", after_epoch)
        setup = Setup(spaces, links=config.links(plan), writes=list(config.control(plan)))
        setup.gates += gate_changes.changing(plan)
        for node, steps in gate_changes.steps(plan, how).items():
            setup.steps.append(Steps(f"steps-{space(node)}", space(node), steps))
        if plan.get("faults"):
            setup.faults += range(len(plan["ports"]))
            setup.writes += faults.writes(plan, dilation)
        if own_clocks := plan.get("clocks"):
            setup.clocks += clocks.nodes(plan)
            # These settings of clocks come first, before any write that uses a clock.
            setup.writes[:0] = clocks.initial_writes(plan, own_clocks)
            setup.files.update(clocks.files(network, own_clocks, how))
        return setup

    def read_back(self, plan: PlanDocument, returned: Returned, words: str, can: Capabilities) -> None:
        """Compares every qdisc with all its numbers.

        Raises:
            BackendError: a qdisc differs from the requested one.
        """
        how, reported = shaping.profile(plan, returned.epoch_ns), returned.qdiscs()
        for number, (port, frames) in enumerate(zip(plan["ports"], port_traffic(plan), strict=True)):
            there = reported.get(space(port["node"]), [])
            later = gate_changes.requested(plan, port)
            root, children = shaping.shape(port, frames, how, later[-1] if later else None)
            if unlike := compare(f"p{number}", root, children, there):
                raise BackendError(f"{port['name']}: " + "; ".join(map(str, unlike)))
            gates = [one.options for one in there if one.device == f"p{number}" and one.kind == "taprio"]
            if root.flags is None and any("admin" in options for options in gates):
                # The list is still pending and never came into force: a reset of taprio stops its timer.
                raise BackendError(f"{port['name']}: the kernel's gates did not run")

    def gate_changes(self, plan: PlanDocument, returned: Returned, dilation: int) -> dict[int, Json]:
        """For each port whose gates change."""
        return {
            number: gate_changes.counted(
                plan, number, returned.text(f"lists-{number}"), returned.epoch_ns, dilation
            )
            for number in gate_changes.changing(plan)
        }

    def queues(self, plan: PlanDocument, reported: Mapping[int, list[ReportedQdisc]]) -> list[list[Queue]]:
        """Finds the queues by their indices below the root."""
        found = []
        for number, (port, frames) in enumerate(zip(plan["ports"], port_traffic(plan), strict=True)):
            by_place = {minor: one for one in reported[number] if (minor := one.below(qdiscs.HANDLE))}
            queues = []
            for place in range(1, len(port["classes"]) + 1):
                one = by_place.get(f"{place:x}")
                overhead = shaping.overhead(port, frames, one.kind if one else "")
                if own := port.get("qdisc"):
                    overhead = qdiscs.overhead(own["children"][place - 1])
                queues.append(Queue(one.counters if one else {}, overhead))
            found.append(queues)
        return found

    def record(self, plan: PlanDocument, returned: Returned, folder: Path) -> None:
        """Writes the errors of the nodes' clocks."""
        clocks.write(returned, plan, folder)

    def notes(self, plan: PlanDocument) -> list[str]:
        """Notes on ports where Linux's shaper counts fewer octets than the standard's."""
        return [
            f"{port['name']}: Linux's cbs below taprio counts frames without preamble, FCS and gap "
            f"({shaping.COUNTED['cbs']} octets each), so the class may send that much more than it reserved"
            for port in plan["ports"]
            if port.get("gates") and not port.get("qdisc") and any(one.get("cbs") for one in port["classes"])
        ]


TSNPORT: Device = _Tsnport()
"""True rates, a PTP hardware clock per node, own gates and launch times."""
