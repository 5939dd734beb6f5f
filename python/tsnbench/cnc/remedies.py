"""Changes of a refused stream that would be admitted: each was tried before it is told.

``tsnbench plan`` tries the remedies of schedules itself, and its hints say so. Here are those of bounded
streams, and of requests that harm others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from time import monotonic

from tsnbench.cnc.admission import Rules, decide
from tsnbench.cnc.changes import Change, NotAcceptedError
from tsnbench.cnc.network import Base, Network
from tsnbench.foreign import Json
from tsnbench.planning.errors import PlanningProblem
from tsnbench.planning.scheduling.hints import patience
from tsnbench.quantities import exact
from tsnbench.scenario.units import DURATION, UnitError

PATIENCE_S = 1.0
"""No further remedy or hint is tried after this time: other clients wait."""
LONGER = (2, 4, 8)
"""Factors of the period."""
LOOSER = (2, 4, 8)
"""Factors of the limit of the delay."""


def with_remedy(
    base: Base, now: Network, change: Change, rules: Rules, problems: Sequence[PlanningProblem]
) -> Sequence[PlanningProblem]:
    """The problems of a refused change, the first one with a remedy that was tried, if one was found.

    Only a change that adds one stream is tried: of several, another choice may be better.
    """
    if len(change.add) != 1 or any(one.hint for one in problems):
        return problems
    ((name, written),) = change.add.items()
    end = monotonic() + PATIENCE_S
    for other, words in (*_in_another_vlan(now, written), *_others(written)):
        if monotonic() > end:
            break
        try:
            with patience(0):
                decide(base, now, replace(change, add={name: other}), rules)
        except NotAcceptedError:
            continue
        return [replace(problems[0], hint=f"{words} would be admitted (tried)"), *problems[1:]]
    return problems


def _in_another_vlan(now: Network, written: Json) -> Iterator[tuple[Json, str]]:
    """The same stream in a VLAN that no other one has: redundant streams are identified by address and VLAN,
    and would need another identification beside one with both."""
    streams = now.plan.document["streams"]
    if any("redundancy" in stream for stream in streams):
        used = {stream.get("vid") for stream in streams}
        free = next((vid for vid in range(2, 4095) if vid not in used), None)
        if free is not None:
            yield {**written, "vlan": str(free)}, f"vlan: {free}"


def _others(written: Json) -> Iterator[tuple[Json, str]]:
    """Streams that ask for less, each with its difference in words; the least difference first."""
    requires: Json = found if isinstance(found := written.get("requires"), dict) else {}
    for key in ("delay", "delay from release"):
        if delay := _duration(requires.get(key)):
            for factor in LOOSER:
                looser = exact(factor * delay)
                yield {**written, "requires": {**requires, key: looser}}, f"requires.{key}: {looser}"
    if "period" in written and not written.get("scheduled"):
        yield {**written, "scheduled": True}, "scheduled: true"
    if period := _duration(written.get("period")):
        for factor in LONGER:
            longer = exact(factor * period)
            yield {**written, "period": longer}, f"period: {longer}"


def _duration(text: object) -> int | None:
    """Nanoseconds; None if it is no duration."""
    try:
        return DURATION.parse(text) if isinstance(text, str) else None
    except UnitError:
        return None
