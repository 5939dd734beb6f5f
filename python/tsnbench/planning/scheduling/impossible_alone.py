"""Streams that no schedule has room for even in an empty network: the others are judged without them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tsnbench.quantities import some

if TYPE_CHECKING:
    from tsnbench.planning.scheduling.problem import Found, Placed, Problem, Reason

BESIDE_OTHERS = ("no-room", "changed")
"""Refusals of streams that have a place without others."""
MOST_NAMED = 12
"""Streams that one sentence names."""
Search = Callable[["Problem", Sequence["Placed | None"]], "Found"]


def impossible_alone(found: Found) -> list[int]:
    """The streams without a place in an empty network."""
    return [number for number, refusal in found["outcome"]["refused"] if refusal["kind"] not in BESIDE_OTHERS]


def judged_apart(found: Found, problem: Problem, earlier: Sequence[Placed | None], search: Search) -> Found:
    """The reasons against streams that are impossible alone, and then those of the others without them.

    Args:
        found: the result for all streams.
        problem: all streams. earlier: by stream the decision of an earlier plan; empty without one.
        search: the search for a schedule of fewer streams.
    """
    alone = impossible_alone(found)
    kept = [number for number in range(len(problem["streams"])) if number not in set(alone)]
    if not alone:
        return found
    pairs = list(zip(found["reasons"], found["sentences"], strict=True))
    own = [pair for pair in pairs if pair[0].get("stream") in alone and pair[0]["kind"] != "conflict"]
    if kept:
        rest: Problem = {**problem, "streams": [problem["streams"][number] for number in kept]}
        others = search(rest, [earlier[number] for number in kept] if earlier else [])
        own += [
            renumbered(*pair, kept, alone)
            for pair in zip(others["reasons"], others["sentences"], strict=True)
        ]
    return {**found, "reasons": [reason for reason, _ in own], "sentences": [words for _, words in own]}


def renumbered(
    reason: Reason, sentence: str, kept: Sequence[int], alone: Sequence[int]
) -> tuple[Reason, str]:
    """A reason against some streams of a part of a problem, with their numbers in the whole problem."""
    made: Reason = {**reason}
    if "stream" in reason:
        made["stream"] = kept[reason["stream"]]
    if "streams" in reason:
        shares: list[Any] = [
            kept[one] if isinstance(one, int) else {**one, "stream": kept[one["stream"]]}
            for one in reason["streams"]
        ]
        made["streams"] = sorted([*alone, *shares]) if reason["kind"] == "without" else shares
    if reason["kind"] == "without":
        out = [str(number) for number in made["streams"]]
        return made, f"no schedule with all streams, but one without streams {some(out, MOST_NAMED)}"
    return made, named(sentence, {"stream": [str(number) for number in kept]})


def named(sentence: str, names: Mapping[str, Sequence[str]]) -> str:
    """A sentence with names in place of indices: ``streams 1 and 0``, ``link 3``."""

    def name(match: re.Match[str]) -> str:
        known = names[match[1]]
        return f"{match[1]}{match[2]} " + re.sub(r"\d+", lambda number: known[int(number[0])], match[3])

    return re.sub(rf"\b({'|'.join(names)})(s?) (\d+(?:(?:, | and )\d+)*)\b(?! of| more)", name, sentence)
