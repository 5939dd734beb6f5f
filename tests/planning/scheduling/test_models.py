"""What the exact engine's model allows, and what its objectives count: by hand.

Frames of 100 octets at 100 Mbit/s: 8.64 us on the wire, and 9.6 us until the next one may follow. Two talkers
send over one bridge, which forwards at once: a frame leaves it 8.64 us after its release.
"""

from __future__ import annotations

import json
from importlib.util import find_spec
from typing import Any

import pytest

from tsnbench.planning.scheduling.exact.budget import Answer, Budget
from tsnbench.planning.scheduling.exact.conflict import Conflict, reduced
from tsnbench.planning.scheduling.exact.job import jobs_of
from tsnbench.planning.scheduling.exact.model import Model, _delay, same
from tsnbench.planning.scheduling.exact.objective import _delays, _gaps, make_best

pytestmark = pytest.mark.skipif(
    find_spec("ortools") is None, reason="ortools is missing: the extra `exact` brings it"
)


PLAIN = {"rate_bps": 100_000_000, "propagation_ps": 0, "margin_ps": 0, "queues": 1}
STREAM = {"listeners": [3], "period_ns": 100_000, "frames": [100], "deadline_ns": 100_000}


def star(
    *streams: dict[str, Any], tick: int = 1, grain: int = 1, processing: int = 0, **settings: int
) -> Any:
    """Stations 1 and 2 send to station 3 over the bridge 0; `at` is a stream's only release.

    ``settings`` are those of all links.
    """
    link = {**PLAIN, **settings, "limits": {"granularity_ns": tick}}
    made = []
    for stream in streams:
        talker, at = stream.get("talker", 1), stream.get("at", 0)
        own = {key: value for key, value in stream.items() if key != "at"}
        tree = [{"link": talker - 1}, {"link": 2, "parent": 0}]
        made.append({"talker": talker, **STREAM, "earliest_ns": at, "latest_ns": at, "tree": tree, **own})
    station = {"processing_ps": 0, "forwards": False}
    return {
        "nodes": [{"processing_ps": processing, "forwards": True}, station, station, station],
        "links": [{"from": a, "to": b, **link} for a, b in ((1, 0), (2, 0), (0, 3))],
        "streams": made,
        "granularity_ns": grain,
    }


def place(problem: Any, number: int, at: int, *starts: int, queue: int = 0) -> Any:
    """Of a stream that is released at ``at`` and takes its only path, at once unless ``starts`` are given."""
    tree = problem["streams"][number]["tree"]
    return {"offset_ns": at, "tree": tree, "starts_ps": list(starts or (0, 8_640_000)), "queue": queue}


def solved(problem: Any, *, waits: bool, stay: Any = None) -> Any:
    """The places of all streams; None if it is proved that there are none."""
    model = Model(problem, jobs_of(problem, 4), waits=waits, stay=stay)
    answer, solver = Budget(5.0).solve(model.model)
    assert answer is not Answer.UNKNOWN
    return model.placed(solver) if answer is Answer.FOUND else None


X: dict[str, Any] = {"talker": 1, "at": 0}


@pytest.mark.parametrize("waits", [False, True])
@pytest.mark.parametrize(
    ("other", "margin", "allowed"),
    [
        ({"at": 9_600}, 0, True),
        ({"at": 9_599}, 0, False),
        ({"at": 90_400}, 0, True),
        ({"at": 90_401, "latest_ns": 90_401}, 0, False),
        # Twice the margin of 1 us.
        ({"at": 11_600}, 1_000_000, True),
        ({"at": 11_599}, 1_000_000, False),
        ({"at": 88_400}, 1_000_000, True),
        ({"at": 88_401}, 1_000_000, False),
        # 100 us and 150 us meet in every 50 us.
        ({"at": 40_400, "period_ns": 150_000}, 0, True),
        ({"at": 40_401, "period_ns": 150_000}, 0, False),
        ({"at": 109_600, "period_ns": 150_000}, 0, True),
        ({"at": 109_599, "period_ns": 150_000}, 0, False),
        # 50 octets behind 100 octets, and ahead of them 5.6 us; they leave the bridge 4 us earlier.
        ({"at": 13_600, "frames": [50]}, 0, True),
        ({"at": 13_599, "frames": [50]}, 0, False),
        ({"at": 98_400, "frames": [50]}, 0, True),
        ({"at": 98_401, "frames": [50]}, 0, False),
    ],
)
def test_frames_that_meet_on_the_last_link(
    other: dict[str, Any], margin: int, allowed: bool, waits: bool
) -> None:
    problem = star(X, {"talker": 2, **other}, margin_ps=margin)
    found = solved(problem, waits=waits)
    assert (found is not None) is allowed
    if found is not None:
        assert [found[number]["offset_ns"] for number in (0, 1)] == [0, other["at"]]
        own = 4_640_000 if "frames" in other else 8_640_000
        assert [found[number]["starts_ps"] for number in (0, 1)] == [[0, 8_640_000], [0, own]]
        assert [found[number]["delay_ps"] for number in (0, 1)] == [17_280_000, 2 * own]
        assert found[1]["tree"] == problem["streams"][1]["tree"]
        assert found[1]["queue"] == 0


@pytest.mark.parametrize(
    ("tick", "queues", "own", "start"),
    [
        # It waits until the other one has left at 18.24 us.
        (1, (0, 1), 26_880, 18_240_000),
        (1, (1, 0), 26_880, 18_240_000),
        (1, (None, None), 26_880, 18_240_000),
        (1, (0, 1), 26_879, None),
        # Gates open every 10 us.
        (10_000, (0, 1), 28_640, 20_000_000),
        (10_000, (0, 1), 28_639, None),
        # Behind another one in its queue it cannot wait.
        (1, (0, 0), 100_000, None),
        (1, (1, 1), 100_000, None),
    ],
)
def test_a_frame_that_waits_for_another_one(tick: int, queues: Any, own: int, start: int | None) -> None:
    """Both are released at once. The first one has no time to wait."""
    first, second = ({} if queue is None else {"queue": queue} for queue in queues)
    problem = star(
        {**X, **first, "deadline_ns": 17_280},
        {"talker": 2, "deadline_ns": own, **second},
        queues=2,
        tick=tick,
    )
    assert solved(problem, waits=False) is None
    found = solved(problem, waits=True)
    assert (found is None) is (start is None)
    if found is not None and start is not None:
        assert (found[0]["starts_ps"], found[0]["delay_ps"]) == ([0, 8_640_000], 17_280_000)
        assert (found[1]["starts_ps"][0], found[1]["delay_ps"]) == (0, found[1]["starts_ps"][1] + 8_640_000)
        assert start <= found[1]["starts_ps"][1] <= own * 1_000 - 8_640_000
        assert found[0]["queue"] != found[1]["queue"]
        if queues[0] is not None:
            assert (found[0]["queue"], found[1]["queue"]) == queues


@pytest.mark.parametrize("late", [0, 1])
def test_margins_of_a_frame_that_waits(late: int) -> None:
    """1 us before and behind each frame: it begins 2 us later, at 20.24 us, and may be there 1 us late."""

    def found(deadline: int) -> Any:
        first = {**X, "queue": 0, "deadline_ns": 18_280}
        second = {"talker": 2, "queue": 1, "deadline_ns": deadline}
        both = (first, second) if late else (second, first)
        return solved(star(*both, queues=2, margin_ps=1_000_000), waits=True)

    waiting = found(29_880)[late]
    assert (waiting["starts_ps"], waiting["delay_ps"]) == ([0, 20_240_000], 28_880_000)
    assert found(29_879) is None


def test_a_wait_of_one_picosecond() -> None:
    """Its first cable takes 999 ps: released at 9,599 ns, it can leave the bridge at 18,239.999 ns.

    The other one has left at 18,240 ns, when the gate opens. It is there 8,640 ns later.
    """
    problem = star(
        {**X, "at": 9_599, "queue": 0, "deadline_ns": 17_281},
        {"talker": 2, "queue": 1, "deadline_ns": 17_280},
        queues=2,
    )
    problem["links"][0]["propagation_ps"] = 999
    found = solved(problem, waits=True)
    assert (found[0]["starts_ps"], found[0]["delay_ps"]) == ([0, 8_641_000], 17_281_000)


@pytest.mark.parametrize(("later", "allowed"), [(9_600, False), (9_601, True)])
def test_no_frame_leaves_before_it_is_there(later: int, allowed: bool) -> None:
    """The first cable takes 1 ps. The frame passes the bridge from 8,640.001 ns to 18,240.001 ns.

    The other one comes 8,640 ns after its release. Neither has the time to wait for the other one.
    """
    problem = star(
        {**X, "queue": 0, "deadline_ns": 17_281},
        {"talker": 2, "at": later, "queue": 1, "deadline_ns": 17_280},
        queues=2,
    )
    problem["links"][0]["propagation_ps"] = 1
    found = solved(problem, waits=True)
    assert (found is not None) is allowed
    if found is not None:
        assert found[0]["starts_ps"] == [0, 8_640_001]


def test_gates_that_open_later_than_a_frame_may_wait() -> None:
    """They open every 30 us, and the frame has to be there after 17.28 us: it is forwarded at once."""
    found = solved(star({"deadline_ns": 17_280}, tick=30_000), waits=True)
    assert found[0]["starts_ps"] == [0, 8_640_000]


@pytest.mark.parametrize("waits", [False, True])
def test_equal_releases(waits: bool) -> None:
    """The second cable takes 9.6 us: the one frame comes to the bridge when the other one has left it."""
    problem = star(X, {"talker": 2})
    problem["links"][1]["propagation_ps"] = 9_600_000
    assert solved(problem, waits=waits) is not None
    problem["links"][1]["propagation_ps"] = 9_599_999
    assert solved(problem, waits=waits) is None


LARGE = {"frames": [700], "latest_ns": 99_999, "deadline_ns": 200_000}
HALF = {"frames": [600], "latest_ns": 99_999}
SLOW = {"period_ns": 1_000_000, "deadline_ns": 17_280}
SHORT = {**X, "deadline_ns": 17_280}


@pytest.mark.parametrize("waits", [False, True])
@pytest.mark.parametrize(
    ("streams", "fit"),
    [
        # Deadlines of 1 ms, which are ten periods: 9.6 us behind a frame and ahead of the next one.
        ([{**X, "deadline_ns": 1_000_000}, {"talker": 2, "at": 9_600, "deadline_ns": 17_280}], True),
        ([SHORT, {"talker": 2, "at": 90_400, "deadline_ns": 1_000_000}], True),
        # A release in the tenth of ten periods of the other stream.
        ([SHORT, {"talker": 2, "at": 909_600, **SLOW}], True),
        ([SHORT, {"talker": 2, "at": 909_599, **SLOW}], False),
        ([SHORT, {"talker": 2, "at": 990_400, **SLOW}], True),
        ([SHORT, {"talker": 2, "at": 990_401, **SLOW}], False),
        # 50 octets leave the bridge at 4.64 us, 100 octets come at 14.24 us and have left it at 23.84 us. The
        # other stream comes 8.64 us after its release, and has no time to wait: the pause is not its own.
        ([{"frames": [50, 100]}, {"talker": 2, "at": 15_200, "deadline_ns": 17_280}], True),
        ([{"frames": [50, 100]}, {"talker": 2, "at": 15_199, "deadline_ns": 17_280}], False),
        # A frame may follow itself after 9.6 us.
        ([{"period_ns": 9_600}], True),
        # 600 octets are at the bridge after 48.64 us, and at the listener after 97.28 us. Two of 49.6 us fit
        # into 100 us, two of 57.6 us do not.
        ([HALF, {**HALF, "talker": 2}], True),
        ([LARGE, {**LARGE, "talker": 2}], False),
        # There is no path in so short a time.
        ([{"deadline_ns": 17_280}], True),
        ([{"deadline_ns": 17_279}], False),
    ],
)
def test_streams_that_fit_or_do_not(streams: list[dict[str, Any]], fit: bool, waits: bool) -> None:
    assert (solved(star(*streams), waits=waits) is not None) is fit


def two_ways(*streams: dict[str, Any]) -> Any:
    """From station 1 to station 4, over the bridge 2 (links 0 and 1) or over the bridge 3 (links 2 and 3)."""
    problem = star(*({"listeners": [4], **stream} for stream in streams))
    plain = problem["links"][0]
    return {
        **problem,
        "nodes": [{"processing_ps": 0, "forwards": number in (2, 3)} for number in range(5)],
        "links": [{**plain, "from": a, "to": b} for a, b in ((1, 2), (2, 4), (1, 3), (3, 4))],
        "streams": [
            {key: value for key, value in stream.items() if key != "tree"} for stream in problem["streams"]
        ],
    }


OVER_2 = [{"link": 0}, {"link": 1, "parent": 0}]
OVER_3 = [{"link": 2}, {"link": 3, "parent": 0}]


@pytest.mark.parametrize("waits", [False, True])
def test_two_that_do_not_fit_into_one_link_take_two_ways(waits: bool) -> None:
    """Two frames of 57.6 us in 100 us; three of them do not fit."""
    found = solved(two_ways(LARGE, LARGE), waits=waits)
    assert sorted(found[number]["tree"][0]["link"] for number in (0, 1)) == [0, 2]
    assert solved(two_ways(LARGE, LARGE, LARGE), waits=waits) is None


def test_pairs_that_share_links() -> None:
    """0 and 1 share the last link. 2 goes only to the bridge, over a cable that no other stream has."""
    short = {"talker": 2, "listeners": [0], "tree": [{"link": 1}]}
    problem = star(X, {**X, "at": 20_000, "period_ns": 150_000}, short)
    model = Model(problem, jobs_of(problem, 1), waits=False)
    pairs = [(one.job.number, other.job.number, size) for one, other, size, _ in model.together]
    assert pairs == [(0, 1, 50_000)]


@pytest.mark.parametrize("waits", [False, True])
def test_a_queue_beyond_the_last_one_is_the_last_one(waits: bool) -> None:
    assert solved(star({"queue": 5}, queues=2), waits=waits)[0]["queue"] == 1


@pytest.mark.parametrize("waits", [False, True])
@pytest.mark.parametrize(("frames", "start"), [([50, 100], 6_640_000), ([100, 50], 10_640_000)])
def test_two_frames_over_a_bridge(frames: list[int], start: int, waits: bool) -> None:
    """The bridge takes 2 us. Whichever is the first one, the last one is there at 24.88 us."""
    found = solved(star({"frames": frames, "deadline_ns": 24_880}, processing=2_000_000), waits=waits)
    assert (found[0]["starts_ps"], found[0]["delay_ps"]) == ([0, start], 24_880_000)


def test_where_the_search_begins() -> None:
    """At the earlier places of streams that are placed, and that do not stay."""
    free = {"latest_ns": 99_999}
    problem = star(free, free, {**free, "talker": 2}, grain=1_000, tick=1_000)
    places: Any = {number: place(problem, number, at) for number, at in ((0, 20_000), (2, 50_999))}
    model = Model(problem, jobs_of(problem, 4), waits=False, stay={0: places[0]})
    model.hint(places)
    start = model.model.proto.solution_hint
    own = model.streams[2]
    assert dict(zip(start.vars, start.values, strict=True)) == {own.release.index: 50, own.taken[0].index: 1}


def test_copies_do_not_wait() -> None:
    streams = [{**X, "queue": 0, "deadline_ns": 17_280}, {"talker": 2, "queue": 1}]
    assert solved(star(*streams, queues=2), waits=True) is not None
    streams[1]["copies"] = 2
    assert solved(star(*streams, queues=2), waits=True) is None


@pytest.mark.parametrize("waits", [False, True])
def test_releases_on_a_grid(waits: bool) -> None:
    def offset(earliest: int, latest: int) -> Any:
        found = solved(
            star({"earliest_ns": earliest, "latest_ns": latest}, grain=1_000, tick=1_000), waits=waits
        )
        return found and found[0]["offset_ns"]

    assert offset(500, 999) is None
    assert offset(1_500, 1_999) is None
    assert offset(500, 1_000) == 1_000
    assert offset(1_000, 1_999) == 1_000


@pytest.mark.parametrize("waits", [False, True])
def test_streams_that_stay(waits: bool) -> None:
    """1 has 50 us to choose from, and 0 stays at 20 us, although its release would be free.

    Two that stay are not held against each other.
    """
    free = {"earliest_ns": 0, "latest_ns": 50_000}
    problem = star({**X, **free}, {"talker": 2, "earliest_ns": 11_000, "latest_ns": 29_600}, X)
    stay = {0: place(problem, 0, 20_000)}
    found = solved({**problem, "streams": problem["streams"][:2]}, waits=waits, stay=stay)
    assert [found[number]["offset_ns"] for number in (0, 1)] == [20_000, 29_600]
    problem = star({**X, **free}, {"talker": 2, "earliest_ns": 11_000, "latest_ns": 29_599})
    assert solved(problem, waits=waits, stay=stay) is None
    problem = star({**X, **free}, {**X, **free}, {"talker": 2, "at": 60_000})
    found = solved(problem, waits=waits, stay={0: stay[0], 1: {**stay[0], "offset_ns": 21_000}})
    assert [found[number]["offset_ns"] for number in (0, 1, 2)] == [20_000, 21_000, 60_000]


def test_who_stays_keeps_its_wait_and_its_queue() -> None:
    problem = star({**X, "latest_ns": 50_000}, {"talker": 2, "at": 20_000}, queues=2)
    placed = place(problem, 0, 3_000, 0, 40_000_000, queue=1)
    found = solved(problem, waits=True, stay={0: placed})
    assert found[0] == {**placed, "delay_ps": 48_640_000}
    late = {"talker": 2, "at": 26_000, "deadline_ns": 17_280}
    problem = star({**X, "latest_ns": 50_000}, late, queues=2)
    assert solved(problem, waits=True, stay={0: placed}) is None


def test_the_streams_that_a_proof_needs() -> None:
    """0 and 1 collide, and 2 has room."""
    problem = star(X, {"talker": 2, "at": 5_000}, {"talker": 2, "at": 50_000})
    for waits in (False, True):
        model = Model(problem, jobs_of(problem, 1), waits=waits, assume=True)
        answer, solver = Budget(5.0).solve(model.model)
        assert answer is Answer.IMPOSSIBLE
        names = {literal.index: number for number, literal in model.assumed.items()}
        assert sorted(names) == sorted(set(names))
        assert {names[one] for one in solver.sufficient_assumptions_for_infeasibility()} == {0, 1}


def test_the_least_part_of_streams_that_collide() -> None:
    """0 and 1 collide in the bridge, and neither of them with 2."""
    problem = star(X, {"talker": 2, "at": 5_000}, {"talker": 2, "at": 50_000})
    jobs = jobs_of(problem, 1)
    assert reduced(problem, jobs, [0, 1, 2], Budget(5.0)) == Conflict([0, 1], minimal=True)
    # Without time, nothing is known to be needless.
    assert reduced(problem, jobs, [0, 1, 2], Budget(0.0)) == Conflict([0, 1, 2], minimal=False)


def moved(problem: Any, earlier: Any, *, waits: bool = False) -> tuple[float, Any]:
    """How many streams have to leave their earlier places, and all places then."""
    model = Model(problem, jobs_of(problem, 4), waits=waits)
    model.move_few(earlier)
    answer, solver = Budget(5.0).solve(model.model)
    assert answer is Answer.FOUND
    return solver.objective_value, model.placed(solver)


@pytest.mark.parametrize("waits", [False, True])
def test_as_few_streams_as_possible_move(waits: bool) -> None:
    """0 and 1 were at 5 us and at 10 us, which is too near; 2 was at 60 us and stays there."""
    free = {"latest_ns": 99_999}
    problem = star({**X, **free}, {"talker": 2, **free}, {"talker": 2, **free}, {**X, **free}, queues=2)
    times = enumerate((5_000, 5_500, 60_000))
    earlier: Any = {number: place(problem, number, at, queue=number % 2) for number, at in times}
    moves, found = moved(problem, earlier, waits=waits)
    if not waits:
        assert moves == 1
    assert (found[2]["offset_ns"], found[2]["queue"]) == (60_000, 0)
    alone = {2: earlier[2]}
    assert moved(problem, alone, waits=waits)[0] == 0
    later = {**earlier[2], "starts_ps": [0, 9_000_000]}
    # A wait needs a model with waits.
    assert moved(problem, {2: later}, waits=waits)[0] == (0 if waits else 1)
    for changed in ({"tree": problem["streams"][0]["tree"]}, {"queue": 2}, {"starts_ps": [0]}):
        assert moved(problem, {2: {**earlier[2], **changed}}, waits=waits)[0] == 1
    coarse = {**problem, "granularity_ns": 1_000}
    assert moved(coarse, {2: {**earlier[2], "offset_ns": 60_500}}, waits=waits)[0] == 1


@pytest.mark.parametrize("waits", [False, True])
def test_who_stays_in_no_place_moves(waits: bool) -> None:
    """0 and 1 had queues that there are no more."""
    free = {"latest_ns": 99_999}
    problem = star({**X, **free}, {"talker": 2, **free})
    earlier = {number: place(problem, number, 0, queue=3) for number in (0, 1)}
    assert moved(problem, earlier, waits=waits)[0] == 2


@pytest.mark.parametrize("waits", [False, True])
def test_who_takes_another_way_has_moved(waits: bool) -> None:
    """0 went over the bridge 2 at 0 us, where 1 has to go now. It was at the bridge 3 in the other case."""
    problem = two_ways({**X, "deadline_ns": 17_280}, {"deadline_ns": 17_280})
    problem["streams"][1]["tree"] = OVER_2
    earlier: Any = {0: {**place(problem, 1, 0), "tree": OVER_2}}
    moves, found = moved(problem, earlier, waits=waits)
    assert (moves, found[0]["tree"]) == (1, OVER_3)
    earlier[0]["tree"] = OVER_3
    assert moved(problem, earlier, waits=waits)[0] == 0


@pytest.mark.parametrize("waits", [False, True])
def test_who_takes_another_queue_has_moved(waits: bool) -> None:
    problem = star({**X, "queue": 1}, queues=2)
    earlier: Any = {0: place(problem, 0, 0)}
    assert moved(problem, earlier, waits=waits)[0] == 1
    earlier[0]["queue"] = 1
    assert moved(problem, earlier, waits=waits)[0] == 0


def test_who_waits_otherwise_has_moved() -> None:
    """It waited from 8.64 us to 30 us. Now another one passes from 28.64 us to 38.24 us."""
    passing = {"talker": 2, "queue": 1, "at": 20_000, "deadline_ns": 17_280}
    problem = star({**X, "queue": 0}, passing, queues=2)
    earlier: Any = {0: place(problem, 0, 0, 0, 30_000_000)}
    assert moved(problem, earlier, waits=True)[0] == 1
    earlier[0]["starts_ps"] = [0, 38_240_000]
    moves, found = moved(problem, earlier, waits=True)
    assert (moves, found[0]["starts_ps"]) == (0, [0, 38_240_000])


def cost(problem: Any, *, entries: bool | None, waits: bool = False) -> float:
    """The least cost; without `entries`, of the delays."""
    model = Model(problem, jobs_of(problem, 4), waits=waits)
    goal = _delays(model) if entries is None else _gaps(model, problem, entries=entries)
    model.model.minimize(goal)
    answer, solver = Budget(5.0).solve(model.model)
    assert answer is Answer.FOUND
    return float(solver.objective_value)


def test_the_sum_of_all_delays() -> None:
    """17.28 us each, and 9.6 us more for the one that waits."""
    assert cost(star(X, {"talker": 2, "at": 20_000}), entries=None) == 34_560
    problem = star({**X, "queue": 0}, {"talker": 2, "queue": 1}, queues=2)
    assert cost(problem, entries=None, waits=True) == 34_560 + 9_600
    # 864 bit at 70 Mbit/s take 12.342857 us, twice; whole nanoseconds are counted.
    assert cost(star(X, {"talker": 2, "at": 20_000}, rate_bps=70_000_000), entries=None) == 2 * 24_685
    # Over the one bridge or over the other one, the delay is the same.
    problem = star(X)
    del problem["streams"][0]["tree"]
    ways = [{**problem["links"][0], "from": a, "to": b} for a, b in ((1, 0), (0, 3), (1, 2), (2, 3))]
    problem["nodes"][2]["forwards"] = True
    assert cost({**problem, "links": ways}, entries=None) == 17_280


@pytest.mark.parametrize(
    ("at", "joined"),
    [(9_600, 1), (9_601, 1), (10_560, 1), (10_561, 0), (90_400, 1), (90_399, 1), (89_440, 1), (89_439, 0)],
)
def test_windows_without_a_gap_are_one(at: int, joined: int) -> None:
    """Up to a gap between frames, 0.96 us. Each of four windows has two entries, or costs 132.96 %."""
    problem = star(X, {"talker": 2, "at": at})
    assert cost(problem, entries=True) == 8 - 2 * joined
    # 123.36 us for a frame of 1542 B and 9.6 us of 100 us.
    assert cost(problem, entries=False) == 4 * 1_329_600_000 - 1_233_600_000 * joined
    assert cost(problem, entries=True, waits=True) == 8


def test_windows_of_frames_with_different_ways() -> None:
    """The bridge takes 20 us, and 30 us ahead of the other one or behind it a frame is not next to it."""
    for at in (30_000, 70_000):
        assert cost(star(X, {"talker": 2, "at": at}, processing=20_000_000), entries=True) == 8
    # 50 octets leave the bridge 4 us earlier. 2.5 us ahead of 100 octets they are next to them: they end
    # 0.9 us before. Behind them they would have to be released after 13.6 us to 14.56 us.
    problem = star(X, {"talker": 2, "at": 97_500, "frames": [50]}, grain=2_500, tick=2_500)
    assert cost(problem, entries=True) == 6


def test_windows_of_different_periods() -> None:
    """In 200 us, the last link has two windows of one stream, and one of the other, which are not one."""
    problem = star(X, {"talker": 2, "at": 9_600, "period_ns": 200_000})
    assert cost(problem, entries=True) == 2 + 2 + 4 + 2
    assert cost(star({**X, "period_ns": 200_000}, {"talker": 2, "at": 9_600}), entries=True) == 2 + 2 + 4 + 2
    # The other two are one window on the last link, in each half of 200 us.
    three = star({**X, "period_ns": 200_000}, {"talker": 2, "at": 30_000}, {**X, "at": 39_600})
    assert cost(three, entries=True) == (2 + 2) + (2 + 4) + (4 + 4) - 4
    assert cost(problem, entries=False) == 2 * 1_329_600_000 + 2 * 664_800_000


def test_three_windows_are_one() -> None:
    """The middle one has one neighbour on each side, and no window has two on one side."""
    problem = star(X, {"talker": 2, "at": 9_600}, {**X, "at": 19_200})
    assert cost(problem, entries=True) == 6 * 2 - 2 * 2
    third = star(X, {"talker": 2, "at": 9_700}, {"talker": 2, "at": 89_600 + 700})
    assert cost(third, entries=True) == 6 * 2 - 2 * 2


def best(problem: Any, placed: Any, objective: str, seconds: float = 5.0, stay: Any = None) -> Any:
    return make_best(problem, jobs_of(problem, 4), placed, objective, Budget(seconds), stay)


def test_the_best_schedule() -> None:
    """Windows that follow each other directly, and frames that do not wait."""
    problem = star(X, {"talker": 2, "at": 0, "latest_ns": 80_000})
    placed = {number: {**place(problem, number, at), "delay_ps": 0} for number, at in enumerate((0, 40_000))}
    found = best(problem, placed, "fewest-entries")
    assert 9_600 <= found[1]["offset_ns"] <= 10_560
    found = best(problem, placed, "most-bandwidth-left")
    assert 9_600 <= found[1]["offset_ns"] <= 10_560
    # Without time, the schedule that there is; so if it is the only one.
    assert best(problem, placed, "fewest-entries", 0.0) is placed
    found = best(problem, placed, "fewest-entries", stay={1: placed[1]})
    assert found[1]["offset_ns"] == 40_000
    waiting = {**placed, 1: {**placed[1], "starts_ps": [0, 30_000_000]}}
    found = best(problem, waiting, "shortest-delay")
    assert [found[number]["delay_ps"] for number in (0, 1)] == [17_280_000, 17_280_000]
    found = best(problem, waiting, "shortest-delay", stay={1: waiting[1]})
    assert found[1]["starts_ps"] == [0, 30_000_000]
    # Only with a wait both have room.
    tight = star({**X, "queue": 0}, {"talker": 2, "queue": 1}, queues=2)
    waiting = {0: placed[0], 1: {**placed[1], "offset_ns": 0, "starts_ps": [0, 30_000_000], "queue": 1}}
    found = best(tight, waiting, "shortest-delay")
    assert sum(found[number]["delay_ps"] for number in (0, 1)) == 34_560_000 + 9_600_000


def test_the_delay_of_frames_that_wait() -> None:
    """Frames of 100 and of 50 octets; the first one waits until 30 us, the second one follows at 39.6 us."""
    problem = star({"frames": [100, 50]})
    ((path,),) = [job.paths for job in jobs_of(problem, 1)]
    assert _delay(path, [0, 30_000_000]) == 44_240_000
    # 50 octets first: 5.6 us after the release 100 octets follow, which come to the bridge at 14.24 us.
    problem = star({"frames": [50, 100]})
    ((path,),) = [job.paths for job in jobs_of(problem, 1)]
    assert _delay(path, [0, 4_640_000]) == 22_880_000
    assert _delay(path, [0, 10_000_000]) == 24_240_000
    assert solved(problem, waits=True)[0]["delay_ps"] >= 22_880_000


@pytest.mark.parametrize("waits", [False, True])
def test_the_delay_is_that_of_listeners(waits: bool) -> None:
    """A branch whose cable takes 1 ms leads to node 4, which does not listen."""
    problem = star({"tree": [{"link": 0}, {"link": 2, "parent": 0}, {"link": 3, "parent": 0}]})
    problem["nodes"].append({"processing_ps": 0, "forwards": False})
    problem["links"].append({**problem["links"][2], "to": 4, "propagation_ps": 1_000_000_000})
    assert solved(problem, waits=waits)[0]["delay_ps"] == 17_280_000


def test_a_release_is_a_whole_number_of_nanoseconds() -> None:
    """The first engine reads it as JSON, where 20000.0 is no whole number."""
    assert json.dumps(solved(star({"at": 20_000}), waits=False)[0]["offset_ns"]) == "20000"


def test_equal_places() -> None:
    one = place(star(X), 0, 1)
    assert same(one, {**one})
    other: Any
    for other in ({"offset_ns": 2}, {"tree": []}, {"starts_ps": [1]}, {"queue": 1}):
        assert not same(one, {**one, **other})
    assert not same(one, None)
