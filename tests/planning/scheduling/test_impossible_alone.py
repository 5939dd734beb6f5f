"""Streams that are impossible alone are said first, and the others are judged without them."""

from __future__ import annotations

import re
from typing import Any

from support.planned import plan_of, problems_of
from tsnbench.planning.scheduling.impossible_alone import judged_apart, renumbered

NETWORK = """
name: alone
duration: 10 ms
network:
  bridges: [s, t]
  stations: [a, b, c, d]
  links: {rate: 100 Mbit/s, between: [a -- s, b -- s, d -- s, s -- t, t -- c]}
streams:
"""
COMMON = "to: c, pcp: 7, period: 1 ms, scheduled: true"
STREAMS = {
    # Three times 1508 octets at 100 Mbit/s are 361.92 us.
    "big": f"{{from: a, frame: 1500 B, {COMMON}, requires: {{delay: 200 us}}}}",
    # Both frames are at s at 120.64 us, and their deadlines leave no time for a second one.
    "x": f"{{from: a, frame: 1500 B, {COMMON}, release: {{latest: 0 us}}, requires: {{delay: 400 us}}}}",
    "y": f"{{from: b, frame: 1500 B, {COMMON}, release: {{latest: 0 us}}, requires: {{delay: 400 us}}}}",
    "z": f"{{from: d, frame: 500 B, {COMMON}}}",
}


def text(*names: str) -> str:
    return NETWORK + "".join(f"  {name}: {STREAMS[name]}\n" for name in names)


def test_the_others_are_judged_without_it() -> None:
    """First fit would refuse y beside big, which has no place itself."""
    first, *others = problems_of(text(*STREAMS))
    assert first.path == "streams.big"
    assert first.found.startswith("stream big needs at least 361.92 us over 3 links")
    assert [one.path for one in others] == ["streams.y"] * len(others)
    assert all("big" not in one.found for one in others[:-1])
    assert others[0].hint == "without big there is a schedule with streams.x.release left out"


def test_the_streams_to_leave_out_are_all_that_have_to_be() -> None:
    """The remedy is followed here."""
    found = problems_of(text(*STREAMS))[-1].found
    named = re.fullmatch(r"no schedule with all streams, but one without streams (.+)", found)
    assert named is not None
    out = re.split(", | and ", named[1])
    assert set(out) == {"big", "y"}
    assert plan_of(text(*(name for name in STREAMS if name not in out))).document["streams"]


def test_if_the_others_have_a_schedule_nothing_is_said_of_them() -> None:
    assert [one.path for one in problems_of(text("big", "x", "z"))] == ["streams.big"]
    assert [one.path for one in problems_of(text("big"))] == ["streams.big"]


def test_the_part_is_searched_with_its_earlier_decisions() -> None:
    """What is in the way of the stream that is impossible alone says nothing of it."""
    reasons = [{"kind": "deadline", "stream": 1}, {"kind": "conflict", "stream": 1, "streams": [0]}]
    refused = [[1, {"kind": "deadline"}], [0, {"kind": "no-room"}]]
    found: Any = {"reasons": reasons, "sentences": ["a", "b"], "outcome": {"refused": refused}}
    asked = []

    def search(problem: Any, earlier: Any) -> Any:
        asked.append((problem["streams"], earlier))
        return {"reasons": [], "sentences": []}

    problem: Any = {"streams": ["x", "y", "z"]}
    earlier: Any = ["p", "q", "r"]
    for kept in (earlier, []):
        made = judged_apart(found, problem, kept, search)
        assert (made["reasons"], made["sentences"]) == (reasons[:1], ["a"])
    assert asked == [(["x", "z"], ["p", "r"]), (["x", "z"], [])]


def test_numbers_of_a_part_are_those_of_the_whole() -> None:
    reason = {
        "kind": "link",
        "link": 1,
        "ppm": 2,
        "streams": [{"stream": 0, "ppm": 1}, {"stream": 2, "ppm": 1}],
    }
    made, words = renumbered(reason, "link 1 by streams 0 and 2", [1, 3, 4], [0, 2])  # type: ignore[arg-type]
    assert made["streams"] == [{"stream": 1, "ppm": 1}, {"stream": 4, "ppm": 1}]
    assert words == "link 1 by streams 1 and 4"
