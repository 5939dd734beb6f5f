"""veth interfaces as a Plan's ports: how they are made, used and read back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from tsnbench.backends.kernel import multicast
from tsnbench.backends.kernel.device import Device, Namespace, Queue, Setup, Steps, interface, space
from tsnbench.backends.kernel.forwarding import bridge, forwarding
from tsnbench.backends.kernel.port_traffic import longest_payload, port_traffic
from tsnbench.backends.kernel.unsupported import listed
from tsnbench.backends.kernel.veth import cables, faults, readback, shaping, vlan_priority
from tsnbench.errors import BackendError

if TYPE_CHECKING:
    from tsnbench.backends.kernel.environment import Capabilities, Environment
    from tsnbench.backends.kernel.results.returned import Returned
    from tsnbench.linux.readback import Difference, ReportedQdisc
    from tsnbench.plan.types import PlanDocument


class _Veth(Device):
    name = "veth"
    template = "veth/job.sh.j2"
    zero_last = True
    most_frame = 9018
    more: Mapping[str, frozenset[str]] = {}

    def unsupported(self, plan: PlanDocument, can: Capabilities, dilation: int) -> Iterator[str]:
        """Faults that netem does not support."""
        yield from faults.unsupported(plan, can)

    def setup(self, plan: PlanDocument, environment: Environment, dilation: int) -> Setup:
        """The wires come first, and make all interfaces."""
        can = environment.can
        traffic, payload = port_traffic(plan), longest_payload(plan)
        wires = [cables.wire(port, own) for port, own in zip(plan["ports"], traffic, strict=True)]
        spaces = {cables.WIRES: Namespace()}
        spaces |= {space(number): Namespace() for number in range(len(plan["nodes"]))}
        spaces[cables.WIRES].ip += cables.links(plan, payload)
        spaces[cables.WIRES].tc += cables.crossings(wires, can)
        for node in forwarding(plan):
            own = spaces[space(node)]
            own.ip, own.bridge = bridge(plan, node, can)
            seen = vlan_priority.priorities(plan, node) if can.reads_tags else {}
            for arrives in sorted(seen):
                own.tc += vlan_priority.tag_filters(interface(arrives), seen[arrives])
            own.tc += multicast.filters(plan, node, can, has_clsact=set(seen))
        for number, (port, frames) in enumerate(zip(plan["ports"], traffic, strict=True)):
            own = spaces[space(port["node"])]
            own.ip += [f"link set p{number} up"]
            elements = shaping.shape(port, frames, can)
            own.tc += shaping.lines(f"p{number}", elements)
        steps = faults.steps(plan, wires, can)
        return Setup(spaces, [Steps("steps", cables.WIRES, steps)] if steps else [])

    def read_back(self, plan: PlanDocument, returned: Returned, words: str, can: Capabilities) -> None:
        """Compares every qdisc that decides when a frame leaves.

        Raises:
            BackendError: a qdisc differs from the requested one.
        """
        if wrong := differences(plan, returned.qdiscs(), can):
            raise BackendError(f"{words} has another configuration than requested:\n{listed(wrong)}")

    def queues(self, plan: PlanDocument, reported: Mapping[int, list[ReportedQdisc]]) -> list[list[Queue]]:
        """Finds queues by the handles of :mod:`shaping`."""
        found = []
        for number, port in enumerate(plan["ports"]):
            by_handle = {one.handle: one.counters for one in reported[number]}
            handles = (f"{shaping.QUEUES_FROM + place:x}:" for place in range(len(port["classes"])))
            found.append([Queue(by_handle.get(handle, {}), shaping.OVERHEAD) for handle in handles])
        return found


VETH: Device = _Veth()
"""Any kernel has them."""


def differences(
    plan: PlanDocument, reported: Mapping[str, list[ReportedQdisc]], can: Capabilities
) -> list[Difference]:
    """The differences of each requested qdisc, in the namespaces whose qdiscs are reported."""
    found: list[Difference] = []
    traffic = port_traffic(plan)
    if can.wires and cables.WIRES in reported:
        for port, frames in zip(plan["ports"], traffic, strict=True):
            wire = cables.wire(port, frames)
            found += readback.compare_wire(wire, reported[cables.WIRES], changes=bool(plan.get("faults")))
    for number, (port, frames) in enumerate(zip(plan["ports"], traffic, strict=True)):
        if space(port["node"]) in reported:
            elements = shaping.shape(port, frames, can)
            found += readback.compare_port(f"p{number}", elements, reported[space(port["node"])])
    return found
