"""Streams in the exact engine: occupied times of links and allowed distances, worked out by hand.

At 100 Mbit/s an octet takes 80 ns, 8 octets ahead of a frame 640 ns and the gap behind it 960 ns: 100 octets
are 8.64 us on the wire and occupy a link for 9.6 us.
"""

from __future__ import annotations

from typing import Any

import pytest

from tsnbench.planning.scheduling.exact.job import (
    Job,
    Occupied,
    Path,
    Spans,
    Step,
    apart,
    common_period,
    folded,
    jobs_of,
    meet,
)

US = 1_000_000
"""Picoseconds."""


LINK = {"rate_bps": 100_000_000, "propagation_ps": 0, "margin_ps": 0, "queues": 1}


def link(start: int, end: int, **changed: Any) -> Any:
    return {"from": start, "to": end, **LINK, "limits": {"granularity_ns": 1}, **changed}


LINE = [{"link": 0}, {"link": 1, "parent": 0}]


STREAM = {"talker": 1, "listeners": [2], "period_ns": 1_000_000, "frames": [100], "deadline_ns": 1_000_000}
STATION = {"processing_ps": 0, "forwards": False}


def problem(*streams: dict[str, Any], **changed: Any) -> Any:
    """From node 1 over the bridge 0 to node 2, in 1 ms, with one frame of 100 octets."""
    plain = {**STREAM, "earliest_ns": 0, "latest_ns": 999_999, "tree": LINE}
    return {
        "nodes": [{"processing_ps": 2 * US, "forwards": True}, STATION, STATION],
        "links": [link(1, 0), link(0, 2)],
        "streams": [{**plain, **stream} for stream in streams],
        "granularity_ns": 1,
        **changed,
    }


def test_a_frame_over_two_links() -> None:
    """It leaves the bridge 2 us after its last bit, 10.64 us after its release, and is there at 19.28 us."""
    (job,) = jobs_of(problem({}), 1)
    assert (job.number, job.period, job.earliest, job.latest) == (0, 1_000 * US, 0, 999_999_000)
    assert (job.deadline, job.jitter, job.queue, job.copies) == (1_000 * US, None, None, 1)
    (path,) = job.paths
    assert path.tree == LINE
    assert job.waits
    first = Step(0, None, 0, (9_600_000,), (8_640_000,), False, 0, 1_000, 960_000)
    second = Step(1, 0, 2 * US, (9_600_000,), (8_640_000,), True, 0, 1_000, 960_000)
    assert path.steps == (first, second)
    assert path.starts == (0, 10_640_000)
    assert path.occupied == (Occupied(0, 0, 9_600_000, 960_000), Occupied(1, 10_640_000, 9_600_000, 960_000))
    assert (path.delay, path.late, path.spread) == (19_280_000, 0, 0)


@pytest.mark.parametrize(
    ("frames", "starts", "second", "last"),
    [
        # 50 octets occupy a link for 5.6 us. They come to the bridge 5.6 us after 100 octets, and wait.
        ([100, 50], (0, 10_640_000), 15_200_000, 24_880_000),
        # The other way round, 100 octets come 9.6 us after 50, and the link pauses for 4 us.
        ([50, 100], (0, 6_640_000), 19_200_000, 24_880_000),
    ],
)
def test_two_frames_of_a_stream(frames: list[int], starts: Any, second: int, last: int) -> None:
    ((path,),) = [job.paths for job in jobs_of(problem({"frames": frames}), 1)]
    assert path.starts == starts
    assert [time.at for time in path.occupied] == [0, starts[1]]
    assert [time.length for time in path.occupied] == [15_200_000, second]
    assert path.delay == last


def test_margins_and_cables() -> None:
    """1 us of error at the first link and 3 us at the second one; the first cable takes half of one."""
    links = [
        link(1, 0, margin_ps=US, propagation_ps=500_000),
        link(0, 2, margin_ps=3 * US, rate_bps=1_000_000_000, limits={"granularity_ns": 8}),
    ]
    other = {"queue": 1, "jitter_ns": 6_000, "earliest_ns": 3, "latest_ns": 9, "period_ns": 500_000}
    first, second = jobs_of(problem({}, other, links=links), 1)
    assert (second.number, second.queue, second.jitter, second.earliest) == (1, 1, 6_000_000, 3_000)
    assert second.period == 500 * US
    (path,) = first.paths
    assert path.starts == (0, 11_140_000)
    # Twice the margin is occupied, too; a gap at 1 Gbit/s takes 96 ns, and the frame 864 ns.
    assert path.occupied == (
        Occupied(0, -1_000_000, 11_600_000, 960_000),
        Occupied(1, 8_140_000, 6_960_000, 96_000),
    )
    assert [step.margin for step in path.steps] == [1_000_000, 3_000_000]
    assert [step.tick for step in path.steps] == [1_000, 8_000]
    assert (path.delay, path.late) == (12_004_000, 3_000_000)


def test_several_listeners() -> None:
    """The margin is that of the latest clock ahead of a listener, and the delay that of the last listener."""
    tree = [{"link": 0}, {"link": 1, "parent": 0}, {"link": 2, "parent": 0}]
    links = [link(1, 0, margin_ps=5 * US), link(0, 2, margin_ps=US), link(0, 3, propagation_ps=US)]
    stream = {"listeners": [2, 3], "tree": tree}
    changed = problem(stream, links=links)
    changed["nodes"].append(STATION)
    ((path,),) = [job.paths for job in jobs_of(changed, 1)]
    assert (path.delay, path.late, path.spread) == (20_280_000, US, 0)


COPIES = [{"link": 0}, {"link": 1, "parent": 0}, {"link": 2}, {"link": 3, "parent": 2}]


def test_copies_over_two_bridges() -> None:
    """The second bridge takes 3 us longer."""
    changed = problem({"tree": COPIES, "copies": 2}, links=[link(1, 0), link(0, 2), link(1, 3), link(3, 2)])
    changed["nodes"].append({"processing_ps": 5 * US, "forwards": True})
    (job,) = jobs_of(changed, 1)
    assert (job.copies, job.waits) == (2, False)
    (path,) = job.paths
    assert path.starts == (0, 10_640_000, 0, 13_640_000)
    assert (path.delay, path.spread) == (22_280_000, 3_000_000)
    # Both differ by up to the margin, early or late.
    for jitter, kept in ((3_000, 1), (2_999, 0)):
        changed["streams"][0]["jitter_ns"] = jitter
        assert len(jobs_of(changed, 1)[0].paths) == kept


@pytest.mark.parametrize(
    ("limit", "margin"),
    [
        ({"deadline_ns": 19_280}, 0),
        ({"deadline_ns": 20_280}, US),
        ({"period_ns": 9_600, "latest_ns": 0}, 0),
        ({"period_ns": 11_600, "latest_ns": 0}, US),
        ({"jitter_ns": 2_000}, US),
    ],
)
def test_a_path_has_to_keep_the_limits_of_its_stream(limit: dict[str, int], margin: int) -> None:
    links = [link(1, 0, margin_ps=margin), link(0, 2, margin_ps=margin)]
    (job,) = jobs_of(problem(limit, links=links), 1)
    assert len(job.paths) == 1
    name = next(iter(limit))
    (job,) = jobs_of(problem({**limit, name: limit[name] - 1}, links=links), 1)
    assert not job.paths


def occupied(*times: tuple[int, int, int]) -> Path:
    """A path of (link, first instant, length)."""
    return Path([], (), (), tuple(Occupied(*time, 0) for time in times), 0, 0, 0)


@pytest.mark.parametrize(
    ("one", "other", "grain", "allowed"),
    [
        ([(0, 0, 10)], [(1, 0, 10)], 1, [(0, 99)]),
        # The second one begins when the first one has ended, or ends when it begins again.
        ([(0, 0, 10)], [(0, 0, 20)], 1, [(10, 80)]),
        ([(0, 20, 10), (1, 0, 99)], [(0, 5, 8), (2, 0, 99)], 1, [(0, 7), (25, 99)]),
        ([(0, 20, 10)], [(0, 5, 8)], 10, [(0, 0), (3, 9)]),
        # 50 and 51 do not fit into 100; 50 and 50 do, in one way only.
        ([(0, 0, 50)], [(0, 0, 51)], 1, []),
        ([(0, 0, 50)], [(0, 0, 50)], 1, [(50, 50)]),
        # From 10 to 80 for one link, and from 40 to 65 for the other one.
        ([(0, 0, 10), (1, 30, 10)], [(0, 0, 20), (1, 0, 65)], 1, [(40, 65)]),
    ],
)
def test_distances_of_two_streams(one: Any, other: Any, grain: int, allowed: Spans) -> None:
    assert apart(occupied(*one), occupied(*other), 100, grain) == allowed


@pytest.mark.parametrize(
    ("low", "high", "grain", "spans"),
    [
        (3, 7, 1, [(3, 7)]),
        (13, 17, 1, [(3, 7)]),
        (-7, -3, 1, [(3, 7)]),
        (8, 12, 1, [(0, 2), (8, 9)]),
        (9, 10, 1, [(0, 0), (9, 9)]),
        (5, 5, 1, [(5, 5)]),
        (5, 4, 1, []),
        # All ten, and all but one.
        (4, 13, 1, [(0, 9)]),
        (4, 12, 1, [(0, 2), (4, 9)]),
        (0, 9, 1, [(0, 9)]),
        # In grains of five: 15 and 20 lie between 11 and 24, and none between 11 and 14.
        (11, 24, 5, [(3, 4)]),
        (10, 25, 5, [(2, 5)]),
        (11, 14, 5, []),
        (-14, -11, 5, []),
    ],
)
def test_grains_modulo_ten(low: int, high: int, grain: int, spans: Spans) -> None:
    assert folded(low, high, grain, 10) == spans


def test_what_two_lists_of_spans_have_in_common() -> None:
    assert meet([(0, 5), (8, 20)], [(4, 9), (15, 15), (21, 30)]) == [(4, 5), (8, 9), (15, 15)]
    assert meet([(0, 5)], [(5, 9)]) == [(5, 5)]
    assert meet([(0, 5)], [(6, 9)]) == []
    assert meet([(7, 9), (1, 2)], [(0, 9)]) == [(1, 2), (7, 9)]


def test_the_common_period_of_two_streams() -> None:
    one, other = (Job(0, period, 0, 0, 0, None, None, 1, ()) for period in (300, 500))
    assert common_period(one, other) == 100
