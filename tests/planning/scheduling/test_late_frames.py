"""Late frames of scheduled streams that are dropped: the longest times in queues, the proof, and runs."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from support.planned import plan_of, port_of, refusal_text, run_of
from tsnbench.measure.headline import headline
from tsnbench.plan.bounds import bounds, bounds_table
from tsnbench.planning import Plan
from tsnbench.planning.draft import Gates
from tsnbench.planning.scheduling.late_frames import Wait, _next_window
from tsnbench.replay.passages import ReplayError
from tsnbench.replay.waiting import History
from tsnbench.replay.window import journey_named

TEXT = """\
name: n
duration: 20 ms
network: {stations: [a, b, c], bridges: [s1], links: {rate: 100 Mbit/s, between: [a -- s1, b -- s1, s1 -- c]}}
schedule: {%s}
streams:
  x: {from: a, to: c, pcp: 6, period: 1 ms, frame: 1000 B, scheduled: true, requires: {loss: 0}}
  y: {from: b, to: c, pcp: 6, period: 1 ms, frame: 1000 B, scheduled: true, requires: {loss: 0}}
"""
DISTURBANCES = {
    "delayed": "{delay: 300 us, on: a -> s1, at: %d us, for: 500 us}",
    "window": "{schedule: {entries: [{open: none, for: 1 ms}]}, on: a -> s1, at: %d us, for: 500 us}",
    "babble": "{babble: x, at: %d us, for: 1 us, every: 1 us}",
}
"""A link delays frame 5 of x beyond its window at s1; the gate at a is closed over one window; the talker
sends one frame more, which takes the window of another one."""


def with_fault(keys: str, kind: str) -> str:
    """A disturbance of what x sends from 5 ms on."""
    offset = plan_of(TEXT % keys).document["streams"][0]["pattern"]["offset_ns"]  # type: ignore[typeddict-item]
    at = 5_000 + offset // 1_000 + (500 if kind == "babble" else -100)
    return TEXT % keys + f"faults: [{DISTURBANCES[kind] % at}]\n"


def arrivals(made: Plan, folder: Path) -> dict[str, list[tuple[int, int]]]:
    """By stream: sequence number of each frame that arrived, and its time after the begin of the period that
    it was released in, ns."""
    seen = run_of(made, folder).observations().filter(pl.col("stage") == "rx").sort("t_ns")
    first = {name: own["t_ns"][0] for (name,), own in seen.group_by("stream")}
    rows = seen.select("stream", "seq", "t_ns").rows()
    return {
        name: [(seq, at - first[name] - seq * 1_000_000) for own, seq, at in rows if own == name]
        for name in first
    }


@pytest.mark.parametrize(
    ("kind", "x", "y"),
    [
        # At s1 frame 5 waits for the window of frame 6, which opens a gap (0.96 us) before it, and
        # frame 6 follows in the one of y, 81.6 us (1,020 octets) behind. y leaves in the next window.
        ("delayed", (5, 999_040, 80_640), 1_000_000 - 960 - 81_600),
        # Frame 5 leaves a in the window of frame 6, and so on.
        ("window", (5, 999_040, 999_040), 0),
        # Frame 6 comes in between, leaves in the window of frame 7, and arrives on time as that one.
        ("babble", (6, -960, -960), 0),
    ],
)
def test_one_disturbance_costs_one_frame(kind: str, x: tuple[int, int, int], y: int, tmp_path: Path) -> None:
    """Where frames wait for another window, the disturbed one and all behind it are late. Where they are
    dropped, one is lost and all others are on time."""
    first, disturbed, later = x
    late = arrivals(plan_of(with_fault("late: wait", kind)), tmp_path / "wait")
    times = dict(late["x"])
    assert {times[seq] for seq in range(first)} == {0}
    assert times[first] == disturbed
    assert {times[seq] for seq in range(first + 1, 19)} == {later}
    assert {at for seq, at in late["y"] if seq > 6} == {y}
    dropped = arrivals(plan_of(with_fault("late: drop", kind)), tmp_path / "drop")
    # Numbers count the frame too many.
    more = 1 if kind == "babble" else 0
    assert dropped["x"] == [
        (seq, 0 if seq < first else -1_000_000 * more) for seq in range(20 + more) if seq != first
    ]
    assert dropped["y"] == [(seq, 0) for seq in range(20)]


def test_the_longest_time_by_hand() -> None:
    """Frames do not wait, so the time is 1 ns; with a margin of 2 us on both sides, 4.001 us. A time that the
    scenario has stays."""
    for keys, expected in (("late: drop", 1), ("late: drop, margin: 2 us", 4_001), ("late: wait", None)):
        made = plan_of(TEXT % keys)
        for port in ("a -> s1", "b -> s1", "s1 -> c"):
            found = [one.get("longest_wait_ns") for one in port_of(made.document, port)["classes"]]
            assert found == [expected if number == 6 else None for number in range(8)], port
        assert "longest_wait_ns" not in port_of(made.document, "s1 -> a")["classes"][6]
    own = TEXT.replace("links:", "queues: {longest-wait: {6: 3 ms, 0: 5 ms}}, links:")
    found = [
        one.get("longest_wait_ns")
        for one in port_of(plan_of(own % "late: drop").document, "s1 -> c")["classes"]
    ]
    assert found == [None, 5_000_000, *[None] * 4, 3_000_000, None]
    # A time of one port leaves the others theirs.
    own = TEXT % "late: drop" + "shapers: {a -> s1: {queues: {longest-wait: {6: 3 ms}}}}\n"
    found = [
        port_of(plan_of(own).document, port)["classes"][6].get("longest_wait_ns")
        for port in ("a -> s1", "b -> s1", "s1 -> c")
    ]
    assert found == [3_000_000, 1, 1]
    # So does a gate list of the scenario.
    gates = "shapers: {s1 -> c: {gates: {entries: [{open: [6], for: 500 us}, {open: [0], for: 500 us}]}}}\n"
    made = plan_of(TEXT % "late: drop" + gates)
    assert port_of(made.document, "s1 -> c")["classes"][6]["longest_wait_ns"] == 1


def test_a_frame_that_waited_may_be_early_at_the_next_port() -> None:
    """x and y are ready at s1 at once: one waits for 1,020 octets of 80 ns of the other one. It is early by
    this time at s2 where the other one is missing. Cables of 10 m take 50 ns, and bridges 3 us."""
    text = (TEXT % "late: drop").replace(
        "bridges: [s1]", "bridges: {s1: {processing: 3 us}, s2: {processing: 3 us}}"
    )
    text = text.replace("links: {", "links: {cable: 10 m, ").replace("s1 -- c", "s1 -- s2, s2 -- c")
    text = text.replace("scheduled: true,", "scheduled: true, release: {latest: 0 us},")
    made = plan_of(text.replace("y: {from: b, to: c, pcp: 6", "y: {from: b, to: c, pcp: 5"))
    found = [
        sorted(
            one["longest_wait_ns"]
            for one in port_of(made.document, port)["classes"]
            if "longest_wait_ns" in one
        )
        for port in ("a -> s1", "b -> s1", "s1 -> s2", "s2 -> c")
    ]
    assert found == [[1], [1], [1, 81_601], [1, 81_601]]


def test_several_frames_of_one_release_wait_for_each_other() -> None:
    """Three frames of 1,522 octets (1,472 of payload), 123.36 us each with preamble and gap: the last one
    waits at its talker for two of them."""
    made = plan_of((TEXT % "late: drop").replace("frame: 1000 B", "units: [4416 B]", 1))
    assert port_of(made.document, "a -> s1")["classes"][6]["longest_wait_ns"] == 2 * 123_360 + 1
    # Member streams have 6 octets more, an R-TAG; behind the talker no frame waits for the one before it.
    text = (TEXT % "late: drop").replace("bridges: [s1]", "bridges: [s1, s2]")
    text = text.replace("s1 -- c]", "s1 -- c, a -- s2, s2 -- c]").replace(
        "1000 B, sch", "1000 B, frer: {}, sch", 1
    )
    made = plan_of(text.replace("frame: 1000 B", "units: [4416 B]", 1))
    for port in ("s1", "s2"):
        assert port_of(made.document, f"a -> {port}")["classes"][6]["longest_wait_ns"] == 2 * 123_840 + 1
    # It may be early by the wait of its first frame alone, which does not wait.
    assert port_of(made.document, "s2 -> c")["classes"][6]["longest_wait_ns"] == 1


def test_the_proof_says_so() -> None:
    words = bounds_table(bounds(plan_of(TEXT % "late: drop"))).rows[0][-1]
    assert words == "from the schedule's proof; frames that are late are dropped"
    found = bounds(plan_of(TEXT % "late: drop"))["flows"]
    assert [flow["loss_reason"] for flow in found] == [None, None]


def test_a_longest_time_that_is_too_short_for_the_schedule_is_no_proof() -> None:
    """1 ns is enough for frames that do not wait, and not with a margin of 2 us."""
    own = TEXT.replace("links:", "queues: {longest-wait: {6: 4 us}}, links:")
    said = refusal_text(own % "late: drop, margin: 2 us")
    assert "stream x may wait at port a -> s1 for 4000 ns, and is dropped there after 4000 ns" in said


def test_a_longest_time_that_is_too_long_drains_no_queue() -> None:
    """After 3 ms three later frames have taken the window of the next one."""
    own = TEXT.replace("links:", "queues: {longest-wait: {6: 3 ms}}, links:")
    found = bounds(plan_of(own % "late: drop"))["flows"]
    assert {flow.get("undrained") for flow in found} == {"a -> s1", "b -> s1"}


def test_waits_that_are_longer_than_the_time_between_windows() -> None:
    """The last of five frames of x waits for four of 123.36 us. A frame of z, 700 us later, that misses its
    window comes 300 us later to the next one, which opens a gap (0.96 us) before frames of x. With another
    PCP of z each queue has a time of its own."""
    streams = (
        "  x: {from: a, to: c, pcp: 6, period: 1 ms, units: [7000 B], scheduled: true, "
        "release: {latest: 1 ns}}\n"
        "  z: {from: a, to: c, pcp: %d, period: 1 ms, frame: 64 B, scheduled: true, "
        "release: {earliest: 700 us, latest: 700 us}}\n"
    )
    text = TEXT[: TEXT.index("  x:")] % "late: drop" + streams
    said = refusal_text(text % 6)
    assert (
        "schedule.late: expected a class in which frames wait for less time than passes between two windows, "
        "found x waits for 493.441 us at a -> s1, and a frame of z that misses its window comes to the next "
        "one after 299.04 us" in said
    )
    found = port_of(plan_of(text % 5).document, "a -> s1")["classes"]
    assert (found[6]["longest_wait_ns"], found[5]["longest_wait_ns"]) == (493_441, 1)


def test_the_next_window_begins_where_a_gate_opens() -> None:
    """From an arrival at 2 ns to the next cycle; at 10 ns another gate opens, and at 20 ns both close."""
    flow: Any = None
    gates = Gates(0, ((0b01, 10), (0b11, 10), (0b00, 80)))
    assert _next_window(gates, 0, Wait(flow, 100_000, 2_000, 15_000, 0)) == 98_000
    # A gate that never closes needs no window.
    assert _next_window(Gates(0, ((0b01, 10), (0b11, 10))), 0, Wait(flow, 20_000, 0, 5_000, 0)) is None


@pytest.mark.parametrize(("release", "room"), [(628_959, True), (628_960, False)])
def test_a_wait_as_long_as_the_time_to_the_next_window(release: int, room: bool) -> None:
    """The last of four frames of x waits for three, 370.08 us, so it is dropped after 370.081 us. A frame of
    z that misses its window is dropped as the next one opens, 0.96 us before the next period of x."""
    text = TEXT[: TEXT.index("  x:")] % "late: drop" + (
        "  x: {from: a, to: c, pcp: 6, period: 1 ms, units: [5888 B], scheduled: true, "
        "release: {latest: 0 us}}\n"
        "  z: {from: a, to: c, pcp: 6, period: 1 ms, frame: 64 B, scheduled: true, "
        f"release: {{earliest: {release} ns, latest: {release} ns}}}}\n"
    )
    if room:
        assert port_of(plan_of(text).document, "a -> s1")["classes"][6]["longest_wait_ns"] == 370_081
    else:
        assert "comes to the next one after 370.08 us" in refusal_text(text)


def test_what_is_told_after_a_run(tmp_path: Path) -> None:
    """The headline counts late drops, and replay says where a frame was dropped."""
    run = run_of(plan_of(with_fault("late: drop", "delayed")), tmp_path)
    assert headline(run.verdict()).endswith("1 of 20 frames lost of x; 1 dropped late")
    history = History.of(run)
    with pytest.raises(ReplayError) as error:
        journey_named(history, "x/5")
    assert "did not arrive at a listener: s1 -> c dropped it at 5." in str(error.value)
    assert "after 1 ns in its queue, which is the longest time there" in str(error.value)


@pytest.mark.parametrize("seed", range(12))
def test_any_disturbance_is_over_after_one_window(seed: int, tmp_path: Path) -> None:
    """Random schedules of up to four streams over two hops: after a frame more, all frames are on time."""
    drawn = random.Random(seed)
    streams = "\n".join(
        f"  s{n}: {{from: {drawn.choice('ab')}, to: c, pcp: 6, period: {drawn.choice([1, 2, 4])} ms, "
        f"frame: {drawn.randint(64, 1500)} B, scheduled: true}}"
        for n in range(drawn.randint(1, 4))
    )
    fault = f"\nfaults: [{{babble: s0, at: {8_000 + drawn.randint(0, 4_000)} us, for: 1 us, every: 1 us}}]"
    text = TEXT[: TEXT.index("  x:")].replace("20 ms", "40 ms") % "late: drop" + streams
    made = plan_of(text + fault)
    periods = {
        one["name"]: (one["pattern"]["offset_ns"], one["pattern"]["period_ns"])  # type: ignore[typeddict-item]
        for one in made.document["streams"]
    }
    seen = run_of(made, tmp_path).observations().filter(pl.col("stage") == "tx", pl.col("t_ns") > 16_000_000)
    for stream, at in seen.select("stream", "t_ns").rows():
        offset, period = periods[stream]
        assert (at - 640 - offset) % period == 0
    assert all("undrained" not in flow for flow in bounds(plan_of(text))["flows"])
