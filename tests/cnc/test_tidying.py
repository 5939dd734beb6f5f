"""Policies: classes and shares of links for requested streams, and streams that get other places."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from cnc.cell import BOUNDED, SCENARIO, SCHEDULED, after, base_of, serving
from support.commands import tsnbench
from tsnbench.cli.cnc.serve import _moves, _policy, _shares
from tsnbench.cnc.admission import Rules, decide, disagreement, first
from tsnbench.cnc.changes import Change, NotAcceptedError
from tsnbench.cnc.changing.tidying import fragmentation, tidied
from tsnbench.cnc.network import Base, Network
from tsnbench.cnc.policy import Moves
from tsnbench.cnc.service import Service
from tsnbench.errors import InputError

MAY = Rules(moves=Moves.IF_SILENT)
NAMES = [f"s{number}" for number in range(8)]


@pytest.fixture
def base(tmp_path: Path) -> Base:
    return base_of(tmp_path, "".join(line for line in SCENARIO.splitlines(True) if "log:" not in line))


def fragmented(base: Base) -> Network:
    """Every second one of eight streams that followed each other has left."""
    add: dict[str, Any] = {name: {**SCHEDULED, "payload": "600 B"} for name in NAMES}
    return after(base, Change("a", add), Change("a", {}, NAMES[::2]))


def refused(base: Base, now: Network, change: Change, rules: Rules) -> tuple[str, str]:
    with pytest.raises(NotAcceptedError) as found:
        (tidied if change.tidy else decide)(base, now, change, rules)
    return found.value.kind.name, found.value.problems[0].path


def test_fragmentation_is_the_time_that_is_not_in_the_longest_part() -> None:
    entries = [{"open": 128, "interval_ns": 10}, {"open": 127, "interval_ns": 30}] * 2
    entries += [{"open": 128, "interval_ns": 10}, {"open": 127, "interval_ns": 40}]
    port: Any = {"pcp_to_class": [*range(8)], "gates": {"entries": entries, "cycle_ns": 130}}
    streams = [{"scheduled": {}, "pcp": 7, "route": [{"port": 0}]}, {"pcp": 3, "route": [{"port": 1}]}]
    document: Any = {"ports": [port, {}], "streams": streams}
    assert fragmentation(document) == 60 / 100
    # A part over the end of the cycle is one part.
    port["gates"]["entries"] = [entries[1], entries[0], entries[5]]
    assert fragmentation(document) == 0
    assert fragmentation({**document, "streams": []}) == 0


def test_streams_that_may_move_close_up_and_the_others_stay(base: Base) -> None:
    now = fragmented(base)
    movable = NAMES[1::2]
    made = tidied(base, now, Change("a", tidy=movable), MAY)
    assert fragmentation(made.plan.document) < fragmentation(now.plan.document)
    assert any(made.flows(name) != now.flows(name) for name in movable)
    assert made.flows("loop") == now.flows("loop")
    assert {flow["group"]: flow["upper_ns"] is not None for flow in made.bounds["flows"]} == dict.fromkeys(
        ("loop", *movable), True
    )
    assert disagreement(base, made)[0] == ""
    # A second time nothing is gained, so nothing moves.
    assert tidied(base, made, Change("a", tidy=movable), MAY) is made
    some = tidied(base, now, Change("a", tidy=movable[:1]), MAY)
    assert all(some.flows(name) == now.flows(name) for name in movable[1:])


def test_only_what_policy_and_owners_allow_is_moved(base: Base) -> None:
    now = fragmented(base)
    assert refused(base, now, Change("a", tidy=["s1"]), Rules()) == ("REFUSED", "policy.moves")
    assert refused(base, now, Change("b", tidy=["s1"]), MAY) == ("FOREIGN", "streams.s1")
    assert refused(base, now, Change("a", tidy=["loop"]), MAY) == ("UNKNOWN", "streams")


def test_a_service_tells_who_moved_and_decides_beside_the_new_plan(base: Base) -> None:
    made = Service(base, rules=MAY)
    made.network = fragmented(base)
    decision = made.ask(Change("a", tidy=NAMES[1::2])).result(30)
    assert decision.accepted
    assert decision.change["tidy"] == NAMES[1::2]
    assert decision.plan == made.network.hash
    assert decision.streams
    added = made.ask(Change("a", {"late": {**SCHEDULED, "payload": "1400 B"}})).result(30)
    assert "read" not in added.parts_ms
    made.close()
    assert disagreement(base, made.network)[0] == ""


def test_classes_and_shares_of_links_are_those_of_the_policy(base: Base) -> None:
    now = first(base)
    # 1000 B of payload are 1030 octets on a link and 12 of gap and preamble more: 8.4 % of 100 Mbit/s.
    rules = Rules(shares={7: Fraction(20, 100)})
    two = after(base, Change("a", {"one": SCHEDULED}), Change("a", {"two": SCHEDULED}), rules=rules)
    assert refused(base, two, Change("a", {"three": SCHEDULED}), rules) == ("REFUSED", "streams.three")
    assert refused(base, now, Change("a", {"low": BOUNDED}), rules) == ("REFUSED", "streams.low.pcp")
    # The scenario's own stream is not counted, and what leaves makes room.
    left = decide(base, two, Change("a", {}, ("one",)), rules)
    assert decide(base, left, Change("a", {"three": SCHEDULED}), rules).requested.keys() == {"two", "three"}
    more = replace(rules, shares={7: Fraction(1)})
    assert "three" in decide(base, two, Change("a", {"three": SCHEDULED}), more).requested


@pytest.mark.parametrize("text", ["7", "8=10%", "7=0%", "7=101%", "7=10", "7=-1%", "x=1%"])
def test_shares_with_mistakes_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="--reserve: expected PCP=SHARE such as 6=30%, found"):
        _shares([text])
    with pytest.raises(InputError, match="--moves: expected never, if-silent, in-maintenance, found"):
        _moves(text)


def test_who_may_tidy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("uvicorn", reason="needs uvicorn (pip install 'tsnbench[ui]')")
    tokens = tmp_path / "tokens.toml"
    clients = {"camera": "own", "engineer": "all"}
    tokens.write_text(
        "".join(
            f'[{name}]\ntoken = "{name}-of-this-cell"\nscope = "{own}"\n' for name, own in clients.items()
        )
    )
    camera, engineer = (f"Bearer {name}-of-this-cell" for name in clients)
    own = {name: {**SCHEDULED, "payload": "600 B"} for name in NAMES}
    with serving(tmp_path, "--tokens", tokens, "--moves", "in-maintenance", "--reserve", "7=50%") as served:

        def tidy(body: Any, client: str = engineer, **headers: str) -> int:
            return served.ask("POST", "/api/tidy", body, authorization=client, **headers)[0]

        assert tidy({"maintenance": True}) == 400
        assert served.ask("POST", "/api/changes", {"add": own}, authorization=camera)[0] == 200
        assert served.ask("POST", "/api/changes", {"remove": NAMES[::2]}, authorization=camera)[0] == 200
        late = {**BOUNDED, "requires": {"delay": "3 ms"}}
        low = served.ask("PUT", "/api/streams/low", late, authorization=camera)
        assert (low[0], low[1]["decision"]["reasons"][0]["expected"]) == (409, "a PCP of the policy: 7")
        assert tidy({"maintenance": True}, camera) == 403
        assert tidy({"silent": ["s1"]}, camera) == 403
        for wrong in ({}, {"silent": "s1"}, {"maintenance": 1}, {"other": 1}, {"silent": [1]}):
            assert tidy(wrong) == 400, wrong
        assert tidy({"maintenance": True}, if_match='"of another time"') == 412
        monkeypatch.setenv("TSNBENCH_CNC", served.address)
        monkeypatch.setenv("TSNBENCH_CNC_TOKEN", engineer.partition(" ")[2])
        done = tsnbench("cnc", "tidy", "--maintenance")
        assert done.returncode == 0, done.stderr
        assert "~s1 ~s3" in done.stdout
        assert "released at" in done.stdout
        assert "~s1 ~s3" in tsnbench("cnc", "explain", "s1").stdout
        again = tsnbench("cnc", "tidy", "--maintenance")
        assert "released at" not in again.stdout
        assert tsnbench("cnc", "tidy").returncode == 2


def test_the_policy_of_the_scenario_counts_where_no_option_does(tmp_path: Path) -> None:
    written = "policy: {reserve: {7: 50 %, 5: 1000 ppm}, moves: if-silent}\n"
    own = base_of(tmp_path, SCENARIO + written)
    shares = {7: Fraction(1, 2), 5: Fraction(1, 1000)}
    assert _policy(own, (), None) == (shares, Moves.IF_SILENT)
    assert _policy(own, ["3=10%"], None) == ({3: Fraction(1, 10)}, Moves.IF_SILENT)
    assert _policy(own, (), "never") == (shares, Moves.NEVER)
    with pytest.raises(InputError, match="--moves: expected never"):
        _policy(own, (), "")
    none = base_of(tmp_path)
    assert _policy(none, (), None) == ({}, Moves.NEVER)
    # It has no effect on the Plan, nor on a run: both are the same.
    assert own.plan.to_json() == none.plan.to_json()


def test_requests_that_name_no_class_have_that_of_the_policy(tmp_path: Path) -> None:
    policy = (
        "policy: {reserve: {7: 50 %, 6: 9 %, 5: 9 %}, pcp: 5, scheduled-pcp: 7, vlan: 10, most-streams: 4}\n"
    )
    base = base_of(tmp_path, SCENARIO + policy)
    bare = {key: value for key, value in BOUNDED.items() if key != "pcp"}
    add = {
        "low": {**bare, "payload": "100 B"},
        "own": {**bare, "payload": "100 B", "pcp": 6, "vlan": "20"},
        "bare": {**bare, "payload": "100 B", "vlan": "none"},
        "sr": {**bare, "payload": "100 B", "class": "sr/A"},
        "gated": {**bare, "scheduled": True},
    }
    shares = {pcp: Fraction(share, 10**6) for pcp, share in base.scenario.policy.reserve.items()}
    now = decide(
        base, first(base), Change("a", add), rules := Rules(shares={**shares, 3: Fraction(1), 0: Fraction(1)})
    )
    found = {one["group"]: (one["pcp"], one.get("vid")) for one in now.plan.document["streams"]}
    assert {name: found[name] for name in add} == {
        "low": (5, 10),
        "own": (6, 20),
        "bare": (0, None),
        "sr": (3, 10),
        "gated": (7, 10),
    }
    assert found["log"] == (3, 100), "the policy is for clients"
    assert now.requested["low"].written == add["low"]
    assert decide(base, now, Change("a", {"low": add["low"]}), rules) is now
    assert disagreement(base, now)[0] == ""


def test_a_service_takes_the_policy_of_its_scenario(tmp_path: Path) -> None:
    pytest.importorskip("uvicorn", reason="needs uvicorn (pip install 'tsnbench[ui]')")
    text = SCENARIO + "policy: {reserve: {7: 10 %}, moves: if-silent, most-streams: 1}\n"
    with serving(tmp_path, text=text) as served:
        assert served.ask("PUT", "/api/streams/one", SCHEDULED)[0] == 201
        for name, stream in {"two": SCHEDULED, "low": BOUNDED}.items():
            assert served.ask("PUT", f"/api/streams/{name}", stream)[0] == 409, name
        small = {**SCHEDULED, "payload": "10 B"}
        told = served.ask("PUT", "/api/streams/two", small)[1]
        assert told["detail"] == "streams: expected at most 1 requested streams, found more"
        assert served.ask("POST", "/api/tidy", {"silent": ["one"]})[0] == 200
        assert served.ask("POST", "/api/tidy", {"maintenance": True})[0] == 403
    with serving(
        tmp_path, "--reserve", "3=10%", "--most-streams", 2, "--moves", "in-maintenance", text=text
    ) as served:
        assert served.ask("PUT", "/api/streams/low", BOUNDED)[0] == 201
        assert served.ask("POST", "/api/tidy", {"silent": ["one"]})[0] == 403
