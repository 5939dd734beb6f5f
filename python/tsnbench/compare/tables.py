"""A comparison as tables for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tsnbench.compare.agreement import PREDICTED, Agreement
from tsnbench.compare.comparison import Comparison, letter
from tsnbench.quantities import micros
from tsnbench.runs.measures import figures
from tsnbench.sheet import plain_table

if TYPE_CHECKING:
    from rich.table import Table


def side_table(found: Comparison) -> Table:
    """Delay, interval and loss with one row per run; times in us."""
    heads = ["sent", "lost", "min", "median", "p99", "max", "spread", "interval"]
    table = plain_table("delay and median interval, us", ["stream", "run"], heads)
    for key in found.streams:
        for row in found.rows:
            if (row.stream, row.listener) != key:
                continue
            named = figures(row.delay) if row.delay else {}
            delay = [micros(named.get(name)) for name in ("min", "median", "p99", "max")]
            table.add_row(
                row.stream,
                found.sides[row.side].label,
                f"{row.sent:,}",
                f"{row.lost:,}",
                *delay,
                micros(row.spread_ns),
                micros(row.interval.median if row.interval else None),
            )
        upper, reason = found.bounds.get(key, (None, ""))
        if upper is not None:
            table.add_row(key[0], "worst-case bound", "", "", "", "", "", micros(upper), "", "")
        elif reason:
            table.add_row(key[0], f"no bound: {reason}")
    return table


def gate_table(found: Comparison) -> Table:
    """Departures against gates, per port and class."""
    heads = ["frames", "not in a window", "early by", "late by", "after opening"]
    table = plain_table("gates, us", ["port", "class", "run"], heads)
    for one in sorted(found.gates, key=lambda one: (one.port, -one.traffic_class, one.side)):
        table.add_row(
            one.port,
            str(one.traffic_class),
            found.sides[one.side].label,
            f"{one.frames:,}",
            f"{one.outside:,}",
            *(micros(value) for value in (one.early_ns, one.late_ns, one.opening_ns)),
        )
    return table


def agreement_table(found: Comparison) -> Table:
    """One line per quantity."""
    table = plain_table("agreement", ["stream", "run", "quantity", "agrees"], ["difference", "tolerance"])
    table.add_column("because")
    for one in found.agreements:
        table.add_row(
            one.stream,
            found.sides[one.second].label,
            one.quantity,
            "YES" if one.agrees else "NO",
            _amount(one, one.difference),
            f"{_amount(one, -one.below)} to {_amount(one, one.above)}",
            found.letters(one),
        )
    table.caption = "\n".join(f"{letter(place)}: {reason}" for place, reason in enumerate(found.reasons))
    return table


def prediction_table(found: Comparison) -> Table | None:
    """Predicted interval, measured value, and whether it is inside; None without a prediction."""
    prediction = found.sides[0].prediction
    rows = [one for one in found.agreements if any(term.reason == PREDICTED for term in one.terms)]
    if prediction is None or not rows:
        return None
    title = f"predicted with {prediction['level']:.0%}, and measured; us"
    table = plain_table(title, ["stream", "run", "quantity", "inside"], ["from", "to", "measured"])
    for one in rows:
        low, high = one.found_first - one.below, one.found_first + one.above
        numbers = (micros(value) for value in (low, high, one.found_second))
        label = found.sides[one.second].label
        table.add_row(one.stream, label, one.quantity, "YES" if one.agrees else "NO", *numbers)
    table.caption = "\n".join(f"extrapolated: {text}" for text in prediction["outside"]) or None
    return table


def _amount(one: Agreement, value: float) -> str:
    return f"{value / 1000:+,.3f} us" if one.unit == "ns" else f"{value:+,.0f} {one.unit}"
