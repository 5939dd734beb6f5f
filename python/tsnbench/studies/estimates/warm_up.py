"""The warm-up of a run of a study: frames that leave before its end do not count in the study's figures.

Requirements are judged over the whole run: a frame that is late or lost in the warm-up is late or lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from tsnbench.libraries import polars as pl
from tsnbench.measure import measure_after
from tsnbench.plan.document import Plan
from tsnbench.quantities import quantity
from tsnbench.runs import Run
from tsnbench.runs.measures import Measures
from tsnbench.studies.random_plan import what_varies
from tsnbench.studies.statistics import WarmUp, warm_up

AUTO = "auto"
"""The warm-up is computed from each run, by MSER-5."""
COLUMN = "warm_up"
"""The column of tables with the length of the warm-up, in ns."""


def refused(plan: Plan, wanted: int | str | None) -> str:
    """Why a Plan cannot have this warm-up; empty if it can."""
    duration = plan.document["duration_ns"]
    if isinstance(wanted, int) and wanted >= duration:
        long, short = quantity(wanted, "ns"), quantity(duration, "ns")
        return f"warm-up: expected less than the duration of the run, {short}, found {long}"
    return ""


def measured(run: Run, wanted: int | str) -> tuple[Measures, WarmUp]:
    """The measures of a run without its warm-up, and the warm-up.

    Args:
        run: a finished run, measured as a whole.
        wanted: the warm-up in ns, or ``auto``. A Plan without randomness has no warm-up then.
    """
    found = WarmUp(wanted, None, ()) if isinstance(wanted, int) else _computed(run)
    if not found.duration_ns:
        return run.measures(), found
    return measure_after(Path(run.folder), found.duration_ns), found


def _computed(run: Run) -> WarmUp:

    document = run.plan.document
    if not what_varies(document):
        return WarmUp(0, None, ())
    frames = run.frames().drop_nulls("delay_ns").sort("path", "seq")
    series: dict[str, Sequence[tuple[int, int]]] = {}
    for place, path in enumerate(run.measures()["paths"]):
        own = frames.filter(pl.col("path") == place)
        times = zip(own["t_tx_ns"].to_list(), own["delay_ns"].to_list(), strict=True)
        series[f"{path['stream']} at {path['listener']}"] = list(times)
    return warm_up(series, document["duration_ns"])


def sentences(made: Iterable[WarmUp]) -> list[str]:
    """The sentences on the page of a study about the warm-ups of its runs; empty without any."""
    every = list(made)
    if not every:
        return []
    shortest = min(one.duration_ns for one in every)
    longest = max(every, key=lambda one: one.duration_ns)
    ends = [quantity(shortest, "ns")]
    if longest.duration_ns > shortest:
        ends.append(quantity(longest.duration_ns, "ns"))
    said = (
        f"Warm-up: the first {' to '.join(ends)} of each run do not count in delays, jitters and numbers of "
        "frames. Requirements are judged over the whole run."
    )
    if longest.stream:
        said += f" The longest warm-up is that of {longest.stream}."
    unsettled = [one for one in every if one.unsettled]
    if not unsettled:
        return [said]
    names = ", ".join(dict.fromkeys(name for one in unsettled for name in one.unsettled))
    return [
        said,
        f"In {len(unsettled)} of {len(every)} runs, streams had not settled after half of the run, so the "
        f"runs may be too short: {names}.",
    ]
