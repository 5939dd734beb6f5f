"""One host and a scenario, without an inventory: the nodes that it could be, and its missing capabilities."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tsnbench.doctor.findings import MISSING, NOTE, OK, Finding
from tsnbench.doctor.lab import Judge, LabReport, Use, unsupported_of
from tsnbench.errors import InputError
from tsnbench.hosts import doctor
from tsnbench.hosts.inventory.types import Clock, Host, Inventory

if TYPE_CHECKING:
    from tsnbench.hosts.doctor import Examined
    from tsnbench.hosts.state.facts import Facts
    from tsnbench.plan.document import Plan
    from tsnbench.plan.types import PlanDocument


def examine_host(target: str, plans: Sequence[Plan]) -> LabReport:
    """Examines one host, over ssh as root, for every node of the Plans.

    Args:
        target: the destination for the ssh client.
        plans: the runs of a scenario.

    Raises:
        InputError: the target is invalid.
        BackendError: the live program is missing on this machine.
    """
    if target.startswith("-"):
        raise InputError(f"--host: ssh would take {target} for an option; write USER@HOST")
    inventory = Inventory("--host", {target: Host(target, target, {})})
    answer = doctor.ask(inventory, [target])[target]
    return judge_host(target, answer, [plan.document for plan in plans])


def judge_host(target: str, answer: Examined, plans: Sequence[PlanDocument]) -> LabReport:
    """The consequences of a host's answer for every node of Plans."""
    facts = answer.facts
    names = _free(facts) if facts is not None else []
    host = Host(target, target, {name: name for name in names})
    if facts is not None and not facts.phcs:
        host = Host(target, target, host.ports, clock=Clock.SOFTWARE)
    # One host alone does not show whether its clock follows another host's. If the Plan has PTP, it does.
    of_its_own = [*Judge(host, answer, [], False, False).all()]
    found = [*(one for plan in plans for one in unsupported_of(plan)), *of_its_own]
    if facts is None:
        return LabReport(tuple(found), (target,))
    own = {(one.name, one.found) for one in of_its_own}
    for plan in plans:
        fits = False
        for node, one in enumerate(plan["nodes"]):
            lacks = list(_lacks(target, host, answer, plan, node, names))
            lacks = [lack for lack in lacks if (lack.name, lack.found) not in own]
            fits = fits or not lacks
            if not lacks:
                found.append(Finding(target, f"as {one['name']}", OK, "it has what this node needs"))
            for lack in lacks:
                name = f"as {one['name']}: {lack.name}"
                found.append(Finding(target, name, NOTE, lack.found, lack.remedy))
        if not fits:
            remedy = "see its notes above; tsnbench doctor --hosts lab.yaml --for asks a whole lab"
            found.append(Finding(target, plan["name"], MISSING, "it can be no node of this Plan", remedy))
    return LabReport(tuple(dict.fromkeys(found)), ())


def _free(facts: Facts) -> list[str]:
    """Interfaces that could be ports: cards first, sorted by name."""
    usable = [
        one
        for name, one in facts.interfaces.items()
        if name in facts.ports and name != facts.ssh_interface and not one.root and not one.master
    ]
    return [one.name for one in sorted(usable, key=lambda one: (one.virtual, not one.phc, one.name))]


def _lacks(
    target: str, host: Host, answer: Examined, plan: PlanDocument, node: int, names: Sequence[str]
) -> Iterator[Finding]:
    """The missing capabilities of the host as this node, with its first free interfaces as ports."""
    ports = [number for number, port in enumerate(plan["ports"]) if port["node"] == node]
    if len(ports) > len(names):
        listed = ", ".join(names) or "none"
        found = f"{len(ports)} ports, and it has {len(names)} free interfaces ({listed})"
        yield Finding(target, "ports", MISSING, found, "another card, or a smaller node")
        return
    use = Use(plan, node, dict(zip(ports, names, strict=False)))
    synchronised = "gptp" in plan.get("clocks", {})
    for one in Judge(host, answer, [use], synchronised, True).all():
        if one.state == MISSING:
            yield one
