"""Requirements of streams: SR classes lose nothing, and worst cases count where they are required."""

from __future__ import annotations

import pytest

from tsnbench.planning import plan
from tsnbench.scenario import model
from tsnbench.scenario.errors import ScenarioErrors
from tsnbench.scenario.loader import read_scenario

TEXT = """\
name: limits
duration: 10 ms
network: {stations: [a, b], links: {rate: 1 Gbit/s, between: a-b}}
{overall}
streams:
  judged: {from: a, to: b, period: 1 ms, frame: 100 B, requires: {own}}
  free: {from: a, to: b, period: 1 ms, frame: 100 B}
"""


def scenario(own: str, overall: str = "") -> model.Scenario:
    return read_scenario(TEXT.replace("{overall}", overall).replace("{own}", own))[0]


def counts(own: str, overall: str = "") -> list[bool]:
    return [stream.requires.worst_case for stream in scenario(own, overall).streams.values()]


EVERY = "requirements: {worst-case: true}"


@pytest.mark.parametrize(
    ("own", "overall", "counted"),
    [
        ("{delay: 1 ms}", "", False),
        ("{delay: 1 ms, worst-case: true}", "", True),
        ("{delay: 1 ms}", EVERY, True),
        ("sr/A", EVERY, True),
        ("{class: sr/A, worst-case: true}", "", True),
        ("{delay: 1 ms, worst-case: false}", EVERY, False),
    ],
)
def test_where_the_worst_case_counts(own: str, overall: str, counted: bool) -> None:
    made = scenario(own, overall)
    assert made.streams["judged"].requires.worst_case is counted
    # The Plan has the key only if it is used, so other Plans keep their hash.
    required, free = (stream["requirements"] for stream in plan(made).document["streams"])
    assert required.get("worst_case") is (True if counted else None)
    assert free == {}


def test_a_worst_case_without_a_limit_is_a_mistake() -> None:
    with pytest.raises(ScenarioErrors) as raised:
        scenario("{worst-case: true}")
    (problem,) = raised.value.problems
    assert problem.path == "streams.judged.requires.worst-case"
    assert (problem.expected, problem.found) == ("a limit beside it", "none")
    # The scenario of the hint can be read.
    assert counts(problem.hint.partition("beside it: ")[2]) == [True, False]


@pytest.mark.parametrize("name", ["sr/A", "sr/B", "sr/C", "sr/D"])
def test_an_sr_class_loses_no_frame(name: str) -> None:
    (required, _) = (stream["requirements"] for stream in plan(scenario(name)).document["streams"])
    assert required["loss_ppm"] == 0
    (required, _) = (
        stream["requirements"]
        for stream in plan(scenario(f"{{class: {name}, loss: 2 %}}")).document["streams"]
    )
    assert required["loss_ppm"] == 20_000
