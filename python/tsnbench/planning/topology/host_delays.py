"""``delta`` of etf and ``txtime-delay`` of taprio from the latencies of the host's software.

tc-etf(8), tc-taprio(8); EnGINE, Section V-D. docs/concepts/windows.md has the formulas.
"""

from __future__ import annotations

from dataclasses import dataclass

from tsnbench.planning.draft import Draft, Port
from tsnbench.scenario import model

MICROSECOND = 1_000
WHOLE = 10**6


@dataclass(frozen=True)
class Chosen:
    """The terms of ``delta``, in ns."""

    timer: int
    """The quantile of the timer's latency."""
    behind: int
    """Greatest latency from the queueing discipline to the card."""

    @property
    def delta(self) -> int:
        """The sum, rounded up to whole microseconds."""
        return -(-(self.timer + self.behind) // MICROSECOND) * MICROSECOND


def planned_qdisc(draft: Draft, port: Port, qdisc: model.Qdisc) -> model.Qdisc:
    """The queueing disciplines of a port, with computed values where the scenario leaves them to ``plan``."""
    host = draft.scenario.hosts.get(draft.nodes[port.node].name)
    latencies = host.latencies if host is not None else {}
    etf = {
        pcp: own
        if own.delta is not None
        else own.model_copy(update={"delta": chosen(latencies, _loss(draft, port, pcp)).delta})
        for pcp, own in qdisc.etf.items()
    }
    delay = qdisc.txtime_delay
    if delay is None:
        deltas = [own.delta for own in etf.values() if own.delta is not None]
        delay = max(deltas, default=0) // MICROSECOND * MICROSECOND + MICROSECOND
    return qdisc.model_copy(update={"etf": etf, "txtime_delay": delay})


def chosen(latencies: dict[str, model.Latency], loss_ppm: int) -> Chosen:
    """The terms for a share of frames that may be lost."""
    timer = latencies.get("timer", latencies.get("wakeup"))
    behind = sum(quantile(latencies.get(stage), 0) for stage in ("driver", "tx"))
    return Chosen(quantile(timer, loss_ppm), behind)


def quantile(latency: model.Latency | None, above_ppm: int) -> int:
    """The latency that all but a share of frames do not exceed, ns."""
    if latency is None:
        return 0
    if isinstance(latency, model.Constant):
        return latency.ns
    if isinstance(latency, model.Uniform):
        return latency.high - (latency.high - latency.low) * above_ppm // WHOLE
    allowed = sum(latency.counts) * above_ppm / WHOLE
    above = 0
    for value, count in reversed(list(zip(latency.values, latency.counts, strict=True))):
        above += count
        if above > allowed:
            return value + latency.width
    return latency.values[0]


def _loss(draft: Draft, port: Port, pcp: int) -> int:
    """The share of frames that every stream of a class may lose; none if a stream has no such requirement."""
    asked = [
        flow.stream.requires.loss_ppm or 0
        for flow in draft.flows
        if any(hop.port == port.number for hop in flow.route) and draft.priority(flow, port) == pcp
    ]
    return min(asked, default=0)
