"""The verdict of a run: the requirements of a Plan against the measures, one by one.

EnGINE Table 14 has YES, YES* (only mean and median keep the limit) and NO. A verdict also contains whether
the worst case of the Plan keeps the limit, because one run is no proof.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from tsnbench.measure.guarantee import NOT_BOUNDED, Guarantee, between_releases, guarantee, round_trip
from tsnbench.measure.refuted import Seen, of_row, refutations
from tsnbench.measure.stamps import clocks_apart
from tsnbench.runs.bounds import bounds_of_run, promise_of
from tsnbench.runs.manifest import KERNELS, State
from tsnbench.runs.measures import WorstCaseRow

if TYPE_CHECKING:
    from tsnbench.plan.bounds.types import Bounds, FlowBounds
    from tsnbench.plan.types import Percentile, PlanDocument, Requirements
    from tsnbench.runs import Run
    from tsnbench.runs.measures import (
        Count,
        Found,
        LostFrames,
        Measures,
        PathReport,
        Proof,
        Stat,
        Verdict,
        VerdictRow,
        Whose,
    )

FORMAT = "tsnbench-verdict/1"
YES, MEAN_AND_MEDIAN, NO, NO_DATA = "yes", "mean-and-median", "no", "no-data"
UNCERTAIN = "uncertain"
"""The margin is smaller than the uncertainty of the measurement."""
NOT_PROVED = "not-proved"
"""Met in this run, where the worst case has to keep the limit and does not."""
EXCEEDED = "exceeded"
"""Met in this run, where a frame is beyond the proved worst case."""
SIMULATED = Seen()
NOT_MEASURED = cast("PathReport", {})


def judge(
    plan_document: PlanDocument,
    measures: Measures | None,
    bounds: Bounds | None = None,
    seen: Seen = SIMULATED,
) -> Verdict:
    """The verdict on every requirement of every flow at every listener.

    Only "yes" counts as met. A requirement is not met if it was not measured, holds only in mean and median,
    is not proved although the worst case is required, or if a frame refutes its worst case. A run with
    frames that refute a proof is not met, also without requirements.

    Args:
        plan_document: the Plan's document.
        measures: ``tsnbench-measures/1`` of a run of that Plan; None before any.
        bounds: the worst case of that Plan, as :func:`tsnbench.plan.bounds.bounds` gives it.
        seen: what is known of the run beside its measures.

    Returns:
        ``tsnbench-verdict/1``. Limits and findings of delay and jitter are in ns. A margin is the distance to
        the limit, and negative if the limit is exceeded. A margin of either sign that is smaller than the
        measurement's ``uncertainty`` makes a row ``uncertain``. ``proof`` is ``proved`` if the worst case
        keeps the limit, ``beyond`` if it does not, ``exceeded`` if a measured value is worse than the worst
        case, and ``none`` without a worst case. ``lost`` lists streams with lost frames, ``refuted``
        proofs with frames that contradict them; both also of streams without requirements. A frame that was
        dropped in its talker's queue is lost, too.
    """
    measures = _from_release(measures) if measures else None
    flows = bounds["flows"] if bounds else []
    bounded = {(flow["stream"], flow["listener"]): flow for flow in flows}
    rows = list(_judged(plan_document, measures, bounded, seen))
    refuted = refutations(plan_document, measures, bounded, seen) if measures else []
    refuted += [one for row in rows if (one := of_row(row, plan_document, seen))]
    found: Verdict = {
        "format": FORMAT,
        "met": not refuted and all(row["met"] == YES for row in rows),
        "rows": rows,
        "lost": _lost(measures) if measures else [],
        "refuted": refuted,
    }
    clocks = seen.clocks
    broken = clocks is not None and clocks["most_ps"] > clocks.get("allowed_ps", clocks["most_ps"])
    return {**found, "clocks_apart": clocks} if clocks is not None and broken else found


def _from_release(measures: Measures) -> Measures:
    """The same measures, whose lost frames are those of the talker's queue as well: a requirement counts from
    release, where the talker's tap may observe a frame after the queue."""

    def counted(one: PathReport) -> PathReport:
        count, dropped = one["count"], one["count"].get("never_sent") or 0
        if not dropped:
            return one
        return {**one, "count": {**count, "sent": count["sent"] + dropped, "lost": count["lost"] + dropped}}

    return {
        **measures,
        "paths": [counted(one) for one in measures["paths"]],
        "groups": [counted(one) for one in measures.get("groups", ())],
    }


def _judged(
    plan_document: PlanDocument,
    measures: Measures | None,
    bounded: Mapping[tuple[str, str], FlowBounds],
    seen: Seen,
) -> Iterator[VerdictRow]:
    """Every requirement of every flow at every listener; ``bounded``: bounds by stream and listener."""
    paths = measures["paths"] if measures else []
    measured = {(path["stream"], path["listener"]): path for path in paths}
    drain = plan_document["drain_ns"]
    outages = _outages(plan_document)
    for stream in plan_document["streams"]:
        required = stream.get("requirements", {})
        listens = "time_out_ns" in required or "age_ns" in required
        releases = between_releases(plan_document, stream) if listens else None
        for listener in stream["listeners"]:
            name = plan_document["nodes"][listener["node"]]["name"]
            path = measured.get((stream["name"], name), NOT_MEASURED)
            own = bounded.get((stream["name"], name))
            whose: Whose = {"stream": stream["name"], "group": stream["group"], "listener": name}
            for row in _rows(required, path, outages):
                if row["requirement"] == "round-trip":
                    known = round_trip(plan_document, stream, name, bounded, seen.backend)
                else:
                    known = guarantee(row["requirement"], own, drain, seen.backend, releases)
                by_proof = row["requirement"].startswith("survives")
                row, proof = _proved(row, known, bool(required.get("worst_case")) or by_proof, seen)
                if by_proof and row["met"] == NO_DATA:
                    # A run without failures says nothing, and the proof everything.
                    row = {**row, "met": YES if proof["proof"] == "proved" else NOT_PROVED}
                yield {**whose, **row, **proof}


def verdict_of(run: Run, measures: Measures, keep: bool = False) -> Verdict:
    """Judges a run by its measures and the worst case of its Plan; ``keep`` stores the bounds.

    Raises:
        InputError: the Plan contradicts itself.
    """
    seen = Seen(
        backend=str(run.manifest.get("backend", "simulation")),
        complete=run.state is State.COMPLETE,
        frames=run.frames,
        clocks=clocks_apart(run),
    )
    promise = promise_of(run)
    verdict = judge(run.plan.document, measures, bounds_of_run(run.folder, keep), seen)
    if late := _dropped_late(run):
        verdict["dropped_late"] = late
    return verdict if promise is None else {**verdict, "clocks": promise}


def _dropped_late(run: Run) -> int:
    """How many frames had waited for the longest time of their queue."""
    if not any("longest_wait_ns" in one for port in run.plan.document["ports"] for one in port["classes"]):
        return 0
    classes = (own for port in run.counters["ports"] for own in port["classes"])
    return sum(int(own.get("delay_exceeded_frames", 0)) for own in classes)


def worst_cases(plan_document: PlanDocument, bounds: Bounds) -> list[WorstCaseRow]:
    """The worst case of every requirement before a run: rows as in a verdict."""
    kept = WorstCaseRow.__annotations__
    rows = judge(plan_document, None, bounds)["rows"]
    return [cast("WorstCaseRow", {key: row[key] for key in row if key in kept}) for row in rows]  # type: ignore[literal-required]


def counting(
    plan_document: PlanDocument, rows: Sequence[WorstCaseRow], every: bool = False
) -> list[WorstCaseRow]:
    """The rows of :func:`worst_cases` that have a bound, for streams whose worst case must keep the limits,
    or for ``every`` stream. Failures to survive count always: no run is a proof."""
    required = {
        stream["name"]
        for stream in plan_document["streams"]
        if every or stream.get("requirements", {}).get("worst_case")
    }
    return [
        row
        for row in rows
        if (row["stream"] in required or row["requirement"].startswith("survives"))
        and row["worst_case_reason"] != NOT_BOUNDED
    ]


def _proved(row: Found, known: Guarantee, counts: bool, seen: Seen) -> tuple[Found, Proof]:
    """A row with its worst case; ``counts``: the row is met only if the worst case keeps the limit."""
    worst, found, limit = known.worst_case, row["found"], row["limit"]
    # Bounds are those of the timestamps; the readings of a simulation's clocks are exact.
    unsure = row.get("uncertainty", 0) if seen.backend in KERNELS else 0
    if worst is None:
        proof = "none"
    elif found is not None and found - unsure > worst:
        proof = EXCEEDED
    else:
        proof = "proved" if worst <= limit else "beyond"
    if row["met"] == YES and proof == EXCEEDED:
        row = {**row, "met": EXCEEDED}
    # For some requirements no kind of bound exists; these count as met without a proof.
    if counts and row["met"] == YES and proof != "proved" and known.reason != NOT_BOUNDED:
        row = {**row, "met": NOT_PROVED}
    return row, {
        "proof": proof,
        "worst_case": worst,
        "worst_case_margin": None if worst is None else limit - worst,
        "worst_case_reason": known.reason or None,
        "worst_case_source": known.source or None,
        "proof_condition": known.condition or None,
    }


def _lost(measures: Measures) -> list[LostFrames]:
    """Streams with frames that were lost in the network, the greatest losses first."""
    found: list[LostFrames] = [
        {
            "stream": path["stream"],
            "listener": path["listener"],
            "lost": path["count"]["lost"],
            "sent": path["count"]["sent"],
        }
        for path in measures.get("groups", ())
        if path["count"].get("lost")
    ]
    return sorted(found, key=lambda one: -one["lost"])


def _outages(plan_document: PlanDocument) -> list[tuple[str, int]]:
    """The links, by the lower one of their ports, and the nodes that fail in the run."""
    found = []
    for one in plan_document.get("faults", ()):
        if one["kind"] == "link-down":
            found.append(("links", min(one["port"], plan_document["ports"][one["port"]]["peer"])))
        elif one["kind"] == "node-down":
            found.append(("nodes", one["node"]))
    return found


def _rows(required: Requirements, path: PathReport, outages: Sequence[tuple[str, int]]) -> Iterator[Found]:
    """The requirements that were measured; ``outages``: the links and nodes that fail in the run."""
    unsure = path.get("uncertainty")
    if (limit := required.get("delay_ns")) is not None:
        yield _worst("delay", limit, path.get("delay"), unsure and unsure["delay_ns"])
    if (limit := required.get("release_delay_ns")) is not None:
        own = unsure and unsure.get("release_delay_ns")
        yield _worst("delay from release", limit, path.get("release_delay"), own)
    for percentile in required.get("delay_percentiles") or ():
        yield _percentile(percentile, path)
    for jitter in required.get("jitter") or ():
        yield _jitter(jitter["kind"], jitter["limit_ns"], path)
    if (limit := required.get("loss_ppm")) is not None:
        yield _loss("loss", limit, path.get("count"))
    for survives in required.get("survives", ()):
        failures = survives["failures"]
        promised = {("links", port) for port in survives.get("links", ())}
        promised |= {("nodes", node) for node in survives.get("nodes", ())}
        # The failure of any other link or node may lose frames, and breaks no promise.
        judged = 0 < len(outages) <= failures and promised.issuperset(outages)
        count = path.get("count") if judged else None
        yield _loss(f"survives {failures}", 0, count)
    if (limit := required.get("rate_bps")) is not None:
        rate = path.get("rate")
        found = rate["received_bps"] if rate else None
        margin = None if found is None else found - limit
        yield _row("rate", limit, "bit/s", found, margin)
    if (limit := required.get("time_out_ns")) is not None:
        yield _time_out(limit, path)
    if (limit := required.get("age_ns")) is not None:
        # An age is the sum of a delay and the time to the next arrival; so is its uncertainty.
        yield _worst("age", limit, path.get("age"), unsure and unsure["delay_ns"] + unsure["arrivals_ns"])
    if (limit := required.get("round_trip_ns")) is not None:
        yield _worst("round-trip", limit, path.get("round_trip"))


def _row(
    requirement: str,
    limit: float,
    unit: str,
    found: float | None,
    margin: float | None,
    worst_seq: int | None = None,
    only_mean_and_median: bool = False,
    uncertainty: float | None = None,
) -> Found:
    if margin is None:
        met = NO_DATA
    elif uncertainty is not None and abs(margin) < uncertainty:
        met = UNCERTAIN
    elif margin >= 0:
        met = YES
    else:
        met = MEAN_AND_MEDIAN if only_mean_and_median else NO
    row: Found = {
        "requirement": requirement,
        "limit": limit,
        "limit_unit": unit,
        "found": found,
        "margin": margin,
        "worst_seq": worst_seq,
        "met": met,
    }
    if uncertainty is not None:
        row["uncertainty"] = uncertainty
    return row


def _worst(requirement: str, limit: int, stat: Stat | None, uncertainty: float | None = None) -> Found:
    """Compares the largest sample with the limit. The uncertainty of the largest sample is at most that of
    all samples.
    """
    if stat is None:
        return _row(requirement, limit, "ns", None, None)
    kept = bool(stat["mean"] <= limit and stat["median"] <= limit)
    return _row(
        requirement, limit, "ns", stat["max"], limit - stat["max"], stat["max_seq"], kept, uncertainty
    )


def _time_out(limit: int, path: PathReport) -> Found:
    """The longest time without an arrival, also after the last one: until the last frame was sent."""
    unsure = path.get("uncertainty")
    row = _worst("time-out", limit, path.get("arrivals"), unsure and unsure["arrivals_ns"])
    silence = path.get("silence_ns")
    if silence is None or silence <= (row["found"] or 0):
        return row
    own = unsure["delay_ns"] + unsure["arrivals_ns"] if unsure else None
    return _row("time-out", limit, "ns", silence, limit - silence, uncertainty=own)


def _percentile(percentile: Percentile, path: PathReport) -> Found:
    share, limit = percentile["share_ppm"], percentile["delay_ns"]
    requirement = f"delay p{share / 10_000:g}"
    by_share = {one["share_ppm"]: one["delay_ns"] for one in path.get("delay_percentiles", ())}
    found = by_share.get(share)
    unsure = path.get("uncertainty")
    # The greatest error of any single delay is also the greatest error of every quantile.
    own = unsure["delay_ns"] if unsure else None
    margin = None if found is None else limit - found
    return _row(requirement, limit, "ns", found, margin, uncertainty=own)


def _jitter(kind: str, limit: int, path: PathReport) -> Found:
    requirement = f"jitter {kind}"
    unsure = path.get("uncertainty")
    difference = unsure["difference_ns"] if unsure else None
    if kind == "spread":
        spread = path.get("spread")
        margin = None if spread is None else limit - spread
        # The error of a standard deviation is at most the standard deviation of the errors, which is at most
        # half of their range (Popoviciu).
        half = None if difference is None else difference / 2
        return _row(requirement, limit, "ns", spread, margin, uncertainty=half)
    # A signed step breaks a limit in either direction, so its magnitude is judged.
    judged = "delay-step-abs" if kind == "delay-step" else kind
    stat = cast("Mapping[str, Stat | None]", path.get("jitter") or {}).get(judged)
    own = unsure["arrivals_ns"] if unsure and kind == "interval" else difference
    return _worst(requirement, limit, stat, own)


def _loss(requirement: str, limit: int, count: Count | None) -> Found:
    """Compares the frames lost in the network with a share of the sent frames."""
    if not count or not count["sent"]:
        return _row(requirement, limit, "ppm", None, None)
    # Whole frames are compared, so that a limit is neither missed nor met by rounding.
    spare = limit * count["sent"] - count["lost"] * 1_000_000
    found = count["lost"] * 1_000_000 / count["sent"]
    return _row(requirement, limit, "ppm", found, spare / count["sent"])
