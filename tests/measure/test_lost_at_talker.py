"""Frames that their talker dropped are lost for the verdict, unless another copy of them left."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.planned import plan_of, run_of
from tsnbench.measure.verdict import verdict_of

TWO_PATHS = """\
name: n
duration: 20 ms
network:
  stations: [a, c]
  bridges: [s1, s2]
  links: {rate: 100 Mbit/s, between: [a -- s1, a -- s2, s1 -- c, s2 -- c]}
streams:
  x: {from: a, to: c, pcp: 6, period: 1 ms, frame: 1000 B, requires: {loss: 0}, KEYS}
shapers:
"""
NONE_LEAVES = "  a -> s1: {queues: {limit-octets: 500 B}}\n"
ONE_LEAVES = """\
  a -> s1:
    queues: {limit-frames: 1}
    gates: {entries: [{open: [0], for: 19500 us}, {open: all, for: 500 us}]}
"""


@pytest.mark.parametrize(
    ("keys", "shaper", "never_sent", "lost"),
    [
        # No frame has room in the queue of 500 octets.
        ("via: [s1]", NONE_LEAVES, 20, 20),
        # The copy by s2 leaves and arrives.
        ("frer: {disjoint: 2}", NONE_LEAVES, 0, 0),
        # The gate opens once, for the first frame of a queue that holds one.
        ("via: [s1]", ONE_LEAVES, 19, 19),
    ],
)
def test_frames_that_the_talker_drops(
    keys: str, shaper: str, never_sent: int, lost: int, tmp_path: Path
) -> None:
    run = run_of(plan_of(TWO_PATHS.replace("KEYS", keys) + shaper), tmp_path / "run")
    measures = run.measures()
    (count,) = (path["count"] for path in measures["paths"])
    assert (count["never_sent"], count["sent"], count["lost"]) == (never_sent, 20 - never_sent, 0)
    verdict = verdict_of(run, measures)
    (row,) = verdict["rows"]
    assert (row["found"], row["met"]) == (lost * 50_000, "no" if lost else "yes")
    assert [(one["lost"], one["sent"]) for one in verdict["lost"]] == ([(lost, 20)] if lost else [])


SHUT = """
  a -> s1: &shut
    queues: {limit-frames: 1}
    gates: {entries: [{open: all, for: 1 ms}]}
  a -> s2: *shut
faults:
  - {schedule: {entries: [{open: none, for: 1 ms}]}, on: a -> s1, at: AT, for: SPAN}
  - {schedule: {entries: [{open: none, for: 1 ms}]}, on: a -> s2, at: AT, for: SPAN}
measure-from: 10 ms
"""


@pytest.mark.parametrize(
    ("keys", "at", "span", "lost", "sent"),
    [
        # Frame 3 leaves when the gate opens; frames 4 to 6 are dropped, in the time that does not count.
        ("via: [s1]", "2500 us", "3500 us", 0, 10),
        # Frame 8 leaves when the gate opens at 11 ms, and is the first one that counts; 9 to 11 are dropped.
        ("via: [s1]", "7500 us", "3500 us", 3, 9),
        # Frame 7 leaves at 9.9 ms, 8 and 9 are dropped, and frame 10 is the first one that counts.
        ("via: [s1]", "6400 us", "3500 us", 0, 10),
        # No frame leaves behind frame 15: 16 waits until the end, 17 to 19 are dropped, of two paths on both.
        ("via: [s1]", "15500 us", "1 s", 3, 6),
        ("frer: {disjoint: 2}", "15500 us", "1 s", 3, 6),
        # No frame leaves from frame 5 on.
        ("via: [s1]", "4500 us", "1 s", 14, 0),
    ],
)
def test_drops_before_the_measured_time_do_not_count(
    keys: str, at: str, span: str, lost: int, sent: int, tmp_path: Path
) -> None:
    text = TWO_PATHS.replace("KEYS", keys) + SHUT.lstrip("\n").replace("AT", at).replace("SPAN", span)
    run = run_of(plan_of(text), tmp_path / "run")
    measures = run.measures()
    (count,) = (path["count"] for path in measures["paths"])
    assert (count["never_sent"], count["sent"], count["lost"]) == (lost, sent, 0)
    (row,) = verdict_of(run, measures)["rows"]
    assert row["met"] == ("no" if lost else "yes")
