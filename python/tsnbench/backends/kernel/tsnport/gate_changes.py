"""Gate control lists that replace others during a run, and when the guest's device put them into force.

IEEE 802.1Q-2022, 8.6.9.1: a list comes into force at its base time; if that is past, with its next cycle.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tsnbench.backends.kernel.device import Step
from tsnbench.backends.kernel.shell import after_epoch
from tsnbench.errors import BackendError
from tsnbench.linux import qdiscs
from tsnbench.quantities import exact

if TYPE_CHECKING:
    from tsnbench.foreign import Json
    from tsnbench.linux.profile import Profile
    from tsnbench.plan.types import GateChange, PlanDocument, Port


def changing(plan: PlanDocument) -> Iterator[int]:
    """Ports with more than one gate control list."""
    for number, port in enumerate(plan["ports"]):
        if (gates := port.get("gates")) and (gates.get("changes") or gates.get("initial") is not None):
            yield number


def requested(plan: PlanDocument, port: Port) -> list[GateChange]:
    """The changes of a port that come into force within the run."""
    gates = port.get("gates")
    end = plan["duration_ns"] + plan["drain_ns"]
    return [change for change in gates.get("changes", ()) if change["at_ns"] < end] if gates else []


def steps(plan: PlanDocument, how: Profile) -> dict[int, list[Step]]:
    """By node, the lines that request later gate control lists."""
    found: dict[int, list[Step]] = {}
    for number in changing(plan):
        port = plan["ports"][number]
        for change in requested(plan, port):
            line = qdiscs.root(port, how, change).line(f"p{number}", after_epoch)
            found.setdefault(port["node"], []).append(Step(change["at_ns"], line))
    return {node: sorted(own, key=lambda step: step.at_ns) for node, own in sorted(found.items())}


def in_force_ns(change: GateChange) -> int:
    """``ConfigChangeTime`` of a change."""
    base, at = change["base_time_ns"], change["at_ns"]
    return base if base >= at else at + (base - at) % change["cycle_ns"]


def counted(plan: PlanDocument, number: int, reported: str, epoch_ns: int, dilation: int) -> Json:
    """The counters in the simulator's form; the Plan is in its own time.

    Raises:
        BackendError: a list came into force at another moment than the Plan's.
    """
    port = plan["ports"][number]
    gates = port["gates"]
    rows = [tuple(map(int, line.split())) for line in reported.splitlines()]
    late = gates.get("initial") is not None
    found: list[Json] = [{"from_ns": None, "schedule": "initial" if late else "list", "list": None}]
    if late:
        found.append({"from_ns": gates["base_time_ns"], "schedule": "list", "list": 0})
    else:
        found[0]["list"] = 0
    due = [in_force_ns(change) for change in requested(plan, port)]
    first = [gates["base_time_ns"]] if late else []
    # The begin of the first list is known only if other gates were in force before its base time.
    there = [start - epoch_ns for _, start, _ in (rows if late else rows[1:])]
    for place, at in enumerate([*first, *due]):
        if place >= len(there) or there[place] != at * dilation:
            what = f"at {exact(there[place] / dilation)}" if place < len(there) else "never"
            raise BackendError(
                f"port {port['name']}: a gate control list came into force {what}, not at {exact(at)}\n"
                "hint: it was requested too late: request it earlier, or stretch time with --dilate 10"
            )
    for place, at in enumerate(due):
        # A list whose successor begins at the same time is never in force.
        while found and found[-1]["from_ns"] is not None and found[-1]["from_ns"] >= at:
            found.pop()
        found.append({"from_ns": at, "schedule": "list", "list": place + 1})
    end = plan["duration_ns"] + plan["drain_ns"]
    found = [one for one in found if one["from_ns"] is None or one["from_ns"] <= end]
    return {"config_change_errors": sum(row[2] for row in rows), "in_force": found}
