"""Changes that are planned and bounded by what they touch, against planning and bounding everything."""

from __future__ import annotations

import json
import os
import random
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cnc.cell import BOUNDED, SCENARIO, SCHEDULED, TIGHT, after, base_of
from tsnbench import _native
from tsnbench.cnc import admission, service
from tsnbench.cnc.admission import Parts, Rules, decide, disagreement, first
from tsnbench.cnc.changes import Change, Decision, NotAcceptedError
from tsnbench.cnc.network import Base, Network
from tsnbench.cnc.service import Service
from tsnbench.cnc.store import Store
from tsnbench.plan.bounds import bounds_of

CHANGES = int(os.environ.get("CNC_CHANGES", "120"))
"""Drawn changes, which are compared with planning and bounding everything."""
GRID = """\
name: grid
duration: 10 ms
network: {grid: {rows: 2, columns: 2, stations: 2, rate: 1 Gbit/s}}
streams:
  loop: {from: station1.1.1, to: station2.2.1, period: 1 ms, payload: 100 B, pcp: 7, scheduled: true}
  log: {from: station2.2.2, to: station1.1.2, pcp: 3, period: 1 ms, payload: 100 B, requires: {delay: 2 ms}}
"""
TIMED = "".join(line for line in GRID.splitlines(keepends=True) if "log:" not in line)
"""Without the stream that is not scheduled."""
PCPS = (7, 7, 6, 3, 3, 0)
"""Above 5, streams are scheduled."""
STATIONS = [f"station{row}.{column}.{n}" for row in (1, 2) for column in (1, 2) for n in (1, 2)]


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Base:
    return base_of(tmp_path_factory.mktemp("grid"), GRID)


@pytest.fixture(scope="module")
def timed(tmp_path_factory: pytest.TempPathFactory) -> Base:
    return base_of(tmp_path_factory.mktemp("timed"), TIMED)


def drawn(draw: random.Random, now: Network, number: int, pcps: Sequence[int] = PCPS) -> Change:
    """Streams that join, leave and are replaced, most of which have room."""
    leave = draw.sample(sorted(now.requested), min(len(now.requested), draw.choice((0, 0, 1, 2))))
    add: dict[str, Any] = {}
    for place in range(draw.choice((1, 1, 1, 2)) if len(now.requested) < 25 else 0):
        talker, *listeners = draw.sample(STATIONS, draw.choice((2, 2, 3)))
        pcp = draw.choice(pcps)
        written: dict[str, Any] = {"from": talker, "to": listeners, "pcp": pcp}
        written["period"] = draw.choice(("250 us", "500 us", "1 ms", "1.5 ms"))
        written["payload"] = draw.choice(("64 B", "100 B", "1000 B"))
        written["requires"] = {"delay": draw.choice(("1 us", "60 us", *["2 ms", "10 ms"] * 5))}
        if pcp > 5:
            written["scheduled"] = True
        name = leave[0] if leave and draw.random() < 0.3 else f"s{number}.{place}"
        add[name] = written
    return Change("a", add, tuple(leave))


def outcome(base: Base, now: Network, change: Change, parts: Parts | None = None) -> Network | list[str]:
    try:
        return decide(base, now, change, Rules(), parts)
    except NotAcceptedError as error:
        # Hints are remedies that were tried, and how many are tried depends on how long that takes.
        return [error.kind.name, *(replace(one, hint=None).path for one in error.problems)]


def test_drawn_changes_are_planned_and_bounded_as_everything_is(grid: Base) -> None:
    draw = random.Random(1)
    now, beside, refused = first(grid), 0, 0
    for number in range(CHANGES):
        change, parts = drawn(draw, now, number), Parts()
        made = outcome(grid, now, change, parts)
        if isinstance(made, Network):
            beside += "read" not in parts.ms
            now = made
            # What is wrong stays wrong until its streams leave.
            assert number % 2 or disagreement(grid, made)[0] == "", change
        else:
            refused += 1
            # Without the earlier decisions, everything is planned.
            assert number % 2 or made == outcome(grid, replace(now, draft=None), change), change
    assert beside > CHANGES / 2
    assert refused > CHANGES / 30


def test_bounds_of_scheduled_streams_alone_are_those_of_everything(timed: Base) -> None:
    """No port is analysed then, and flows without a changed port keep their bounds."""
    draw = random.Random(2)
    now, alone, refused = first(timed), 0, 0
    for number in range(CHANGES // 3):
        change = drawn(draw, now, number, (7, 7, 6))
        made = outcome(timed, now, change)
        if isinstance(made, Network):
            alone += not made.bounds["ports"]
            now = made
            assert disagreement(timed, made)[0] == "", change
        else:
            refused += 1
            assert made == outcome(timed, replace(now, draft=None), change), change
    assert alone > CHANGES / 5
    assert refused
    # One stream that is not scheduled needs the analysis, which begins with these bounds.
    now = decide(timed, now, Change("a", {}, tuple(sorted(now.requested)[1:])), Rules())
    for name, stream in (("bounded", BOUNDED), ("timed", SCHEDULED)):
        own = {**stream, "from": STATIONS[2], "to": STATIONS[5]}
        now = decide(timed, now, Change("a", {name: own}), Rules())
        assert now.bounds["ports"]
        assert disagreement(timed, now)[0] == ""


def test_with_a_margin_ports_are_analysed(tmp_path: Path) -> None:
    """A margin delays no frame that keeps to the Plan: the analysis may have lower bounds than the proof."""
    base = base_of(tmp_path, f"{TIMED}schedule: {{margin: 1 us}}\n")
    own = {**SCHEDULED, "from": STATIONS[0], "to": STATIONS[5]}
    now = decide(base, first(base), Change("a", {"one": own}), Rules())
    assert now.bounds["ports"]
    assert disagreement(base, now)[0] == ""


def test_a_replaced_stream_with_the_bounds_of_the_earlier_one_keeps_its_own_limits(tmp_path: Path) -> None:
    base = base_of(tmp_path)
    now = after(base, Change("a", {"one": BOUNDED}))
    worst = next(flow["upper_ns"] for flow in now.bounds["flows"] if flow["group"] == "one")
    tighter = {**BOUNDED, "requires": {"delay": f"{worst - 1} ns"}}
    made = outcome(base, now, Change("a", {"one": tighter}, ("one",)))
    assert made == ["REFUSED", "streams.one.requires.delay"]


@pytest.mark.parametrize(
    ("words", "key"),
    [
        ("shapers: {sw3 -> sw2: {cbs: {A: 10 Mbit/s}}}", "cbs"),
        ("shapers: {sw3 -> sw2: {preemption: {express: [7]}}}", "preemption"),
        ("faults: [{on: sw3 -> sw2, loss: 1 %}]", "faults"),
        ("schedule: {ways: free}", "schedule"),
    ],
)
def test_where_streams_meet_beyond_their_ports_everything_is_planned(
    tmp_path: Path, words: str, key: str
) -> None:
    base = base_of(tmp_path, f"{SCENARIO}{words}\n")
    assert not base.separable, key
    parts = Parts()
    now = decide(base, first(base), Change("a", {"one": BOUNDED}), Rules(), parts)
    assert "read" in parts.ms
    assert disagreement(base, now)[0] == ""


def test_bounds_with_a_memory_are_those_without(grid: Base) -> None:
    now = after(grid, Change("a", {"one": {**BOUNDED, "from": STATIONS[0], "to": STATIONS[5]}}))
    memory = _native.BoundsMemory()
    read = _native.ReadPlan(now.text)
    found = [read.bounds(False, memory), read.bounds(False, memory), read.bounds(False)]
    assert found == [_native.bounds(now.text, False)] * 3
    assert bounds_of(now.text, hops=False) == {**now.bounds, "plan": now.hash}


def _disturb(draw: random.Random, document: Any) -> None:
    """One change of a Plan that may break its schedule."""
    streams = [stream for stream in document["streams"] if "scheduled" in stream]
    stream = draw.choice(streams)
    hop = draw.choice(stream["route"])
    gates = document["ports"][hop["port"]].get("gates", {"entries": [{"open": 255, "interval_ns": 1}]})
    match draw.randrange(7):
        case 0:
            starts = draw.choice(stream["scheduled"]["starts_ps"])
            starts[0] = max(0, starts[0] + draw.choice((-1_000_000, -1, 1, 1_000_000)))
        case 1:
            stream["pattern"]["offset_ns"] = (
                stream["pattern"]["offset_ns"] + draw.choice((0, 700))
            ) % 250_000
        case 2:
            draw.choice(gates["entries"])["open"] ^= draw.choice((0, 8, 128))
        case 3:
            draw.choice(document["streams"])["pcp"] = draw.choice((3, 6, 7))
        case 4:
            stream["requirements"] = {"delay_ns": draw.choice((1_000, 10_000_000))}
        case 5:
            document["streams"].remove(stream)
        case _:
            draw.choice(document["taps"])["granularity_ns"] = 8


def _shared(earlier: Any, document: Any) -> Any:
    """A document with the objects of an earlier one where they are equal."""
    found = {**earlier}
    for key in ("ports", "streams", "taps"):
        known = {json.dumps(one): one for one in earlier[key]}
        found[key] = [known.get(json.dumps(one), one) for one in document[key]]
    return found if document["taps"] != earlier["taps"] else {**found, "taps": earlier["taps"]}


def _differs(earlier: Any, document: Any) -> tuple[list[int], list[int], list[int]]:
    """Ports, streams that left and streams that joined, by their places."""

    def others(key: str, one: Any, other: Any) -> list[int]:
        known = {*map(id, other[key])}
        return [place for place, own in enumerate(one[key]) if id(own) not in known]

    return (
        others("ports", document, earlier),
        others("streams", earlier, document),
        others("streams", document, earlier),
    )


def test_a_proof_beside_an_earlier_one_finds_what_the_whole_proof_finds(grid: Base) -> None:
    """Nobody tells the proof what differs: the native module compares both Plans, object by object. One of
    all these Plans is in memory."""
    draw = random.Random(3)
    now = first(grid)
    for number in range(12):
        made = outcome(grid, now, drawn(draw, now, number, (7, 6, 3)))
        now = made if isinstance(made, Network) else now
    first_one = now.plan.document, _native.ReadPlan(now.text)
    known, broken, held = [first_one], 0, 0
    assert first_one[1].violations() == []
    for _ in range(CHANGES):
        content, earlier = draw.choice(known)
        document = json.loads(json.dumps(content))
        for _ in range(draw.choice((1, 1, 2))):
            _disturb(draw, document)
        document = _shared(content, document)
        beside = earlier.beside(content, document)
        assert beside is not None
        text, whole_hash = _native.plan_text(document)
        whole = _native.ReadPlan(text)
        assert beside.hash() == whole.hash() == whole_hash
        assert _differs(content, document) == beside.differs(earlier)
        assert sorted(beside.violations()) == sorted(whole.violations())
        assert beside.proven_delays() == whole.proven_delays()
        assert beside.is_same(whole)
        assert earlier.is_same(whole) == (document == content)
        broken += bool(whole.violations())
        held += not whole.violations()
        if not whole.violations() and len(document["streams"]) > len(now.plan.document["streams"]) - 4:
            known = [first_one, *known[-3:], (document, beside)]
    assert first_one[1].is_same(_native.ReadPlan(now.text))
    assert broken > CHANGES / 5
    assert held > CHANGES / 10


def test_a_service_whose_plan_is_not_that_of_everything_admits_nothing_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A defect is put into the decisions about what a change touches."""
    monkeypatch.setattr(service, "IDLE_S", 0.01)
    made = Service(base_of(tmp_path))
    told: list[Decision] = []
    halted = threading.Event()

    def tell(decision: Decision) -> None:
        told.append(decision)
        if decision.outcome == "halted":
            halted.set()

    made.listen(tell)
    right = admission.bounds_of

    def wrong(*asked: Any) -> Any:
        found = right(*asked)
        found.bounds["flows"][0]["upper_ns"] -= 1
        return found

    monkeypatch.setattr(admission, "bounds_of", wrong)
    assert made.ask(Change("a", {"one": BOUNDED})).result(20).accepted
    assert halted.wait(20)
    monkeypatch.undo()
    kept = made.network
    refused = made.ask(Change("a", {"two": SCHEDULED})).result(20)
    assert (refused.outcome, made.network) == ("halted", kept)
    assert refused.reasons[0]["found"] == "other bounds of loop"
    assert [one.outcome for one in told] == ["accepted", "halted", "halted"]
    made.close()


def test_a_service_with_a_store_decides_beside_the_plan_of_the_last_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "IDLE_S", 0.01)
    base = base_of(tmp_path)
    one = Service(base, Store(tmp_path / "store", base.digest))
    assert one.ask(Change("a", {"one": {**BOUNDED, "requires": {"delay": "3 ms"}}})).result(20).accepted
    one.close()
    kept = Store(tmp_path / "store", base.digest)
    found = kept.network()
    assert found is not None
    assert found.draft is None
    again = Service(base, kept)
    again.soon(again.check).result(20)
    assert again.network.draft is not None
    decision = again.ask(Change("a", {"two": SCHEDULED})).result(20)
    assert decision.accepted
    assert "read" not in decision.parts_ms
    assert not again.ask(Change("a", {"three": TIGHT})).result(20).accepted
    again.soon(again.check).result(20)
    assert (again.halted, again.checked) == ("", again.network.number)
    again.close()
