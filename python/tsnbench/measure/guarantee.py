"""The guarantee of a Plan's worst case for a requirement: a bound, if there is one of this kind.

``docs/concepts/bounds.md`` defines the bounds, ``docs/concepts/measures.md`` the judgement. Bounds refer to
the same timestamps as measured delays do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tsnbench.runs.manifest import KERNELS

if TYPE_CHECKING:
    from tsnbench.plan.bounds.types import FlowBounds
    from tsnbench.plan.types import PlanDocument, Stream


@dataclass(frozen=True)
class Guarantee:
    """The worst case of one quantity in its requirement's unit, or the reason why there is none."""

    worst_case: float | None
    reason: str = ""
    source: str = ""
    """The source of the bound, if it is not the analysis."""
    condition: str = ""
    """The condition under which it holds."""


NOT_BOUNDED = "no bound is known for this kind of requirement"
BY_THE_PLAN = "the kernel does as the Plan says"


def guarantee(
    requirement: str,
    bounds: FlowBounds | None,
    drain_ns: int,
    backend: str = "simulation",
    releases_ns: int | None = None,
) -> Guarantee:
    """The guarantee for one requirement of one flow.

    Args:
        requirement: as in the verdict: ``delay``, ``delay p99.9``, ``delay from release``, ``jitter spread``,
            ``loss``, ``survives 1``, ``rate``, ``time-out``, ``age``.
        bounds: the flow's entry in the result of :func:`tsnbench.plan.bounds.bounds`, or None.
        drain_ns: how long after the last release frames may still arrive.
        backend: the backend of the run; a kernel may differ from the Plan.
        releases_ns: the longest time from one release to the next (:func:`between_releases`); None if it is
            unknown.
    """
    if bounds is None:
        return Guarantee(None, "no bounds were computed")
    kind, _, which = requirement.partition(" ")
    common = _common(bounds, backend)
    if which == "from release":
        return _of(_released(bounds), bounds["release_reason"], common)
    if kind == "delay":
        return _of(bounds["upper_ns"], bounds["reason"], common)
    if kind == "jitter":
        if which == "interval":
            return Guarantee(None, NOT_BOUNDED)
        apart = bounds.get("jitter_ns")
        # Two delays, or a delay and the mean, are no farther apart than the longest and the shortest;
        # a standard deviation is at most half of that (Popoviciu).
        return _of(apart / 2 if which == "spread" and apart is not None else apart, bounds["reason"], common)
    if kind == "loss":
        return _loss(bounds, bounds["loss_reason"], drain_ns, common)
    if kind == "survives":
        kinds = (one for one in bounds.get("survives", ()) if str(one["failures"]) == which)
        why = next((one["reason"] for one in kinds), NOT_BOUNDED)
        return _loss(bounds, why, drain_ns, common)
    if kind in ("time-out", "age"):
        return _without_news(kind, bounds, releases_ns, common)
    return Guarantee(None, NOT_BOUNDED)


def _common(bounds: FlowBounds, backend: str) -> dict[str, str]:
    """The method that gave a bound, and the conditions of the bound."""
    source, _, assumed = str(bounds.get("source") or "").partition(", if ")
    conditions = [assumed] if assumed else []
    if backend in KERNELS:
        conditions.append(BY_THE_PLAN)
    return {"source": source, "condition": ", and ".join(conditions)}


def between_releases(document: PlanDocument, stream: Stream) -> int | None:
    """The longest time from one release of a stream to the next, ns; None if there is no limit.

    A stream that answers another is released by the arrivals there, and faults may silence talkers. On a
    slow clock a period is longer than the Plan says.
    """
    pattern = stream["pattern"]
    if "answers" in stream or document.get("faults") or "clocks" in document:
        return None
    if pattern["kind"] != "periodic":
        return None
    return pattern["period_ns"] + pattern["jitter_ns"]


def _without_news(
    kind: str, bounds: FlowBounds, releases_ns: int | None, common: Mapping[str, str]
) -> Guarantee:
    """No frame is lost, so the next one comes a release later: an arrival as late as possible after one that
    was as early as possible, or, for an age, after one that was sent at its release."""
    if releases_ns is None:
        return Guarantee(None, "the time from one release to the next has no limit")
    if why := bounds["loss_reason"]:
        return Guarantee(None, f"frames may be lost: {why}")
    latest = _released(bounds)
    if latest is None:
        return _of(None, bounds["release_reason"], common)
    earliest = bounds["release_lower_ps"] // 1_000 if kind == "time-out" else 0
    return Guarantee(releases_ns + latest - earliest, **common)


def round_trip(
    document: PlanDocument,
    stream: Stream,
    listener: str,
    bounds: Mapping[tuple[str, str], FlowBounds],
    backend: str = "simulation",
) -> Guarantee:
    """The guarantee for the time from the first request of a chain to the arrival of its answer.

    It is the sum of the worst cases of all streams of the chain and of the times at their talkers. Each bound
    begins at the release, which is never later than the departure, where a measured time begins.

    Args:
        document: the Plan's document.
        stream: the answering stream.
        listener: where the answer arrives.
        bounds: by stream and listener, the entries of :func:`tsnbench.plan.bounds.bounds`.
        backend: the backend of the run.
    """
    if "clocks" in document:
        return Guarantee(None, "delays after requests count on clocks that may be slow")
    total, answered = 0, False
    while True:
        own = bounds.get((stream["name"], listener))
        if own is None:
            return Guarantee(None, "no bounds were computed")
        latest = _released(own)
        if latest is None:
            return _of(None, own["release_reason"], {})
        if why := own["loss_reason"]:
            return Guarantee(None, f"frames of {stream['name']} may be lost: {why}")
        total += latest
        if answered:
            # The software of the host that answers.
            total += -(-own.get("program_ps", 0) // 1_000)
        answered = True
        answers, pattern = stream.get("answers"), stream["pattern"]
        if answers is None:
            return Guarantee(total, **_common(own, backend))
        asking = document["streams"][answers["stream"]]
        if stream["start_ns"] > asking["start_ns"] or stream["stop_ns"] < document["duration_ns"]:
            return Guarantee(None, f"{stream['name']} answers no request before its start or after its stop")
        total += answers["after_ns"] + (pattern["jitter_ns"] if pattern["kind"] == "periodic" else 0)
        listener = document["nodes"][stream["talker"]]["name"]
        stream = document["streams"][answers["stream"]]


def _released(bounds: FlowBounds) -> int | None:
    """The delay from the release as timestamps show it: each timestamp is rounded down to a tick, which adds
    less than one tick."""
    upper = bounds["release_upper_ps"]
    tick = bounds.get("release_tick_ns", 1)
    return None if upper is None else (upper + tick * 1_000 - 1) // 1_000


def _of(value: float | None, reason: str | None, common: Mapping[str, str]) -> Guarantee:
    return Guarantee(None, reason or "") if value is None else Guarantee(value, **common)


def _loss(bounds: FlowBounds, why: str | None, drain_ns: int, common: Mapping[str, str]) -> Guarantee:
    """No frame is lost if nothing takes one (``why``), and the last frame arrives before the end."""
    if why:
        return Guarantee(None, f"frames may be lost: {why}")
    latest = bounds["release_upper_ps"]
    if latest is None:
        return _of(None, bounds["release_reason"], common)
    if latest > drain_ns * 1_000:
        return Guarantee(None, "the last frames may arrive after the run's end (drain)")
    return Guarantee(0.0, **common)
