"""What of an earlier Plan is kept, and what became of each of its scheduled streams, and why: by hand."""

from __future__ import annotations

import json
import re
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from support.planned import drafted, plan_of
from tsnbench.plan.document import Plan, PlanReadError
from tsnbench.planning.scheduling.incremental import (
    Change,
    change_lines,
    changes,
    placed_before,
    read_earlier,
)


def stream(name: str = "x", *, release: int = 10_000, **changed: Any) -> Any:
    """1 ms from `a` over `s` to `b`: frames leave `a` with the release, and `s` 5 us later."""
    pattern = {"kind": "periodic", "period_ns": 1_000_000, "offset_ns": release}
    sent = {"pcp": 7, "size": {"kind": "frame", "octets": [200]}, "start_ns": 0, "pattern": pattern}
    path = {"route": [{"port": 0}, {"port": 1, "parent": 0}], "listeners": [{"node": 2, "route": 1}]}
    times = {"requirements": {}, "scheduled": {"starts_ps": [[0], [5_000_000]]}}
    return {"name": name, "talker": 0, **sent, **path, **times, **changed}


def document(*streams: Any) -> Any:
    return {
        "nodes": [{"name": name, "processing_ns": 0} for name in ("a", "s", "b", "c")],
        "ports": [
            {"name": name, "node": node, "rate_bps": 10**9, "propagation_ps": 0}
            for name, node in (("a -> s", 0), ("s -> b", 1), ("s -> c", 1))
        ],
        "streams": list(streams),
    }


def why(old: Any, new: Any) -> str:
    """The reason why the first stream moves, from one document to another one."""
    (one, *_) = changes(old, new)
    assert (one.flow, one.what) == ("x", "moved")
    return one.why


def test_all_kinds_of_changes_in_words_and_for_programs() -> None:
    """`x` is 90 us later, because `new` has come; `y` stays at the start of its period, and `z` is gone."""
    old = document(stream(), stream("y", release=0), stream("z", release=3_000))
    # A stream that starts 30 us after the others has its release there.
    new = document(
        stream("new", release=70_000, start_ns=30_000), stream("y", release=0), stream(release=100_000)
    )
    found = changes(old, new)
    assert found == [
        Change("new", "added", "", None, 100_000),
        Change("y", "kept", "", 0, 0),
        Change("x", "moved", "it made room for new", 10_000, 100_000),
        Change("z", "removed", "", 3_000, None),
    ]
    assert list(change_lines(found)) == [
        "scheduled streams: 1 kept, 1 moved, 1 added, 1 removed",
        "new: added",
        "x: moved, released at 10 us before, at 100 us now: it made room for new",
        "z: removed",
    ]
    assert [one.document() for one in found] == [
        {"stream": "new", "what": "added", "now_ns": 100_000},
        {"stream": "y", "what": "kept", "before_ns": 0, "now_ns": 0},
        {"stream": "x", "what": "moved", "why": found[2].why, "before_ns": 10_000, "now_ns": 100_000},
        {"stream": "z", "what": "removed", "before_ns": 3_000},
    ]


def test_a_move_from_and_to_the_start_of_a_period() -> None:
    assert str(Change("x", "moved", "why", 0, 0)) == "x: moved, released at 0 ns before, at 0 ns now: why"


@pytest.mark.parametrize(
    "changed",
    [
        {"pcp": 6},
        {"scheduled": {"starts_ps": [[0], [6_000_000]]}},
        {"route": [{"port": 0}, {"port": 2, "parent": 0}]},
        {"route": [{"port": 0}, {"port": 1}]},
    ],
)
def test_who_is_sent_otherwise_has_moved(changed: dict[str, Any]) -> None:
    """Another PCP, another time on a link, another path, or another order of the same links."""
    assert why(document(stream()), document(stream(**changed))) == "other streams are elsewhere now"


def test_who_is_not_scheduled_is_not_told() -> None:
    free = {key: value for key, value in stream("free").items() if key != "scheduled"}
    assert [one.flow for one in changes(document(stream(), free), document(free, stream()))] == ["x"]


def test_room_for_those_that_are_new_and_for_those_that_changed() -> None:
    """Not for `same`, which stays; of five makers, three are named."""
    names = ["p", "q", "r"]
    old = document(stream(), stream("same"), *(stream(name) for name in names))
    longer: Any = {"pattern": {"kind": "periodic", "period_ns": 2_000_000, "offset_ns": 0}}
    changed = [stream(name, **longer) for name in names]
    new = [stream(release=0), stream("same"), *changed, stream("k"), stream("l")]
    assert why(old, document(*new)) == "it made room for k, l, p and 2 more"
    assert why(old, document(*new[:4])) == "it made room for p, q"


LIMITS: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({}, {"delay_ns": 50_000}, "its limit of delay was none and is 50 us"),
    ({"delay_ns": 0}, {}, "its limit of delay was 0 ns and is none"),
    (
        {"release_delay_ns": 20_000},
        {"release_delay_ns": 30_000},
        "its limit of delay from release was 20 us and is 30 us",
    ),
    ({}, {"jitter": [{"limit_ns": 9_000}, {"limit_ns": 4_000}]}, "its limit of jitter was none and is 4 us"),
]
HALF: Any = {"kind": "periodic", "period_ns": 500_000, "offset_ns": 0}


@pytest.mark.parametrize(
    ("before", "now", "words"),
    [
        ({}, {"pattern": HALF}, "its period was 1 ms and is 500 us"),
        ({}, {"size": {"kind": "frame", "octets": [300]}}, "its frames have another size"),
        *(({"requirements": before}, {"requirements": now}, words) for before, now, words in LIMITS),
    ],
)
def test_who_asks_for_something_else_moves_for_that(
    before: dict[str, Any], now: dict[str, Any], words: str
) -> None:
    """Whatever else has changed: here the rate of its link has, and there is a new stream."""
    new = document(stream(**{"release": 0, **now}), stream("new"))
    new["ports"][0]["rate_bps"] = 10**8
    assert why(document(stream(**before)), new) == words


def test_a_plan_without_requirements_asks_for_none() -> None:
    """Plans of earlier versions may leave the key out."""
    plain = stream()
    del plain["requirements"]
    assert why(document(plain), document(stream(release=0))) == "other streams are elsewhere now"
    assert why(document(stream(release=0)), document(plain)) == "other streams are elsewhere now"
    limited = stream(release=0, requirements={"delay_ns": 1_000})
    assert why(document(plain), document(limited)) == "its limit of delay was none and is 1 us"
    assert why(document(limited), document(plain)) == "its limit of delay was 1 us and is none"


NETWORKS: dict[str, tuple[str, int, str, Any, str]] = {
    "a faster link": ("ports", 0, "rate_bps", 10**10, "the link a -> s has another rate or length"),
    "a longer link": ("ports", 1, "propagation_ps", 5_000, "the link s -> b has another rate or length"),
    "no link": ("ports", 1, "name", "s -> d", "its path led over s -> b, which is no more"),
    "a slower bridge": ("nodes", 1, "processing_ns", 1_000, "s takes another time"),
    "another link elsewhere": ("ports", 2, "rate_bps", 10**8, "it made room for new"),
    "another node elsewhere": ("nodes", 3, "processing_ns", 1_000, "it made room for new"),
    "another time of the last listener": ("nodes", 2, "processing_ns", 1_000, "it made room for new"),
}


@pytest.mark.parametrize("case", NETWORKS)
def test_who_moves_because_its_way_has_changed(case: str) -> None:
    part, place, key, value, words = NETWORKS[case]
    old = document(stream())
    new = deepcopy(document(stream(release=0), stream("new")))
    new[part][place][key] = value
    assert why(old, new) == words


@pytest.mark.parametrize("listeners", [[2], [3], [2, 3]])
def test_other_ends_are_a_reason(listeners: list[int]) -> None:
    """Also beside a new stream, and a link that is faster now."""
    ends: Any = [{"node": node, "route": 1} for node in listeners]
    new = document(stream(release=0, listeners=ends, talker=3 if listeners == [2] else 0), stream("new"))
    new["ports"][0]["rate_bps"] = 10**10
    assert why(document(stream()), new) == "it has another talker or other listeners"


def test_the_order_of_ports_and_nodes_in_the_new_plan_does_not_matter() -> None:
    new = document(stream(route=[{"port": 2}, {"port": 1, "parent": 0}], talker=3, release=0))
    new["nodes"] = [new["nodes"][place] for place in (3, 1, 2, 0)]
    new["ports"] = [{**new["ports"][place]} for place in (2, 1, 0)]
    new["ports"][2]["node"], new["ports"][0]["node"] = 3, 1
    assert why(document(stream()), new) == "other streams are elsewhere now"


@pytest.mark.parametrize(("before", "now"), [(None, 1_000), (1_000, None), (1_000, 2_000)])
def test_another_margin_moves(before: int | None, now: int | None) -> None:
    def with_margin(release: int, margin: int | None) -> Any:
        scheduled = {"scheduled": {"starts_ps": [[0], [9_000_000]], "margin_ps": margin}}
        return stream(release=release, **({} if margin is None else scheduled))

    found = why(document(with_margin(10_000, before)), document(with_margin(0, now)))
    assert found == "the schedule's margin is another one"


def test_no_margin_is_one_of_zero() -> None:
    zero = {"starts_ps": [[0], [5_000_000]], "margin_ps": 0}
    for before, now in ((stream(scheduled=zero), stream(release=0)), (stream(), stream(scheduled=zero))):
        now["pattern"] = {**now["pattern"], "offset_ns": 1}
        assert why(document(before), document(now)) == "other streams are elsewhere now"


STAR = """\
name: kept
duration: 10 ms
network:
  stations: [a, b, c]
  bridges: [s]
  links: {rate: 1 Gbit/s, between: [a -- s, s -- b, s -- c]}
streams:
  x: {from: a, to: b, pcp: 7, period: 1 ms, frame: 200 B, scheduled: true}
"""


def before_in(text: str, earlier: Any, queues: tuple[int, ...] = (7,)) -> list[Any]:
    """What placed the scheduled flows of a scenario before, by an earlier Plan."""
    draft = drafted(text, earlier=earlier)
    return placed_before(draft, draft.flows, queues)


def test_the_place_of_a_stream_in_the_earlier_plan() -> None:
    """Ports of the draft: `a -> s`, `s -> a`, `s -> b` and so on, two for each cable."""
    earlier = document(stream("other"), stream())
    tree = [{"link": 0}, {"link": 2, "parent": 0}]
    kept = {"offset_ns": 10_000, "tree": tree, "starts_ps": [0, 5_000_000], "queue": 0, "behind": []}
    assert before_in(STAR, earlier) == [kept]
    assert before_in(STAR, earlier, (6, 7)) == [{**kept, "queue": 1}]
    earlier["streams"][1]["scheduled"]["behind"] = [3]
    assert before_in(STAR, earlier) == [{**kept, "behind": [3]}]
    # A path that the routes would not take now is kept, as long as its links are there.
    earlier["streams"][1]["route"] = [{"port": 0}, {"port": 2, "parent": 0}]
    (found,) = before_in(STAR, earlier)
    assert found["tree"] == [{"link": 0}, {"link": 4, "parent": 0}]


def test_who_has_no_place_to_keep() -> None:
    earlier = document(stream())
    assert before_in(STAR, None) == []
    assert before_in(STAR, document(stream("y"))) == [None]
    assert before_in(STAR, document({**stream(), "talker": 3})) == [None]
    assert before_in(STAR.replace("1 ms", "2 ms"), earlier) == [None]
    assert before_in(STAR, earlier, (6, 5)) == [None]
    longer = STAR.replace("bridges: [s]", "bridges: [s, t]").replace("s -- b", "s -- t, t -- b")
    assert before_in(longer, earlier) == [None]
    assert before_in(STAR.replace("period: 1 ms", "saturating: true"), earlier) == [None]


def test_an_earlier_plan_is_read_from_its_file_and_from_what_is_printed(tmp_path: Path) -> None:
    made = plan_of(STAR)
    file = tmp_path / "plan.json"
    file.write_text(made.to_json(), encoding="utf-8")
    assert read_earlier(file).document == made.document
    assert read_earlier(file).hash == made.hash
    # As printed by `plan --keep-schedule --json`: the Plan with its hash, and more.
    printed = {"plan": json.loads(made.to_json()), "changes": []}
    file.write_text(json.dumps(printed), encoding="utf-8")
    assert read_earlier(file).document == made.document
    assert read_earlier(file).hash == made.hash
    printed["plan"]["duration_ns"] += 1
    file.write_text(json.dumps(printed), encoding="utf-8")
    with pytest.raises(PlanReadError, match=rf"^{re.escape(str(file))}: ") as raised:
        read_earlier(file)
    assert isinstance(raised.value.__cause__, ValueError)
    assert str(raised.value).endswith(str(raised.value.__cause__))


@pytest.mark.parametrize("text", ["[]", "{}", '{"plan": 1}', None])
def test_what_is_no_earlier_plan(tmp_path: Path, text: str | None) -> None:
    """It is refused in the words for a Plan's file."""
    file = tmp_path / "plan.json"
    if text is not None:
        file.write_text(text, encoding="utf-8")
    with pytest.raises(PlanReadError) as expected:
        Plan.read(file)
    with pytest.raises(PlanReadError) as raised:
        read_earlier(file)
    assert str(raised.value) == str(expected.value)


TWO_PATHS = """\
name: copies
duration: 1 ms
network:
  stations: [a, b]
  bridges: [x, y, z, w]
  links: {rate: 1 Gbit/s, between: [a -- x, x -- y, x -- z, y -- w, z -- w, w -- b]}
streams:
  s:
    {from: a, to: b, pcp: 6, period: 1 ms, frame: 200 B, scheduled: true,
     frer: {paths: [[x, y, w], [x, z, w]], at: w}}
"""
ENTRIES = [("a -> x", None), ("x -> y", 0), ("y -> w", 1), ("x -> z", 0), ("z -> w", 3), ("w -> b", 2)]
"""The route over both paths: only one of them is the parent of the entry behind the merge point."""


def over_two_paths(starts: list[list[int]], entries: list[tuple[str, int | None]] = ENTRIES) -> Any:
    route = [
        {"port": place, **({} if parent is None else {"parent": parent})}
        for place, (_, parent) in enumerate(entries)
    ]
    return {
        "nodes": [{"name": "a", "processing_ns": 0}],
        "ports": [{"name": name} for name, _ in entries],
        "streams": [stream("s", pcp=6, route=route, scheduled={"starts_ps": starts})],
    }


def test_all_paths_of_a_stream_are_kept_or_none() -> None:
    """Behind the merge point there is a time for each path: 40 us over y, and 50 us over z."""
    starts = [[0], [10_000], [20_000], [11_000], [21_000], [40_000, 50_000]]
    (found,) = before_in(TWO_PATHS, over_two_paths(starts), (6,))
    # Links in the order of the cables, two each; the last one is in the tree once for each path.
    assert found["tree"] == [
        {"link": 0}, {"link": 2, "parent": 0}, {"link": 6, "parent": 1}, {"link": 4, "parent": 0},
        {"link": 8, "parent": 3}, {"link": 10, "parent": 2}, {"link": 10, "parent": 4},
    ]  # fmt: skip
    assert found["starts_ps"] == [0, 10_000, 20_000, 11_000, 21_000, 40_000, 50_000]
    # One time where there are two paths now, and no tree in the same order.
    assert before_in(TWO_PATHS, over_two_paths([*starts[:5], [40_000]]), (6,)) == [None]
    other = [("a -> x", None), ("x -> y", 0), ("y -> w", 1), ("w -> b", 2)]
    assert before_in(TWO_PATHS, over_two_paths([[0], [1], [2], [3]], other), (6,)) == [None]
    # Two paths before, and one now.
    one = TWO_PATHS.replace("frer: {paths: [[x, y, w], [x, z, w]], at: w}", "via: [a, x, y, w, b]")
    assert before_in(one, over_two_paths(starts), (6,)) == [None]
