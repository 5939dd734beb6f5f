"""A calibration and its predictions as tables for people, and as documents for programs."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from tsnbench.quantities import exact, micros
from tsnbench.sheet import Column, Sheet

if TYPE_CHECKING:
    from tsnbench.calibration.calibrate import Calibrated
    from tsnbench.calibration.distribution import Histogram
    from tsnbench.calibration.fit import Interval
    from tsnbench.calibration.printed import Printed
    from tsnbench.foreign import Json
    from tsnbench.runs.tables.predicted import Prediction

MOST_REASONS = 6


def parameters(found: Calibrated) -> Sheet:
    """The fitted values with their intervals, and what stays unexplained."""
    sheet = _line(found.fit.fixed, found.fit.per_octet)
    sheet.captions.append(f"without the octets: {_spread(found.times)}, over {found.frames:,} frames")
    sheet.captions += found.doubts
    sheet.captions += left_out(found)
    return sheet


def printed_parameters(found: Printed) -> Sheet:
    """The values that follow from printed figures."""
    sheet = _line(found.fixed, found.per_octet)
    rows = sum(row.quantity == found.central for row in found.rows)
    sheet.captions.append(
        f"a line through {rows} rows of {found.central}; without the octets: {_spread(found.times)}"
    )
    sheet.captions.append("conditions of the table: no load is known, so it counts as 0 %")
    return sheet


def _line(fixed: Interval, per_octet: Interval) -> Sheet:
    sheet = Sheet("", [Column("parameter", left=True), Column("value"), Column("95 % interval", left=True)])
    for name, one, digits in (("fixed part of a frame", fixed, 1), ("for each octet", per_octet, 4)):
        interval = f"{one.low:.{digits}f} ns to {one.high:.{digits}f} ns"
        sheet.rows.append([name, f"{one.value:.{digits}f} ns", interval])
    return sheet


def _spread(times: Histogram) -> str:
    shares = (("least", 0.0), ("median", 0.5), ("p99", 0.99), ("greatest", 1.0))
    return " ".join(f"{label} {exact(times.quantile(share))}" for label, share in shares)


def left_out(found: Calibrated) -> list[str]:
    """The frames that were not used, with reasons."""
    rows = sorted(found.left.reasons.items(), key=lambda row: -row[1])
    said = [f"not used: {count:,} frames of {reason}" for reason, count in rows[:MOST_REASONS]]
    return said + (
        [f"and {len(rows) - MOST_REASONS} reasons more: --json"] if len(rows) > MOST_REASONS else []
    )


def rest(found: Calibrated) -> Sheet:
    """What the line leaves, by size and number of nodes."""
    heads = ("frame", "nodes", "frames", "mean rest", "p1", "p99", "explained")
    sheet = Sheet("rest, us", [Column(head) for head in heads])
    for group in found.groups:
        figures = [micros(value) for value in (group.mean_ns, group.p1_ns, group.p99_ns)]
        known = "yes" if group.explained else "NO"
        sheet.rows.append([f"{group.octets} B", str(group.crossed), f"{group.frames:,}", *figures, known])
    return sheet


def document(found: Calibrated) -> Json:
    """For machines: ``tsnbench-calibration/1``."""
    return {
        "format": "tsnbench-calibration/1",
        "for": list(found.names),
        "source": found.source,
        "frames": found.frames,
        "fixed_ns": asdict(found.fit.fixed),
        "per_octet_ns": asdict(found.fit.per_octet),
        "sizes": found.sizes,
        "rates_bps": list(found.rates),
        "load_ppm": found.load_ppm,
        "groups": [{**asdict(group), "explained": group.explained} for group in found.groups],
        "correlation": found.correlation,
        "doubts": found.doubts,
        "left": found.left.reasons,
    }


def printed_document(found: Printed) -> Json:
    """For machines: ``tsnbench-calibration/1``, of printed figures."""
    return {
        "format": "tsnbench-calibration/1",
        "source": found.source,
        "fixed_ns": asdict(found.fixed),
        "per_octet_ns": asdict(found.per_octet),
        "sizes": found.sizes,
        "rates_bps": found.rates,
        "rows": [asdict(row) for row in found.rows],
    }


def predicted(found: Prediction) -> Sheet:
    """The intervals of a prediction, one row for each stream and statistic."""
    columns = [
        Column("stream", name=True),
        Column("listener", name=True),
        Column("delay", left=True),
        Column("from"),
        Column("to"),
    ]
    sheet = Sheet(f"predicted, us: {found['level']:.0%} of measurements are inside", columns)
    for path in found["paths"]:
        for name, (low, high) in path["quantities"].items():
            sheet.rows.append([path["stream"], path["listener"], name, micros(low), micros(high)])
    sheet.captions += [f"extrapolated: {text}" for text in found["outside"]]
    return sheet
