"""Which traffic classes of a port are express.

IEEE 802.1Q-2022, 6.7.2; IEEE 802.3-2022, clause 99.
"""

from __future__ import annotations

from tsnbench.planning.draft import Draft, Port


def set_express(draft: Draft) -> None:
    """Fills ``express`` of the ports with pre-emption; a class is express or preemptable as a whole."""
    for port in draft.ports:
        if port.shaper.preemption is not None:
            _set_port(draft, port, set(port.shaper.preemption.express))


def _set_port(draft: Draft, port: Port, express: set[int]) -> None:
    path = f"shapers.{port.name}.preemption"
    port.express = sum({1 << port.pcp_to_class[pcp] for pcp in express})
    for traffic_class in range(port.classes):
        if not port.express >> traffic_class & 1:
            if traffic_class in port.cbs:
                draft.problem(
                    path,
                    "an express class where there is a credit-based shaper",
                    f"preemptable class {traffic_class} with a shaper",
                    "credit of a frame in parts is not modelled; make the class express",
                )
            continue
        pcps = [pcp for pcp in range(8) if port.pcp_to_class[pcp] == traffic_class]
        if not express.issuperset(pcps):
            draft.problem(
                f"{path}.express",
                "all PCPs of a class, or none",
                f"{', '.join(str(pcp) for pcp in pcps if pcp in express)} of class {traffic_class}",
                f"its PCPs are {', '.join(map(str, pcps))}: give them classes of their own, or name all",
            )
