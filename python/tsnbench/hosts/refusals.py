"""Why hosts cannot run a Plan: their clocks, their kernels, and interfaces that are no ports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tsnbench.backends.kernel.environment import Capabilities
from tsnbench.backends.kernel.unsupported import listed
from tsnbench.backends.netns.capabilities import missing
from tsnbench.errors import BackendError, InputError, InterfaceError
from tsnbench.hosts.clocks.synchronisation import unsynchronised
from tsnbench.hosts.returned import HostPorts
from tsnbench.quantities import some

if TYPE_CHECKING:
    from tsnbench.hosts.inventory import Inventory
    from tsnbench.hosts.job import HostJob
    from tsnbench.hosts.mapping import Mapped
    from tsnbench.hosts.state.facts import Facts
    from tsnbench.plan.types import PlanDocument


def unfit(inventory: Inventory, known: Mapping[str, Facts]) -> None:
    """Checks that hosts agree on TAI, and that no port carries the controller's own connection.

    Raises:
        BackendError: the hosts' kernels have different offsets of TAI.
        InputError: a port carries the connection.
    """
    offsets = {one.ready.tai_minus_utc_s for one in known.values()}
    if len(offsets) > 1:
        found = ", ".join(f"{name} {one.ready.tai_minus_utc_s} s" for name, one in known.items())
        raise BackendError(
            f"hosts differ in how far TAI is ahead of UTC: {found}\n"
            "hint: start ptp4l or chrony everywhere, or nowhere; the kernel learns it from them"
        )
    for name, one in known.items():
        if one.ssh_interface and one.ssh_interface in inventory.hosts[name].ports.values():
            raise InterfaceError(
                f"{inventory.where(f'hosts.{name}.ports')}: {name}: {one.ssh_interface} carries our "
                "own ssh connection, so it is no port for data\nhint: leave it out of `ports`"
            )


def least(facts: Mapping[str, Facts]) -> Capabilities:
    """The capabilities that all hosts' kernels have."""
    all_of = [one.can for one in facts.values()]
    return Capabilities(
        qdiscs=frozenset.intersection(*(one.qdiscs for one in all_of)),
        filters=frozenset.intersection(*(one.filters for one in all_of)),
        actions=frozenset.intersection(*(one.actions for one in all_of)),
        links=frozenset.intersection(*(one.links for one in all_of)),
        bridge_vlans=all(one.bridge_vlans for one in all_of),
    )


def unsupported_by_kernels(document: PlanDocument, facts: Mapping[str, Facts]) -> None:
    """Checks that all hosts' kernels have what the Plan needs.

    Raises:
        InputError: a kernel lacks something.
    """
    # Links of hosts are cables: no software forwards frames between their ends.
    lacking = [one for one in missing(document, least(facts)) if not one.startswith("every link")]
    if lacking:
        raise InputError(
            f"{document['name']}: the hosts' kernels cannot run all of this plan:\n{listed(lacking)}\n"
            "hint: load the modules there (sch_taprio, sch_cbs, …), or use hosts with another kernel"
        )


def judged_without_clocks(
    inventory: Inventory, facts: Mapping[str, Facts], document: PlanDocument, mapped: Mapped
) -> list[str]:
    """The streams whose delays compare clocks that are not synchronised.

    Raises:
        InputError: such a stream has requirements.
    """
    free = unsynchronised(inventory, facts, document, mapped)
    if judged := [stream["name"] for stream in free if stream.get("requirements")]:
        raise InputError(
            f"{some(judged, 5)}: has requirements, and begins or ends at a host with `clock: none`: its "
            "delay would compare two clocks that are not synchronised\n"
            "hint: synchronise that host (`clock: hardware` or `software`), or require nothing"
        )
    return [stream["name"] for stream in free]


def ports_of(
    document: PlanDocument, facts: Mapping[str, Facts], jobs: Mapping[str, HostJob], dilate: int
) -> HostPorts:
    """The hosts' interfaces as the Plan's ports.

    Raises:
        InputError: such interfaces do not support all of the Plan.
    """
    virtual = frozenset(
        own.node
        for host, own in jobs.items()
        if all(facts[host].interfaces[name].virtual for name in own.names.values())
    )
    ports = HostPorts(virtual)
    if found := list(ports.unsupported(document, least(facts), dilate)):
        raise InputError(f"{document['name']}: these hosts cannot run all of this plan:\n{listed(found)}")
    return ports
