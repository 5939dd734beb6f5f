"""Hints of schedules that cannot be: each change that is named is made here, and then there is a schedule."""

from __future__ import annotations

import copy
import json
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from support.planned import problems_of, refusal_text
from tsnbench.planning import plan
from tsnbench.planning.errors import PlanningErrors
from tsnbench.scenario import read_scenario

STAR = "{rate: 100 Mbit/s, between: [a -- s, b -- s, s -- c]}"
LINE = "{rate: 100 Mbit/s, between: [a -- s, b -- s, s -- t, t -- c]}"


def asks(name: str, talker: str, period: str, frame: int, *more: str) -> str:
    """A scheduled stream of so many octets to c."""
    words = ", ".join([f"pcp: 7, period: {period}, frame: {frame} B, scheduled: true", *more])
    return f"{name}: {{from: {talker}, to: c, {words}}}"


AT_5_US = (asks("x", "a", "1 ms", 1000, "offset: 5 us"), asks("y", "b", "1 ms", 1000, "offset: 5 us"))
CASES = {
    "deadline": (LINE, "", asks("x", "a", "1 ms", 999, "requires: {delay: 99 us}")),
    "deadline beyond a millisecond": (
        LINE,
        "",
        asks("x", "a", "4 ms", 0, "requires: {delay: 600 us}").replace("frame: 0 B", "units: [9001 B]"),
    ),
    "jitter": (STAR, "margin: 777 ns", asks("x", "a", "1 ms", 200, "requires: {jitter: 1 us}")),
    "period": (STAR, "", asks("x", "a", "100 us", 1500, "requires: {delay: 1 ms}")),
    "pair": (
        STAR,
        "",
        asks("x", "a", "125 us", 1000, "requires: {delay: 1 ms}"),
        asks("y", "b", "200 us", 500, "requires: {delay: 1 ms}"),
    ),
    "three together": (
        STAR,
        "",
        asks("x", "a", "300 us", 480),
        asks("y", "b", "500 us", 480),
        asks("z", "b", "700 us", 480),
    ),
    "link": (STAR, "", asks("x", "a", "1 ms", 1500, "count: 5"), asks("y", "b", "1 ms", 1500, "count: 5")),
    "queue": (STAR, "", *AT_5_US),
    "queue, by the heuristic": (STAR, "engine: heuristic", *AT_5_US),
    "releases and deadlines": (
        STAR,
        "",
        *(
            asks(name, talker, "1 ms", 1000, f"release: {{latest: {latest} us}}, requires: {{delay: 250 us}}")
            for name, talker, latest in (("x", "a", 20), ("y", "b", 30), ("z", "a", 40))
        ),
    ),
}
NEXT_QUEUE = "schedule.pcps: [7, 6]"
LEFT_OUT: list[str | None] = [f"{NEXT_QUEUE} or with streams.{name}.offset left out" for name in "xy"]
HINTS: dict[str, list[str | None]] = {
    # 999 B and 8 B ahead of them are 80.56 us, three times; at 1 Gbit/s they are 24.168 us in all.
    "deadline": ["streams.x.requires.delay: 241680 ns or with 1 Gbit/s on a -- s, s -- t, t -- c"],
    # Six frames of 1522 B and one of 219 B: 122.4 us and 18.16 us. The first link has them until 758.32 us,
    # and each of the others 122.4 us longer.
    "deadline beyond a millisecond": [
        "streams.x.requires.delay: 1003120 ns or with 1 Gbit/s on a -- s, s -- t, t -- c"
    ],
    # Twice the margin of 777 ns.
    "jitter": ["streams.x.requires.jitter: 1554 ns"],
    # 1500 B, 8 B ahead of them and the gap of 12 B; a faster first link is not enough.
    "period": ["streams.x.period: 121600 ns"],
    # 81.6 us and 41.6 us fit into 125 us and into 200 us.
    "pair": [
        "streams.y.period: 250 us or with streams.x.period: 1 ms or with streams.y.period: 1 ms",
        None,
    ],
    # Multiples of 300 us, then of 500 us, then the first multiple of 300 us and 500 us.
    "three together": [
        "streams.y.period: 600 us and streams.z.period: 900 us or with streams.z.period: 1 ms"
        " or with streams.x.period: 1500 us",
        None,
    ],
    "link": ["1 Gbit/s on s -- c", None],
    "queue": LEFT_OUT,
    "queue, by the heuristic": LEFT_OUT,
    # Of `x` and `z`, one leaves `a` 81.6 us after the other one, unless the link is faster.
    "releases and deadlines": [
        "streams.x.release left out or with 1 Gbit/s on a -- s, b -- s, s -- c",
        "streams.x.release left out",
    ],
}
NEEDS_ORTOOLS = {"queue", "releases and deadlines"}


def _read(text: str) -> Any:
    return YAML(typ="safe").load(text)


def _text(links: str, schedule: str, *streams: str) -> str:
    more = [f"schedule: {{{schedule}}}"] if schedule else []
    network = (
        f"network: {{bridges: [s{', t' if ' t' in links else ''}], stations: [a, b, c], links: {links}}}"
    )
    lines = ["name: hints", "duration: 10 ms", network, *more, "streams:", *(f"  {one}" for one in streams)]
    return "\n".join(lines) + "\n"


def _applied(scenario: dict[str, Any], change: str) -> dict[str, Any]:
    """A scenario with one change as a hint names it."""
    made: dict[str, Any] = copy.deepcopy(scenario)
    if found := re.fullmatch(r"(\S+ \S+) on (.+)", change):
        links, faster = made["network"]["links"], set(found[2].split(", "))
        assert faster <= set(links["between"])
        made["network"]["links"] = [
            {"rate": found[1], "between": sorted(faster)},
            *(
                [{**links, "between": left}]
                if (left := [one for one in links["between"] if one not in faster])
                else []
            ),
        ]
        return made
    if change.endswith(" left out"):
        for path in change.removesuffix(" left out").split(" and "):
            _, name, key = path.split(".")
            del made["streams"][name][key]
        return made
    for path, value in (part.split(": ", 1) for part in change.split(" and ")):
        *folders, key = path.split(".")
        there = made
        for folder in folders:
            there = there.setdefault(folder, {})
        there[key] = _read(value)
    return made


@pytest.mark.parametrize("case", CASES)
def test_every_hint_was_tried(case: str) -> None:
    if case in NEEDS_ORTOOLS and find_spec("ortools") is None:
        pytest.skip("ortools is missing: the extra `exact` brings it")
    text = _text(*CASES[case])
    with pytest.raises(PlanningErrors) as raised:
        plan(read_scenario(text)[0])
    words = "there is a schedule with "
    assert [problem.hint for problem in raised.value.problems] == [
        None if hint is None else words + hint for hint in HINTS[case]
    ]
    tried = 0
    for problem in raised.value.problems:
        if problem.hint is None:
            continue
        for change in problem.hint.removeprefix(words).split(" or with "):
            changed = _applied(_read(text), change)
            plan(read_scenario(json.dumps(changed))[0])
            tried += 1
    assert tried, str(raised.value)


def test_a_hint_that_helps_only_its_own_stream_says_so() -> None:
    text = _text(
        LINE,
        "",
        CASES["deadline"][2],
        asks("y", "b", "2 ms", 1000, "requires: {delay: 50 us}"),
    )
    hints = [problem.hint or "" for problem in problems_of(text)]
    assert hints[0].startswith("this stream alone has a schedule with streams.x.requires.delay: ")
    # A link that is fast enough for the one is for both.
    assert re.search("there is a schedule with 1 Gbit/s on b -- s, s -- t, t -- c$", hints[1]), hints


@pytest.mark.skipif(find_spec("ortools") is None, reason="ortools is missing: the extra `exact` brings it")
def test_more_time_is_only_offered_where_it_helps() -> None:
    streams = CASES["queue"][2:]
    assert "schedule.time: 10 s it is proved that there is none" in refusal_text(
        _text(STAR, "time: 1 ns", *streams)
    )
    assert "time" not in refusal_text(_text(STAR, "time: 600 s", *streams))


def test_the_readme_shows_what_is_said() -> None:
    root = Path(__file__).parents[3]
    text = (root / "scenarios/tutorial/11-scheduled.yaml").read_text(encoding="utf-8")
    (problem,) = problems_of(read_scenario(text.replace("delay: 50 us", "delay: 5 us"), "scheduled.yaml")[0])
    assert " ".join(str(problem).split()) in " ".join(
        (root / "README.md").read_text(encoding="utf-8").split()
    )
