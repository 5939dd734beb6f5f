"""Scheduled streams at ports with a gate control list of their own: placed in the time of their class, or
refused where none is left."""

from __future__ import annotations

import random
from math import gcd
from pathlib import Path

import pytest

from support.planned import plan_of, port_of, refusal_text, run_of
from tsnbench.plan.bounds import bounds
from tsnbench.planning import Plan

TEXT = """\
name: n
duration: 20 ms
network:
  stations: [a, b, c]
  bridges: [s1, s2]
  links: {rate: 100 Mbit/s, between: [a -- s1, b -- s1, s1 -- s2, s2 -- c]}
%s
streams:
  x: {from: a, to: c, pcp: 6, period: 1 ms, frame: 1000 B, scheduled: true}
  y: {from: b, to: c, pcp: 6, period: 2 ms, frame: 1500 B, scheduled: true}
  z: {from: b, to: c, pcp: 0, saturating: true, frame: 1500 B}
shapers:
  s1 -> s2: {gates: {%s}}
"""
LIST = "base-time: 100 us, entries: [{open: [6], for: 300 us}, {open: [0], for: 700 us}]"


def delays(made: Plan, folder: Path) -> dict[str, tuple[int, int, int | None]]:
    """Per scheduled stream its greatest delay in a run, its lost frames, and its proved delay."""
    proved = {flow["stream"]: flow["upper_ns"] for flow in bounds(made)["flows"]}
    paths = run_of(made, folder).measures()["paths"]
    return {
        path["stream"]: (path["delay"]["max"], path["count"]["lost"], proved[path["stream"]])
        for path in paths
        if path["stream"] != "z"
    }


@pytest.mark.parametrize("schedule", ["", "schedule: {margin: 5 us}"])
def test_streams_pass_in_the_time_of_their_class_beside_saturation(schedule: str, tmp_path: Path) -> None:
    """Three hops of 8 octets and the frame at 80 ns, without a wait, from stamps behind the first 8 octets:
    3 * 1008 * 80 - 640 and 3 * 1508 * 80 - 640 ns; the proof adds the margin."""
    made = plan_of(TEXT % (schedule, LIST))
    margin = 5_000 if schedule else 0
    assert delays(made, tmp_path) == {
        "x": (241_280, 0, 241_280 + margin),
        "y": (361_280, 0, 361_280 + margin),
    }
    written = port_of(made.document, "s1 -> s2")["gates"]
    assert [(entry["open"], entry["interval_ns"]) for entry in written["entries"]] == [
        (64, 300_000),
        (2, 700_000),
    ]
    assert written["base_time_ns"] == 100_000


@pytest.mark.parametrize(
    ("gates", "said"),
    [
        # (1500 + 20) octets of y at 80 ns.
        (
            LIST.replace("300 us", "90 us").replace("700 us", "910 us"),
            "expected 121.6 us for the frames of y and the gap before them, found 90 us at most in which "
            "class 6 may send and no other traffic, in each period of 2 ms and cycle of 1 ms",
        ),
        # Each takes 100 us of it in its turn, and the gaps of x are 1 ms long.
        (
            LIST.replace("300 us", "200 us").replace("700 us", "800 us"),
            "expected a place for x, y, without a wait there, found none in the 200 us in 1 ms in which",
        ),
        # Of 400 us and 1 ms only 200 us are common.
        (
            "entries: [{open: [6], for: 200 us}, {open: [0], for: 200 us}]",
            "found 0 ns at most in which class 6 may send and no other traffic, in each period of 1 ms and "
            "cycle of 400 us",
        ),
        # The other stream may send whenever this one may.
        (
            "entries: [{open: [6, 0], for: 300 us}, {open: [0], for: 700 us}]",
            "found 0 ns at most in which class 6",
        ),
        (
            LIST + ", changes: [{at: 5 ms, entries: [{open: [6], for: 1 ms}]}]",
            "found gates at s1 -> s2 that change",
        ),
        (LIST + ", guard: none", "found gates at s1 -> s2 without a guard"),
        (LIST + ", before: open", "found gates at s1 -> s2 that begin late"),
    ],
)
def test_what_does_not_fit(gates: str, said: str) -> None:
    assert said in refusal_text(TEXT % ("", gates))


def test_gates_left_to_plan_for_windows() -> None:
    text = (TEXT % ("", LIST)).replace(f"{{{LIST}}}", "plan")
    assert "found gates at s1 -> s2 to plan for windows" in refusal_text(text)


def test_frames_do_not_wait_at_a_written_gate() -> None:
    """s2 -> c opens when the frames are long past. They would wait until then, when another may just end."""
    gates = "base-time: 600 us, entries: [{open: [6], for: 300 us}, {open: [0], for: 700 us}]"
    text = TEXT % ("", LIST) + f"  s2 -> c: {{gates: {{{gates}}}}}\n"
    assert (
        "expected a place for x, y, without a wait there, found none in the 300 us in 1 ms"
        in refusal_text(text)
    )


ALONE = """\
name: n
duration: 100 ms
network: {{stations: [a, c], bridges: [s1], links: {{rate: 100 Mbit/s, between: [a -- s1, s1 -- c]}}}}
schedule: {{margin: {margin} us}}
streams:
  x: {{from: a, to: c, pcp: 6, period: {period} ms, frame: 1000 B, scheduled: true}}
  z: {{from: a, to: c, pcp: 0, period: 1 ms, frame: 64 B}}
shapers: {{s1 -> c: {{gates: {{base-time: 1100 us, entries: [{entries}]}}}}}}
"""


@pytest.mark.parametrize(
    ("margin", "period", "lengths"),
    [
        # Classes 6 and 0 take turns, from class 6 on. Up to 0: by so much shorter than what the frame needs.
        (0, 1, (0, 918_400)),
        (5, 1, (0, 908_400)),
        # More octets than a frame of the search has.
        (0, 20, (0, 19_918_400)),
        # Across the begin of the cycle.
        (0, 1, (-40_000, 918_400, 40_000)),
        # A period of 1 ms and a cycle of 400 us meet at two places, which are 200 us apart.
        (0, 1, (0, 118_400, 0, 118_400)),
        # A closed span of 10 octets.
        (0, 1, (0, 800, -79_600, 915_600)),
    ],
)
def test_a_span_that_is_just_long_enough(margin: int, period: int, lengths: tuple[int, ...]) -> None:
    """A frame of 1000 octets, its preamble and the gap before it take 81.6 us, with a margin on both sides;
    in a span that is shorter by 1 ns, and closed for longer, there is no place."""
    needs = 81_600 + 2_000 * margin

    def text(least: int) -> str:
        entries = ", ".join(
            f"{{open: [0], for: {length + needs - least} ns}}"
            if place % 2
            else f"{{open: [6], for: {length if length > 0 else length + least} ns}}"
            for place, length in enumerate(lengths)
        )
        return ALONE.format(margin=margin, period=period, entries=entries)

    plan_of(text(needs))
    had = f"found {(needs - 1) / 1_000:g} us at most in which class 6 may send"
    assert had in refusal_text(text(needs - 1))


@pytest.mark.parametrize(
    ("more", "gates", "said"),
    [
        # Each of the two queues may get the frames.
        ("schedule: {pcps: [7, 6]}", LIST.replace("[6]", "[7, 6]"), None),
        # States before a list that is in force from the begin on are never seen.
        ("", LIST.replace("base-time: 100 us", "before: open"), None),
        ("schedule: {pcps: [7, 6]}", LIST, "found 0 ns at most in which classes 6, 7 may send"),
        # PTP's messages have the class 3.
        (
            "schedule: {margin: 5 us}\nclocks: {within: 1 us, gptp: {grandmaster: s1, pcp: 3}}",
            LIST.replace("[6]", "[6, 3]"),
            "found 0 ns at most in which class 6 may send",
        ),
    ],
)
def test_classes_that_have_to_be_open_or_closed(more: str, gates: str, said: str | None) -> None:
    text = TEXT % (more, gates)
    if said is None:
        plan_of(text)
    else:
        assert said in refusal_text(text)


def test_spare_windows_are_planned_beside_a_written_list_without_room_for_one() -> None:
    entries = "{open: [6], for: 81600 ns}, {open: [0], for: 918400 ns}"
    text = ALONE.format(margin=0, period=1, entries=entries)
    spare = text.replace("margin: 0 us", "margin: 0 us, spare-windows: 1")
    before, after = (
        [
            sum(
                entry["interval_ns"]
                for entry in port_of(made, port)["gates"]["entries"]
                if entry["open"] & 64
            )
            for port in ("a -> s1", "s1 -> c")
        ]
        for made in (plan_of(text).document, plan_of(spare).document)
    )
    # 1008 octets of 80 ns and the gap between two windows.
    assert after == [before[0] + 81_600, 81_600]


def test_only_the_list_that_is_too_short_is_named() -> None:
    short = LIST.replace("300 us", "90 us").replace("700 us", "910 us")
    text = (
        TEXT % ("", short)
        + "  s2 -> c: {gates: {entries: [{open: [6], for: 900 us}, {open: [0], for: 100 us}]}}\n"
    )
    said = refusal_text(text)
    assert "shapers.s1 -> s2.gates" in said
    assert "shapers.s2 -> c.gates" not in said


@pytest.mark.parametrize("seed", range(40))
def test_a_place_is_found_where_there_is_one(seed: int, tmp_path: Path) -> None:
    """One stream and a random list, against each microsecond as the begin: the frame and the gap before it
    are inside a free span in all periods."""
    drawn = random.Random(seed)
    cycle, period = drawn.choice([200, 400, 500, 1000]), drawn.choice([500, 800, 1000])
    cuts = sorted(drawn.sample(range(8, cycle), drawn.randint(1, 5)))
    lengths = [end - begin for begin, end in zip([0, *cuts], [*cuts, cycle], strict=True)]
    masks = [drawn.choice(["[6]", "[6]", "[0]", "[6, 0]", "[6, 3]", "[]"]) for _ in lengths]
    masks[0] = "[0]"
    octets, base = drawn.randint(64, 1500), drawn.randint(0, 300)
    entries = ", ".join(
        f"{{open: {mask}, for: {length} us}}" for mask, length in zip(masks, lengths, strict=True)
    )
    text = TEXT % ("", f"base-time: {base} us, entries: [{entries}]")
    text = text.replace("period: 1 ms, frame: 1000 B", f"period: {period} us, frame: {octets} B")
    text = text.replace("saturating: true, frame: 1500 B", "period: 1 ms, frame: 64 B")
    text = "\n".join(line for line in text.splitlines() if not line.startswith("  y:")) + "\n"
    free = [
        mask in ("[6]", "[6, 3]") for mask, length in zip(masks, lengths, strict=True) for _ in range(length)
    ]
    needs = (octets + 20) * 80 / 1_000  # us

    def inside(at: int) -> bool:
        whole = range(at, at + int(-(-needs // 1)))
        return all(free[us % cycle] for us in whole)

    possible = any(
        all(inside(at + turn * period) for turn in range(cycle)) for at in range(gcd(cycle, period))
    )
    if not possible:
        assert "in which class 6 may send and no other traffic" in refusal_text(text)
        return
    made = plan_of(text)
    (found,) = delays(made, tmp_path).values()
    assert found == (3 * (octets + 8) * 80 - 640, 0, 3 * (octets + 8) * 80 - 640)
