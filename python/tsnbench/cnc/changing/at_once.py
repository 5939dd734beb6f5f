"""Requests that wait at the same time: decided in their order, or planned at once if that admits more.

Nobody has an answer yet, so the places of all of them are free; streams in place keep theirs. Who is admitted
in order stays admitted. Those that are refused in order are tried in their order, each beside all that are
admitted so far. So a request is never refused because another one is admitted only together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from time import monotonic
from typing import TYPE_CHECKING

from tsnbench.cnc.admission import Parts, Rules, decide, decide_together
from tsnbench.cnc.changes import MOST_LOGGED, Change, Kind, NotAcceptedError
from tsnbench.cnc.network import Base, Network
from tsnbench.planning.scheduling.engines import hurry
from tsnbench.planning.scheduling.hints import patience

if TYPE_CHECKING:
    from tsnbench.foreign import Json

BUDGET_S = 0.5
"""Nothing further is tried together after this time: the first of those that wait has no answer meanwhile."""


@dataclass(frozen=True)
class Ready:
    """What a change makes of a network, before it is in force."""

    before: Network
    found: Network | NotAcceptedError
    parts_ms: Mapping[str, float]

    @property
    def after(self) -> Network:
        """The network after the change.

        Raises:
            NotAcceptedError: it is refused.
        """
        if isinstance(self.found, NotAcceptedError):
            raise self.found
        return self.found


@dataclass(frozen=True)
class Tried:
    """What becomes of changes that wait at the same time; each is named by its place in their order."""

    ready: Mapping[int, Ready]
    """Those that are admitted in order."""
    slow: Mapping[int, Ready] = field(default_factory=dict)
    """Those whose refusal took so long that it is not looked for again, with its hint."""
    only: Sequence[int] = ()
    """Those that are admitted beside them only if all are planned at once; empty: it admits no more."""
    whole: Ready | None = None
    """The network with both."""

    @property
    def group(self) -> list[int]:
        """Those that are planned at once."""
        return sorted((*self.ready, *self.only)) if self.whole else []

    def told(self, changes: Sequence[Change], number: int) -> list[Json]:
        """What their clients are told of those that are planned at once: ``Decision.together``.

        ``number``: of the first decision.
        """
        return [
            {
                "number": number + count,
                "client": changes[place].client,
                "streams": [*islice(changes[place].add, MOST_LOGGED)],
                "only_together": place in self.only,
            }
            for count, place in enumerate(self.group)
        ]


def tried(base: Base, now: Network, changes: Sequence[Change], rules: Rules) -> Tried:
    """Decides about changes in their order, and then tries to admit more of them at once.

    Args:
        base: the scenario. now: the network before them, which stays.
        changes: they only add streams. rules: what is permitted.
    """
    begin = monotonic()
    found, refused = _in_order(base, now, changes, rules, begin + BUDGET_S)
    for place in refused if found.ready else ():
        if monotonic() > begin + BUDGET_S:
            break
        found = _with(base, now, changes, rules, found, place)
    return found


def _in_order(
    base: Base, now: Network, changes: Sequence[Change], rules: Rules, end: float
) -> tuple[Tried, list[int]]:
    """Those that are admitted in order until an instant, and those that are refused."""
    ready: dict[int, Ready] = {}
    slow: dict[int, Ready] = {}
    refused: list[int] = []
    for place, change in enumerate(changes):
        if (begin := monotonic()) > end:
            break
        parts = Parts()
        try:
            with patience(0):
                after = decide(base, now, change, rules, parts)
        except NotAcceptedError as error:
            refused += [place] if error.kind is Kind.REFUSED else []
            if monotonic() - begin > BUDGET_S:
                slow[place] = Ready(now, error, parts.ms)
            continue
        if after is not now:
            ready[place] = Ready(now, after, parts.ms)
            now = after
    return Tried(ready, slow), refused


def _with(
    base: Base, now: Network, changes: Sequence[Change], rules: Rules, found: Tried, more: int
) -> Tried:
    """What was found, with one more change if all fit at once."""
    parts = Parts()
    group = [changes[place] for place in sorted((*found.ready, *found.only, more))]
    try:
        with patience(0), hurry(BUDGET_S):
            after = decide_together(base, now, group, rules, parts)
    except NotAcceptedError:
        return found
    return replace(found, only=(*found.only, more), whole=Ready(now, after, parts.ms))
