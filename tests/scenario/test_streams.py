"""Streams, requirements, shapers and taps in scenarios: the rows of ``streams.yaml`` beside this file."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support.golden import table
from tsnbench.scenario import ScenarioErrors, model, read_scenario
from tsnbench.scenario.part import Part

HEAD = """\
name: one
duration: 1 s
network: {rate: 1 Gbit/s, hosts: [a, b, c, d], links: [a -- b, a -- b, b -- c, c -- d, a -- d]}
streams:
"""
USUAL = "period: 1 ms, frame: 100 B"
STREAMS = """\
  one: {from: a, to: c, class: sr/B, period: 1 ms, frame: 100 B}
  two: {from: a, to: c, class: sr/A, period: 1 ms, frame: 100 B}
  three: {from: a, to: c, class: sr/D, period: 1 ms, frame: 100 B}
"""


def scenario(streams: str, more: str = "") -> model.Scenario:
    (found,) = read_scenario(f"{HEAD}{streams}\n{more}\n")
    return found


def stream(keys: str) -> model.Stream:
    ends = "from: a" if "to: " in keys else "from: a, to: c"
    return scenario(f"  s: {{{ends}, {keys}}}").streams["s"]


def shown(value: Any) -> Any:
    """A part with its kind and the values that are not its defaults."""
    if isinstance(value, Part):
        own = {key: shown(getattr(value, key)) for key in value.model_dump(exclude_defaults=True)}
        return {type(value).__name__: own}
    if isinstance(value, dict):
        return {key: shown(one) for key, one in value.items()}
    return [shown(one) for one in value] if isinstance(value, list | tuple) else value


def different(usual: Part, found: Part) -> dict[str, Any]:
    (before,), (after,) = shown(usual).values(), shown(found).values()
    return {key: value for key, value in after.items() if key not in before or before[key] != value}


@pytest.mark.parametrize("row", table(__file__, "streams.yaml"), ids=lambda row: row.get("keys", "more"))
def test_what_is_written(row: dict[str, Any]) -> None:
    usual, found = (
        (stream(USUAL), stream(row["keys"]))
        if "keys" in row
        else (
            scenario(STREAMS),
            scenario(STREAMS, row["more"]),
        )
    )
    assert json.dumps(different(usual, found)) == json.dumps(row["found"])


def test_a_usual_stream() -> None:
    assert shown(stream(USUAL)) == {
        "Stream": {
            "talker": "a",
            "listeners": ["c"],
            "pcp": 0,
            "pattern": {"Periodic": {"period": 1_000_000}},
            "size": {"FixedSize": {"octets": 100}},
        }
    }


def test_sizes_of_units_by_chance() -> None:
    spread = stream("period: 1 ms, units: {mean: 2000 B, deviation: 500 B}").size
    assert isinstance(spread, model.UnitSizes)
    assert len(spread.octets) == 1000


@pytest.mark.parametrize(
    ("mean", "found"),
    [("{}", "none"), ("{rate: 1 Mbit/s, mean-interval: 1 ms}", "rate and mean-interval")],
)
def test_a_poisson_source_has_one_mean(mean: str, found: str) -> None:
    with pytest.raises(ScenarioErrors) as errors:
        stream(f"poisson: {mean}, frame: 100 B")
    (problem,) = errors.value.problems
    assert (problem.path, problem.found) == ("streams.s.poisson", found)
