"""Whether a scenario can be run here. Per backend, with reasons and remedies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tsnbench.backends.kernel.unsupported import unsupported
from tsnbench.backends.kernel.veth import VETH
from tsnbench.backends.netns import capabilities, probe, sandbox
from tsnbench.backends.netns import unavailable as no_namespaces
from tsnbench.backends.vm import VirtualMachine
from tsnbench.backends.vm import unavailable as no_guests
from tsnbench.errors import InputError
from tsnbench.hosts.backend import Hosts

if TYPE_CHECKING:
    from tsnbench.hosts import Inventory
    from tsnbench.plan.document import Plan


@dataclass(frozen=True)
class Answer:
    """The answer for one backend."""

    backend: str
    can: bool
    reasons: tuple[str, ...]
    """The reasons if it cannot; otherwise the notes for a reader of its results."""
    remedy: str = ""


def answers(plans: Sequence[Plan], dilate: int = 1) -> list[Answer]:
    """The answers for all runs of a scenario; a guest runs slower by the factor ``dilate``."""
    return [Answer("simulation", True, ()), _namespaces(plans), _guest(plans, dilate)]


def answer_of_lab(plans: Sequence[Plan], lab: Inventory, dilate: int = 1) -> Answer:
    """The answer for the hosts of a lab, as far as no host has to be asked."""
    found: dict[str, None] = {}
    for plan in plans:
        try:
            Hosts(lab, dilate=dilate).check_supported(plan)
        except InputError as error:
            found |= dict.fromkeys(str(error).splitlines())
    hints = [line for line in found if line.startswith("hint: ")]
    reasons = tuple(line.strip() for line in found if line not in hints)
    return Answer("hosts", not found, reasons, "; ".join(hint.removeprefix("hint: ") for hint in hints))


def _namespaces(plans: Sequence[Plan]) -> Answer:
    if why := no_namespaces():
        remedy = "run as root" if not sandbox.privileged() else "tsnbench doctor says what is missing"
        return Answer("netns", False, (why,), remedy)
    can = probe.abilities()
    found: dict[str, None] = {}
    for plan in plans:
        found |= dict.fromkeys(
            [*unsupported(plan.document, VETH, can), *capabilities.missing(plan.document, can)]
        )
    if found:
        return Answer("netns", False, tuple(found), "--on vm, or the simulator")
    return Answer("netns", True, tuple(capabilities.notes(can)))


def _guest(plans: Sequence[Plan], dilate: int) -> Answer:
    found: dict[str, None] = {}
    for plan in plans:
        found |= dict.fromkeys(unsupported(plan.document, VirtualMachine().device, dilation=dilate))
    if found:
        return Answer("vm", False, tuple(found), "the simulator")
    if why := no_guests():
        return Answer("vm", False, (why,), "docs/guides/guest.md tells what a guest needs")
    return Answer("vm", True, ())
