"""A table of printed figures, as data sheets and papers have them, as a calibration.

One row for each figure: ``quantity`` (``mean``, ``median``, ``min``, ``p90``, ``p99``, ``p99_9``, ``max`` of
the time from a frame's last bit in to its first bit out), ``value`` (``3.1 us``), ``octets``, ``rate`` of the
links, and optionally ``hops`` (devices in a row; default 1). The line goes through the means, or through the
medians if there are more of them. A printed value may be wrong by half of its last digit.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tsnbench import foreign
from tsnbench.calibration.distribution import Draw, Histogram
from tsnbench.calibration.errors import CalibrationError
from tsnbench.calibration.fit import DRAWS, LEVEL, SEED, Interval
from tsnbench.libraries import numpy as np
from tsnbench.libraries import polars as pl
from tsnbench.scenario.units import DURATION, RATE, UnitError

QUANTILES = {"min": 0.0, "p10": 0.1, "median": 0.5, "p90": 0.9, "p99": 0.99, "p99_9": 0.999, "max": 1.0}
COLUMNS = ("quantity", "value", "octets", "rate")
LARGEST = 1 << 20
LEAST_ROWS = 3
_SAMPLES = 10_000
_TIMES = 1_000


@dataclass(frozen=True)
class Row:
    """One figure."""

    quantity: str
    value_ns: float
    error_ns: float
    octets: int
    rate_bps: int
    hops: int


@dataclass(frozen=True)
class Printed:
    """What follows from a table."""

    source: str
    fixed: Interval
    per_octet: Interval
    times: Histogram
    draws: tuple[Draw, ...]
    rows: tuple[Row, ...]
    central: str
    """The quantity through which the line goes."""

    @property
    def sizes(self) -> list[int]:
        """Sizes of the printed frames, octets."""
        return sorted({row.octets for row in self.rows})

    @property
    def rates(self) -> list[int]:
        """Of the links, bit/s."""
        return sorted({row.rate_bps for row in self.rows})


def read(path: Path) -> list[Row]:
    """The rows of a table.

    Raises:
        CalibrationError: a column is missing, or a value is not what its column needs.
        OSError: the file cannot be read.
    """
    with foreign.table_errors(foreign.regular(path, LARGEST), "a CSV file"):
        table = pl.read_csv(path, infer_schema=False, glob=False)
    if not set(COLUMNS) <= set(table.columns):
        found = ", ".join(table.columns[:8])
        raise CalibrationError(f"{path}: expected the columns {', '.join(COLUMNS)}, found {found}")
    if "hops" not in table.columns:
        table = table.with_columns(pl.lit("1").alias("hops"))
    return [_row(path, number, row) for number, row in enumerate(table.iter_rows(named=True), 2)]


def _row(path: Path, line: int, row: dict[str, str | None]) -> Row:
    texts = {name: (text or "").strip() for name, text in row.items()}
    quantity = texts["quantity"]
    if quantity not in QUANTILES and quantity != "mean":
        known = ", ".join(["mean", *QUANTILES])
        raise CalibrationError(f"{path}:{line}: quantity: expected one of {known}, found {quantity}")
    number, _, unit = texts["value"].partition(" ")
    digits = len(number.partition(".")[2])
    try:
        if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", number):
            raise UnitError("a time such as 3.1 us")
        worth = DURATION.parse(f"1 {unit}")
        rate = RATE.parse(texts["rate"])
        octets, hops = int(texts["octets"]), int(texts["hops"])
    except ValueError as error:
        raise CalibrationError(f"{path}:{line}: {error}") from error
    if octets < 1 or hops < 1:
        few = min(octets, hops)
        raise CalibrationError(f"{path}:{line}: expected octets and hops of at least 1, found {few}")
    return Row(quantity, float(number) * worth, worth * 10.0**-digits / 2, octets, rate, hops)


def calibrated(rows: Sequence[Row], source: str) -> Printed:
    """The line and the distribution of printed figures.

    Raises:
        CalibrationError: there are too few figures, or of one size only.
    """
    counts = {name: sum(row.quantity == name for row in rows) for name in ("mean", "median")}
    central = "median" if counts["median"] > counts["mean"] else "mean"
    used = [row for row in rows if row.quantity == central]
    if len({row.octets for row in used}) < 2:
        raise CalibrationError(
            "expected means or medians of two sizes of frames, found "
            f"{len({row.octets for row in used})}: the time of a frame and the time of each of its octets "
            "cannot be separated",
            "add a row of another size",
        )
    if len(used) < LEAST_ROWS:
        raise CalibrationError(
            f"expected {LEAST_ROWS} rows of {central} or more, found {len(used)}: a line fits any two "
            "exactly, and nothing would say how wrong it is",
            "add a third size, or another number of hops",
        )
    values, samples = _line(used)
    low, high = np.quantile(samples, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    fixed, per_octet = (
        Interval(float(values[place]), float(low[place]), float(high[place])) for place in range(2)
    )
    rest = _rest(rows, values)
    draws = [Draw(round(max(slope, 0.0) * 1e3), _histogram(rest + begin)) for begin, slope in samples[:DRAWS]]
    return Printed(source, fixed, per_octet, _histogram(rest + values[0]), tuple(draws), tuple(rows), central)


def _line(rows: Sequence[Row]) -> tuple[np.ndarray, np.ndarray]:
    """Least squares ``a`` and ``b``, and samples of both: Student's t by the residuals, and digits."""
    hops = np.array([row.hops for row in rows], dtype=np.float64)
    design = np.stack([np.ones(len(rows)), [float(row.octets) for row in rows]], axis=1)
    times = np.array([row.value_ns for row in rows]) / hops
    inverse = np.linalg.inv(design.T @ design)
    values = inverse @ design.T @ times
    free = len(rows) - 2
    variance = float(((times - design @ values) ** 2).sum()) / free
    draw = np.random.default_rng(SEED)
    spread = np.linalg.cholesky(inverse) * np.sqrt(variance)
    student = draw.normal(size=(_SAMPLES, 2)) / np.sqrt(draw.chisquare(free, (_SAMPLES, 1)) / free)
    digits = np.array([row.error_ns for row in rows]) / hops * draw.uniform(-1, 1, (_SAMPLES, len(rows)))
    samples: np.ndarray = values + student @ spread.T + digits @ (inverse @ design.T).T
    return values, samples


def _rest(rows: Sequence[Row], values: np.ndarray) -> np.ndarray:
    """Equally likely distances from the line, by the printed quantiles of single devices."""
    known: dict[float, list[float]] = {}
    for row in rows:
        if row.quantity in QUANTILES and row.hops == 1:
            line = float(values[0] + values[1] * row.octets)
            known.setdefault(QUANTILES[row.quantity], []).append(row.value_ns - line)
    if len(known) < 2:
        return np.zeros(1)
    shares = sorted(known)
    means = np.maximum.accumulate([float(np.mean(known[share])) for share in shares])
    every: np.ndarray = np.interp((np.arange(_TIMES) + 0.5) / _TIMES, shares, means)
    return every


def _histogram(times: np.ndarray) -> Histogram:
    values, counts = np.unique(np.maximum(np.round(times), 0).astype(np.int64), return_counts=True)
    return Histogram(values, counts.astype(np.int64))
