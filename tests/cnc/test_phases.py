"""Talkers that nobody tells when to begin: what is promised holds for every phase."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from cnc.cell import BOUNDED, SCENARIO, after, base_of
from cnc.cell import SCHEDULED as IN_WINDOWS
from cnc.test_transition import PLANT, delays, drawn_change
from tsnbench.backends.simulation import Simulation
from tsnbench.cnc.admission import Rules, decide, first
from tsnbench.cnc.changes import Change, NotAcceptedError
from tsnbench.cnc.facts import stream_facts
from tsnbench.cnc.joining.station import Station
from tsnbench.cnc.network import Base, Network
from tsnbench.plan.bounds import bounds
from tsnbench.plan.document import Plan, without_hash

MS = 1_000_000


def drawn(base: Base, seed: int) -> Network:
    """A network after two drawn changes that are admitted."""
    draw, now, made = random.Random(seed), first(base), 0
    for number in range(8):
        if made == 2:
            return now
        try:
            now = decide(base, now, drawn_change(draw, base, now, number, 0, 5), Rules())
            made += 1
        except NotAcceptedError:
            continue
    return now


def with_(plan: Plan, **keys: Any) -> Plan:
    document: Any = without_hash(plan.document)
    return Plan({**document, **keys})


def uppers(found: Any) -> dict[str, int]:
    return {flow["stream"]: flow["upper_ns"] for flow in found["flows"]}


def greatest(plan: Plan, into: Path) -> dict[str, int]:
    """The greatest delay of each stream in three runs with other phases."""
    most: dict[str, int] = {}
    for seed in range(3):
        run = with_(plan, seed=seed, duration_ns=20 * MS).run(on=Simulation(), into=into / str(seed))
        for stream, found in delays(run).items():
            most[stream] = max([most.get(stream, 0), *(one for one in found if one is not None)])
    return most


@pytest.mark.parametrize("seed", [16, 19, 23, 24])
def test_no_frame_at_any_phase_is_beyond_its_promise(tmp_path: Path, seed: int) -> None:
    now = drawn(base_of(tmp_path, PLANT), seed)
    promised = uppers(now.bounds)
    found = greatest(now.plan, tmp_path)
    assert found.keys() == promised.keys()
    assert {stream: most for stream, most in found.items() if most > promised[stream]} == {}
    # Bounds of talkers that all begin with their periods do not hold.
    told = [{key: one[key] for key in one if key != "any_phase"} for one in now.plan.document["streams"]]
    at_zero = uppers(bounds(with_(now.plan, streams=told)))
    assert any(most > at_zero[stream] for stream, most in found.items())


def test_a_phase_holds_if_the_request_states_it_and_the_answer_tells_it(tmp_path: Path) -> None:
    base = base_of(tmp_path, SCENARIO.replace("pcp: 3,", "pcp: 3, offset: 50 us,"))
    asked = {
        "told": {**BOUNDED, "from": "cam", "offset": "100 us"},
        "zero": {**BOUNDED, "from": "cam", "offset": "0 us"},
        "free": {**BOUNDED, "from": "cam"},
        "any": {**BOUNDED, "from": "cam", "offset": "any", "period": "3 ms"},
        "placed": {**IN_WINDOWS, "from": "cam", "payload": "100 B"},
    }
    now = after(base, Change("a", asked))
    phases = {one["name"]: one.get("any_phase", False) for one in now.plan.document["streams"]}
    assert phases == {
        **dict.fromkeys(("loop", "log", "told", "zero", "placed"), False),
        **dict.fromkeys(("free", "any"), True),
    }
    facts = {one["stream"]: one["offset_ns"] for one in stream_facts(now, [*asked, "log"])}
    assert [facts[name] for name in ("told", "zero", "log")] == [100_000, 0, 50_000]
    assert facts["free"] is None
    assert facts["any"] is None
    assert facts["placed"] is not None
    # A host begins with the phase of what it has to keep to, and of no other stream.
    lone = "".join(line for line in SCENARIO.splitlines(True) if "loop:" not in line)
    alone = after(base_of(tmp_path, lone), Change("a", {name: asked[name] for name in ("told", "any")}))
    station = Station(alone.plan.document, "cam")
    assert (station.cycle_ns(["told", "any"]), station.cycle_ns(["any"])) == (1_000_000, 1)


def test_a_scheduled_stream_begins_when_the_planner_says(tmp_path: Path) -> None:
    with pytest.raises(NotAcceptedError) as refused:
        after(base_of(tmp_path), Change("a", {"x": {**IN_WINDOWS, "offset": "any"}}))
    problem = refused.value.problems[0]
    assert (problem.path, problem.found) == ("streams.x.offset", "any")
    assert problem.hint == "leave offset out: the planner chooses it"
