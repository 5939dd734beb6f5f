"""Quantities of verdicts as plain text: every digit that counts, in the unit that reads best."""

from __future__ import annotations


def span(ns: float) -> str:
    """A time to the nanosecond: ``1.204 ms``, ``847.5 us``."""
    sign, size = ("-", -ns) if ns < 0 else ("", ns)
    for limit, unit, scale, digits in ((1e3, "ns", 1.0, 1), (1e6, "us", 1e3, 3), (1e9, "ms", 1e6, 6)):
        if size < limit:
            return f"{sign}{trimmed(f'{size / scale:.{digits}f}')} {unit}"
    return f"{sign}{trimmed(f'{size / 1e9:.9f}')} s"


def quantity(value: float | None, unit: str) -> str:
    """A limit, a finding or a margin with its unit; a dash for what is not known."""
    if value is None:
        return "\u2013"
    if unit == "ns":
        return span(value)
    if unit == "bit/s":
        scale, prefix = (1e6, "M") if abs(value) >= 1e6 else (1e3, "k") if abs(value) >= 1e3 else (1.0, "")
        return f"{trimmed(f'{value / scale:,.3f}')} {prefix}bit/s"
    if unit == "ppm" and (abs(value) >= 10_000 or not value):
        return f"{value / 10_000:,.6g} %"
    return f"{value:,.6g} {unit}"


def trimmed(text: str) -> str:
    """Without zeros behind the decimal point that say nothing."""
    return text.rstrip("0").rstrip(".") if "." in text else text
