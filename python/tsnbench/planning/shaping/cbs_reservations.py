"""Credit-based shapers of every port, from the streams that cross it or from a given bandwidth.

IEEE 802.1Q-2022, 8.6.8.2; EnGINE eq. 2-6.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import ceil, floor

from tsnbench import quantities
from tsnbench.plan.frames import R_TAG, sizes
from tsnbench.plan.load import flow_rate
from tsnbench.planning.draft import Draft, Flow, Gates, Port
from tsnbench.planning.shaping import cbs
from tsnbench.planning.shaping.gate_remedies import longer
from tsnbench.planning.shaping.preemption import parts_overhead
from tsnbench.planning.topology.devices import device_of
from tsnbench.scenario import model

Crossing = tuple[Flow, bool]
"""A flow, and whether it carries an R-TAG here."""
Shapers = dict[int, cbs.CreditBasedShaper]
"""By traffic class."""


def reserve(draft: Draft) -> None:
    """Fills ``cbs`` and ``gated_cbs``; a class with neither stream nor bandwidth gets no shaper there."""
    if not any(port.shaper.cbs for port in draft.ports):
        return
    for port, flows in zip(draft.ports, draft.flows_through(), strict=True):
        if port.shaper.cbs:
            _reserve_port(draft, port, flows)


def _reserve_port(draft: Draft, port: Port, flows: list[Crossing]) -> None:
    path = f"shapers.{port.name}.cbs"
    reserved: dict[int, cbs.SrClass] = {}
    for part in port.shaper.cbs or ():
        traffic_class = port.pcp_to_class[part.pcp]
        if traffic_class in reserved:
            hint = "give their priorities two classes, or write one of them here"
            draft.problem(path, "one shaper per traffic class", f"two for class {traffic_class}", hint)
            return
        own = [each for each in flows if port.pcp_to_class[draft.priority(each[0], port)] == traffic_class]
        wanted = Fraction(part.bandwidth) if part.bandwidth is not None else _rate(own)
        if not wanted:
            continue
        bandwidth = _held(draft, port, wanted)
        if part.bandwidth is not None and bandwidth != wanted:
            found = f"{quantities.rate(wanted)} for class {traffic_class}"
            draft.problem(path, _steps(draft, port), found, f"write {quantities.rate(bandwidth)}")
            return
        rate = min(port.rate_bps, port.planned_bps)
        if bandwidth >= rate:
            found = f"{quantities.rate(bandwidth)} for class {traffic_class}"
            hint = "a class cannot reserve the whole link rate: reserve less"
            if part.bandwidth is None:
                found += f", the rate of {quantities.some(_by_rate(own), 3)}"
                hint = "a class cannot reserve the whole link rate: send less"
            draft.problem(path, f"a reservation below the port's {quantities.rate(rate)}", found, hint)
            return
        most = part.most_frame or max((_largest(each) for each in own), default=cbs.LARGEST_FRAME)
        given = cbs.Given(part.send_slope, part.hi_credit, part.lo_credit)
        reserved[traffic_class] = cbs.SrClass(bandwidth, most, given)
    # Frames of classes without a shaper can delay every SR class, jumbo frames too.
    others = (
        _largest(each) for each in flows if port.pcp_to_class[draft.priority(each[0], port)] not in reserved
    )
    most_other = max((cbs.LARGEST_FRAME, *others))
    port.cbs = port.gated_cbs = _shapers(port, reserved, most_other)
    written = port.shaper.gates
    if port.gates is None or (isinstance(written, model.Gates) and written.credit_runs):
        return
    first = _gated(draft, port, port.gates, reserved, most_other)
    if first is None:
        return
    every = [first]
    for _, gates, slopes in port.gate_changes:
        gated = _gated(draft, port, gates, reserved, most_other)
        if gated is None:
            return
        for number, shaper in gated.items():
            if shaper.standard().idle_slope != first[number].standard().idle_slope:
                slopes[number] = shaper.standard().idle_slope
        every.append(gated)
    # Limits of credit that the slopes of no list exceed.
    port.gated_cbs = {
        number: replace(
            shaper,
            hi_credit=max(one[number].hi_credit for one in every),
            lo_credit=min(one[number].lo_credit for one in every),
        )
        for number, shaper in first.items()
    }


def _held(draft: Draft, port: Port, bandwidth: Fraction | int) -> Fraction | int:
    """The next idle slope that the hardware of a port can hold."""
    device = device_of(draft, port)
    tick = 0 if device is None else device.cbs.tick_bps(port.rate_bps)
    return ceil(bandwidth / tick) * tick if tick else bandwidth


def _steps(draft: Draft, port: Port) -> str:
    device = device_of(draft, port)
    assert device is not None
    tick = quantities.rate(device.cbs.tick_bps(port.rate_bps))
    return f"a reservation in steps of {tick}, as {device.name} has"


def _shapers(port: Port, classes: dict[int, cbs.SrClass], most_other: int) -> Shapers:
    """The shapers of a port's SR classes; a higher class interferes with those below it."""
    order = sorted(classes, reverse=True)
    shapers = cbs.credit_based_shapers([classes[number] for number in order], port.planned_bps, most_other)
    return _in_parts(port, dict(zip(order, shapers, strict=True)))


def _in_parts(port: Port, shapers: Shapers) -> Shapers:
    """A preemptable frame that is cut has more overhead, so credit may fall lower."""
    if port.express is None:
        return shapers
    made = dict(shapers)
    for number, shaper in shapers.items():
        if not port.express >> number & 1:
            extra = parts_overhead(shaper.most_frame) * 8 * shaper.send_slope / shaper.rate
            made[number] = replace(shaper, lo_credit=shaper.lo_credit + extra)
    return made


def _gated(
    draft: Draft, port: Port, gates: Gates, reserved: dict[int, cbs.SrClass], most_other: int
) -> Shapers | None:
    """The shapers with the slopes that a list requires; None if the list leaves too little."""
    gated = {number: _while_open(gates, number, own) for number, own in reserved.items()}
    rate = min(port.rate_bps, port.planned_bps)
    for number, sr in gated.items():
        if sr.bandwidth >= rate:
            own = reserved[number]
            # Its part of the cycle; in every window its last frame may not fit, and another one may
            # interfere.
            lost = Fraction((own.most_frame + most_other) * 8 * 10**9, rate)
            needs = Fraction(own.bandwidth) * gates.cycle_ns / rate + lost * _openings(gates, number)
            cure = longer(port, number, gates.longest_ns(number) + ceil(needs) - gates.open_ns(number))
            least, cycle = quantities.time(needs), quantities.time(gates.cycle_ns)
            expected = f"class {number} open for at least {least} of {cycle}, "
            expected += f"for its reservation of {quantities.rate(own.bandwidth)}"
            left = Fraction(own.bandwidth) * rate / Fraction(sr.bandwidth)
            found = f"{quantities.time(gates.open_ns(number))}, which leave {quantities.rate(left)}"
            draft.problem(cure.path, expected, found, cure.hint)
            return None
        slope = sr.given.send_slope
        if slope is not None and slope >= 0:
            more = quantities.rate(Fraction(sr.bandwidth) - reserved[number].bandwidth)
            expected = f"a send slope below -{more}, by which gates raise the idle slope of class {number}"
            found = f"-{quantities.rate(-(reserved[number].given.send_slope or 0))}"
            draft.problem(f"shapers.{port.name}.cbs", expected, found, "leave send-slope out")
            return None
    return _shapers(port, gated, most_other)


def _while_open(gates: Gates, traffic_class: int, sr: cbs.SrClass) -> cbs.SrClass:
    """A shaper with the bandwidth of ``sr``, whose credit grows only while the gate is open.

    IEEE 802.1Q-2022, 8.6.8.2: ``operIdleSlope`` is ``adminIdleSlope`` times cycle over open time. The send
    slope moves with it, also one that is given.
    """
    open_ns = gates.open_ns(traffic_class)
    if not open_ns:
        # No frame passes anyway; there is a warning about a gate that never opens.
        return sr
    # The bandwidth is in whole bit/s, so that the guaranteed one is not less after all rounding.
    slope = Fraction(ceil(sr.bandwidth)) * gates.cycle_ns / open_ns
    given = sr.given
    if given.send_slope is not None:
        given = given._replace(send_slope=floor(given.send_slope + slope - sr.bandwidth))
    return replace(sr, bandwidth=slope, given=given)


def _openings(gates: Gates, traffic_class: int) -> int:
    """Number of entries that open a class."""
    return sum(1 for mask, _ in gates.entries if mask >> traffic_class & 1)


def _rate(flows: list[Crossing]) -> Fraction | int:
    rates = (flow_rate(flow.pattern, flow.size, R_TAG if tagged else 0) for flow, tagged in flows)
    return sum(rate for rate in rates if rate is not None)


def _by_rate(flows: list[Crossing]) -> list[str]:
    """The streams of these flows, the one with the greatest rate first."""
    rates: dict[str, Fraction | int] = {}
    for flow, tagged in flows:
        rate = flow_rate(flow.pattern, flow.size, R_TAG if tagged else 0) or 0
        rates[flow.group] = rates.get(flow.group, 0) + rate
    return sorted(rates, key=lambda name: -rates[name])


def _largest(crossing: Crossing) -> int:
    flow, tagged = crossing
    return sizes(flow.size).largest_phy + (R_TAG if tagged else 0)
