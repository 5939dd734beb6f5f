"""The demands of windows: the data units of a class of a port in every cycle, and their arrivals.

IEEE 802.1Q-2022, 8.6.8.4. All times are in ps from the origin of offsets.
"""

from __future__ import annotations

from dataclasses import dataclass

from tsnbench.plan.delay import BEFORE_STAMP, transmission_ps
from tsnbench.plan.frames import R_TAG, data_units
from tsnbench.planning.draft import Draft, Flow, Port
from tsnbench.planning.topology.host_delays import planned_qdisc
from tsnbench.scenario import model

INTER_FRAME_GAP = 12
MOST_UNITS = 1_000
"""Data units of one flow in a cycle: with more, a cycle is too long to be examined unit by unit."""


@dataclass(frozen=True)
class Unit:
    """A data unit that arrives once per cycle: in [``first``, ``last``] and every cycle after."""

    flow: int
    """Index in the draft's flows; ``hop`` is one in its route."""
    hop: int
    first: int
    last: int
    known: bool = True
    """False if it arrives at any time: ``first`` and ``last`` then have no meaning."""
    count: int = 1
    """Number of data units that arrive together."""
    until: int | None = None
    """The data unit arrives in every cycle until this time; None if some cycles have none."""
    turn: int = 0
    """The number of the data unit among those of its flow in a cycle; they keep their order."""
    released: int | None = None
    """When it was released, in the first cycle."""
    fastest: int = 0
    """Least delay of a frame from there to here."""
    bounded: bool = True
    """Whether its earlier waits are bounded."""
    in_order: bool = True
    """Whether it stays behind the data units of its flow that were released before it."""


@dataclass(frozen=True)
class Wire:
    """Times of a flow's data unit at a port, in ps."""

    whole: int
    """The largest data unit, with preambles and gaps."""
    least: int
    """The smallest data unit."""
    first: int
    """Time from the first bit of its preamble to the last bit of the smallest frame."""
    frame: int
    """Time from the first bit of its preamble to the last bit of the largest frame."""


def wire(flow: Flow, port: Port, tagged: bool) -> Wire:
    """A flow at a port."""
    tag = R_TAG if tagged else 0
    units = {tuple(octets + tag for octets in unit) for unit in data_units(flow.size)}
    rate = port.rate_bps

    def whole(unit: tuple[int, ...]) -> int:
        return sum(transmission_ps(BEFORE_STAMP + octets + INTER_FRAME_GAP, rate) for octets in unit)

    frames = [octets for unit in units for octets in unit]
    return Wire(
        whole=max(map(whole, units)),
        least=min(map(whole, units)),
        first=transmission_ps(BEFORE_STAMP + min(frames), rate),
        frame=transmission_ps(BEFORE_STAMP + max(frames), rate),
    )


def gap_ps(port: Port) -> int:
    """The gap after a frame, which may extend into a window."""
    return transmission_ps(INTER_FRAME_GAP, port.rate_bps)


def released(draft: Draft, number: int, cycle_ns: int) -> list[Unit] | None:
    """A periodic flow's data units of one cycle at the talker's queue; None if there are too many."""
    flow = draft.flows[number]
    pattern = flow.stream.pattern
    assert isinstance(pattern, model.Periodic)
    begin = (flow.start_ns + (pattern.offset or 0)) * 1_000
    # The begin of the run is left out: the pattern is equal in every period.
    early, late = (begin + late for late in lateness(draft, flow))
    period, cycle = pattern.period * 1_000, cycle_ns * 1_000
    if pattern.offset is not None and cycle % period == 0:
        if cycle // period > MOST_UNITS:
            return None
        return [
            Unit(
                number,
                0,
                early + turn * period,
                late + turn * period,
                until=flow.stop_ns * 1_000,
                turn=turn,
                released=begin + turn * period,
            )
            for turn in range(cycle // period)
        ]
    if pattern.offset is not None and period % cycle == 0:
        return [Unit(number, 0, early, late, released=begin)]
    count = -(-(cycle + late - early) // period)
    return None if count > MOST_UNITS else [Unit(number, 0, 0, 0, known=False, count=count)]


def lateness(draft: Draft, flow: Flow) -> tuple[int, int]:
    """Delay of a periodic flow's data units until the talker's queue: least and greatest, ps."""
    pattern = flow.stream.pattern
    least, most = _software(draft, flow)
    jitter = pattern.jitter if isinstance(pattern, model.Periodic) else 0
    return least * 1_000, (jitter + most) * 1_000


def processing(draft: Draft, port: Port) -> tuple[int, int]:
    """Least and greatest processing time of a port's node, from a frame's last bit in to that port's gates,
    ps."""
    node = draft.nodes[port.node]
    least, most = node.processing_ns, node.longest_processing_ns
    host = draft.scenario.hosts.get(node.name)
    if host is not None:
        received, sent = span(host.latencies.get("kernel-rx")), sending(host, draft, port)
        least, most = least + received[0] + sent[0], most + received[1] + sent[1]
    return least * 1_000, most * 1_000


def sending(host: model.Host, draft: Draft, port: Port) -> tuple[int, int]:
    """From the kernel to the port's gates: least and greatest, ns."""
    qdisc = port.shaper.qdisc
    assisted = qdisc is not None and qdisc.taprio == "txtime-assist"
    spans = [
        span(host.latencies.get(stage)) for stage in (("qdisc",) if assisted else ("qdisc", "driver", "tx"))
    ]
    # The card keeps launch times, which are later by this delay.
    delay = (planned_qdisc(draft, port, qdisc).txtime_delay or 0) if assisted and qdisc is not None else 0
    return sum(low for low, _ in spans) + delay, sum(high for _, high in spans) + delay


def _software(draft: Draft, flow: Flow) -> tuple[int, int]:
    """From the intended instant to the port's queue: least and greatest, ns."""
    node = draft.nodes[flow.talker]
    host = draft.scenario.hosts.get(node.name)
    if host is None:
        return 0, 0
    send = flow.stream.send
    advance = send.advance if send is not None else 0
    port = draft.ports[flow.route[0].port]
    spans = [span(host.latencies.get(stage)) for stage in ("wakeup", "send")] + [sending(host, draft, port)]
    low, high = sum(low for low, _ in spans) - advance, sum(high for _, high in spans) - advance
    qdisc = port.shaper.qdisc
    etf = qdisc.etf.get(flow.stream.pcp) if qdisc is not None else None
    if send is not None and send.txtime and etf is not None and etf.offload:
        # The card holds the frame until the intended instant.
        low, high = 0, max(high, 0)
    return low, high


def span(latency: model.Latency | None) -> tuple[int, int]:
    """Least and greatest value of a latency, ns."""
    if latency is None:
        return 0, 0
    if isinstance(latency, model.Constant):
        return latency.ns, latency.ns
    if isinstance(latency, model.Uniform):
        return latency.low, latency.high
    met = [value for value, count in zip(latency.values, latency.counts, strict=True) if count]
    return min(met), max(met) + latency.width
