"""The cycle of cyclic queues from their streams' needs: the shortest one that contains the worst load.

IEEE 802.1Q-2022, annex T. A longer cycle means longer delays: at each hop a frame waits for one cycle and the
next.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

from tsnbench import quantities
from tsnbench.planning.draft import Draft, Flow, Port
from tsnbench.planning.routing.hops_before import ancestors, parents
from tsnbench.planning.windows.demand import gap_ps, wire
from tsnbench.scenario import model

STEPS = (1, 2, 4, 5, 8, 10, 16, 20, 25, 32, 40, 50, 64, 80, 100)


@dataclass(frozen=True)
class _Releases:
    """A flow of a port: ps on the wire, and ns."""

    whole: int
    period: int
    jitter: int
    gaps: int
    """How often it left cyclic queues for a port without them: by up to two cycles sooner or later."""

    def most(self, cycle: int) -> int:
        """The greatest number of its frames that come in one cycle."""
        return -(-((1 + 2 * self.gaps) * cycle + self.jitter) // self.period)


@dataclass(frozen=True)
class _Load:
    """The load of one port's cyclic queues."""

    port: Port
    flows: tuple[_Releases, ...]
    lower: int
    """ps of the longest frame of other classes."""
    beside: tuple[_Releases, ...]
    """Flows of classes above the cyclic queues."""

    def needs(self, cycle: int) -> int:
        """The part of a cycle of ``cycle`` ns that the worst load needs, ps."""
        every = (*self.flows, *self.beside)
        # After a hop, a cycle contains the frames received in one: a release that is late by its jitter and
        # the next one.
        return self.lower + sum(own.whole * own.most(cycle) for own in every)


def choose_cycle(draft: Draft, cyclic: list[Port]) -> None:
    """Fills in the cycle of ports that leave it to the planner."""
    planned = [port for port in cyclic if port.shaper.cqf is not None and not port.shaper.cqf.cycle]
    if not planned:
        return
    given = {port.shaper.cqf.cycle for port in cyclic if port.shaper.cqf and port.shaper.cqf.cycle}
    loads = _loads(draft, cyclic)
    if draft.problems:
        return
    periods = [own.period for load in loads for own in load.flows]
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
        _check(draft, fitting[0])
    for port in planned:
        cqf = port.shaper.cqf
        assert cqf is not None
        port.shaper = port.shaper.model_copy(update={"cqf": cqf.model_copy(update={"cycle": fitting[0]})})


def _path(port: Port) -> str:
    return f"shapers.{port.name}.cqf.cycle"


def _loads(draft: Draft, cyclic: list[Port]) -> list[_Load]:
    loads = []
    for port in cyclic:
        cqf = port.shaper.cqf
        assert cqf is not None
        flows: list[_Releases] = []
        beside: list[_Releases] = []
        lower = 0
        for flow, tagged in draft.flows_through()[port.number]:
            pcp, times = draft.priority(flow, port), wire(flow, port, tagged)
            pattern = flow.stream.pattern
            if pcp in cqf.pcps or port.pcp_to_class[pcp] > min(cqf.classes):
                own = flows if pcp in cqf.pcps else beside
                if isinstance(pattern, model.Periodic):
                    gaps, spread = _spread(draft, flow, port)
                    own.append(_Releases(times.whole, pattern.period, pattern.jitter + spread, gaps))
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


def _spread(draft: Draft, flow: Flow, port: Port) -> tuple[int, int]:
    """What spreads a flow's frames before a port: the times that it left cyclic queues for a port without
    them, and the waits at such ports, ns.

    At each of them, one lower frame and all others once are ahead. Frames that come to a cyclic port in one
    cycle leave in one cycle, so cyclic ports right behind do not spread them. Of several paths, the greatest
    counts.
    """
    hop = next(number for number, hop in enumerate(flow.route) if hop.port == port.number)
    priorities = draft.priorities(flow)
    spread: dict[int, tuple[int, int]] = {}
    cyclic: dict[int, bool] = {}
    for at in ancestors(flow, hop):
        before = parents(flow, at)
        gaps = max((spread[one][0] for one in before), default=0)
        waits = max((spread[one][1] for one in before), default=0)
        own = draft.ports[flow.route[at].port]
        cyclic[at] = _is_cyclic(own, priorities[at])
        if at != hop and not cyclic[at]:
            crossing = [wire(other, own, tagged) for other, tagged in draft.flows_through()[own.number]]
            gaps += any(cyclic[one] for one in before)
            waits += sum(times.whole for times in crossing) + max(times.frame for times in crossing)
        spread[at] = gaps, waits
    gaps, waits = spread[hop]
    return gaps, -(-waits // 1_000)


def delay_ns(draft: Draft, port: Port) -> int:
    """Delay of link and bridge: from the last bit out to the queue after the link, rounded up."""
    # One nanosecond is added: the last bit of a full cycle arrives exactly then.
    return -(-port.propagation_ps // 1_000) + draft.nodes[port.to].longest_processing_ns + 1


def whole_cycles(draft: Draft, port: Port, cycle: int) -> int:
    """Whole cycles that frames from a cyclic port wait at the next one in addition to the first one."""
    cqf = port.shaper.cqf
    assert cqf is not None
    return min(-(-delay_ns(draft, port) // cycle), len(cqf.classes) - 2)


def pause_ns(draft: Draft, port: Port, cycle: int) -> int:
    """The pause at the end of each cycle, in which a port sends no frame."""
    if not leads_to_cycles(draft, port):
        return 0
    return max(0, delay_ns(draft, port) - whole_cycles(draft, port, cycle) * cycle)


def _is_cyclic(port: Port, pcp: int) -> bool:
    """Whether frames of a priority are in the cyclic queues of a port."""
    return port.shaper.cqf is not None and pcp in port.shaper.cqf.pcps


def leads_to_cycles(draft: Draft, port: Port) -> bool:
    """Whether frames may go on by another cyclic port; after the last one, cycles need not be kept apart."""
    return any(
        other.shaper.cqf is not None and other.node == port.to and other.to != port.node
        for other in draft.ports
    )


def _holds(draft: Draft, load: _Load, cycle: int) -> bool:
    return load.needs(cycle) <= (cycle - pause_ns(draft, load.port, cycle)) * 1_000


def _too_full(draft: Draft, loads: list[_Load], cycle: int) -> None:
    load = max(loads, key=lambda each: each.needs(cycle))
    needs = quantities.time(-(-load.needs(cycle) // 1_000))
    draft.problem(
        _path(load.port),
        f"a cycle that holds the worst load of {load.port.name}",
        f"{needs} of frames in {quantities.time(cycle)}, the longest that was tried",
        "fewer or smaller frames, longer periods, or a faster link",
    )


def _check(draft: Draft, cycle: int) -> None:
    """Checks that the shortest cycle is short enough."""
    for flow in draft.flows:
        limit = flow.stream.requires.least_delay
        if flow.number or limit is None:
            continue
        for end in flow.ends:
            most, hops = _most(draft, flow, end, cycle)
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


def _most(draft: Draft, flow: Flow, end: int, cycle: int) -> tuple[int, int]:
    """Greatest delay from the talker's first bit to the listener's last one, ps, and the number of cyclic
    hops."""
    way = [end]
    while (parent := flow.route[way[-1]].parent) is not None:
        way.append(parent)
    priorities = draft.priorities(flow)
    most, hops = 0, 0
    before: Port | None = None
    kept = False
    for at in reversed(way):
        port = draft.ports[flow.route[at].port]
        follows, kept = kept, _is_cyclic(port, priorities[at])
        hops += kept
        if before is not None and follows and kept:
            # The cycles contain the delay of the link between two cyclic ports.
            most += (1 + whole_cycles(draft, before, cycle)) * cycle * 1_000
        else:
            if before is not None:
                most += before.propagation_ps + draft.nodes[port.node].longest_processing_ns * 1_000
            # At worst a frame comes when a cycle begins, and leaves when the next one ends.
            most += 2 * cycle * 1_000 if kept else wire(flow, port, flow.copy(at) > 0).frame
        before = port
    return most + draft.ports[flow.route[end].port].propagation_ps, hops
