"""A latency of a host's software as it is written: a duration, a span, a histogram, or a file."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

from tsnbench.scenario import model
from tsnbench.scenario.kinds.combinators import Fields
from tsnbench.scenario.recorded.cyclictest import CyclictestError, histogram
from tsnbench.scenario.text.place import Place
from tsnbench.scenario.text.reading import Reading


def latency_of(reading: Reading, content: Any, place: Place, path: str) -> model.Latency | None:
    """A latency as written: a duration, a span, a histogram, or a file."""
    if not isinstance(content, Fields):
        return model.Constant(ns=content)
    if content.bad:
        return None

    def wrong(expected: str, found: str, hint: str = "") -> None:
        reading.problem(place, path, expected, found, hint)

    ways = [key for key in ("to", "values", "cyclictest") if key in content]
    if len(ways) != 1:
        wrong("one of from and to, values and counts, or cyclictest", " and ".join(ways) or "none of them")
        return None
    if ways == ["to"]:
        low, high = content.get("from", 0), content["to"]
        if low > high:
            wrong("a range from the least to the greatest latency", f"{low} ns to {high} ns")
            return None
        return model.Uniform(low=low, high=high)
    if ways == ["values"]:
        values, counts = content["values"], content.get("counts", [1] * len(content["values"]))
        if len(values) != len(counts) or not sum(counts) or any(b <= a for a, b in pairwise(values)):
            wrong(
                "ascending values, and as many counts of which one is not 0",
                f"{len(values)} and {len(counts)}",
            )
            return None
        return model.Histogram(values=tuple(values), counts=tuple(counts), width=content.get("width", 0))
    name = str(content["cyclictest"])
    try:
        bins = histogram(Path(reading.file).parent / name, content.get("thread"))
    except CyclictestError as error:
        wrong("a histogram that cyclictest -h has written", f"{name}: {error}", error.hint)
        return None
    return model.Histogram(values=tuple(bins), counts=tuple(bins.values()), width=1_000)
