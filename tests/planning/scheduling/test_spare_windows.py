"""Queues that never drain after one disturbance, and spare windows in which they do."""

from __future__ import annotations

import random
from pathlib import Path

import polars as pl
import pytest

from support.planned import plan_of, port_of, refusal_text, run_of
from tsnbench.plan.bounds import bounds, bounds_table
from tsnbench.planning import Plan

TEXT = """\
name: n
duration: %d ms
network: {stations: [a, c], bridges: [s1], links: {rate: 100 Mbit/s, between: [a -- s1, s1 -- c]}}
schedule: {spare-windows: %d}
streams:
%s
"""
ONE = "  x: {from: a, to: c, pcp: 6, period: 1 ms, frame: 1000 B, scheduled: true}"


def undrained(made: Plan) -> set[str | None]:
    return {flow.get("undrained") for flow in bounds(made)["flows"]}


def departures(made: Plan, folder: Path) -> pl.DataFrame:
    """``stream``, ``seq`` and ``tx`` of each frame, and how much later than in its period it left, ns."""
    periods = {
        stream["name"]: (stream["pattern"]["offset_ns"], stream["pattern"]["period_ns"])  # type: ignore[typeddict-item]
        for stream in made.document["streams"]
    }
    # Timestamps are behind preamble and start delimiter: 8 octets at 100 Mbit/s.
    seen = run_of(made, folder).observations().filter(pl.col("stage") == "tx").sort("t_ns")
    late = [(row["t_ns"] - 640 - periods[row["stream"]][0]) for row in seen.iter_rows(named=True)]
    return seen.select("stream", "seq", tx=pl.col("t_ns")).with_columns(after=pl.Series(late))


@pytest.mark.parametrize(("spare", "later"), [(0, 1), (1, 0)])
def test_one_frame_too_many_by_hand(spare: int, later: int, tmp_path: Path) -> None:
    """A window carries one frame. After a frame too many at 5.5 ms (number 6), frame n, which is released in
    period n - 1, leaves in period n for ever; with a spare window in each period it leaves in its own."""
    fault = "\nfaults: [{babble: x, at: 5.5 ms, for: 1 us, every: 1 us}]"
    seen = departures(plan_of(TEXT % (40, spare, ONE) + fault), tmp_path)
    assert seen.height == 41
    before, after = seen.filter(pl.col("seq") < 6), seen.filter(pl.col("seq") > 8)
    assert (before["after"] == before["seq"] * 1_000_000).all()
    # A frame that waits leaves when the gate opens, an inter-frame gap (12 octets) before it is planned.
    assert (after["after"] == (after["seq"] - 1) * 1_000_000 + later * (1_000_000 - 960)).all()


@pytest.mark.parametrize(("spare", "found"), [(0, {"a -> s1"}), (1, {None})])
def test_the_proof_says_so(spare: int, found: set[str | None]) -> None:
    made = plan_of(TEXT % (40, spare, ONE))
    assert undrained(made) == found
    words = bounds_table(bounds(made)).rows[0][-1]
    assert words.startswith("from the schedule's proof")
    assert ("; one disturbed frame delays all later ones at a -> s1" in words) == (spare == 0)


@pytest.mark.parametrize("alike", [True, False])
@pytest.mark.parametrize("seed", range(12))
def test_what_the_proof_says_against_runs(seed: int, alike: bool, tmp_path: Path) -> None:
    """Streams of one size and of several, no to 3 spare windows; the stream with the largest frames sends one
    more. Where windows have several sizes, it may depend on the time whether a queue drains."""
    drawn = random.Random(seed)
    size = drawn.randint(64, 1500)
    own = [
        (drawn.choice([1, 2, 4]), size if alike else drawn.randint(64, 1500))
        for _ in range(drawn.randint(1, 4))
    ]
    spare = drawn.choice([0, 1, 1, 2, 3])
    streams = "\n".join(
        f"  s{n}: {{from: a, to: c, pcp: 6, period: {period} ms, frame: {octets} B, scheduled: true}}"
        for n, (period, octets) in enumerate(own)
    )
    largest = max(range(len(own)), key=lambda n: own[n][1])
    fault = (
        f"\nfaults: [{{babble: s{largest}, at: {8000 + drawn.randint(0, 4000)} us, for: 1 us, every: 1 us}}]"
    )
    text = TEXT % (80, spare, streams)
    seen = departures(plan_of(text + fault), tmp_path).filter(pl.col("tx").is_between(64_000_000, 76_000_000))
    late = any(
        row["after"] % (own[int(row["stream"][1:])][0] * 1_000_000) for row in seen.iter_rows(named=True)
    )
    said = "a -> s1" in undrained(plan_of(text))
    if len(own) == 1:
        # One stream that is late by whole periods looks as on time.
        assert said == (spare == 0)
        return
    assert said == late if alike or not said or not spare else said


def open_ns(made: Plan, port: str) -> dict[int, int]:
    """By class, for how long of a cycle its gate is open."""
    entries = port_of(made.document, port)["gates"]["entries"]
    return {one: sum(own["interval_ns"] for own in entries if own["open"] >> one & 1) for one in range(8)}


@pytest.mark.parametrize("spare", [1, 2])
@pytest.mark.parametrize("port", ["a -> s1", "s1 -> c"])
def test_the_windows_of_each_queue_by_hand(port: str, spare: int) -> None:
    """Once in the round of 3 ms, as long as the largest frame of the queue: 1008 and 208 octets of 80 ns, and
    a gap of 960 ns before and behind, which windows beside each other share."""
    streams = (
        f"{ONE}\n  y: {{from: a, to: c, pcp: 6, period: 1500 us, frame: 500 B, scheduled: true}}\n"
        "  z: {from: a, to: c, pcp: 5, period: 1 ms, frame: 200 B, scheduled: true}"
    )
    without, found = (open_ns(plan_of(TEXT % (9, count, streams)), port) for count in (0, spare))
    for queue, octets in ((6, 1008), (5, 208)):
        more = found[queue] - without[queue]
        assert spare * (octets * 80 + 960) <= more <= spare * (octets * 80 + 2 * 960)


def test_a_spare_window_is_for_frames_with_their_redundancy_tag() -> None:
    """A frame of 1000 octets is 1006 long with its R-TAG: IEEE 802.1CB-2017, 7.8."""
    text = TEXT.replace("bridges: [s1]", "bridges: [s1, s2]").replace(
        "s1 -- c]", "s1 -- c, a -- s2, s2 -- c]"
    )
    streams = ONE.replace("}", ", frer: {disjoint: 2}}")
    without, found = (open_ns(plan_of(text % (9, count, streams)), "s2 -> c")[6] for count in (0, 1))
    assert found - without == 1014 * 80 + 960


@pytest.mark.parametrize(("spare", "words"), [(1, "1 spare window"), (2, "2 spare windows")])
def test_no_room_for_a_spare_window(spare: int, words: str) -> None:
    """The round of a single period is this period: it has room for two windows of 1008 octets of 80 ns and a
    gap, and not if it is a nanosecond shorter."""
    plan_of(TEXT % (10, 1, ONE.replace("1 ms", "163200 ns")))
    said = refusal_text(TEXT % (10, spare, ONE.replace("1 ms", "163199 ns")))
    assert f"expected {words} at each port of scheduled streams" in said
    assert "found no room at a -> s1 within 163.199 us" in said


def test_ports_with_gates_of_their_own_get_no_spare_windows() -> None:
    """Nothing is planned at a -> s1; at s1 -> c a window takes 1008 octets of 80 ns, and a gap before it."""
    gates = "\nshapers: {a -> s1: {gates: {entries: [{open: all, for: 1 ms}]}}}"
    without, found = (open_ns(plan_of(TEXT % (9, count, ONE + gates)), "s1 -> c")[6] for count in (0, 1))
    assert found - without >= 1008 * 80 + 960
