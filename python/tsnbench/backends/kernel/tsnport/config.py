"""The settings of the device for which no standard tool has a command: its links, gates at the start,
captures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tsnbench.backends.kernel.device import Write

if TYPE_CHECKING:
    from tsnbench.plan.types import PlanDocument


def links(plan: PlanDocument) -> list[str]:
    """Lines for the device, one per cable. Each node has one clock for all of its ports."""
    return [
        wire(plan, number, port["peer"])
        for number, port in enumerate(plan["ports"])
        if number <= port["peer"]
    ]


def wire(plan: PlanDocument, *numbers: int) -> str:
    """The cable between two ports."""
    ends = [(plan["ports"][number], number) for number in numbers]
    names = " ".join(f"p{number}@{end['node']}" for end, number in ends)
    return f"{names} " + " ".join(f"{end['rate_bps']} {end['propagation_ps']}" for end, _ in ends)


def control(plan: PlanDocument) -> Iterator[Write]:
    """The writes to the device's files."""
    for number, port in enumerate(plan["ports"]):
        if gates := port.get("gates"):
            if gates.get("unguarded"):
                yield _write(f"p{number}/unguarded", 1)
            if (initial := gates.get("initial")) is not None:
                yield _write(f"p{number}/initial", initial)
    for tap in plan["taps"]:
        if tap["stage"] in ("tx", "rx"):
            # 2: timestamps are read from the node's own clock, as those of a real network card.
            yield _write(f"p{tap['port']}/{tap['stage']}/start", 2 if plan.get("clocks") else 1)


def _write(file: str, value: int) -> Write:
    return Write(str(value), file, file)
