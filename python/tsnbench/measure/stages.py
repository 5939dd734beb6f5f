"""Latency and jitter at every stage of a frame's path, as OCORA's tables print them.

OCORA CCN PoC, 3.1 and 5.2: a stage's latency is its stamp minus that of the interval's start, its mean jitter
the mean of the distances from the mean latency.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tsnbench.libraries import polars as pl
from tsnbench.measure.errors import MeasureError
from tsnbench.quantities import micros
from tsnbench.runs import Run, documents, file_names
from tsnbench.runs.tables import repeats
from tsnbench.sheet import plain_table

if TYPE_CHECKING:
    from rich.table import Table

    from tsnbench.foreign import Json

LEGEND_KEY = "tsnbench.legend"
REFERENCES = ("interval-start", "wakeup", "send", "qdisc", "driver", "tx")
"""The stage from which latency counts: the first of these with a timestamp."""
BIN_NS = 1_000
"""Width of the bins of the histogram of wakeups, as ``cyclictest -h``."""
MOST_BINS = 400


@dataclass(frozen=True)
class Stage:
    """One stage of one stream: latencies in ns in order of the frames, or the reason why there are none."""

    name: str
    tap: str
    latencies: tuple[int, ...]
    missing: str | None = None

    @property
    def mean_ns(self) -> float | None:
        """Mean latency."""
        return sum(self.latencies) / len(self.latencies) if self.latencies else None

    @property
    def jitter_ns(self) -> float | None:
        """Mean distance from the mean latency."""
        mean = self.mean_ns
        return None if mean is None else sum(abs(one - mean) for one in self.latencies) / len(self.latencies)

    def as_dict(self) -> Json:
        """For machines."""
        found: Json = {"stage": self.name, "tap": self.tap, "frames": len(self.latencies)}
        found |= {"mean_latency_ns": self.mean_ns, "mean_jitter_ns": self.jitter_ns}
        if self.latencies:
            found |= {"min_latency_ns": min(self.latencies), "max_latency_ns": max(self.latencies)}
        return found | ({"missing": self.missing} if self.missing else {})


@dataclass(frozen=True)
class StreamStages:
    """All stages of one stream, in the order in which frames pass them."""

    stream: str
    reference: str
    stages: tuple[Stage, ...]
    frames: int

    @property
    def wakeups(self) -> dict[int, int]:
        """Histogram of wake-up latencies as in ``cyclictest -h``: us, and number of wake-ups."""
        for stage in self.stages:
            if stage.name == "wakeup" and self.reference == "interval-start":
                found: dict[int, int] = {}
                for late in sorted(stage.latencies):
                    place = late // BIN_NS
                    found[place] = found.get(place, 0) + 1
                return found
        return {}

    def as_dict(self) -> Json:
        """For machines."""
        return {
            "stream": self.stream,
            "reference": self.reference,
            "frames": self.frames,
            "stages": [stage.as_dict() for stage in self.stages],
            "wakeup_histogram_us": {str(us): count for us, count in self.wakeups.items()},
        }


def by_stage(folder: str | Path) -> list[StreamStages]:
    """The stages of every observed stream, from the observations of a run folder or of a folder of live
    traffic.

    Raises:
        InputError: there are no observations, or no stage of a host among them.
    """
    path = Path(folder) / file_names.OBSERVATIONS
    if not path.exists():
        if any(Path(folder).glob("*/manifest.json")):
            # For a sweep's folder, the error names the folders of its runs.
            Run.open(folder)
        raise MeasureError(
            f"{folder}: expected observations.parquet, found none\n"
            "hint: a run folder, or one of tsnbench send --into"
        )
    legend, seen = documents.legend(path, LEGEND_KEY), repeats.read(path)
    # If a tap observed a frame several times, only the first observation counts.
    seen = seen.filter(pl.col("t_ns").is_not_null()).sort("t_ns")
    seen = seen.unique(["tap", "stream", "seq"], keep="first")
    taps = legend["taps"]
    found = []
    for (number,), own in seen.group_by("stream"):
        one = _stream(legend["streams"][number]["name"], own, taps)
        if one is not None:
            found.append(one)
    if not found:
        raise MeasureError(
            f"{folder}: expected stamps of at least two stages, found none\n"
            "hint: name stages in the scenario: taps: {stages: [wakeup, send, driver, app-rx]}"
        )
    return sorted(found, key=lambda one: one.stream)


def _stream(name: str, own: pl.DataFrame, taps: list[Json]) -> StreamStages | None:

    there = own["tap"].unique().to_list()
    by_name = {taps[tap]["stage"]: tap for tap in reversed(there)}
    reference = next((one for one in REFERENCES if one in by_name), None)
    if reference is None or len(there) < 2:
        return None
    start = own.filter(pl.col("tap") == by_name[reference]).select("seq", start="t_ns")
    joined = own.join(start, on="seq", how="inner").sort("seq")
    found, missing = [], []
    for tap, said in enumerate(taps):
        part = joined.filter(pl.col("tap") == tap)
        if len(part) and said.get("clock") == "phc":
            missing.append(
                Stage(
                    said["stage"],
                    said["name"],
                    (),
                    "its clock is the hardware's, which has no common zero here",
                )
            )
        elif len(part):
            late = (part["t_ns"] - part["start"]).to_list()
            found.append(Stage(said["stage"], said["name"], tuple(late)))
        elif said.get("missing") and said["stage"] not in by_name:
            missing.append(Stage(said["stage"], said["name"], (), said["missing"]))
    found.sort(key=lambda stage: stage.mean_ns or 0.0)
    return StreamStages(name, reference, (*found, *missing), len(start))


def stages_table(one: StreamStages) -> Table:
    """Mean latency and mean jitter per stage (OCORA Table 6 and following), in us."""
    title = f"{one.stream}: {one.frames} frames, from {one.reference}; us"
    heads = ("mean latency", "mean jitter", "min", "max", "frames")
    table = plain_table(title, ("stage", "tap"), heads)
    for stage in one.stages:
        mean, jitter = stage.mean_ns, stage.jitter_ns
        if mean is None or jitter is None:
            continue
        numbers = (mean, jitter, min(stage.latencies), max(stage.latencies))
        shown = [micros(number, 1) for number in numbers]
        table.add_row(stage.name, stage.tap, *shown, str(len(stage.latencies)))
    lines = [f"{stage.name}: no stamps: {stage.missing}" for stage in one.stages if stage.missing]
    table.caption = "\n".join(lines) or None
    return table


def wakeups_table(one: StreamStages) -> Table:
    """The histogram of wake-ups; empty bins are left out."""
    table = plain_table(one.stream, (), ("woken late by, us", "wakeups"))
    for us, count in list(one.wakeups.items())[:MOST_BINS]:
        table.add_row(str(us), str(count))
    return table
