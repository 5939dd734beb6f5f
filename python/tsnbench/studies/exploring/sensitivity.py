"""Which varied values matter: designs and indices of Morris and of Sobol, by SALib.

Morris: mean of the absolute effects of one step (``mu star``) and their deviation (``sigma``). Sobol: the
share of the variance that a value explains alone (``first``) and together with others (``total``).
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from tsnbench.errors import InputError
from tsnbench.libraries import load, numpy, salib_analyze, salib_sample
from tsnbench.studies.exploring.questions import Sensitivity
from tsnbench.studies.store import Row

MISSING = "expected SALib for a sensitivity analysis, found none\nhint: pip install 'tsnbench[study]'"
LEVELS = 4
Point = tuple[str, ...]


def _problem(axes: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    return {"num_vars": len(axes), "names": list(axes), "bounds": [[0.0, 1.0]] * len(axes)}


def samples(asked: Sensitivity, axes: Mapping[str, Sequence[str]]) -> Any:
    """The design's samples in the unit cube, one row each.

    Raises:
        InputError: SALib is not installed.
    """
    try:
        load(salib_sample)
    except ImportError:
        raise InputError(MISSING) from None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if asked.method == "morris":
            morris = salib_sample.morris
            return morris.sample(_problem(axes), asked.count, num_levels=LEVELS, seed=asked.seed)
        sobol = salib_sample.sobol
        return sobol.sample(_problem(axes), asked.count, calc_second_order=False, seed=asked.seed)


def points(asked: Sensitivity, axes: Mapping[str, Sequence[str]]) -> list[Point]:
    """The combination of each sample: a list is divided into parts of the same size; duplicates stay."""
    lists = list(axes.values())
    return [
        tuple(_at(asked, axis, float(share)) for axis, share in zip(lists, row, strict=True))
        for row in samples(asked, axes)
    ]


def _at(asked: Sensitivity, axis: Sequence[str], share: float) -> str:
    # Levels of Morris include both ends of the list; samples of Sobol are uniform.
    if asked.method == "morris":
        return axis[round(share * (len(axis) - 1))]
    return axis[min(int(share * len(axis)), len(axis) - 1)]


def indices(asked: Sensitivity, axes: Mapping[str, Sequence[str]], found: Sequence[float]) -> list[Row]:
    """One row for each varied path, from the value of each sample of the design."""
    outcome = numpy.array(found, dtype=float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if asked.method == "morris":
            every = samples(asked, axes)
            morris = salib_analyze.morris
            made = morris.analyze(_problem(axes), every, outcome, num_levels=LEVELS, seed=asked.seed)
            columns = {"mu star": "mu_star", "mu star ±": "mu_star_conf", "mu": "mu", "sigma": "sigma"}
        else:
            sobol = salib_analyze.sobol
            made = sobol.analyze(_problem(axes), outcome, calc_second_order=False, seed=asked.seed)
            columns = {"first": "S1", "first ±": "S1_conf", "total": "ST", "total ±": "ST_conf"}
    return [
        {"parameter": name, **{column: _number(made[key][n]) for column, key in columns.items()}}
        for n, name in enumerate(axes)
    ]


def _number(value: Any) -> float | None:
    """A number for tables; None if all samples have one value, so that there is nothing to explain."""
    number = float(value)
    return number if number == number else None
