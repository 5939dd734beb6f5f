"""What the planner refuses in scenarios made in Python; the reader of files finds these mistakes itself."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.golden import fragment_matches
from support.planned import problems_of, refusal_text
from tsnbench.planning import PlanningErrors, plan
from tsnbench.planning.errors import PlanningProblem
from tsnbench.planning.streams import replay
from tsnbench.scenario import load_variants, read_scenario
from tsnbench.scenario.errors import Problem
from tsnbench.scenario.model import Scenario
from tsnbench.scenario.model.clocks import Clocks
from tsnbench.scenario.model.faults import LinkDown, Loss, WrongSchedule
from tsnbench.scenario.model.gates import Follow, GateEntry, Gates
from tsnbench.scenario.model.network import Link, Queues
from tsnbench.scenario.model.policing import Filter, Regeneration
from tsnbench.scenario.model.ptp import Gptp, Ieee1588
from tsnbench.scenario.model.shapers import Cqf, Shaper
from tsnbench.scenario.model.taps import Taps
from tsnbench.scenario.model.traffic import Answer, FixedSize, Periodic, Poisson, Saturating, UnitSizes

TEXT = """\
name: refusals
duration: 10 ms
network:
  stations: [a, b, c]
  bridges: [sw, tw]
  links: {rate: 1 Gbit/s, between: [a -- sw, sw -- tw, tw -- b, c -- sw]}
streams:
  s: {from: a, to: b, pcp: 5, period: 1 ms, frame: 500 B}
shapers:
  sw -> tw: {gates: {entries: [{open: [5], for: 100 us}, {open: [0], for: 900 us}]}}
"""


def base() -> Scenario:
    (scenario,) = read_scenario(TEXT)
    return scenario


def stream(**fields: Any) -> Scenario:
    """The scenario with other fields of its stream."""
    scenario = base()
    return scenario.model_copy(update={"streams": {"s": scenario.streams["s"].model_copy(update=fields)}})


def streams(**names: dict[str, Any]) -> Scenario:
    """The scenario with these streams."""
    scenario = base()
    own = scenario.streams["s"]
    return scenario.model_copy(
        update={
            "streams": {name.replace("_", "."): own.model_copy(update=new) for name, new in names.items()}
        }
    )


def answers(request: str, flows: int) -> Scenario:
    """The scenario with a stream back that has so many flows."""
    scenario = base()
    pattern = Answer(answers=request, after=0, period=1_000_000, jitter=0)
    new = {"talker": "b", "listeners": ("a",), "pattern": pattern, "count": flows}
    other = scenario.streams["s"].model_copy(update=new)
    return scenario.model_copy(update={"streams": {**scenario.streams, "t": other}})


def shapers(**selected: Shaper) -> Scenario:
    return base().model_copy(update={"shapers": selected})


def policing(*entries: Filter | Regeneration) -> Scenario:
    return base().model_copy(update={"policing": entries})


def network(**fields: Any) -> Scenario:
    scenario = base()
    return scenario.model_copy(update={"network": scenario.network.model_copy(update=fields)})


def written_gates() -> Gates:
    found = base().shapers["sw -> tw"].gates
    assert isinstance(found, Gates)
    return found


def gates(**fields: Any) -> Scenario:
    """The scenario with another gate control list."""
    scenario = base()
    shaper = scenario.shapers["sw -> tw"]
    assert shaper.gates is not None
    changed = shaper.model_copy(update={"gates": shaper.gates.model_copy(update=fields)})
    return scenario.model_copy(update={"shapers": {"sw -> tw": changed}})


def entries(duration: int) -> Scenario:
    """The scenario with another first interval."""
    written = base().shapers["sw -> tw"].gates
    first, second = written.entries  # type: ignore[union-attr]
    return gates(entries=(first.model_copy(update={"duration": duration}), second))


def cyclic(*, keep: bool, classes: tuple[int, ...] = (7, 6)) -> Scenario:
    """The scenario with cyclic queues, with its gates or without."""
    scenario = base()
    cqf = Cqf(cycle=125_000, pcps=(5,), classes=classes)
    shaper = scenario.shapers["sw -> tw"].model_copy(update={"cqf": cqf, **({} if keep else {"gates": None})})
    return scenario.model_copy(update={"shapers": {"sw -> tw": shaper}})


def links(*more: Link) -> Scenario:
    return network(links=(*base().network.links, *more))


def ptp(links: tuple[str, ...], ieee_1588: Ieee1588 | None) -> Scenario:
    """The scenario with clocks that follow a over these links."""
    return base().model_copy(
        update={"clocks": Clocks(gptp=Gptp(grandmaster="a", links=links, ieee_1588=ieee_1588))}
    )


def with_rate(rate: int) -> Scenario:
    return network(links=tuple(one.model_copy(update={"rate": rate}) for one in base().network.links))


WORDS = Path(__file__).parents[1] / "errors/planned/made-in-python.txt"
CASES: dict[str, Callable[[], Scenario]] = {
    "an unknown talker": lambda: stream(talker="x"),
    "no listener": lambda: stream(listeners=()),
    "the talker as listener": lambda: stream(listeners=("a",)),
    "one name twice": lambda: streams(s={"count": 2}, s_2={}),
    "no path": lambda: network(links=tuple(one for one in base().network.links if "b" not in (one.a, one.b))),
    "an answer to nothing": lambda: answers("x", 1),
    "more answers than requests": lambda: answers("s", 3),
    "two streams of answers without requests": lambda: streams(
        ask={"count": 2},
        more={"pattern": Answer(answers="ask", after=0, period=10**6, jitter=0), "count": 4},
        none={"pattern": Answer(answers="x", after=0, period=10**6, jitter=0), "count": 2},
        behind={"count": 2},
    ),
    "several ports to follow": lambda: shapers(
        **{
            "sw -> tw": base().shapers["sw -> tw"],
            "a -> sw": Shaper(gates=Follow(port="sw -> *")),
        }
    ),
    "priorities of no link": lambda: policing(Regeneration(at="a -> tw", pcp={5: 3})),
    "a filter at no link": lambda: policing(
        Filter(at="a -> sw", max_sdu=1500), Filter(at="x -> *", max_sdu=1500)
    ),
    "two ports to follow": lambda: shapers(**{"a -> sw": Shaper(gates=Follow(port="tw -> *"))}),
    "no port to follow": lambda: shapers(**{"a -> sw": Shaper(gates=Follow(port="a -> tw"))}),
    "a list to follow whose credit runs": lambda: shapers(
        **{
            "sw -> tw": Shaper(gates=written_gates().model_copy(update={"credit_runs": True})),
            "a -> sw": Shaper(gates=Follow(port="sw -> tw")),
        }
    ),
    "an unknown hop": lambda: stream(via=("a", "x", "b")),
    "a path that ends before": lambda: stream(via=("a", "sw")),
    "a node twice": lambda: stream(via=("a", "sw", "tw", "sw", "tw", "b")),
    "a hop without a link": lambda: stream(via=("a", "tw", "b")),
    "a listener aside": lambda: stream(via=("a", "sw", "tw", "b"), listeners=("b", "c")),
    "an unknown parallel link": lambda: stream(via=("a", "sw", "tw", "b"), via_links=(None, 2, None)),
    # With the 50 octets of the headers, no octet in a full frame makes 50, 13 make 63, and 65486 make 65536,
    # whatever the data units are.
    "sizes of frames and data units": lambda: streams(
        none={"size": UnitSizes(octets=())},
        nothing={"size": UnitSizes(octets=(100,), most_per_frame=0)},
        small={"size": FixedSize(octets=63), "count": 2},
        large={"size": FixedSize(octets=65_536)},
        short={"size": UnitSizes(octets=(100,), most_per_frame=13)},
        long={"size": UnitSizes(octets=(100,), most_per_frame=65_486)},
        right={"size": FixedSize(octets=64)},
    ),
    # 500 octets are 4000 bit: the gap is shorter than 1 ns, or there is none.
    "numbers that no talker keeps": lambda: streams(
        fast={"pattern": Poisson(rate=4_010 * 10**9), "count": 2},
        none={"pattern": Poisson(mean_interval=0)},
        still={"pattern": Periodic(period=0)},
        told={"pattern": Answer(answers="still", after=0, period=0, jitter=0)},
        empty={"pattern": Saturating(backlog=0)},
    ),
    "a selector that is none": lambda: shapers(**{"a to b": Shaper()}),
    "a selector without a link": lambda: shapers(**{"a -> tw": Shaper()}),
    "a selector of an unknown node": lambda: shapers(**{"x -> *": Shaper()}),
    "an unknown link of gPTP": lambda: ptp(("a -> sw", "a -> b"), None),
    "an unknown link of PTP": lambda: ptp(("x -> *",), Ieee1588()),
    "an unknown tap": lambda: base().model_copy(update={"taps": Taps(ports=("a -> sw", "b -> a"))}),
    "a fault of an unknown link": lambda: base().model_copy(
        update={"faults": (LinkDown(port="a -> sw"), LinkDown(port="a -> b"))}
    ),
    "a loss at an unknown node": lambda: base().model_copy(update={"faults": (Loss(port="x -> *", loss=1),)}),
    "a wrong schedule at an unknown node": lambda: base().model_copy(
        update={"faults": (WrongSchedule(port="* -> x", shift=1),)}
    ),
    "a wrong schedule of no length": lambda: base().model_copy(
        update={
            "faults": (
                WrongSchedule(port="a -> sw", gates=Gates(entries=(GateEntry(open=(5,), duration=0),))),
            )
        }
    ),
    "a link of an unknown node": lambda: links(Link(a="a", b="x", rate=10**9)),
    "a link to itself": lambda: links(Link(a="a", b="a", rate=10**9)),
    "a rate beyond all": lambda: with_rate(10**13),
    "the least and the greatest rate": lambda: shapers(
        **{
            "a -> sw": Shaper(real_rate=999_999),
            "sw -> a": Shaper(real_rate=10**12 + 1),
            "sw -> c": Shaper(real_rate=10**6),
            "c -> sw": Shaper(real_rate=10**12),
        }
    ),
    "a class beyond all": lambda: network(queues=Queues(classes={5: 8})),
    "a class below all": lambda: network(queues=Queues(classes={7: 7, 0: -1})),
    "a priority beyond all": lambda: network(queues=Queues(classes={7: 7, 0: 0, 8: 0})),
    "a priority below all": lambda: network(queues=Queues(classes={7: 7, 0: 0, -1: 0})),
    "an interval of no length": lambda: entries(0),
    "another cycle": lambda: gates(cycle=500_000),
    "a class before the first list that the port does not have": lambda: gates(by="class", before=(9,)),
    "gates and cyclic queues": lambda: cyclic(keep=True),
    "cyclic queues beyond the port's": lambda: cyclic(keep=False, classes=(8, 7)),
    "a duration of years": lambda: base().model_copy(update={"duration": 1 << 63}),
}
"""What each of them is told: ``tests/errors/planned/made-in-python.txt``."""


def refusal(scenario: Scenario) -> str:
    return refusal_text(scenario)


@pytest.mark.parametrize("name", CASES)
def test_refused(name: str) -> None:
    found = re.sub(r"^scenario\.yaml(:\d+:\d+)?: ", "", refusal(CASES[name]()), flags=re.MULTILINE)
    fragment_matches(WORDS, name, f"{found}\n")


def test_too_many_releases_of_recordings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay, "MOST_IN_ALL", 3)
    (tmp_path / "times.csv").write_text("time_us,frame\n0,100\n10,100\n", encoding="utf-8")
    (tmp_path / "two.yaml").write_text(
        TEXT.replace("period: 1 ms, frame: 500 B", "replay: times.csv, count: 2"), encoding="utf-8"
    )
    (scenario,) = load_variants(tmp_path / "two.yaml")
    assert refusal(scenario).endswith(
        "streams.s.replay: expected at most 3 releases in all replayed flows, found more"
    )


def test_problems_of_the_planner_and_of_the_reader_are_alike_for_programs() -> None:
    (problem,) = problems_of(
        read_scenario(TEXT.replace("500 B}", "500 B, requires: {delay: 1 ns}}"), "C:/a b.yaml")[0]
    )
    told = problem.as_dict()
    assert list(told) == [*(one.name for one in dataclasses.fields(Problem)), "code"]
    assert (told["file"], told["line"], told["path"]) == ("C:/a b.yaml", 8, "streams.s.requires.delay")
    nowhere = PlanningProblem("streams", "one", "none", where="scenario.yaml").as_dict()
    assert (nowhere["file"], nowhere["line"], nowhere["column"], nowhere["hint"]) == (
        "scenario.yaml",
        1,
        1,
        "",
    )


def test_the_words_of_a_problem() -> None:
    """The place stands first and the hint last, where there are any."""
    bare = PlanningProblem("streams.s", "one", "none")
    assert str(bare) == "streams.s: expected one, found none"
    whole = dataclasses.replace(bare, hint="add one", where="C:/a b.yaml:8:3")
    assert str(whole) == "C:/a b.yaml:8:3: streams.s: expected one, found none\n  hint: add one"
    assert whole.as_dict() == {
        "file": "C:/a b.yaml", "line": 8, "column": 3,
        "path": "streams.s", "expected": "one", "found": "none", "hint": "add one", "code": "TSN0501",
    }  # fmt: skip
    assert str(PlanningErrors([bare, whole])) == f"{bare}\n{whole}"


def test_an_empty_list_has_no_hint() -> None:
    """More entries that the port supports would be none for it."""
    assert refusal(gates(entries=())).endswith(
        "shapers.sw -> tw.gates.entries: expected 1 to 1024 entries, found 0"
    )


@pytest.mark.parametrize(("numbers", "found"), [((9, 8), 9), ((8,), 8), ((5, -1), -1)])
def test_the_first_wrong_priority_of_an_entry_is_named_and_needs_no_hint(
    numbers: tuple[int, ...], found: int
) -> None:
    first, second = written_gates().entries
    wrong = gates(entries=(first.model_copy(update={"open": numbers}), second))
    path = "shapers.sw -> tw.gates.entries[0].open"
    assert refusal(wrong).endswith(f"{path}: expected priority code points 0 to 7, found {found}")
    hint = "sw -> tw has 8 classes; by: pcp counts priority code points instead"
    wrong = gates(entries=(first.model_copy(update={"open": numbers}), second), by="class")
    assert refusal(wrong).endswith(f"{path}: expected classes below 8, found {found}\n  hint: {hint}")


@pytest.mark.parametrize("number", [0, 7])
def test_the_least_and_the_greatest_priority_and_class_may_be_open(number: int) -> None:
    first, second = written_gates().entries
    for by in ("pcp", "class"):
        written = gates(entries=(first.model_copy(update={"open": (number, 5)}), second), by=by)
        document = plan(written).document
        (own,) = (port["gates"] for port in document["ports"] if port["name"] == "sw -> tw")
        # PCP 0 is class 1; all others that occur here are the class of their number.
        bit = 1 << (1 if (number, by) == (0, "pcp") else number)
        assert own["entries"][0]["open"] == bit | 1 << 5
