"""Known differences between a kernel and the simulator: reasons for a quantity beyond its tolerance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tsnbench.compare.runs import Side

RING = (
    "known difference, beyond the tolerance: each queue of a guest's port holds one frame more than in the "
    "Plan, in the ring of its card"
)
SOFTWARE_GATES = (
    "known difference, beyond the tolerance: gates of taprio in software open some 4 us late, and a frame in "
    "the ring of the card is still sent when its gate has closed"
)


def known(pair: Sequence[Side], ports: Sequence[int], quantity: str, loses: bool) -> Iterator[str]:
    """Why a quantity of a stream may differ, if one run is a guest's and the other one is simulated.

    Args:
        pair: both runs.
        ports: the ports that the stream's frames leave, on all of its paths.
        quantity: ``lost``, ``delay p99``, …
        loses: whether the stream lost frames in either run. Otherwise, no queue was full for it.
    """
    if {side.backend for side in pair} != {"vm", "simulation"}:
        return
    if loses and not quantity.startswith("interval"):
        yield RING
    plan = next((side.plan for side in pair if side.plan is not None), None)
    if plan is not None and any("taprio" in plan["ports"][port].get("qdisc", {}) for port in ports):
        yield SOFTWARE_GATES
