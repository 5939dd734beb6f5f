"""One requirement on one line: where its found value, its worst case and its limit are drawn.

The limit is at the same place of every line, so that lines of different units can be compared: the nearer a
bar ends to the limit, the tighter the requirement.
"""

from __future__ import annotations

from dataclasses import dataclass

LIMIT_AT = 2 / 3
"""The place of a limit, as a share of the width; the whole width is 1.5 times the limit."""


@dataclass(frozen=True)
class Bar:
    """Places as shares of the width, from 0 (the value 0) to 1; None: the value is not known."""

    found: float | None
    worst_case: float | None
    limit: float | None
    error: tuple[float, float] | None
    """From where to where the found value may be, if its uncertainty is known."""
    found_outside: bool
    """Whether the found value is greater than the width shows; its place is then 1."""
    worst_case_outside: bool
    over: bool
    """Whether the found value breaks the limit."""
    least: bool
    """Whether the limit is the least allowed value, not the greatest."""


def bar(
    requirement: str,
    limit: float | None,
    found: float | None,
    worst_case: float | None,
    uncertainty: float | None = None,
) -> Bar:
    """The places of one requirement's values, which all have the limit's unit.

    A limit of 0 is at the left edge: every greater value is outside.
    """
    # A rate is required at least; all other quantities at most.
    least = requirement == "rate"
    known = [one for one in (found, worst_case) if one is not None]
    whole = limit / LIMIT_AT if limit is not None else max(known, default=0.0)

    def place(value: float) -> float:
        if value <= 0:
            return 0.0
        return min(1.0, value / whole) if whole > 0 else 1.0

    def outside(value: float | None) -> bool:
        return value is not None and value > max(whole, 0.0)

    return Bar(
        found=None if found is None else place(found),
        worst_case=None if worst_case is None else place(worst_case),
        limit=None if limit is None else place(limit),
        error=None
        if found is None or uncertainty is None
        else (place(found - uncertainty), place(found + uncertainty)),
        found_outside=outside(found),
        worst_case_outside=outside(worst_case),
        over=found is not None and limit is not None and (found < limit if least else found > limit),
        least=least,
    )
