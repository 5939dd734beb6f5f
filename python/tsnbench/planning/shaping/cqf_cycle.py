"""The cycle of cyclic queues from their streams' needs: the shortest one that contains the worst load.

IEEE 802.1Q-2022, annex T. A longer cycle means longer delays: at each hop a frame waits for one cycle and the
next.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

from tsnbench import quantities
from tsnbench.planning.draft import Draft, Flow, Port
from tsnbench.planning.windows.demand import gap_ps, wire
from tsnbench.scenario import model

STEPS = (1, 2, 4, 5, 8, 10, 16, 20, 25, 32, 40, 50, 64, 80, 100)


@dataclass(frozen=True)
class _Load:
    """The load of one port's cyclic queues: (ps on the wire, period and jitter in ns)."""

    port: Port
    flows: tuple[tuple[int, int, int], ...]
    lower: int
    """ps of the longest frame of other classes."""
    beside: tuple[tuple[int, int, int], ...]
    """Flows of classes above the cyclic queues, with the same three numbers as ``flows``."""

    def needs(self, cycle: int) -> int:
        """The part of a cycle of ``cycle`` ns that the worst load needs, ps."""
        every = (*self.flows, *self.beside)
        # After a hop, a cycle contains the frames received in one: a release that is late by its jitter and
        # the next one.
        return self.lower + sum(whole * -(-(cycle + jitter) // period) for whole, period, jitter in every)


def choose_cycle(draft: Draft, cyclic: list[Port]) -> None:
    """Fills in the cycle of ports that leave it to the planner."""
    planned = [port for port in cyclic if port.shaper.cqf is not None and not port.shaper.cqf.cycle]
    if not planned:
        return
    given = {port.shaper.cqf.cycle for port in cyclic if port.shaper.cqf and port.shaper.cqf.cycle}
    loads = _loads(draft, cyclic)
    if draft.problems:
        return
    periods = [period for load in loads for _, period, _ in load.flows]
    if not periods:
        draft.problem(
            _path(planned[0]), "streams from which the cycle can be chosen", "none", "write cycle: 125 us"
        )
        return
    low = gcd(*periods)
    found = {low // step for step in STEPS if low % step == 0} | {low * step for step in STEPS}
    cycles = sorted(given) if given else sorted(cycle for cycle in found if cycle <= 4 * max(periods))
    fitting = [cycle for cycle in cycles if cycle and all(_holds(draft, load, cycle) for load in loads)]
    if not fitting:
        _too_full(draft, loads, cycles[-1])
        return
    if not given:
        _check(draft, loads, fitting[0])
    for port in planned:
        cqf = port.shaper.cqf
        assert cqf is not None
        port.shaper = port.shaper.model_copy(update={"cqf": cqf.model_copy(update={"cycle": fitting[0]})})


def _path(port: Port) -> str:
    return f"shapers.{port.name}.cqf.cycle"


def _loads(draft: Draft, cyclic: list[Port]) -> list[_Load]:
    loads = []
    numbers = {port.number for port in cyclic}
    for port in cyclic:
        cqf = port.shaper.cqf
        assert cqf is not None
        flows: list[tuple[int, int, int]] = []
        beside: list[tuple[int, int, int]] = []
        lower = 0
        for flow, tagged in draft.flows_through()[port.number]:
            pcp, times = draft.priority(flow, port), wire(flow, port, tagged)
            pattern = flow.stream.pattern
            if pcp in cqf.pcps or port.pcp_to_class[pcp] > min(cqf.classes):
                own = flows if pcp in cqf.pcps else beside
                if isinstance(pattern, model.Periodic):
                    own.append(
                        (times.whole, pattern.period, pattern.jitter + _spread(draft, flow, port, numbers))
                    )
                elif flow.number == 0:
                    draft.problem(
                        f"streams.{flow.group}",
                        f"periodic streams in cyclic queues of {port.name} and above, to plan the cycle",
                        f"a {pattern.kind} one",
                        "write the cycle, or give it another PCP",
                    )
            else:
                lower = max(lower, times.frame + gap_ps(port))
        if flows:
            loads.append(_Load(port, tuple(flows), lower, tuple(beside)))
    return loads


def _spread(draft: Draft, flow: Flow, port: Port, cyclic: set[int]) -> int:
    """The greatest spread of frames before the first cyclic port, ns: one lower frame, and all others
    once."""
    at = next(hop.parent for hop in flow.route if hop.port == port.number)
    spread = 0
    while at is not None:
        before = draft.ports[flow.route[at].port]
        if before.number in cyclic:
            return 0
        crossing = [wire(other, before, tagged) for other, tagged in draft.flows_through()[before.number]]
        spread += sum(times.whole for times in crossing) + max(times.frame for times in crossing)
        at = flow.route[at].parent
    return -(-spread // 1_000)


def _pause(draft: Draft, port: Port, cycle: int) -> int:
    """The pause of :func:`tsnbench.planning.shaping.cqf` at the end of each cycle, ns."""
    cqf = port.shaper.cqf
    assert cqf is not None
    if not leads_to_cycles(draft, port):
        return 0
    delay = -(-port.propagation_ps // 1_000) + draft.nodes[port.to].longest_processing_ns + 1
    return max(0, delay - min(-(-delay // cycle), len(cqf.classes) - 2) * cycle)


def leads_to_cycles(draft: Draft, port: Port) -> bool:
    """Whether frames may go on by another cyclic port; after the last one, cycles need not be kept apart."""
    return any(
        other.shaper.cqf is not None and other.node == port.to and other.to != port.node
        for other in draft.ports
    )


def _holds(draft: Draft, load: _Load, cycle: int) -> bool:
    return load.needs(cycle) <= (cycle - _pause(draft, load.port, cycle)) * 1_000


def _too_full(draft: Draft, loads: list[_Load], cycle: int) -> None:
    load = max(loads, key=lambda each: each.needs(cycle))
    needs = quantities.time(-(-load.needs(cycle) // 1_000))
    draft.problem(
        _path(load.port),
        f"a cycle that holds the worst load of {load.port.name}",
        f"{needs} of frames in {quantities.time(cycle)}, the longest that was tried",
        "fewer or smaller frames, longer periods, or a faster link",
    )


def _check(draft: Draft, loads: list[_Load], cycle: int) -> None:
    """Checks that the shortest cycle is short enough."""
    cyclic = {load.port.number: load.port for load in loads}
    for flow in draft.flows:
        limit = flow.stream.requires.least_delay
        if flow.number or limit is None:
            continue
        for end in flow.ends:
            most, hops = _most(draft, flow, end, cyclic, cycle)
            if hops and most > limit * 1_000:
                key = "delay" if limit == flow.stream.requires.delay else "delay from release"
                draft.problem(
                    f"streams.{flow.group}.requires.{key}",
                    f"a delay of {hops} cyclic hop{'s' * (hops > 1)}, "
                    f"up to {quantities.time(-(-most // 1_000))}",
                    f"{quantities.time(limit)}, and no cycle shorter than "
                    f"{quantities.time(cycle)} holds the load",
                    "fewer hops, smaller frames, or a faster link",
                )


def _most(draft: Draft, flow: Flow, end: int, cyclic: dict[int, Port], cycle: int) -> tuple[int, int]:
    """Greatest delay from the talker's first bit to the listener's last one, ps, and the number of cyclic
    hops."""
    most, hops = 0, 0
    at: int | None = end
    while at is not None:
        hop = flow.route[at]
        port = draft.ports[hop.port]
        most += port.propagation_ps + draft.nodes[port.node].longest_processing_ns * 1_000 * (
            hop.parent is not None
        )
        if port.number in cyclic:
            # Two cycles for the first hop, one more for each further one, and the additional cycles of slow
            # links.
            later = draft.nodes[port.to].longest_processing_ns + -(-port.propagation_ps // 1_000)
            most += (2 if not hops else 1) * cycle * 1_000 + later // cycle * cycle * 1_000
            hops += 1
        else:
            most += wire(flow, port, flow.copy(at) > 0).frame
        at = hop.parent
    return most, hops
