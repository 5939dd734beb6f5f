"""Gate control lists that replace others while a Plan runs, and what the guest's device made of them.

IEEE 802.1Q-2022, 8.6.9.1: a list comes into force at its base time; where that is past, with its next cycle.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tsnbench.errors import BackendError


def changing(plan: dict[str, Any]) -> Iterator[int]:
    """Ports whose gates are not one list for ever."""
    for number, port in enumerate(plan["ports"]):
        gates = port.get("gates") or {}
        if gates.get("changes") or gates.get("initial") is not None:
            yield number


def asked(plan: dict[str, Any], number: int) -> list[dict[str, Any]]:
    """The changes of a port that the run lives to see."""
    gates = plan["ports"][number].get("gates") or {}
    end = plan["duration_ns"] + plan["drain_ns"]
    return [change for change in gates.get("changes", ()) if change["at_ns"] < end]


def in_force_ns(change: dict[str, Any]) -> int:
    """``ConfigChangeTime``."""
    base, at = int(change["base_time_ns"]), int(change["at_ns"])
    return base if base >= at else at + (base - at) % int(change["cycle_ns"])


def counted(plan: dict[str, Any], number: int, said: str, epoch_ns: int, dilate: int) -> dict[str, Any]:
    """As the simulator's counters have it.

    Raises:
        BackendError: a list came into force at another moment than the Plan's.
    """
    port = plan["ports"][number]
    gates = port["gates"]
    rows = [tuple(map(int, line.split())) for line in said.splitlines()]
    late = gates.get("initial") is not None
    found: list[dict[str, Any]] = [{"from_ns": None, "schedule": "initial" if late else "list", "list": None}]
    if late:
        found.append({"from_ns": gates["base_time_ns"], "schedule": "list", "list": 0})
    else:
        found[0]["list"] = 0
    meant = [in_force_ns(change) for change in asked(plan, number)]
    first = [gates["base_time_ns"]] if late else []
    # Of the first one it is known where it is to begin at a moment.
    there = [start - epoch_ns for _, start, _ in (rows if late else rows[1:])]
    for place, at in enumerate([*first, *meant]):
        if place >= len(there) or there[place] != at * dilate:
            what = f"at {there[place] / dilate / 1e6:.6f} ms" if place < len(there) else "never"
            raise BackendError(
                f"port {port['name']}: a gate control list came into force {what}, not at {at / 1e6:.6f} ms\n"
                "hint: it was asked for too late: ask earlier, or stretch time with --dilate 10"
            )
    for place, at in enumerate(meant):
        # What would begin when the next one begins, too, never is in force.
        while found and found[-1]["from_ns"] is not None and found[-1]["from_ns"] >= at:
            found.pop()
        found.append({"from_ns": at, "schedule": "list", "list": place + 1})
    end = plan["duration_ns"] + plan["drain_ns"]
    found = [one for one in found if one["from_ns"] is None or one["from_ns"] <= end]
    return {"config_change_errors": sum(row[2] for row in rows), "in_force": found}
