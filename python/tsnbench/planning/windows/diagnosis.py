"""Why windows cannot be planned: sentences with numbers, and hints."""

from __future__ import annotations

from collections.abc import Set
from fractions import Fraction

from tsnbench import quantities
from tsnbench.plan.delay import BEFORE_STAMP, transmission_ps
from tsnbench.plan.frames import data_units, sizes
from tsnbench.plan.load import flow_rate
from tsnbench.plan.streams import ptp_traffic
from tsnbench.planning.draft import Draft, Flow, Port
from tsnbench.planning.errors import PlanningProblem
from tsnbench.planning.windows.demand import gap_ps, wire
from tsnbench.planning.windows.gate_list import spans_of_rest
from tsnbench.planning.windows.propagation import FlowDelays, Outcome, ports_of
from tsnbench.scenario import model

Violation = PlanningProblem
"""A requirement that windows for one cycle do not meet."""


def needs_window(flow: Flow) -> bool:
    """Whether a flow has a requirement that needs a window."""
    requires = flow.stream.requires
    return requires.least_delay is not None or bool(requires.percentiles) or bool(requires.jitter)


def report_violations(draft: Draft, wrong: list[Violation], outcome: Outcome) -> None:
    """Reports them as mistakes of the scenario."""
    for one in dict.fromkeys(wrong):
        draft.problem(
            one.path, one.expected, f"{one.found}, with a cycle of {_ns(outcome.cycle_ns)}", one.hint
        )


def report_too_full(draft: Draft, port: Port, classes: Set[int]) -> None:
    """Reports classes with windows that need more than a port has, whatever the cycle."""
    asked = Fraction(0)
    for flow, tagged in draft.flows_through()[port.number]:
        pattern = flow.stream.pattern
        own = port.pcp_to_class[draft.priority(flow, port)]
        if own in classes and isinstance(pattern, model.Periodic):
            asked += Fraction(wire(flow, port, tagged).whole, pattern.period * 1_000)
    if asked < 1:
        return
    draft.problem(
        f"shapers.{port.name}.gates",
        f"classes with windows that ask for less than all of {port.name}",
        f"{float(asked):.0%} of its time",
        "fewer or smaller frames, longer periods, or a faster link",
    )


def violations(draft: Draft, outcome: Outcome) -> list[Violation]:
    """The violated requirements; empty if all are met."""
    found = [*_full(draft, outcome)]
    if found:
        return found
    for (number, _), delays in outcome.delays.items():
        found += _late(draft.flows[number], delays)
    for number, windows in ports_of(outcome.windows).items():
        found += _rest(draft, outcome, draft.ports[number], set(windows))
    return found


def _full(draft: Draft, outcome: Outcome) -> list[Violation]:
    found = []
    for (number, traffic_class), long in outcome.full.items():
        port = draft.ports[number]
        others = [window for (other, _), window in outcome.windows.items() if other == number]
        taken = sum(window.length for window in others)
        beside = f", of which other classes' windows take {_ps(taken)}" if taken else ""
        found.append(
            Violation(
                f"shapers.{port.name}.gates",
                f"a window for class {traffic_class} at {port.name}",
                f"{_ps(long)} that it needs of {_ns(outcome.cycle_ns)}{beside}",
                "a cycle that is a multiple of the periods, fewer streams, or a faster link",
            )
        )
    return found


def _late(flow: Flow, delays: FlowDelays) -> list[Violation]:
    most = delays.most
    requires, path = flow.stream.requires, f"streams.{flow.group}.requires"
    limits = [
        ("delay", requires.delay, most),
        ("delay from release", requires.release_delay, delays.since_release),
    ]
    limits += [(f"delay p{share / 10_000:g}", at, most) for share, at in requires.percentiles.items()]
    found = []
    if most is None and needs_window(flow):
        return [
            Violation(
                path,
                "windows at all ports on its path, or something else that bounds the wait there",
                "one without",
                "write gates: plan for all ports on its path and on the paths of streams in its class",
            )
        ]
    for name, limit, longest in limits:
        if limit is not None and longest is not None and longest > limit * 1_000:
            small = delays.fastest > limit * 1_000
            hint = (
                f"no window helps: it takes {_ps(delays.fastest)} at least; a faster link or smaller frame"
                if small
                else "a shorter cycle, an offset at the window, or fewer streams in its class"
            )
            found.append(
                Violation(
                    f"{path}.{name}",
                    f"windows that bring it within {_ns(limit)}",
                    f"up to {_ps(longest)}",
                    hint,
                )
            )
    for kind in requires.jitter:
        varies = _apart(flow, delays) if kind.kind == "interval" else delays.varies
        if varies is not None and varies > kind.limit * 1_000:
            hint = "fewer streams in its class, frames of one size, or scheduled: true"
            found.append(
                Violation(
                    f"{path}.jitter",
                    f"windows that keep its jitter within {_ns(kind.limit)}",
                    f"up to {_ps(varies)}",
                    hint,
                )
            )
    return found


def _apart(flow: Flow, delays: FlowDelays) -> int | None:
    """Greatest difference of the gap between two arrivals from the period."""
    pattern = flow.stream.pattern
    if delays.since_due is None or not isinstance(pattern, model.Periodic):
        return None
    least, most = delays.since_due
    # There is no period between two frames of one data unit.
    several = any(len(unit) > 1 for unit in data_units(flow.size))
    return max(most - least, pattern.period * 1_000 if several else 0)


def _rest(draft: Draft, outcome: Outcome, port: Port, classes: Set[int]) -> list[Violation]:
    """Classes without a window that have no room for a frame, or for the messages of PTP."""
    cycle = outcome.cycle_ns * 1_000
    windows = [window for (number, _), window in outcome.windows.items() if number == port.number]
    spans = spans_of_rest(windows, cycle)
    guard = left_to_rest(draft, port, classes) if draft.scenario.windows.guard_band else 0
    longest = max((length for _, length in spans), default=0) - guard
    found: list[Violation] = []
    path = f"shapers.{port.name}.gates"
    hint = "a longer cycle, or fewer streams with windows"
    frames = left_to_rest(draft, port, classes, default=0)
    if frames > longest:
        found.append(
            Violation(
                path,
                f"{_ps(frames)} for a frame of the other classes at {port.name}",
                _ps(max(0, longest)),
                hint,
            )
        )
    clocks = draft.scenario.clocks
    gptp = clocks.gptp if clocks is not None else None
    if gptp is not None and port.pcp_to_class[gptp.pcp] not in classes:
        room = ptp_traffic.together_ps(port.rate_bps)
        if room > longest:
            found.append(
                Violation(path, f"{_ps(room)} for PTP's messages at {port.name}", _ps(max(0, longest)), hint)
            )
    free = sum(max(0, length - guard) for _, length in spans)
    asked = _asked(draft, port, classes)
    if asked * cycle > free * port.rate_bps:
        left = Fraction(free * port.rate_bps, cycle)
        found.append(
            Violation(
                path,
                f"{quantities.rate(asked)} that streams of the other classes at {port.name} require",
                quantities.rate(left),
                hint,
            )
        )
    return found


def _asked(draft: Draft, port: Port, classes: Set[int]) -> Fraction:
    """PHY bit/s that streams without a window require, or send if they require that no frame is lost."""
    asked = Fraction(0)
    for flow, tagged in draft.flows_through()[port.number]:
        if port.pcp_to_class[draft.priority(flow, port)] in classes:
            continue
        requires = flow.stream.requires
        if requires.rate is not None:
            own = sizes(flow.size)
            asked += requires.rate * own.phy_bits / own.frame_bits
        elif requires.loss_ppm is not None:
            asked += flow_rate(flow.pattern, flow.size, 6 if tagged else 0) or Fraction(0)
    return asked


def left_to_rest(draft: Draft, port: Port, classes: Set[int], default: int | None = None) -> int:
    """Time of the longest frame of the other classes; a full frame's time if there is none."""
    own = [
        wire(flow, port, tagged).frame + gap_ps(port)
        for flow, tagged in draft.flows_through()[port.number]
        if port.pcp_to_class[draft.priority(flow, port)] not in classes
    ]
    if own:
        return max(own)
    return transmission_ps(BEFORE_STAMP + 1522 + 12, port.rate_bps) if default is None else default


def _ns(time: int) -> str:
    return quantities.time(time)


def _ps(time: int) -> str:
    return quantities.time(-(-time // 1_000))
