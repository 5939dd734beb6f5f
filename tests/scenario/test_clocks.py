"""Clocks in scenarios: drifts with signs and units, defaults and their overrides, gPTP's tree."""

from __future__ import annotations

import pytest

from tsnbench.planning import plan
from tsnbench.scenario import read_scenario
from tsnbench.scenario.errors import ScenarioErrors

SCENARIO = """
name: clocks
duration: 10 ms
network:
  stations: [a, d]
  bridges: [b, c]
  links: {{rate: 1 Gbit/s, between: [c-d, a--b, b--c]}}
streams: {{s: {{from: a, to: d, period: 1 ms, frame: 500 B}}}}
clocks: {clocks}
"""


def document(clocks: str) -> dict[str, object]:
    (scenario,) = read_scenario(SCENARIO.format(clocks=clocks))
    return dict(plan(scenario).document["clocks"])


@pytest.mark.parametrize(
    ("text", "ppt"),
    [
        ("20 ppm", 20_000_000),
        ("-3 ppb", -3_000),
        ("+1.5ppm", 1_500_000),
        ("-7 ppt", -7),
        ("1/8 ppm", 125_000),
    ],
)
def test_drifts_have_signs_and_units(text: str, ppt: int) -> None:
    found = document(f"{{default: {{drift: {text}}}}}")["nodes"]
    assert [clock["deviation_ppt"] for clock in found] == [ppt] * 4  # type: ignore[attr-defined]


def test_a_nodes_own_clock_overrides_the_default_key_by_key() -> None:
    found = document("{default: {drift-within: 10 ppm, granularity: 8 ns}, b: {drift: 1 ppm, offset: -2 us}}")
    by_name = dict(zip(("a", "d", "b", "c"), found["nodes"], strict=True))  # type: ignore[call-overload]
    assert by_name["b"] == {
        "offset_ns": -2000,
        "deviation_ppt": 1_000_000,
        "granularity_ns": 8,
        "jitter_ns": 0,
    }
    drawn = {by_name[name]["deviation_ppt"] for name in "acd"}
    assert len(drawn) == 3
    assert all(abs(ppt) <= 10_000_000 for ppt in drawn)
    assert found == document(
        "{default: {drift-within: 10 ppm, granularity: 8 ns}, b: {drift: 1 ppm, offset: -2 us}}"
    )


def test_gptp_follows_the_fewest_hops_and_parents_come_first() -> None:
    (scenario,) = read_scenario(SCENARIO.format(clocks="{gptp: {grandmaster: a, sync-interval: 1/16 s}}"))
    made = plan(scenario).document
    gptp = made["clocks"]["gptp"]
    assert gptp["sync_interval_ns"] == 62_500_000
    assert [made["ports"][port]["name"] for port in gptp["slaves"]] == ["b -> a", "c -> b", "d -> c"]


@pytest.mark.parametrize(
    ("clocks", "problem"),
    [
        ("{default: {drift: 20}}", "expected a drift with a unit, found 20"),
        ("{default: {drift: -20}}", "expected a drift with a unit, found -20"),
        ("{default: {drift: 2000 ppm}}", "expected a drift from -1000 ppm to 1000 ppm, found 2000 ppm"),
        ("{default: {ppm: 20}}", "write drift: 20 ppm"),
        ("{x: {drift: 1 ppm}}", "expected a node of the network, found x"),
        ("{default: {drift: 1 ppm, drift-within: 1 ppm}}", "expected drift or drift-within, found both"),
        ("{default: {changes: [{at: 2 s, drift: 1 ppm}, {at: 1 s, drift: 1 ppm}]}}", "order of time"),
        ("{gptp: {}}", "grandmaster"),
        ("{gptp: {grandmaster: x}}", "expected a node of the network, found x"),
        ("{gptp: {grandmaster: a, sync-interval: 1 us}}", "from 100 us to 1 h"),
    ],
)
def test_mistakes_are_named(clocks: str, problem: str) -> None:
    with pytest.raises(ScenarioErrors) as raised:
        read_scenario(SCENARIO.format(clocks=clocks))
    assert problem in str(raised.value)
