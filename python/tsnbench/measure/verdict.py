"""What a Plan requires against what was measured, requirement by requirement.

EnGINE Table 14 (YES, YES* where only mean and median keep the limit, NO), and whether the worst case of the
Plan keeps the limit: what one run kept is no proof.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tsnbench.measure.guarantee import NOT_BOUNDED, Guarantee, guarantee

FORMAT = "tsnbench-verdict/1"
YES, MEAN_AND_MEDIAN, NO, NO_DATA = "yes", "mean-and-median", "no", "no-data"
NOT_PROVED = "not-proved"
"""Met in this run, where the worst case has to keep the limit and does not."""


def judge(
    plan_document: Mapping[str, Any],
    measures: Mapping[str, Any],
    bounds: Mapping[str, Any] | None = None,
    backend: str = "simulation",
) -> dict[str, Any]:
    """The verdict on every requirement of every flow at every listener.

    Only "yes" counts as met: what was not measured, holds only in mean and median, or is not proved where the
    worst case is required, is not met.

    Args:
        plan_document: the Plan's document.
        measures: ``tsnbench-measures/1`` of a run of that Plan.
        bounds: the worst case of that Plan, as :func:`tsnbench.planning.bounds.bounds` gives it.
        backend: where it ran (``simulation``, ``vm``, ``netns``).

    Returns:
        ``tsnbench-verdict/1``. Limits and findings of delay and jitter are in ns; a margin is what is left
        before the limit breaks, and negative where it is broken. ``proof`` of a row is ``proved`` where the
        worst case keeps the limit, ``beyond`` where it does not, ``exceeded`` where something worse than the
        worst case was measured, ``none`` where there is none. ``lost``: streams with lost frames, whatever is
        required.
    """
    measured = {(path["stream"], path["listener"]): path for path in measures.get("paths", ())}
    flows = (bounds or {}).get("flows", ())
    bounded = {(flow["stream"], flow["listener"]): flow for flow in flows}
    drain = plan_document.get("drain_ns", 0)
    rows: list[dict[str, Any]] = []
    for stream in plan_document["streams"]:
        required = stream.get("requirements") or {}
        for listener in stream["listeners"]:
            name = plan_document["nodes"][listener["node"]]["name"]
            path = measured.get((stream["name"], name), {})
            own = bounded.get((stream["name"], name))
            whose = {"stream": stream["name"], "group": stream["group"], "listener": name}
            for row in _rows(required, path):
                known = guarantee(row["requirement"], own, drain, backend)
                rows.append(whose | _proved(row, known, bool(required.get("worst_case"))))
    met = all(row["met"] == YES for row in rows)
    return {"format": FORMAT, "met": met, "rows": rows, "lost": _lost(measures)}


def worst_cases(plan_document: Mapping[str, Any], bounds: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What the worst case says of every requirement before anything has run: rows as in a verdict."""
    keys = ("found", "margin", "worst_seq", "met")
    rows = judge(plan_document, {}, bounds)["rows"]
    return [{key: value for key, value in row.items() if key not in keys} for row in rows]


def counting(
    plan_document: Mapping[str, Any], rows: Sequence[dict[str, Any]], every: bool = False
) -> list[dict[str, Any]]:
    """Of :func:`worst_cases`, rows that bounds judge, of streams that require the worst case to keep limits;
    of ``every`` stream where that is asked for."""
    required = {
        stream["name"]
        for stream in plan_document["streams"]
        if every or (stream.get("requirements") or {}).get("worst_case")
    }
    return [row for row in rows if row["stream"] in required and row["worst_case_reason"] != NOT_BOUNDED]


def required_of(plan_document: Mapping[str, Any]) -> bool:
    """Whether any stream requires anything."""
    return any(stream.get("requirements") for stream in plan_document["streams"])


def _proved(row: dict[str, Any], known: Guarantee, counts: bool) -> dict[str, Any]:
    """A row with what the worst case says of it; ``counts``: the row is met only if it keeps the limit."""
    worst, found, limit = known.worst_case, row["found"], row["limit"]
    if worst is None:
        proof = "none"
    elif found is not None and found > worst:
        proof = "exceeded"
    else:
        proof = "proved" if worst <= limit else "beyond"
    # What no bound judges cannot be proved, and need not be.
    if counts and row["met"] == YES and proof != "proved" and known.reason != NOT_BOUNDED:
        row = row | {"met": NOT_PROVED}
    return row | {
        "proof": proof,
        "worst_case": worst,
        "worst_case_margin": None if worst is None else limit - worst,
        "worst_case_reason": known.reason or None,
        "worst_case_source": known.source or None,
        "proof_condition": known.condition or None,
    }


def _lost(measures: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Streams of which frames were lost on the way, most first."""
    found = [
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


def _rows(required: Mapping[str, Any], path: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    delay = path.get("delay")
    if (limit := required.get("delay_ns")) is not None:
        yield _worst("delay", limit, delay)
    if (limit := required.get("release_delay_ns")) is not None:
        yield _worst("delay from release", limit, path.get("release_delay"))
    for percentile in required.get("delay_percentiles") or ():
        yield _percentile(percentile, path)
    for jitter in required.get("jitter") or ():
        yield _jitter(jitter["kind"], jitter["limit_ns"], path)
    if (limit := required.get("loss_ppm")) is not None:
        yield _loss(limit, path.get("count"))
    if (limit := required.get("rate_bps")) is not None:
        found = (path.get("rate") or {}).get("received_bps")
        margin = None if found is None else found - limit
        yield _row("rate", limit, "bit/s", found, margin)


def _row(
    requirement: str,
    limit: float,
    unit: str,
    found: float | None,
    margin: float | None,
    worst_seq: int | None = None,
    only_mean_and_median: bool = False,
) -> dict[str, Any]:
    if margin is None:
        met = NO_DATA
    elif margin >= 0:
        met = YES
    else:
        met = MEAN_AND_MEDIAN if only_mean_and_median else NO
    return {
        "requirement": requirement,
        "limit": limit,
        "limit_unit": unit,
        "found": found,
        "margin": margin,
        "worst_seq": worst_seq,
        "met": met,
    }


def _worst(requirement: str, limit: int, stat: Mapping[str, Any] | None) -> dict[str, Any]:
    """The largest sample against the limit."""
    if stat is None:
        return _row(requirement, limit, "ns", None, None)
    kept = bool(stat["mean"] <= limit and stat["median"] <= limit)
    return _row(requirement, limit, "ns", stat["max"], limit - stat["max"], stat["max_seq"], kept)


def _percentile(percentile: Mapping[str, Any], path: Mapping[str, Any]) -> dict[str, Any]:
    share, limit = percentile["share_ppm"], percentile["delay_ns"]
    requirement = f"delay p{share / 10_000:g}"
    by_share = {found["share_ppm"]: found["delay_ns"] for found in path.get("delay_percentiles") or ()}
    found = by_share.get(share)
    return _row(requirement, limit, "ns", found, None if found is None else limit - found)


def _jitter(kind: str, limit: int, path: Mapping[str, Any]) -> dict[str, Any]:
    requirement = f"jitter {kind}"
    if kind == "spread":
        spread = path.get("spread")
        return _row(requirement, limit, "ns", spread, None if spread is None else limit - spread)
    # A signed step breaks a limit in either direction, so its magnitude is judged.
    stats = path.get("jitter") or {}
    return _worst(requirement, limit, stats.get("delay-step-abs" if kind == "delay-step" else kind))


def _loss(limit: int, count: Mapping[str, int] | None) -> dict[str, Any]:
    """Frames lost on the way against a share of those sent."""
    if not count or not count["sent"]:
        return _row("loss", limit, "ppm", None, None)
    # Whole frames are compared, so that a limit is neither missed nor met by rounding.
    spare = limit * count["sent"] - count["lost"] * 1_000_000
    return _row("loss", limit, "ppm", count["lost"] * 1_000_000 / count["sent"], spare / count["sent"])
