"""Release patterns of talkers: patterns, begins and ends as written.

All flows of one stream share its offset: they are released together, one behind the other in the talker's
queue. This is the worst phase among them, and the planner invents no other one. With ``offset: any`` each
flow has a phase of its own, which each run draws.
"""

from __future__ import annotations

from tsnbench.plan.frames import sizes
from tsnbench.planning.draft import Draft
from tsnbench.scenario import model


def set_phases(draft: Draft) -> None:
    """Fills ``pattern``, ``answers``, ``start_ns`` and ``stop_ns``."""
    duration = draft.scenario.duration
    patterns = (stream.pattern for stream in draft.scenario.streams.values())
    requests = {pattern.answers for pattern in patterns if isinstance(pattern, model.Answer)}
    numbers = {
        (flow.group, flow.number): number for number, flow in enumerate(draft.flows) if flow.group in requests
    }
    for flow in draft.flows:
        stream = flow.stream
        pattern = stream.pattern
        flow.start_ns = stream.start
        flow.stop_ns = duration if stream.stop is None else min(stream.stop, duration)
        if isinstance(pattern, model.Periodic | model.Answer):
            flow.pattern = {
                "kind": "periodic",
                "period_ns": pattern.period,
                "offset_ns": (pattern.offset or 0) if isinstance(pattern, model.Periodic) else 0,
                "jitter_ns": pattern.jitter,
            }
            flow.any_phase = _any_phase(draft, pattern)
            wanting = "period" if pattern.period < 1 else ""
            if isinstance(pattern, model.Answer):
                request = numbers.get((pattern.answers, flow.number))
                if request is not None:
                    flow.answers = {"stream": request, "after_ns": pattern.after}
                else:
                    draft.problem(
                        f"streams.{flow.group}.answers",
                        "a stream with as many flows",
                        f"{pattern.answers} with {_flows(draft, pattern.answers)}",
                    )
        elif isinstance(pattern, model.Poisson):
            # The interval is finer than 1 ns, so that the rate is exact.
            gap_ps = (pattern.mean_interval or 0) * 1_000
            if pattern.rate:
                gap_ps = round(sizes(flow.size).frame_bits * 10**12 / pattern.rate)
            flow.pattern = {"kind": "poisson", "mean_interval_ps": gap_ps}
            wanting = "rate" if gap_ps < 1_000 else ""
        elif isinstance(pattern, model.TokenBucket):
            flow.pattern = {
                "kind": "token-bucket",
                "burst_octets": pattern.burst,
                "rate_bps": pattern.rate,
            }
            wanting = ""
        elif isinstance(pattern, model.Replay):
            wanting = ""
        else:
            flow.pattern = {"kind": "saturating", "backlog": pattern.backlog}
            wanting = "backlog" if pattern.backlog < 1 else ""
        if wanting:
            draft.problem(
                f"streams.{flow.group}.{wanting}", "a number that a talker can keep", "too small or large"
            )


def _any_phase(draft: Draft, pattern: model.Periodic | model.Answer) -> bool:
    """Whether nothing says when the talker begins; of an answer, the first talker of its chain."""
    first: object = pattern
    while isinstance(first, model.Answer):
        request = draft.scenario.streams.get(first.answers)
        first = None if request is None else request.pattern
    return isinstance(first, model.Periodic) and first.offset is None


def _flows(draft: Draft, stream: str) -> int:
    """Number of flows of a stream, 0 if there is none of that name."""
    return draft.scenario.streams[stream].count if stream in draft.scenario.streams else 0
