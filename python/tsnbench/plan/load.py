"""The load of every port, per traffic class.

Load counts PHY bits: preamble to inter-frame gap, as a link's rate does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from tsnbench.plan.frames import R_TAG, sizes, tag_octets
from tsnbench.plan.sizes import PHY_OVERHEAD
from tsnbench.plan.streams.regeneration import priorities_of

if TYPE_CHECKING:
    from tsnbench.plan.types import Cbs, Pattern, PlanDocument, Size


@dataclass
class ClassLoad:
    """The load of one traffic class of a port; saturating flows use the rest and have no rate."""

    flows: list[tuple[str, Fraction]] = field(default_factory=list)
    """(flow, bit/s)."""
    saturating: list[str] = field(default_factory=list)

    @property
    def rate_bps(self) -> Fraction:
        """The sum over the flows that have a rate."""
        return sum_of([rate for _, rate in self.flows])

    @property
    def idle(self) -> bool:
        """Whether no flow uses the class."""
        return not self.flows and not self.saturating


def flow_rate(pattern: Pattern, size: Size, tag: int = 0) -> Fraction | None:
    """The PHY bit/s of a flow, with ``tag`` octets added per frame; None for a saturating flow."""
    if pattern["kind"] == "saturating":
        return None
    if pattern["kind"] == "periodic" and size["kind"] == "frame":
        return _one_frame(pattern["period_ns"], size["octets"] + tag)
    units = sizes(size)
    bits = units.phy_bits + 8 * tag * units.frames
    if pattern["kind"] == "periodic":
        return Fraction(bits * 10**9, pattern["period_ns"])
    if pattern["kind"] == "token-bucket":
        return Fraction(pattern["rate_bps"]) * bits / units.phy_bits
    if pattern["kind"] == "trace":
        return Fraction(bits * len(pattern["gaps_ns"]) * 10**9, pattern["cycle_ns"])
    return Fraction(bits * 10**12, pattern["mean_interval_ps"])


@lru_cache(maxsize=4096)
def _one_frame(period_ns: int, octets: int) -> Fraction:
    return Fraction(8 * (octets + PHY_OVERHEAD) * 10**9, period_ns)


def sum_of(rates: Sequence[Fraction]) -> Fraction:
    """The sum of rates. Many streams have one rate, which is one object: it is multiplied by their number."""
    if not rates:
        return _NOTHING
    objects = {id(rate): rate for rate in rates}
    numerators: dict[int, int] = {}
    for place, streams in Counter(map(id, rates)).items():
        rate = objects[place]
        numerators[rate.denominator] = numerators.get(rate.denominator, 0) + streams * rate.numerator
    return sum((Fraction(above, below) for below, above in numerators.items()), _NOTHING)


_NOTHING = Fraction(0)


def class_loads(document: PlanDocument) -> list[list[ClassLoad]]:
    """The loads of a Plan's document, by port and traffic class."""
    ports = document["ports"]
    loads = [[ClassLoad() for _ in port["classes"]] for port in ports]
    classes = [port["pcp_to_class"] for port in ports]
    for flow in document["streams"]:
        rate = flow_rate(flow["pattern"], flow["size"])
        if rate is not None and "policing" not in document and "redundancy" not in flow:
            # A short path for almost all flows of large Plans: one priority and one rate at all ports.
            own, pcp = (flow["name"], rate), flow["pcp"]
            for hop in flow["route"]:
                loads[hop["port"]][classes[hop["port"]][pcp]].flows.append(own)
            continue
        tagged = flow_rate(flow["pattern"], flow["size"], R_TAG) if "redundancy" in flow else rate
        pcps = priorities_of(document, flow)
        for place, hop in enumerate(flow["route"]):
            load = loads[hop["port"]][ports[hop["port"]]["pcp_to_class"][pcps[place]]]
            if rate is None:
                load.saturating.append(flow["name"])
            else:
                asked = tagged if tag_octets(flow, place) else rate
                load.flows.append((flow["name"], asked or rate))
    return loads


def total(loads: Sequence[ClassLoad]) -> Fraction:
    """The load of a port in bit/s, over all classes."""
    return sum_of([rate for load in loads for _, rate in load.flows])


def passed(cbs: Cbs, rate: int) -> Fraction:
    """What a class may send in the long run while its gate is open, in bit/s, at a port of this rate.

    Args:
        cbs: the shaper; a send slope that the scenario gives makes this more or less than the idle slope.
        rate: the port's rate in bit/s.
    """
    idle = cbs["idle_slope_bps"]
    if "send_slope_bps" not in cbs.get("follows", {}):
        return Fraction(idle)
    return Fraction(idle * rate, idle - cbs["send_slope_bps"])
