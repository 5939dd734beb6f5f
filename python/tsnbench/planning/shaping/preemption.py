"""Which traffic classes of a port are express.

IEEE 802.1Q-2022, 6.7.2; IEEE 802.3-2022, clause 99.
"""

from __future__ import annotations

from tsnbench.planning.draft import Draft, Port

UNCUTTABLE = 123
"""Octets of the longest frame that cannot be cut. OCORA 3.2.2."""
PHY = 20
"""Octets around a frame: preamble, delimiter and inter-frame gap."""
SMALLEST_PART, PART_OVERHEAD = 60, 24
"""Octets of a frame in its smallest fragment, and the overhead of each further fragment: preamble, mCRC and
gap."""


def set_express(draft: Draft) -> None:
    """Fills ``express`` of the ports with pre-emption, and their hold and release advances.

    A class is express or preemptable as a whole.
    """
    for port in draft.ports:
        own = port.shaper.preemption
        if own is None:
            continue
        _set_port(draft, port, set(own.express))
        port.hold_advance_ns = own.hold_advance or 0
        port.release_advance_ns = own.release_advance
        lists = [port.gates, *(gates for _, gates, _ in port.gate_changes)]
        if own.hold_advance is None and any(gates and "hold" in gates.macs for gates in lists):
            # A frame that a hold finds on the wire has left by then, with the gap after it.
            port.hold_advance_ns = -(-(UNCUTTABLE + PHY) * 8 * 10**9 // port.rate_bps)


def parts_overhead(phy_octets: int) -> int:
    """Greatest number of additional octets of a frame that is interrupted wherever it can be."""
    return max(0, phy_octets - PHY - 64) // SMALLEST_PART * PART_OVERHEAD


def _set_port(draft: Draft, port: Port, express: set[int]) -> None:
    path = f"shapers.{port.name}.preemption"
    port.express = sum({1 << port.pcp_to_class[pcp] for pcp in express})
    for traffic_class in range(port.classes):
        if not port.express >> traffic_class & 1:
            continue
        pcps = [pcp for pcp in range(8) if port.pcp_to_class[pcp] == traffic_class]
        if not express.issuperset(pcps):
            draft.problem(
                f"{path}.express",
                "all PCPs of a class, or none",
                f"{', '.join(str(pcp) for pcp in pcps if pcp in express)} of class {traffic_class}",
                f"its PCPs are {', '.join(map(str, pcps))}: give them classes of their own, or name all",
            )
