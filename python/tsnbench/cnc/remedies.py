"""Changes of refused streams that would be admitted: each was tried before it is told.

``tsnbench plan`` tries the remedies of schedules itself, and its hints say so. Here are those of bounded
streams, and of requests that harm others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from time import monotonic

from tsnbench.cnc.admission import Rules, decide
from tsnbench.cnc.changes import Change, NotAcceptedError
from tsnbench.cnc.network import Base, Network
from tsnbench.foreign import Json
from tsnbench.planning.errors import PlanningProblem
from tsnbench.planning.scheduling.engines import hurry
from tsnbench.planning.scheduling.hints import patience
from tsnbench.quantities import exact, some
from tsnbench.scenario.units import DURATION, UnitError

PATIENCE_S = 1.0
"""No further remedy or hint is tried after this time: other clients wait."""
LONGER = (2, 4, 8)
"""Factors of the period."""
LOOSER = (2, 4, 8)
"""Factors of the limit of the delay."""
NAMED, SHORT = 50, 3
"""Streams that a remedy names at most, and in any case."""
Streams = Mapping[str, Json]


def with_remedy(
    base: Base, now: Network, change: Change, rules: Rules, problems: Sequence[PlanningProblem]
) -> Sequence[PlanningProblem]:
    """The problems of a refused change, the first one with a remedy that was tried, if one was found.

    Of several streams, the remedy says which part would be admitted, and how the rest would, too.
    """
    own, several = any(one.hint for one in problems), len(change.add) > 1
    if not change.add or (own and not several):
        return problems
    begin = monotonic()
    tries = Tries(base, now, change, rules, begin + (PATIENCE_S / 2 if own else PATIENCE_S))
    found = of_group(tries, problems, begin + PATIENCE_S / 4) if several else of_one(tries)
    if not found:
        return problems
    earlier = f"{problems[0].hint}; " if problems[0].hint else ""
    return [replace(problems[0], hint=f"{earlier}{found} (tried)"), *problems[1:]]


@dataclass(frozen=True)
class Tries:
    """Changes that are tried in place of a refused one, until an instant."""

    base: Base
    now: Network
    change: Change
    rules: Rules
    end: float

    @property
    def over(self) -> bool:
        """Whether no further one is tried."""
        return monotonic() > self.end

    def works(self, add: Streams) -> bool:
        """Whether the change would be admitted with these streams in place of its own.

        A stream that it replaces stays as it is if it is not among them.
        """
        remove = tuple(name for name in self.change.remove if name in add or name not in self.change.add)
        if self.over:
            return False
        try:
            with patience(0), hurry(0):
                decide(self.base, self.now, replace(self.change, add=add, remove=remove), self.rules)
        except NotAcceptedError:
            return False
        return True

    def variant(self, kept: Streams, name: str) -> tuple[Json, str] | None:
        """A stream that asks for less than this one and is admitted beside others, and its difference in
        words."""
        written = self.change.add[name]
        every = (*_in_another_vlan(self.now, written), *_others(written))
        return next((one for one in every if self.works({**kept, name: one[0]})), None)


def of_one(tries: Tries) -> str:
    """A remedy of a change that adds one stream, in words; empty if none was found."""
    found = tries.variant({}, next(iter(tries.change.add)))
    return f"{found[1]} would be admitted" if found else ""


def of_group(tries: Tries, problems: Sequence[PlanningProblem], half: float) -> str:
    """A remedy of a change that adds several streams, in words; empty if none was found.

    ``half``: until then a single stream is looked for without which all others would be admitted.
    """
    every = tries.change.add
    named = {one.path.split(".")[1] for one in problems if one.path.startswith("streams.")}
    # Streams that the reasons name come last: those are left out if there is a choice.
    kept = _most(tries, {}, [name for name in every if name not in named])
    kept = _most(tries, kept, [name for name in every if name in named])
    out = [name for name in every if name not in kept]
    for name in kept if len(out) > 1 else ():
        rest = {one: every[one] for one in every if one != name}
        if monotonic() > half:
            break
        if tries.works(rest):
            kept, out = rest, [name]
            break
    changed, words = dict(kept), []
    for name in out:
        if (found := tries.variant(changed, name)) is not None:
            changed[name] = found[0]
            words.append(f"streams.{name}.{found[1]}")
    said = []
    if kept:
        # Of two large parts the smaller one is named.
        part = some([*kept], NAMED) if len(kept) <= max(len(out), SHORT) else f"the other {len(kept)}"
        others = some(out, NAMED) if len(out) <= max(len(kept), SHORT) else "the others"
        said.append(f"{part} would be admitted without {others}")
    if words:
        still = [name for name in out if name not in changed]
        all_of_them = f"all but {some(still, NAMED)}" if still else "all"
        said.append(f"with {' and '.join(words)}, {all_of_them} would be admitted")
    return "; ".join(said)


def _most(tries: Tries, kept: Streams, names: Sequence[str]) -> Streams:
    """Streams that are admitted together: those kept, and as many of the names as are found by halves."""
    more = {**kept, **{name: tries.change.add[name] for name in names}}
    if len(more) < len(tries.change.add) and tries.works(more):
        return more
    if len(names) < 2 or tries.over:
        return kept
    half = len(names) // 2
    return _most(tries, _most(tries, kept, names[:half]), names[half:])


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
