"""The bandwidth that planned gates leave to unscheduled streams.

It is the sum of the gaps between windows without the loss before each window, where a frame that does not fit
must wait. IEEE 802.1Q-2022, 8.6.8.4.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction

from tsnbench.plan.frames import sizes
from tsnbench.plan.sizes import PHY_OVERHEAD
from tsnbench.planning.draft import Draft, Flow, Gates, Port
from tsnbench.quantities import rate, share

LARGEST = 1522 + PHY_OVERHEAD
"""The largest frame of others if the scenario has none."""


@dataclass(frozen=True)
class Shortfall:
    """A port whose planned gates leave less to others than the scenario reserves, in words."""

    expected: str
    found: str


HINT = (
    "fewer scheduled streams, smaller frames of others or a faster link leave more, and so may "
    "objective: most-bandwidth-left"
)
"""The hint for a shortfall."""


def shortfalls(draft: Draft) -> list[Shortfall]:
    """Every port whose planned gates leave too little, in the order of ports."""
    wanted = draft.scenario.schedule
    if wanted.keep_ppm is None and not wanted.keep_rates:
        return []
    found = []
    crossing: dict[int, list[tuple[Flow, int]]] = defaultdict(list)
    for flow in draft.flows:
        for hop, pcp in zip(flow.route, draft.priorities(flow), strict=True):
            crossing[hop.port].append((flow, pcp))
    for number, through in sorted(crossing.items()):
        port = draft.ports[number]
        if port.gates is None:
            # No scheduled stream.
            continue
        scheduled = {port.pcp_to_class[pcp] for flow, pcp in through if flow.stream.scheduled}
        others = [(flow, pcp) for flow, pcp in through if not flow.stream.scheduled]
        pcps = {pcp for _, pcp in others}
        least = Fraction(port.rate_bps * (wanted.keep_ppm or 0), 10**6)
        least = max(least, Fraction(sum(bps for pcp, bps in wanted.keep_rates.items() if pcp in pcps)))
        largest = max((sizes(flow.size).largest_phy for flow, _ in others), default=LARGEST)
        left, windows = left_to_others(port, port.gates, scheduled, largest)
        if left < least:
            beside = "1 window" if windows == 1 else f"{windows} windows"
            kept = f"{rate(least)} left to others at {port.name}"
            found.append(
                Shortfall(kept, f"{rate(left)} ({share(left, port.rate_bps)}) beside {beside} a cycle")
            )
    return found


def left_to_others(
    port: Port, gates: Gates, scheduled: Collection[int], largest: int
) -> tuple[Fraction, int]:
    """The guaranteed bit/s of others, and the number of windows between which they pass.

    Args:
        scheduled: the traffic classes of the windows.
        largest: octets of the others' largest frame on the wire, which is the greatest loss before a window.
    """
    windows = sum(1 << traffic for traffic in scheduled)
    gaps: list[int] = []
    begins = 0
    shut = bool(gates.entries[-1][0] & windows or not gates.entries[-1][0])
    for mask, interval in gates.entries:
        # A state with all gates closed is the guard before a window.
        closed = bool(mask & windows) or not mask
        begins += closed and not shut
        if not closed:
            gaps.append(interval)
        shut = closed
    if not gaps:
        return Fraction(0), 1
    lost = Fraction(largest * 8 * 10**9, port.rate_bps)
    used = sum((max(Fraction(0), gap - lost) for gap in gaps), Fraction(0))
    return port.rate_bps * used / gates.cycle_ns, begins
