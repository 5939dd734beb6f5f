"""The names of the figures of a statistic."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tsnbench.measure.types import Jitter, Stat


def figures(stat: Stat) -> dict[str, float]:
    """Minimum, mean, median, three percentiles, maximum."""
    return {
        "min": stat["min"],
        "mean": stat["mean"],
        "median": stat["median"],
        "p90": stat["p90"],
        "p99": stat["p99"],
        "p99_9": stat["p99_9"],
        "max": stat["max"],
    }


def kinds(jitter: Jitter) -> dict[str, Stat | None]:
    """Every kind of jitter that is a distribution."""
    return {
        "delay-step": jitter["delay-step"],
        "delay-step-abs": jitter["delay-step-abs"],
        "deviation": jitter["deviation"],
        "interval": jitter["interval"],
    }
