"""What no run can meet: whose values are named, and what is proposed. 1 Gbit/s, 8 ns an octet."""

from __future__ import annotations

import json

import pytest

from support.planned import problems_of
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


@pytest.mark.parametrize(
    ("more", "opened"), [("", "4, 0"), ("  y: {from: a, to: b, pcp: 3, SAME}\n", "4, 3, 0")]
)
def test_only_priorities_of_streams_are_to_be_opened(more: str, opened: str) -> None:
    """PCP 3 and 4 are in the class that no entry opens."""
    text = TEXT + more.replace("SAME", "period: 1 ms, frame: 1000 B")
    shapers = "all: {queues: {classes: {4: 1, 3: 1, 0: 0}}, gates: {entries: [{open: [0], for: 100 us}]}}"
    (only,) = problems_of(made(text, shapers=shapers))
    names = "x, y" if more else "x"
    assert only.expected == f"class 1 (PCP 3-4) open in some entry, for {names}"
    assert only.hint == f"write open: [{opened}] in this entry"


def test_the_largest_frame_of_a_class_needs_the_longest_window() -> None:
    """1258 octets with the preamble take 10064 ns; the two entries of class 1 are apart."""
    text = TEXT + "  y: {from: a, to: b, pcp: 4, period: 1 ms, frame: 1250 B}\n"
    entries = [(4, 5), (0, 40), (4, 10), (0, 45)]
    listed = ", ".join(f"{{open: [{pcp}], for: {length} us}}" for pcp, length in entries)
    shapers = f"all: {{queues: {{classes: {{4: 1, 0: 0}}}}, gates: {{entries: [{listed}]}}}}"
    (only,) = problems_of(made(text, shapers=shapers))
    assert only.expected == "a window of at least 10064 ns for class 1, for a frame of y (1250 B)"
    assert only.found == "10 us at most"


def test_limits_of_shares_are_those_of_the_smallest_frame() -> None:
    """Frames of 68 and 1504 octets: from the stamp on, 544 and 12032 ns."""
    text = TEXT.replace("frame: 1000 B}", "units: [18 B, 1454 B], requires: {LIMITS}}")
    delay, share = problems_of(made(text.replace("LIMITS", "delay: 12031 ns, delay p99: 543 ns")))
    assert (delay.path, delay.hint) == ("streams.x.requires.delay", "write delay: 12032 ns or more")
    assert (share.path, share.hint) == ("streams.x.requires.delay p99", "write delay p99: 544 ns or more")
    plan(made(text.replace("LIMITS", "delay: 12032 ns, delay p99: 544 ns")))


def test_the_farthest_listener_is_named() -> None:
    """Over two links of 8064 ns, with 1 km of cable to ``b`` (5000 ns) and none to ``c``."""
    text = TEXT.replace("stations: [a, b], rate: 1 Gbit/s, links: [a -- b]", "NETWORK").replace(
        "to: b", "to: [b, c]"
    )
    links = "{rate: 1 Gbit/s, cable: 1 km, between: [m -- b]}, {rate: 1 Gbit/s, between: [a -- m, m -- c]}"
    text = text.replace("NETWORK", f"stations: [a, b, c], bridges: [m], links: [{links}]")
    (only,) = problems_of(made(text, requires="delay: 1 us"))
    assert only.found == "1 us; a frame to b takes that long in an empty network"
    assert only.hint == "write delay: 21064 ns or more"


@pytest.mark.parametrize(("window", "fits"), [(8_112, True), (8_111, False)])
def test_a_tag_makes_a_frame_longer(window: int, fits: bool) -> None:
    """1006 octets and a preamble of 8."""
    text = TEXT.replace("stations: [a, b], rate: 1 Gbit/s, links: [a -- b]", "NETWORK")
    text = text.replace(
        "NETWORK", "stations: [a, b], bridges: [m], rate: 1 Gbit/s, links: [a -- m, a -- m, m -- b]"
    )
    entries = f"entries: [{{open: [4], for: {window} ns}}, {{open: [0], for: 50 us}}]"
    scenario = made(
        text.replace("1000 B}", "1000 B, frer: {}}"), shapers=f"'a -> m #1': {{gates: {{{entries}}}}}"
    )
    if fits:
        plan(scenario)
    else:
        (only,) = problems_of(scenario)
        assert only.expected == "a window of at least 8112 ns for class 4, for a frame of x (1006 B)"


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
    monkeypatch.setattr(passes, "prove", lambda made, text: ["streams x and y meet", "stream x is late"])
    problems = problems_of(made(TEXT + "schedule: {}\n"))
    assert [str(one).split(": ", 1)[1] for one in problems] == [
        "schedule: expected a schedule that holds, found streams x and y meet",
        "schedule: expected a schedule that holds, found stream x is late",
    ]
    assert [one.where for one in problems] == ["scenario.yaml:6:1"] * 2


def test_a_plan_that_contradicts_itself_is_refused_at_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(made: Plan, text: str) -> list[str]:
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
