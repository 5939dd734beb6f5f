"""``Scenario.vary``: the same scenarios and the same messages as the text with other values gives."""

from __future__ import annotations

import pytest

from tsnbench.errors import InputError
from tsnbench.scenario import Scenario, ScenarioErrors, read_scenario

TEXT = """\
name: varied
duration: 5 ms
parameters:
  width: [1 us, 2 us]
  load: {low: 400 B, high: [900 B, 1000 B]}
network:
  stations: [camera, controller, robot]
  bridges: {switch: {processing: [1 us, 3 us]}}
  links:
    rate: 1 Gbit/s
    between: [camera -- switch, controller -- switch, switch -- robot]
streams:
  loop: {from: controller, to: robot, pcp: 6, period: 250 us, payload: 100 B}
  video: {from: camera, to: robot, pcp: 0, period: 125 us, payload: "${load}", jitter: "${width}"}
"""


def written(*changes: tuple[str, str]) -> list[Scenario]:
    """What the text gives with other words."""
    text = TEXT
    for before, after in changes:
        assert text.count(before) == 1
        text = text.replace(before, after)
    return read_scenario(text)


def last() -> Scenario:
    """The last run of the sweep."""
    found = read_scenario(TEXT)[-1]
    assert found.variant == {
        "width": "2 us",
        "load": "high",
        "payload": "1000 B",
        "processing": "3 us",
    }
    return found


def values(scenario: Scenario) -> Scenario:
    return scenario.model_copy(update={"variant": {}})


ALIKE: list[tuple[dict[str, object], list[tuple[str, str]]]] = [
    ({"streams.loop.period": "500 us"}, [("period: 250 us", "period: 500 us")]),
    ({"seed": 7}, [("duration: 5 ms", "duration: 5 ms\nseed: 7")]),
    (
        {"network.links.rate": "100 Mbit/s", "duration": "6 ms"},
        [("1 Gbit/s", "100 Mbit/s"), ("5 ms", "6 ms")],
    ),
    ({"streams.*.period": "1 ms"}, [("250 us", "1 ms"), ("125 us", "1 ms")]),
    ({"network.stations[0]": "camera"}, []),
    ({"parameters.width": "9 us"}, [("[1 us, 2 us]", "9 us")]),
    ({"width": "9 us"}, [("[1 us, 2 us]", "9 us")]),
    ({"network.bridges.switch.processing": "4 us"}, [("[1 us, 3 us]", "4 us")]),
    ({"processing": "4 us"}, [("[1 us, 3 us]", "4 us")]),
    ({"load": "low"}, [("{low: 400 B, high: [900 B, 1000 B]}", "400 B")]),
]


@pytest.mark.parametrize(("paths", "changes"), ALIKE)
def test_a_varied_scenario_is_that_of_the_changed_text(
    paths: dict[str, object], changes: list[tuple[str, str]]
) -> None:
    (found,) = last().vary(paths)
    assert values(found) == values(written(*changes)[-1])
    assert {name: found.variant[name] for name in paths} == {name: str(one) for name, one in paths.items()}


def test_lists_make_every_combination_and_the_first_path_varies_slowest() -> None:
    found = last().vary({"streams.loop.period": ["100 us", "200 us"], "seed": range(1, 4)})
    assert [(one.variant["streams.loop.period"], one.seed) for one in found] == [
        (period, seed) for period in ("100 us", "200 us") for seed in (1, 2, 3)
    ]
    assert {one.variant["processing"] for one in found} == {"3 us"}


def test_dots_stand_for_the_values_between() -> None:
    found = last().vary({"width": ["1 us", "2 us", "... 5 us"]})
    assert [one.variant["width"] for one in found] == ["1 us", "2 us", "3 us", "4 us", "5 us"]


def test_an_alternative_with_a_list_gives_a_run_for_each_of_its_values() -> None:
    found = last().vary({"load": ["low", "high"]})
    assert [(one.variant["load"], one.variant.get("payload")) for one in found] == [
        ("low", None),
        ("high", "900 B"),
        ("high", "1000 B"),
    ]


def test_a_varied_scenario_can_be_varied_again_and_knows_its_places() -> None:
    (once,) = last().vary({"streams.loop.pcp": 5, "width": "7 us"})
    (twice,) = once.vary({"streams.video.pcp": 3, "width": "8 us"})
    assert (twice.streams["loop"].pcp, twice.streams["video"].pcp) == (5, 3)
    assert twice.variant == {
        "streams.loop.pcp": "5",
        "load": "high",
        "payload": "1000 B",
        "processing": "3 us",
        "streams.video.pcp": "3",
        "width": "8 us",
    }
    assert twice.where("streams.loop.period") == last().where("streams.loop.period") == "scenario.yaml:13:47"


WRONG: list[tuple[dict[str, object], str]] = [
    ({"streams.loop.perod": "1 ms"}, "13:9: streams.loop.perod: expected a key of a stream, found perod"),
    ({"streams.lop.period": "1 ms"}, "1:1: streams.lop.period: expected a key of streams, found lop.period"),
    (
        {"network.stations[3]": "x"},
        "1:1: network.stations[3]: expected one of the 3 items of network.stations",
    ),
    (
        {"streams.loop": {"pcp": 3}},
        "13:9: streams.loop: expected a value, or a list of values, found a mapping",
    ),
    ({"seed": None}, "1:1: seed: expected a value, or a list of values, found nothing"),
    ({"seed": []}, "1:1: seed: expected at least one value, found an empty list"),
    ({"seed": [1, "1"]}, "1:1: seed: expected different values, found 1 twice"),
    ({"load": "hgh"}, "5:9: load: expected one of the alternatives, found hgh\n  hint: did you mean high?"),
    ({"seed": range(10_001)}, "1:1: seed: expected at most 10000 runs"),
    (
        {"streams.loop": "x", "streams.loop.pcp": 1},
        "13:9: streams.loop.pcp: expected no path within streams.loop, which also varies",
    ),
]


@pytest.mark.parametrize(("paths", "message"), WRONG)
def test_a_wrong_path_or_list_is_a_mistake_with_its_place(paths: dict[str, object], message: str) -> None:
    with pytest.raises(ScenarioErrors) as caught:
        last().vary(paths)
    assert str(caught.value).startswith(f"scenario.yaml:{message}")


def test_a_wrong_value_has_the_message_of_the_text() -> None:
    with pytest.raises(ScenarioErrors) as of_text:
        written(("period: 250 us", "period: 250"))
    with pytest.raises(ScenarioErrors) as caught:
        last().vary({"streams.loop.period": 250})
    assert str(caught.value) == str(of_text.value)
    assert caught.value.problems[0].path == "streams.loop.period"


def test_what_python_changed_is_not_lost_silently() -> None:
    with pytest.raises(InputError, match="as it was read, found duration changed in Python"):
        last().model_copy(update={"duration": 3_000}).vary({"seed": 2})
    made = Scenario(name="made", duration=1, network=last().network, streams=last().streams)
    with pytest.raises(InputError, match="found one that was made in Python"):
        made.vary({"seed": 2})
