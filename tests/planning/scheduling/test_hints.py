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

from support.golden import table
from support.planned import plan_of, problems_of, refusal_text
from tsnbench.scenario import read_scenario

LINKS = {"star": "a -- s, b -- s, s -- c", "line": "a -- s, b -- s, s -- t, t -- c"}
CASES: dict[str, dict[str, Any]] = {row["case"]: row for row in table(__file__, "hints.yaml")}
WITH = "there is a schedule with "


def _read(text: str) -> Any:
    return YAML(typ="safe").load(text)


def _text(streams: list[str], network: str = "star", schedule: str = "margin: 0 ns") -> str:
    links = f"{{rate: 100 Mbit/s, between: [{LINKS[network]}]}}"
    made = (
        f"network: {{bridges: [s{', t' if network == 'line' else ''}], stations: [a, b, c], links: {links}}}"
    )
    pairs = (one.split(": ", 1) for one in streams)
    lines = [f"  {name}: {{{own}, to: c, pcp: 7, scheduled: true}}" for name, own in pairs]
    head = ["name: hints", "duration: 10 ms", made, f"schedule: {{{schedule}}}", "streams:"]
    return "\n".join([*head, *lines]) + "\n"


def _case(name: str) -> str:
    own = CASES[name]
    return _text(own["streams"], **{key: own[key] for key in ("network", "schedule") if key in own})


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
    if "ortools" in CASES[case] and find_spec("ortools") is None:
        pytest.skip("ortools is missing: the extra `exact` brings it")
    text, offered = _case(case), CASES[case]["hints"]
    assert [problem.hint for problem in problems_of(text)] == [
        changes and WITH + " or with ".join(changes) for changes in offered
    ]
    for change in (change for changes in offered for change in changes or ()):
        plan_of(json.dumps(_applied(_read(text), change)))


def test_a_hint_that_helps_only_its_own_stream_says_so() -> None:
    other = "y: from: b, period: 2 ms, frame: 1000 B, requires: {delay: 50 us}"
    text = _text([*CASES["deadline"]["streams"], other], "line")
    first, second = (problem.hint or "" for problem in problems_of(text))
    assert first.startswith("this stream alone has a schedule with streams.x.requires.delay: ")
    # A link that is fast enough for the one is for both.
    assert second.endswith(f"{WITH}1 Gbit/s on b -- s, s -- t, t -- c")


@pytest.mark.skipif(find_spec("ortools") is None, reason="ortools is missing: the extra `exact` brings it")
def test_more_time_is_only_offered_where_it_helps() -> None:
    streams = CASES["queue"]["streams"]
    short = refusal_text(_text(streams, schedule="time: 1 ns"))
    assert "schedule.time: 10 s it is proved that there is none" in short
    assert "time" not in refusal_text(_text(streams, schedule="time: 600 s"))


def test_the_readme_shows_what_is_said() -> None:
    root = Path(__file__).parents[3]
    text = (root / "scenarios/tutorial/11-scheduled.yaml").read_text(encoding="utf-8")
    (problem,) = problems_of(read_scenario(text.replace("delay: 50 us", "delay: 5 us"), "scheduled.yaml")[0])
    assert " ".join(str(problem).split()) in " ".join(
        (root / "README.md").read_text(encoding="utf-8").split()
    )
