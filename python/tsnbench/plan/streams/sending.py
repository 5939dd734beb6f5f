"""When streams send, and which of them send at the same time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tsnbench.plan.types import PlanDocument

Span = tuple[int, int]
"""Begin and end in ns."""


def run_of(document: PlanDocument) -> Span:
    """The span in which frames may be on their way."""
    return 0, document["duration_ns"] + document["drain_ns"]


def sending(document: PlanDocument) -> dict[str, Span]:
    """By stream, the span of its releases in ns, from its start to its stop or the end of the run."""
    return {
        stream["name"]: (stream["start_ns"], min(stream["stop_ns"], document["duration_ns"]))
        for stream in document["streams"]
    }


def overlap(one: Span, other: Span) -> bool:
    """Whether two spans have an instant in common."""
    return max(one[0], other[0]) < min(one[1], other[1])


def together(spans: Mapping[str, Span], within: Span) -> list[set[str]]:
    """The greatest sets of streams that send at one instant of a span; each of its streams is in one of them.

    Streams that begin and end with the run are one set.
    """
    found: list[set[str]] = []
    active: dict[str, int] = {}
    grown = False
    for name, (begin, end) in sorted(spans.items(), key=lambda item: max(item[1][0], within[0])):
        if not overlap((begin, end), within):
            continue
        if ended := [other for other, until in active.items() if until <= max(begin, within[0])]:
            if grown:
                found.append(set(active))
            for other in ended:
                del active[other]
        active[name] = end
        grown = True
    return [*found, set(active)] if active else found
