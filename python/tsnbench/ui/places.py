"""Where a scenario can run: the simulator, a guest, this machine's kernel, and hosts of a lab."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypedDict

from tsnbench.doctor import Answer, answer_of_lab, answers
from tsnbench.errors import InputError
from tsnbench.hosts import load_inventory
from tsnbench.planning import Plan
from tsnbench.planning import plan as make_plan
from tsnbench.scenario import read_scenario

MOST_PLANNED = 20
"""Runs of a sweep that are planned before the start; the command plans all of them."""
MOST_REASONS = 12
MOST_DILATION = 10_000
SIMULATION, NETNS, VM, HOSTS = "simulation", "netns", "vm", "hosts"
NAMES = {
    SIMULATION: "Simulation",
    VM: "Kernel of a guest (QEMU)",
    NETNS: "Kernel of this machine (namespaces)",
    HOSTS: "Hosts of a lab",
}
ALONE = frozenset({NETNS, HOSTS})
"""Other runs on this machine would disturb the delays of these."""
NO_LAB = Answer(HOSTS, False, ("needs a lab: choose its file",), "docs/guides/hosts.md")


class Offer(TypedDict):
    """One place that the page offers."""

    on: str
    """The word behind ``--on``."""
    name: str
    can: bool
    reasons: list[str]
    """The reasons if it cannot; otherwise notes for a reader of its results."""
    remedy: str


@dataclass(frozen=True)
class Place:
    """The chosen place of a run."""

    on: str = SIMULATION
    dilate: int = 1
    lab: str = ""
    """The file of a lab in the opened folder."""

    def words(self) -> list[str]:
        """The options of ``tsnbench run``."""
        found = [] if self.on == SIMULATION else ["--on", self.on]
        if self.dilate != 1:
            found += ["--dilate", str(self.dilate)]
        if self.lab:
            found += ["--hosts", argument(self.lab)]
        return found


def argument(name: str) -> str:
    """A file's name as a command reads it: it may begin with a dash."""
    return f"./{name}" if name.startswith("-") else name


def chosen(wanted: Any) -> Place | None:
    """The place that a request names; None if there is no such place."""
    if not isinstance(wanted, dict):
        return None
    on, dilate, lab = wanted.get("on", SIMULATION), wanted.get("dilate", 1), wanted.get("lab", "")
    valid = (
        isinstance(on, str)
        and on in NAMES
        and type(dilate) is int
        and 1 <= dilate <= MOST_DILATION
        and isinstance(lab, str)
    )
    if not valid or (on == HOSTS and not lab):
        return None
    place = Place(on, dilate, lab)
    place = place if on == HOSTS else replace(place, lab="")
    return place if on != SIMULATION else replace(place, dilate=1)


def offers(text: str, file: str, lab: Path | None, dilate: int = 1) -> list[Offer]:
    """All places, each with the answer of ``tsnbench doctor --for``.

    Args:
        text: the scenario, which may not be saved.
        file: its path.
        lab: the file of a lab.
        dilate: how many times slower kernels run.

    Raises:
        InputError: the text cannot be read or planned.
    """
    plans: list[Plan] = [make_plan(one) for one in read_scenario(text, file)[:MOST_PLANNED]]
    given = {one.backend: one for one in answers(plans, dilate)}
    given[HOSTS] = NO_LAB if lab is None else _of_lab(plans, lab, dilate)
    return [_offer(given[on]) for on in NAMES]


def _of_lab(plans: list[Plan], lab: Path, dilate: int) -> Answer:
    try:
        found = answer_of_lab(plans, load_inventory(lab), dilate)
    except InputError as error:
        found = Answer(HOSTS, False, tuple(str(error).splitlines()))
    return replace(found, reasons=tuple(one.replace(str(lab), lab.name) for one in found.reasons))


def _offer(one: Answer) -> Offer:
    reasons = list(one.reasons[:MOST_REASONS])
    if len(one.reasons) > MOST_REASONS:
        reasons.append(f"and {len(one.reasons) - MOST_REASONS} more")
    return {
        "on": one.backend,
        "name": NAMES[one.backend],
        "can": one.can,
        "reasons": reasons,
        "remedy": one.remedy,
    }
