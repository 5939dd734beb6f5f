"""A mistake that only planning finds still names its line."""

from __future__ import annotations

import pytest

from support.planned import refusal_text
from tsnbench.planning.places import ScenarioPlaces
from tsnbench.scenario import read_scenario

TEXT = """\
name: over
duration: 10 ms
network:
  stations: [a, b]
  bridges: [s]
  links: {rate: 100 Mbit/s, between: [a-s, s-b]}
streams:
  x: {from: a, to: b, class: sr/A, payload: 1472 B, period: 100 us}
shapers:
  s -> b: {cbs: from-streams}
"""


def test_a_reservation_over_the_ports_rate_is_found_where_it_is_written() -> None:
    (scenario,) = read_scenario(TEXT, "over.yaml")
    assert refusal_text(scenario).startswith(
        "over.yaml:10:12: shapers.s -> b.cbs: expected a reservation below"
    )


def test_equal_scenarios_may_stand_in_different_files() -> None:
    harmless = TEXT.replace("100 us", "1 ms")
    (one,), (two,) = read_scenario(harmless, "one.yaml"), read_scenario("# moved\n" + harmless, "two.yaml")
    assert one == two
    assert (one.where("streams.x.period"), two.where("streams.x.period")) == (
        "one.yaml:8:53",
        "two.yaml:9:53",
    )
    assert one.where("streams.x.size") == "one.yaml:8:3"


def test_what_is_no_part_of_the_scenario_has_no_place() -> None:
    (scenario,) = read_scenario(TEXT, "over.yaml")
    places = ScenarioPlaces(scenario)
    assert places.where("") == ""
    assert places.where("shapers.s -> b.cbs") == "over.yaml:10:12"
    # A part that is not written has the place of the part around it, or the file.
    assert places.where("shapers.s -> b.gates") == "over.yaml:10:3"
    assert places.where("clocks") == "over.yaml"


@pytest.mark.parametrize("selector", ["s->b", "'*'", "all", "s -> all", "'s  ->  b #1'"])
def test_a_selector_is_found_in_every_spelling(selector: str) -> None:
    (scenario,) = read_scenario(TEXT.replace("s -> b", selector), "over.yaml")
    words = refusal_text(scenario)
    column = 3 + len(selector) + 3
    assert words.startswith(f"over.yaml:10:{column}: shapers.")
