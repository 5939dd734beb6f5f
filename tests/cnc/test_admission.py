"""Decisions about changes: what is admitted, and that nothing that runs is harmed."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cnc.cell import BOUNDED, GREEDY, SCENARIO, SCHEDULED, TIGHT, after, base_of
from tsnbench.cnc import remedies
from tsnbench.cnc.admission import Rules, decide, first
from tsnbench.cnc.changes import Change, Kind, NotAcceptedError
from tsnbench.cnc.network import Base, Network
from tsnbench.cnc.remedies import with_remedy
from tsnbench.cnc.requests import KEYS
from tsnbench.foreign import Json
from tsnbench.planning.passes import prove
from tsnbench.planning.scheduling.hints import patience
from tsnbench.scenario.grammar.streams import STREAM


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Base:
    return base_of(tmp_path_factory.mktemp("cell"))


def refused(base: Base, now: Network, change: Change, rules: Rules | None = None) -> NotAcceptedError:
    with pytest.raises(NotAcceptedError) as caught:
        decide(base, now, change, rules or Rules())
    return caught.value


def streams(network: Network) -> dict[str, Any]:
    return {one["name"]: one for one in network.plan.document["streams"]}


def test_streams_in_place_stay_as_they_are_when_others_join_and_leave(base: Base) -> None:
    several = {**BOUNDED, "to": ["ctl", "cam"], "requires": {"delay": "5 ms"}}
    now = after(
        base,
        Change("a", {"first": SCHEDULED, "second": several}),
        Change("a", {"third": several, "fourth": {**SCHEDULED, "payload": "200 B"}, "fifth": several}),
    )
    before = streams(now)
    assert before["second"]["destination_mac"] != before["fifth"]["destination_mac"]
    left = decide(base, now, Change("a", {}, ("first", "second")), Rules())
    # Their numbers in the Plan are others now; releases, paths and addresses are not.
    assert streams(left) == {name: one for name, one in before.items() if name not in ("first", "second")}
    assert prove(left.plan, left.text) == []
    again = decide(base, left, Change("a", {"sixth": several}), Rules())
    used = [one["destination_mac"] for one in again.plan.document["streams"] if len(one["listeners"]) > 1]
    assert len(set(used)) == len(used)


def test_a_change_that_would_move_a_stream_in_place_is_refused(base: Base, monkeypatch: Any) -> None:
    """The planner keeps what it can; a Plan in which it could not is not accepted."""
    now = after(base, Change("a", {"first": SCHEDULED}))
    monkeypatch.setattr("tsnbench.cnc.network.multicast_ipv4", lambda slot: "239.192.9.9")
    several = {**BOUNDED, "to": ["ctl", "cam"]}
    group = decide(base, now, Change("a", {"group": several}), Rules())
    # Without its decisions everything is planned, and so might change.
    group = replace(group, draft=None)
    monkeypatch.setattr("tsnbench.cnc.network.multicast_ipv4", lambda slot: "239.192.9.10")
    error = refused(base, group, Change("a", {"other": BOUNDED}))
    assert error.kind is Kind.REFUSED
    assert "group would have to change" in str(error)


def test_a_stream_that_makes_another_one_late_is_refused(base: Base) -> None:
    error = refused(base, first(base), Change("a", {"greedy": GREEDY}))
    assert error.kind is Kind.REFUSED
    assert "expected that log keeps its delay of 2 ms" in str(error)
    later = {**GREEDY, "requires": {"delay": "200 us"}, "pcp": 2, "period": "1 ms"}
    error = refused(base, first(base), Change("a", {"later": later}))
    assert "later.requires.delay: expected a limit of at least" in str(error)
    error = refused(base, first(base), Change("a", {"late": {**later, "requires": {"delay": "480 us"}}}))
    assert "streams.late.requires.delay: expected a worst case within 480 us" in str(error)


def test_a_stream_without_a_bound_or_with_loss_is_refused(base: Base) -> None:
    flood = {**BOUNDED, "period": "100 us", "payload": "1400 B"}
    del flood["requires"]
    error = refused(base, first(base), Change("a", {"flood": flood}))
    assert error.kind is Kind.REFUSED
    assert "streams.flood" in str(error)


def test_a_refusal_names_what_works_and_that_works(base: Base) -> None:
    now = first(base)
    change = Change("a", {"tight": TIGHT})
    (problem,) = refused(base, now, change).problems
    assert problem.hint is not None
    assert "there is a schedule with streams.tight.requires.delay: 338560 ns" in problem.hint
    looser = {**TIGHT, "requires": {"delay": "338560 ns"}}
    assert "tight" in decide(base, now, Change("a", {"tight": looser}), Rules()).requested


def test_the_remedy_of_a_bounded_stream_was_tried(base: Base) -> None:
    now = first(base)
    late: Json = {**BOUNDED, "payload": "1400 B", "requires": {"delay": "500 us"}}
    change = Change("a", {"late": late})
    problems = refused(base, now, change).problems
    assert all(one.hint is None for one in problems)
    told = with_remedy(base, now, change, Rules(), problems)
    assert told[0].hint == "requires.delay: 1 ms would be admitted (tried)"
    decide(base, now, Change("a", {"late": {**late, "requires": {"delay": "1 ms"}}}), Rules())


LATE: Json = {**BOUNDED, "payload": "1400 B", "requires": {"delay": "500 us"}}
SLOW: Json = {"requires": {"delay": "3 ms"}}
LOW: Json = {**BOUNDED, **SLOW}


@pytest.mark.parametrize(
    ("add", "hint", "part", "looser"),
    [
        (
            {"late": LATE, "ok": SCHEDULED, "low": LOW},
            "ok, low would be admitted without late; with streams.late.requires.delay: 2 ms, all would "
            "be admitted (tried)",
            ["ok", "low"],
            {"late": {"requires": {"delay": "2 ms"}}},
        ),
        # Nobody can be admitted as it is.
        (
            {"late": LATE, "later": LATE},
            "with streams.late.requires.delay: 1 ms and streams.later.requires.delay: 1 ms, all would be "
            "admitted (tried)",
            [],
            {"late": {"requires": {"delay": "1 ms"}}, "later": {"requires": {"delay": "1 ms"}}},
        ),
        # Only one of those in the way can ask for less.
        (
            {"greedy": GREEDY, "late": LATE, "ok": BOUNDED},
            "ok would be admitted without greedy, late; with streams.late.requires.delay: 1 ms, all but "
            "greedy would be admitted (tried)",
            ["ok"],
            {"late": {"requires": {"delay": "1 ms"}}, "greedy": None},
        ),
        # What the planner tried comes first.
        (
            {"ok": LOW, "tight": TIGHT, "low": LOW},
            "there is a schedule with streams.tight.requires.delay: 338560 ns or with 1 Gbit/s on sw1 -- "
            "sw2, sw2 -- sw3, sw3 -- ctl, cam2 -- sw1; ok, low would be admitted without tight; with "
            "streams.tight.requires.delay: 400 us, all would be admitted (tried)",
            ["ok", "low"],
            {"tight": {"requires": {"delay": "400 us"}}},
        ),
        # The first one stands in the way of all others, and each of them in its way.
        (
            {"greedy": {**GREEDY, "requires": {}}, **{f"s{n}": {**LATE, **SLOW} for n in range(4)}},
            "the other 4 would be admitted without greedy (tried)",
            ["s0", "s1", "s2", "s3"],
            {},
        ),
    ],
)  # fmt: skip
def test_the_remedy_of_a_group_was_tried(
    base: Base, add: dict[str, Json], hint: str, part: list[str], looser: dict[str, Json | None]
) -> None:
    now, rules = first(base), Rules()
    change = Change("a", add)
    with patience(10):  # as the service has
        problems = refused(base, now, change).problems
    told = with_remedy(base, now, change, rules, problems)
    assert told[0].hint == hint
    assert told[1:] == [*problems[1:]]
    if part:
        decide(base, now, Change("a", {name: add[name] for name in part}), rules)
    other = {name: {**one, **less} for name, one in add.items() if (less := looser.get(name, {})) is not None}
    if looser:
        decide(base, now, Change("a", other), rules)


def test_remedies_do_not_wait_for_the_exact_engine(base: Base, monkeypatch: pytest.MonkeyPatch) -> None:
    many = {f"s{number}": {**SCHEDULED, "payload": "1400 B"} for number in range(8)}
    now, change = first(base), Change("a", many)
    problems = refused(base, now, change).problems
    monkeypatch.delattr("tsnbench.planning.scheduling.engines.solve")
    hint = str(with_remedy(base, now, change, Rules(), problems)[0].hint)
    assert re.search(r" would be admitted without s\d(, s\d)+ \(tried\)", hint), hint


def test_the_remedy_of_a_group_leaves_what_it_replaces(base: Base) -> None:
    small = {**BOUNDED, "payload": "100 B"}
    now = after(base, Change("a", {"late": small, "gone": small}))
    change = Change("a", {"late": LATE, "new": small}, ("late", "gone"))
    hint = str(with_remedy(base, now, change, Rules(), refused(base, now, change).problems)[0].hint)
    assert hint.startswith("new would be admitted without late; with streams.late.requires.delay: 1 ms"), hint
    part = decide(base, now, Change("a", {"new": change.add["new"]}, ("gone",)), Rules())
    assert part.flows("late") == now.flows("late")


def test_the_remedy_of_many_streams_ends_after_its_time(base: Base, monkeypatch: pytest.MonkeyPatch) -> None:
    many = {f"s{number}": BOUNDED | {"payload": "100 B"} for number in range(200)}
    now, change, tries = first(base), Change("a", many), list[Change]()
    problems = refused(base, now, change).problems

    def tried(base: Base, now: Network, change: Change, rules: Rules) -> Network:
        tries.append(change)
        return decide(base, now, change, rules)

    monkeypatch.setattr(remedies, "decide", tried)
    monkeypatch.setattr(remedies, "monotonic", lambda: len(tries) / 8)
    hint = with_remedy(base, now, change, Rules(), problems)[0].hint
    assert len(tries) == 8 * remedies.PATIENCE_S + 1
    assert re.fullmatch(r"s0, .* and \d+ more would be admitted without the others \(tried\)", str(hint))


def test_beside_a_redundant_stream_another_vlan_is_offered(tmp_path: Path) -> None:
    ring = """\
name: ring
duration: 10 ms
network:
  stations: [a, b]
  bridges: [one, two]
  links: {rate: 100 Mbit/s, between: [a -- one, a -- two, one -- b, two -- b]}
streams:
  twice: {from: a, to: b, pcp: 6, period: 1 ms, payload: 100 B, frer: {disjoint: 2}}
"""
    base = base_of(tmp_path, ring)
    now = first(base)
    change = Change("a", {"x": {"from": "a", "to": "b", "pcp": 3, "period": "2 ms", "payload": "100 B"}})
    problems = refused(base, now, change).problems
    assert problems[0].found == "twice would have to change"
    assert with_remedy(base, now, change, Rules(), problems)[0].hint == "vlan: 2 would be admitted (tried)"
    other = {**change.add["x"], "vlan": "2"}
    assert decide(base, now, Change("a", {"x": other}), Rules()).flows("twice") == now.flows("twice")


def test_a_group_is_admitted_all_or_none(base: Base) -> None:
    now = first(base)
    refused(base, now, Change("a", {"good": SCHEDULED, "greedy": GREEDY}))
    assert now.requested == {}
    both = decide(base, now, Change("a", {"good": SCHEDULED, "more": BOUNDED}), Rules())
    assert set(both.requested) == {"good", "more"}


def test_the_same_request_again_changes_nothing_and_other_words_replace(base: Base) -> None:
    now = after(base, Change("a", {"x": SCHEDULED}))
    assert decide(base, now, Change("a", {"x": dict(SCHEDULED)}), Rules()) is now
    assert refused(base, now, Change("a", {"x": BOUNDED})).kind is Kind.TAKEN
    replaced = decide(base, now, Change("a", {"x": LOW}, ("x",)), Rules())
    assert "scheduled" not in streams(replaced)["x"]
    assert replaced.requested["x"].slot == now.requested["x"].slot


def test_streams_of_others_and_of_the_scenario_stay(base: Base) -> None:
    now = after(base, Change("a", {"x": SCHEDULED}))
    assert refused(base, now, Change("b", {}, ("x",))).kind is Kind.FOREIGN
    assert refused(base, now, Change("b", {"x": BOUNDED}, ("x",))).kind is Kind.FOREIGN
    assert refused(base, now, Change("a", {}, ("loop",))).kind is Kind.FOREIGN
    assert refused(base, now, Change("a", {"loop": BOUNDED})).kind is Kind.TAKEN
    assert refused(base, now, Change("a", {}, ("nobody",))).kind is Kind.UNKNOWN
    every = Rules(may_change=lambda client, owner: True)
    assert decide(base, now, Change("b", {}, ("x",)), every).requested == {}


def test_the_greatest_number_of_streams_is_kept(base: Base) -> None:
    two = Rules(most_streams=2)
    now = after(base, Change("a", {"x": BOUNDED, "y": {**BOUNDED, "payload": "50 B"}}), rules=two)
    assert refused(base, now, Change("a", {"z": BOUNDED}), two).kind is Kind.REFUSED
    many = {f"s{number}": BOUNDED for number in range(300)}
    assert refused(base, now, Change("a", many), two).kind is Kind.WRONG


DEEP: dict[str, Any] = {"delay": {"a": {"b": {"c": {"d": {"e": {"f": 1}}}}}}}


@pytest.mark.parametrize(
    ("written", "path"),
    [
        ({**BOUNDED, "period": 3}, "streams.x.period"),
        ({**BOUNDED, "period": ["1 ms", "2 ms"]}, "streams.x.period"),
        ({**BOUNDED, "period": None}, "streams.x.period"),
        ({**BOUNDED, "period": "${seed}"}, "streams.x.period"),
        ({**BOUNDED, "period": 1.5}, "streams.x.period"),
        ({**BOUNDED, "from": "nobody"}, "streams.x.from"),
        ({**BOUNDED, "to": "cam2"}, "streams.x.to"),
        ({**BOUNDED, "to": [f"n{number}" for number in range(100_000)]}, "streams.x.to"),
        ({**BOUNDED, "to": "a\x00b"}, "streams.x.to"),
        ({**BOUNDED, "to": "a" * 10_000}, "streams.x.to"),
        ({**BOUNDED, "replay": "/etc/passwd"}, "streams.x.replay"),
        ({**BOUNDED, "count": 5}, "streams.x.count"),
        (
            {**BOUNDED, "requires": {"delay": {"a": {"b": {"c": {"d": {"e": {"f": 1}}}}}}}},
            "streams.x.requires",
        ),
        ({**BOUNDED, "requires": {"a\nb": 1}}, "streams.x.requires"),
        ({**BOUNDED, "pcp": 9}, "streams.x.pcp"),
        ({**BOUNDED, "pcp": 1 << 200}, "streams.x.pcp"),
        ([], "streams.x"),
        (None, "streams.x"),
        ("from: cam", "streams.x"),
    ],
)
def test_what_cannot_be_read_is_wrong_and_has_a_path(base: Base, written: Any, path: str) -> None:
    now = first(base)
    error = refused(base, now, Change("a", {"x": written}))
    assert error.kind is Kind.WRONG
    assert error.problems[0].path.startswith(path)
    assert len(str(error)) < 2_000


@pytest.mark.parametrize("name", ["", " ", "a b", "a\n", "-x", "../x", "<b>", "x" * 65, "\u202ex", "9"])
def test_names_are_plain(base: Base, name: str) -> None:
    assert refused(base, first(base), Change("a", {name: BOUNDED})).kind is Kind.WRONG


def test_every_key_that_a_client_may_write_is_a_key_of_a_stream() -> None:
    assert set(KEYS) <= STREAM.fields.keys()
    assert not {"replay", "answers", "trdp", "udp-port", "address", "start", "stop"} & set(KEYS)


def test_the_plan_is_that_of_a_scenario_with_the_streams_written_into_it(base: Base, tmp_path: Path) -> None:
    """What the service holds is no second kind of Plan: reading the same words from a file gives it."""
    now = after(base, Change("a", {"x": SCHEDULED}), Change("a", {"y": BOUNDED}))
    lines = ["  x: {from: cam2, to: ctl, pcp: 7, scheduled: true, period: 1 ms, payload: 1000 B,"]
    lines += ["      requires: {delay: 1 ms}, udp-port: 5003}"]
    lines += ["  y: {from: cam2, to: ctl, pcp: 3, period: 1 ms, payload: 1000 B,"]
    lines += ["      requires: {delay: 1 ms}, udp-port: 5004}"]
    written = base_of(tmp_path, SCENARIO + "\n".join(lines) + "\n")
    assert {one["name"]: one for one in written.plan.document["streams"]}.keys() == streams(now).keys()
    ours, theirs = streams(now), {one["name"]: one for one in written.plan.document["streams"]}
    assert ours.keys() == theirs.keys()
    for name in ("log", "y"):
        assert ours[name] == theirs[name]
