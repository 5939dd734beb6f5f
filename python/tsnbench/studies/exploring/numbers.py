"""Values of a parameter as numbers of one unit."""

from __future__ import annotations

from collections.abc import Sequence

from tsnbench.scenario.units import DRIFT, DURATION, LENGTH, RATE, SHARE, SIZE, UnitError

DIMENSIONS = (DURATION, RATE, SIZE, LENGTH, SHARE, DRIFT)


def numbers(values: Sequence[str]) -> list[float] | None:
    """The values as numbers of one unit; None if any is none."""
    try:
        return [float(value) for value in values]
    except ValueError:
        pass
    for dimension in DIMENSIONS:
        try:
            return [float(dimension.parse(value)) for value in values]
        except UnitError:
            continue
    return None
