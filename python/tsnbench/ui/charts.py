"""The data of the charts of a run, for the window that the page shows: never more points than columns."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, TypedDict

from tsnbench.libraries import numpy as np
from tsnbench.libraries import polars as pl
from tsnbench.measure.headline import headline
from tsnbench.measure.outcome import outcome, urgency
from tsnbench.measure.tables import said
from tsnbench.plan.bounds import BoundsError
from tsnbench.replay.passages import unsupported
from tsnbench.report.parts.bars import bar
from tsnbench.report.parts.curves import ccdf
from tsnbench.runs import Run, file_names
from tsnbench.runs.bounds import bounds_of_run

if TYPE_CHECKING:
    from tsnbench.runs.measures import Measures, VerdictRow

MOST_COLUMNS = 4000
MOST_ROWS = 500
KEPT_RUNS = 4
"""Runs whose frames stay in memory, sorted by time."""


class ListenerFacts(TypedDict):
    """One stream at one listener; times in ns."""

    number: int
    """The number of the stream in the Plan: its colour in all charts."""
    stream: str
    listener: str
    sent: int
    lost: int
    least: int | None
    mean: float | None
    median: int | None
    p99: int | None
    greatest: int | None
    limit: int | None
    bound: int | None


class RequirementFacts(TypedDict):
    """One requirement on one line: found, worst case and limit in its own unit."""

    stream: str
    listener: str
    requirement: str
    unit: str
    limit: float | None
    found: float | None
    worst_case: float | None
    outcome: str
    words: str
    bar: Places


class Places(TypedDict):
    """Where a line has the values of a requirement, as shares of its width; None where a value is unknown."""

    limit: float | None
    found: float | None
    worst_case: float | None
    over: bool
    """Whether the found value breaks the limit."""


class RunFacts(TypedDict):
    """The facts of a run that the page shows beside its charts."""

    folder: str
    name: str
    state: str
    backend: str
    verdict: str
    met: bool
    duration_ns: int
    streams: list[ListenerFacts]
    more_streams: int
    """Further streams, which are farther from their limits."""
    requirements: list[RequirementFacts]
    no_replay: str
    """The reason why it cannot be replayed; empty if it can."""
    report: bool


class DelayWindow(TypedDict):
    """Delays over time: of each column its least and greatest delay, and when the slowest frame was sent."""

    from_ns: int
    until_ns: int
    first_ns: int
    last_ns: int
    frames: int
    lost: int
    single: bool
    """Each column is one frame."""
    t: list[int]
    low: list[int]
    high: list[int]
    seq: list[int]
    """The sequence number of the frame with the greatest delay of each column."""
    error: list[int] | None
    """By how much these greatest delays may be wrong; None where the clocks were not read."""


class Distribution(TypedDict):
    """The share of frames whose delay is greater than ``x`` (us)."""

    x: list[float]
    y: list[float]
    frames: int


class Box(TypedDict):
    """The delays of one stream at one listener, in ns: each is the delay of a frame."""

    stream: str
    listener: str
    least: int
    first_quarter: int
    median: int
    third_quarter: int
    greatest: int


@dataclass(frozen=True)
class Delays:
    """The frames of one stream at one listener, in the order in which they were sent."""

    t_ns: np.ndarray
    delay_ns: np.ndarray
    seq: np.ndarray
    lost_at_ns: np.ndarray
    """When the frames were sent that did not arrive."""
    uncertainty_ns: np.ndarray | None
    """By how much each delay may be wrong, where clocks were read."""

    def window(self, begin: int | None, end: int | None, columns: int) -> DelayWindow:
        """The least and greatest delay of each column; a column without frames is left out."""
        first, last = (int(self.t_ns[0]), int(self.t_ns[-1])) if len(self.t_ns) else (0, 1)
        begin = first if begin is None else begin
        end = max(last, begin + 1) if end is None else max(end, begin + 1)
        low, high = np.searchsorted(self.t_ns, [begin, end + 1])
        lost = np.searchsorted(self.lost_at_ns, [begin, end + 1])
        t, delay, seq = (column[low:high] for column in (self.t_ns, self.delay_ns, self.seq))
        columns = max(1, min(columns, MOST_COLUMNS))
        single = len(t) <= columns
        if single:
            worst = np.arange(len(t))
            low_of = high_of = delay
        else:
            width = -(-(end - begin + 1) // columns)
            starts = np.unique(np.searchsorted(t, begin + width * np.arange(columns)))
            starts = starts[starts < len(t)]
            low_of = np.minimum.reduceat(delay, starts)
            ends = np.append(starts[1:], len(t))
            # The first frame of each column that has its greatest delay.
            worst = np.array(
                [
                    begins + delay[begins:ends_at].argmax()
                    for begins, ends_at in zip(starts, ends, strict=True)
                ],
                dtype=np.int64,
            )
            high_of = delay[worst]
        error = None if self.uncertainty_ns is None else self.uncertainty_ns[low:high][worst].tolist()
        return {
            "from_ns": begin,
            "until_ns": end,
            "first_ns": first,
            "last_ns": last,
            "frames": len(t),
            "lost": int(lost[1] - lost[0]),
            "single": single,
            "t": t[worst].tolist(),
            "low": low_of.tolist(),
            "high": high_of.tolist(),
            "seq": seq[worst].tolist(),
            "error": error,
        }


def facts(run: Run, folder: str) -> RunFacts:
    """Verdict, measures and bounds of a run, as its folder has them."""
    measures = run.measures()
    verdict = run.verdict()
    names = [stream["name"] for stream in run.plan.document["streams"]]
    streams = _listeners(names, measures, _bounds(run.folder))
    requirements: list[RequirementFacts] = [
        {
            "stream": row["stream"],
            "listener": row["listener"],
            "requirement": row["requirement"],
            "unit": row["limit_unit"],
            "limit": row["limit"],
            "found": row["found"],
            "worst_case": row["worst_case"],
            "outcome": outcome(row).value,
            "words": said(row),
            "bar": _places(row),
        }
        for row in sorted(verdict["rows"], key=urgency)[:MOST_ROWS]
    ]
    return {
        "folder": folder,
        "name": str(run.manifest.get("name", "")),
        "state": run.state.value,
        "backend": str(run.manifest.get("backend", "")),
        "verdict": headline(verdict),
        "met": verdict["met"],
        "duration_ns": run.plan.document["duration_ns"],
        "streams": streams[:MOST_ROWS],
        "more_streams": max(0, len(streams) - MOST_ROWS),
        "requirements": requirements,
        "no_replay": unsupported(run) or "",
        "report": (run.folder / "report.html").is_file(),
    }


def _places(row: VerdictRow) -> Places:
    own = bar(row["requirement"], row["limit"], row["found"], row["worst_case"], row.get("uncertainty"))
    return {"limit": own.limit, "found": own.found, "worst_case": own.worst_case, "over": own.over}


def _bounds(folder: Path) -> dict[tuple[str, str], int]:
    try:
        found = bounds_of_run(folder)
    except (BoundsError, OSError, ValueError):
        return {}
    return {
        (flow["stream"], flow["listener"]): flow["upper_ns"]
        for flow in found["flows"]
        if flow["upper_ns"] is not None
    }


def _listeners(
    names: Sequence[str], measures: Measures, bounds: dict[tuple[str, str], int]
) -> list[ListenerFacts]:
    numbers = {name: number for number, name in enumerate(names)}
    found: list[ListenerFacts] = []
    for path in measures["paths"]:
        delay = path["delay"]
        found.append(
            {
                "number": numbers.get(path["stream"], 0),
                "stream": path["stream"],
                "listener": path["listener"],
                "sent": path["count"]["sent"],
                "lost": path["count"]["lost"],
                "least": delay["min"] if delay else None,
                "mean": delay["mean"] if delay else None,
                "median": delay["median"] if delay else None,
                "p99": delay["p99"] if delay else None,
                "greatest": delay["max"] if delay else None,
                "limit": path["deadline_ns"],
                "bound": bounds.get((path["stream"], path["listener"])),
            }
        )

    def tightness(one: ListenerFacts) -> tuple[float, str]:
        if one["limit"] and one["greatest"] is not None:
            return -one["greatest"] / one["limit"], one["stream"]
        return 0.0, one["stream"]

    return sorted(found, key=tightness)


class Charts:
    """The frames of the runs that were looked at last."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, int], dict[tuple[str, str], Delays]] = OrderedDict()
        self._lock = Lock()

    def delays(self, run: Run, stream: str, listener: str) -> Delays:
        """The frames of one stream at one listener.

        Raises:
            KeyError: the run has no such stream or listener.
        """
        stamp = (run.folder / file_names.MANIFEST).stat().st_mtime_ns
        key = (str(run.folder), stamp)
        with self._lock:
            own = self._kept.setdefault(key, {})
            self._kept.move_to_end(key)
            while len(self._kept) > KEPT_RUNS:
                self._kept.popitem(last=False)
            if (stream, listener) not in own:
                own[stream, listener] = _read(run, stream, listener)
            return own[stream, listener]

    def distribution(self, run: Run, stream: str, listener: str) -> Distribution:
        """The complementary distribution of the delays, at exact ranks."""
        delays = self.delays(run, stream, listener).delay_ns
        if not len(delays):
            return {"x": [], "y": [], "frames": 0}
        steps = ccdf(pl.Series(np.sort(delays)))
        return {"x": list(steps.x), "y": list(steps.y), "frames": len(delays)}


def boxes(run: Run) -> list[Box]:
    """The quartiles of the delays of all streams, at exact ranks; streams without a frame are left out."""
    delay = pl.col("delay_ns")
    quarters = {"first_quarter": 0.25, "median": 0.5, "third_quarter": 0.75}
    table: pl.DataFrame = (
        run.frames()
        .filter(delay.is_not_null())
        .group_by("path")
        .agg(
            delay.min().alias("least"),
            *(delay.quantile(share, "lower").cast(pl.Int64).alias(name) for name, share in quarters.items()),
            delay.max().alias("greatest"),
        )
        .sort("path")
    )
    paths = run.measures()["paths"]
    return [
        {
            "stream": paths[row["path"]]["stream"],
            "listener": paths[row["path"]]["listener"],
            "least": row["least"],
            "first_quarter": row["first_quarter"],
            "median": row["median"],
            "third_quarter": row["third_quarter"],
            "greatest": row["greatest"],
        }
        for row in table.head(MOST_ROWS).iter_rows(named=True)
    ]


def _read(run: Run, stream: str, listener: str) -> Delays:

    numbers = [
        number
        for number, path in enumerate(run.measures()["paths"])
        if (path["stream"], path["listener"]) == (stream, listener)
    ]
    if not numbers:
        raise KeyError(stream)
    table: pl.DataFrame = (
        run.frames().filter(pl.col("path").is_in(numbers) & pl.col("t_tx_ns").is_not_null()).sort("t_tx_ns")
    )
    arrived = table.filter(pl.col("delay_ns").is_not_null())
    missing = table.filter(pl.col("delay_ns").is_null())
    return Delays(
        arrived["t_tx_ns"].to_numpy(),
        arrived["delay_ns"].to_numpy(),
        arrived["seq"].to_numpy(),
        missing["t_tx_ns"].to_numpy(),
        arrived["uncertainty_ns"].fill_null(0).to_numpy() if "uncertainty_ns" in arrived.columns else None,
    )
