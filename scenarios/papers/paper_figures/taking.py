"""The quantities of a finished run, out of its folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

import polars as pl

from paper_figures.quantity import Quantity
from tsnbench.measure import measure_run
from tsnbench.plan.gates import open_share
from tsnbench.runs import Run
from tsnbench.scenario.model.hosts import STAGES

Value = float | int
Document = dict[str, Any]


class NoQuantityError(LookupError):
    """The run has nothing by this name."""


class Taken:
    """One run, and what was asked of it so far."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self._measures: dict[str, Document] = {}

    @property
    def variant(self) -> frozenset[tuple[str, str]]:
        """Its parameters' values; a Plan does not keep their order."""
        return frozenset(self.run.plan.document.get("variant", {}).items())

    def value(self, quantity: Quantity) -> Value:
        """
        Raises:
            NoQuantityError: the run has no such stream, port or path, or nothing was measured there.
        """
        stages, _, path = quantity.path.rpartition("/")
        head, _, rest = path.partition(".")
        by_head: dict[str, Callable[[str, str], Value]] = {
            "frames": self._frames,
            "latency": self._latency,
            "clock": self._clock,
            "clocks": self._clock,
            "counter": self._counter,
            "plan": self._plan,
        }
        if head in by_head:
            return by_head[head](quantity.subject, rest)
        path = path.replace("jitter.", "jitter.delay-step-abs.", 1) if path.count(".") == 1 else path
        return _number(self._group(quantity.subject, stages), path, str(quantity))

    def _between(self, stages: str) -> Document:
        if stages not in self._measures:
            self._measures[stages] = (
                measure_run(self.run.folder, *two_stages(stages)) if stages else self.run.measures()
            )
        return self._measures[stages]

    def _group(self, name: str, stages: str) -> Document:
        return _one(self._between(stages)["groups"], "stream", name)

    @cached_property
    def _delays(self) -> pl.DataFrame:
        """``stream``, ``seq``, ``t_rx_ns``, ``delay_ns`` of every frame that arrived."""
        paths = [path["group"] for path in self._between("")["paths"]]
        names = pl.Series(paths, dtype=pl.String)
        table = self.run.frames().filter(pl.col("delay_ns").is_not_null())
        return table.with_columns(stream=pl.lit(names).gather(pl.col("path")))

    def _of(self, subject: str) -> pl.DataFrame:
        found = self._delays if subject == "*" else self._delays.filter(pl.col("stream") == subject)
        if found.is_empty():
            raise NoQuantityError(f"no frame of {subject} arrived")
        return found.sort("seq")

    def _frames(self, subject: str, what: str) -> Value:
        delays = self._of(subject)["delay_ns"]
        kind, _, ns = what.partition("=")
        if kind == "at":
            return float((delays == int(ns)).sum()) / len(delays)
        if kind == "above":
            return int((delays > int(ns)).sum())
        if what == "outliers":
            return _outliers(delays)
        if kind.startswith("last"):
            return float(delays[-int(kind.removeprefix("last")) :].sum()) / int(kind.removeprefix("last"))
        raise NoQuantityError(f"frames.{what}")

    def _latency(self, subject: str, what: str) -> Value:
        stream = _one(self.run.plan.document["streams"], "name", subject)
        table = self._of(subject)
        found = table["t_rx_ns"] - table["seq"].cast(pl.Int64) * int(stream["pattern"]["period_ns"])
        kind, _, ns = what.partition("=")
        if kind == "above":
            return int((found > int(ns)).sum())
        if kind == "least-above":
            return int(found.filter(found > int(ns)).min())  # type: ignore[arg-type]
        if kind == "outside":
            average = float(found.sum()) / len(found)
            return float(((found - average).abs() > int(ns)).sum()) / len(found)
        return _statistic(found, kind)

    def _clock(self, subject: str, what: str) -> Value:
        half = int(self.run.plan.document["duration_ns"]) // 2
        errors = self.run.clock_errors().filter(pl.col("t_true_ns") >= half)
        if subject != "*":
            errors = errors.filter(pl.col("node") == subject)
        offsets = errors["offset_ps"].drop_nulls()
        if offsets.is_empty():
            raise NoQuantityError(f"no clock of {subject}")
        return _statistic(offsets.abs() if what == "max" else offsets, what) / 1000

    def _counter(self, subject: str, what: str) -> Value:
        return _number(_one(self.run.counters["ports"], "port", subject), what, subject)

    def _plan(self, subject: str, what: str) -> Value:
        port = _one(self.run.plan.document["ports"], "name", subject)
        kind, _, rest = what.partition(".")
        if kind == "cbs":
            number, _, key = rest.partition(".")
            return _number(port["classes"][int(number)], f"cbs.linux.{key}", subject)
        if kind == "open-rate":
            return float(port["rate_bps"] * open_share(port, int(rest)))
        first = port["gates"]["entries"][0]
        opens = int(port["gates"].get("base_time_ns", 0))
        return opens if rest == "opens" else opens + int(first["interval_ns"])


def two_stages(stages: str) -> tuple[str, str]:
    """``interval-start-app-rx``: from ``interval-start`` to ``app-rx``. Names of stages have dashes, too."""
    for start in STAGES:
        end = stages.removeprefix(f"{start}-")
        if end != stages and end in STAGES:
            return start, end
    raise NoQuantityError(f"no two stages: {stages}")


def _one(rows: Iterable[Document], key: str, name: str) -> Document:
    found = [row for row in rows if row[key] == name]
    if len(found) != 1:
        raise NoQuantityError(f"expected one {key} {name}, found {len(found)}")
    return found[0]


def _number(document: Document, path: str, whose: str) -> Value:
    at: Any = document
    for part in path.split("."):
        try:
            at = at[int(part)] if isinstance(at, list) else at[part]
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise NoQuantityError(f"{whose}: nothing at {path}") from error
    if isinstance(at, bool) or not isinstance(at, int | float):
        raise NoQuantityError(f"{whose}: expected a number at {path}, found {at}")
    return at


def _outliers(values: pl.Series) -> int:
    """As box plots count them: farther from the box than one and a half times its length."""
    low, high = (int(values.quantile(share, "lower")) for share in (0.25, 0.75))  # type: ignore[arg-type]
    reach = 1.5 * (high - low)
    return int(((values < low - reach) | (values > high + reach)).sum())


def _statistic(values: pl.Series, what: str) -> Value:
    """Exact; quantiles by nearest rank."""
    if what == "count":
        return len(values)
    if what in ("min", "max"):
        return int(values.min() if what == "min" else values.max())  # type: ignore[arg-type]
    if what == "mean":
        return float(values.sum()) / len(values)
    if what == "std":
        return float(values.cast(pl.Float64).std(ddof=0) or 0.0)  # type: ignore[arg-type]
    raise NoQuantityError(what)
