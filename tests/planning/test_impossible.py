"""What no run can meet: whose values are named, and what is proposed. 1 Gbit/s, 8 ns an octet."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from support.planned import plan_of, problems_of, run_of
from tsnbench.plan.document import Plan
from tsnbench.planning import passes, plan
from tsnbench.planning.passes import prove
from tsnbench.scenario import read_scenario
from tsnbench.scenario.model import Scenario

TEXT = """\
name: impossible
duration: 10 ms
network: {stations: [a, b], rate: 1 Gbit/s, links: [a -- b]}
streams:
  x: {from: a, to: b, pcp: 4, period: 1 ms, frame: 1000 B}
"""


def made(text: str = TEXT, requires: str = "", shapers: str = "") -> Scenario:
    text = text.replace("1000 B}", f"1000 B, requires: {{{requires}}}}}") if requires else text
    return read_scenario(text + (f"shapers: {{{shapers}}}\n" if shapers else ""))[0]


def test_values_of_a_sweep_may_be_left_out() -> None:
    """1008 octets with the preamble take 8064 ns; the stamp at the talker is 64 ns behind the first bit."""
    scenario = made(requires="delay: 1 us")
    (only,) = problems_of(scenario)
    assert only.hint == "write delay: 8 us or more"
    scenario = scenario.model_copy(update={"variant": {"load": "10%", "rate": "1 Gbit/s"}})
    (only,) = problems_of(scenario)
    assert only.hint == "write delay: 8 us or more; or leave load 10%, rate 1 Gbit/s out of the sweep"


def test_a_nanosecond_more_is_possible() -> None:
    """``errors/planned/impossible-frames.yaml`` with each number that its messages name."""
    text = (Path(__file__).parents[1] / "errors/planned/impossible-frames.yaml").read_text(encoding="utf-8")
    for number in ("12031", "543", "8063", "21063", "8111", "10063"):
        text = text.replace(f"{number} ns", f"{int(number) + 1} ns")
    plan_of(text.replace("{open: [0], for: 100 us}", "{open: [4, 3, 0], for: 100 us}"))


def test_the_listener_that_is_named_is_the_first_of_the_farthest() -> None:
    text = TEXT.replace("links: [a -- b]}", "links: [a -- s, s -- b, s -- t, t -- c, t -- d]}")
    text = text.replace("stations: [a, b]", "stations: [a, b, c, d], bridges: [s, t]").replace(
        "to: b", "to: [b, c, d]"
    )
    (only,) = problems_of(made(text, requires="delay: 1 us"))
    assert "a frame to c takes" in only.found


def test_the_largest_frame_keeps_a_delay_from_its_release() -> None:
    """1400 octets of data and 50 of headers, with the preamble: 1458 octets in 11.664 us."""
    text = TEXT.replace("frame: 1000 B}", "units: [100 B, 1400 B], requires: {delay from release: 5 us}}")
    (only,) = problems_of(made(text))
    assert only.hint == "write delay from release: 11664 ns or more"


def test_the_proof_of_a_schedule() -> None:
    """Two frames of one talker at one time."""
    text = TEXT.replace("1000 B}", "1000 B, scheduled: true}")
    text += "  y: {from: a, to: b, pcp: 4, period: 1 ms, frame: 1000 B, scheduled: true}\n"
    good = plan(made(text))
    assert prove(good, good.to_json()) == []
    document = json.loads(good.to_json())
    del document["hash"]
    document["streams"][1]["pattern"]["offset_ns"] = 0
    wrong = prove(Plan(document), json.dumps(document))
    assert wrong == ["streams x and y are both on port a -> b's link at 0 ns, for 8160 ns"]
    document["streams"][1]["route"] = [{"port": 7}]
    with pytest.raises(ValueError, match="7 is not the index"):
        prove(Plan(document), json.dumps(document))


def test_plans_without_a_schedule_are_also_checked() -> None:
    document = json.loads(plan(made()).to_json())
    del document["hash"]
    assert prove(Plan(document), json.dumps(document)) == []
    document["streams"][0]["route"] = [{"port": 7}]
    with pytest.raises(ValueError, match="7 is not the index"):
        prove(Plan(document), json.dumps(document))


def test_a_schedule_that_is_not_proved_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """With each violation, at the place of the schedule's settings."""
    monkeypatch.setattr(
        passes, "prove", lambda made, text, read: ["streams x and y meet", "stream x is late"]
    )
    problems = problems_of(made(TEXT + "schedule: {}\n"))
    assert [str(one).split(": ", 1)[1] for one in problems] == [
        "schedule: expected a schedule that holds, found streams x and y meet",
        "schedule: expected a schedule that holds, found stream x is late",
    ]
    assert [one.where for one in problems] == ["scenario.yaml:6:1"] * 2


def test_a_plan_that_contradicts_itself_is_refused_at_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(made: Plan, text: str, read: object) -> list[str]:
        raise ValueError("streams.x: 5: too many")

    monkeypatch.setattr(passes, "prove", wrong)
    (only,) = problems_of(made())
    assert str(only) == "scenario.yaml:5:3: streams.x: expected a plan that can be obeyed, found 5: too many"


def test_the_ends_of_passes_are_told() -> None:
    """Those of the draft, and four of the Plan."""
    told: list[str] = []
    plan(made(), done=told.append)
    ends = ["assemble", "refuse_impossible", "write_text", "prove"]
    assert told == [*(each.__name__ for each in passes.PASSES), *ends]


def test_a_plan_knows_where_its_parts_are_written() -> None:
    places = plan(made()).places
    assert places is not None
    assert places.where("streams.x") == "scenario.yaml:5:3"


def test_cyclic_queues_at_all_ports_are_refused() -> None:
    (only,) = problems_of(made(shapers="all: {cqf: {cycle: 100 us, pcp: [4], classes: [7, 6]}}"))
    assert only.expected == "a talker whose own port has no cqf: a -> b has"


@pytest.mark.parametrize(("duration_us", "arrive", "refused"), [(9_900, 1980, False), (10_100, 2010, True)])
def test_a_load_above_the_rate_beside_no_loss(
    duration_us: int, arrive: int, refused: bool, tmp_path: Path
) -> None:
    """A frame of 1230 octets takes 10 us with the 20 around it, and one is sent each 5 us: after 10 ms, 1000
    of 2000 are sent and 1000 are in the queue, which holds no more. What is not certain is a warning.
    """
    text = TEXT.replace("10 ms", f"{duration_us} us").replace(
        "period: 1 ms, frame: 1000 B", "period: 5 us, frame: 1230 B"
    )
    seen = run_of(plan_of(text), tmp_path).observations()
    assert seen.filter(pl.col("stage") == "rx").height == arrive
    scenario = made(text.replace("1230 B", "1230 B, requires: {loss: 0}"))
    if refused:
        (only,) = problems_of(scenario)
        assert (only.path, only.found) == (
            "streams.x.requires.loss",
            "2 Gbit/s: frames are lost when the queues are full",
        )
    else:
        assert [one.kind for one in plan(scenario).warnings] == ["port-overload"]
