"""The age of a listener's last value, and time-outs: by hand, with losses, and against their worst cases."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from support.planned import plan_of, run_of
from tsnbench.measure.verdict import worst_cases
from tsnbench.plan.bounds import bounds

LINE = """\
name: line
duration: 20 ms
network:
  stations: [sensor, controller]
  bridges: {sw: {processing: 1 us}}
  links: {rate: 100 Mbit/s, between: [sensor -- sw, sw -- controller]}
streams:
  measured: {from: sensor, to: controller, pcp: 6, period: 1 ms, frame: 200 B, requires: {LIMITS}}
""".replace("LIMITS", "age: 1100 us, time-out: 1 ms")
# Two links with 208 octets of 80 ns each, and 1 us; the stamp at the talker is 640 ns after the release.
ARRIVES, STAMP = 34_280, 640


def judged(text: str, folder: Path) -> dict[str, Any]:
    run = run_of(plan_of(text), folder)
    return {f"{row['stream']} {row['requirement']}": row for row in run.verdict()["rows"]}


def test_the_age_of_a_value_is_its_delay_and_the_time_to_the_next(tmp_path: Path) -> None:
    rows = judged(LINE, tmp_path)
    age, time_out = rows["measured age"], rows["measured time-out"]
    assert (age["found"], age["met"], age["proof"]) == (1_000_000 + ARRIVES - STAMP, "yes", "proved")
    # The worst case begins at the release, as no stamp at the talker is earlier.
    assert age["worst_case"] == 1_000_000 + ARRIVES
    # Without other streams, each frame has the same delay.
    assert (time_out["found"], time_out["worst_case"], time_out["proof"]) == (1_000_000, 1_000_000, "proved")


def test_lost_frames_make_the_last_value_older(tmp_path: Path) -> None:
    """The frames of 5, 6 and 7 ms are lost."""
    rows = judged(LINE + "faults:\n  - {down: sensor -- sw, at: 4990 us, for: 3 ms}\n", tmp_path)
    age, time_out = rows["measured age"], rows["measured time-out"]
    assert (age["found"], age["met"], age["worst_seq"]) == (4_000_000 + ARRIVES - STAMP, "no", 8)
    assert (time_out["found"], time_out["met"]) == (4_000_000, "no")
    assert (age["proof"], time_out["proof"]) == ("none", "none")


def test_a_stream_that_no_longer_arrives_keeps_its_last_value(tmp_path: Path) -> None:
    """The last value arrives at 9 ms; the talker sends its last frame at 19 ms."""
    rows = judged(LINE + "faults:\n  - {down: sensor -- sw, at: 9900 us}\n", tmp_path)
    age, time_out = rows["measured age"], rows["measured time-out"]
    assert (age["found"], age["met"]) == (10_000_000, "no")
    assert (time_out["found"], time_out["met"]) == (10_000_000 + STAMP - ARRIVES, "no")


def test_a_talker_that_is_silent_leaves_an_old_value(tmp_path: Path) -> None:
    """The last observed frame, released at 19 ms, arrives after 72 octets on each of two links and 1 us."""
    text = LINE.replace("sw -- controller]", "sw -- controller, sw -- other]")
    text = text.replace("[sensor, controller]", "[sensor, controller, other]")
    text += "  beside: {from: other, to: controller, pcp: 5, period: 1 ms, frame: 64 B}\n"
    rows = judged(text + "faults:\n  - {down: sensor, at: 9900 us, for: 50 ms}\n", tmp_path)
    seen = 19_000_000 + 2 * 72 * 80 + 1_000
    age, time_out = rows["measured age"], rows["measured time-out"]
    assert (age["found"], age["met"]) == (seen - 9_000_000 - STAMP, "no")
    assert (time_out["found"], time_out["met"]) == (seen - 9_000_000 - ARRIVES, "no")


def test_a_stream_that_has_ended_is_not_missed(tmp_path: Path) -> None:
    text = LINE.replace("frame: 200 B,", "frame: 200 B, stop: 5 ms,")
    text += "  beside: {from: controller, to: sensor, pcp: 5, period: 1 ms, frame: 64 B}\n"
    rows = judged(text, tmp_path)
    assert rows["measured age"]["found"] == 1_000_000 + ARRIVES - STAMP
    assert rows["measured time-out"]["found"] == 1_000_000


def test_jitter_and_a_lower_frame_are_in_the_worst_case() -> None:
    text = LINE.replace("1 ms, frame", "1 ms, jitter: 200 us, frame")
    text += "  low: {from: sensor, to: controller, pcp: 0, period: 1 ms, frame: 1000 B}\n"
    document = plan_of(text)
    found = {row["requirement"]: row for row in worst_cases(document.document, bounds(document))}
    # The frame waits for 1020 octets at the talker, and again at sw if the next frame there is one of low.
    upper = next(flow for flow in bounds(document)["flows"] if flow["stream"] == "measured")[
        "release_upper_ps"
    ]
    assert upper is not None
    assert upper >= (ARRIVES + 81_600) * 1_000
    assert found["age"]["worst_case"] == 1_200_000 + upper // 1_000
    assert found["time-out"]["worst_case"] == 1_200_000 + upper // 1_000 - ARRIVES


@pytest.mark.parametrize(
    ("written", "more", "reason"),
    [
        ("poisson: {mean-interval: 1 ms}", "", "the time from one release to the next has no limit"),
        # A talker that is down skips its releases.
        (
            "period: 1 ms",
            "faults: [{down: sensor, at: 5 ms, for: 2 ms}]\n",
            "the time from one release to the next has no limit",
        ),
        (
            "period: 1 ms",
            "  more: {from: sensor, to: controller, pcp: 6, saturating: true, frame: 900 B}\n",
            "frames may be lost",
        ),
    ],
)
def test_without_a_limit_there_is_no_worst_case(written: str, more: str, reason: str) -> None:
    document = plan_of(LINE.replace("period: 1 ms", written) + more)
    rows = worst_cases(document.document, bounds(document))
    assert [row["requirement"] for row in rows] == ["time-out", "age"]
    assert {row["worst_case"] for row in rows} == {None}
    assert all(reason in str(row["worst_case_reason"]) for row in rows), rows


def _random(seed: int) -> str:
    """Streams over a line, in one class or several, each with jitter of up to two periods."""
    draw = random.Random(seed)
    stations = draw.randint(3, 5)
    lines = [f"name: ages-{seed}", "duration: 60 ms", f"seed: {seed}", "network:"]
    lines.append("  bridges: {b0: {processing: 2 us}, b1: {processing: 3 us}}")
    lines.append(f"  stations: [{', '.join(f's{n}' for n in range(stations))}]")
    wires = ["b0 -- b1", *(f"s{n} -- b{draw.randrange(2)}" for n in range(stations))]
    lines.append(f"  links: {{rate: {draw.choice([10, 100])} Mbit/s, between: [{', '.join(wires)}]}}")
    lines.append("streams:")
    for number in range(draw.randint(2, 6)):
        at, to = draw.sample(range(stations), 2)
        period = draw.choice([5_000, 7_001, 10_000])
        lines.append(
            f"  q{number}: {{from: s{at}, to: s{to}, pcp: {draw.choice([0, 5, 6])}, period: {period} us, "
            f"jitter: {draw.choice([0, 300, 2 * period])} us, frame: {draw.randint(64, 1500)} B, "
            "requires: {age: 1 s, time-out: 1 s}}"
        )
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("seed", range(30))
def test_no_age_exceeds_its_worst_case(seed: int, tmp_path: Path) -> None:
    rows = judged(_random(seed), tmp_path).values()
    assert {row["met"] for row in rows} == {"yes"}
    assert {row["proof"] for row in rows} == {"proved"}
    for row in rows:
        assert row["found"] <= row["worst_case"]
