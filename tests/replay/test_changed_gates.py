"""Waits at gates whose lists change at run time: each part has the reason of the list that is in force."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest

from replay.test_why_frames_waited import BRIDGE, replayed
from tsnbench.replay.waiting import Part, Reason
from tsnbench.replay.window import around, window

# A frame of 1242 octets takes 100 us at 100 Mbit/s with its preamble; both streams are in class 0 here.
ONE = BRIDGE.replace("queues: {classes: {7: 1, 0: 0}}", "GATES").replace("duration: 2 ms", "duration: 8 ms")
LATE = "entries: [{open: [7], for: 500 us}, {open: [0, 7], for: 500 us}]"
"""The class of the long frames is open in the second half of each cycle."""


def with_gates(gates: str) -> str:
    classes = "queues: {classes: {7: 1, 0: 0}}, "
    return ONE.replace("GATES", f"{classes}gates: {{{gates}}}")


def all_parts(text: str, folder: Path) -> dict[tuple[str, int], list[Part]]:
    """The parts of every frame, by stream and number; each adds up to the frame's delay."""
    run, history, _ = replayed(text, folder)
    document = run.plan.document
    found: dict[tuple[str, int], list[Part]] = {}
    sent = {stream["name"]: number for number, stream in enumerate(document["streams"])}
    sink = next(number for number, node in enumerate(document["nodes"]) if node["name"] == "sink")
    for name, number in sent.items():
        seq = 0
        while path := history.journey(number, seq, sink):
            own = [part for one in path for part in history.parts(one)]
            assert sum(part.length_ns for part in own) == (path[-1].arrived_ns or 0) - path[0].came_ns
            assert all(one.end_ns == other.begin_ns for one, other in pairwise(own))
            found[name, seq] = own
            seq += 1
        assert seq >= 5, "frames are missing"
    return found


def reasons(own: list[Part]) -> list[str]:
    return [part.reason.value for part in own]


def test_a_list_that_replaces_another_one_explains_the_waits_from_its_begin_on(tmp_path: Path) -> None:
    # From 4 ms on, class 0 is open in the other half of each millisecond.
    later = f"{{at: 2 ms, base-time: 4 ms, {LATE}}}"
    first = "entries: [{open: [0, 7], for: 500 us}, {open: [7], for: 500 us}]"
    found = all_parts(with_gates(f"{first}, changes: [{later}]"), tmp_path)
    for seq in range(4):
        assert "gate closed" not in reasons(found["slow", seq])
    for seq in range(4, 7):
        (gate,) = [part for part in found["slow", seq] if part.reason is Reason.GATE]
        assert gate.end_ns == seq * 1_000_000 + 500_000
    assert not {part.reason for own in found.values() for part in own} & {Reason.UNKNOWN}


def test_a_window_that_two_lists_share_is_one_window(tmp_path: Path) -> None:
    # A frame of 100 us joins the queue 103 us after each millisecond. Its window ends at 150 us, but at
    # 3150 us the next list begins with it.
    later = "{at: 1 ms, base-time: 3150 us, entries: [{open: [0, 7], for: 500 us}, {open: [7], for: 500 us}]}"
    first = "entries: [{open: [0, 7], for: 150 us}, {open: [7], for: 850 us}]"
    _, history, _ = replayed(with_gates(f"{first}, changes: [{later}]"), tmp_path)
    waits = [history.journey(0, seq, 2)[-1] for seq in range(6)]
    reasons_of = [[part.reason for part in history.parts(one)] for one in waits]
    assert Reason.GUARD in reasons_of[2]
    assert {Reason.GUARD, Reason.GATE} & {*reasons_of[3]} == set()
    passage = waits[3]
    gates = history.ports[passage.port].gates
    assert gates is not None
    lists = gates.known(passage.start_ns)
    assert lists is not None
    assert lists.shuts(0, 3_120_000) == 3_650_000
    assert lists.shuts(0, 2_120_000) == 2_150_000


def test_an_extended_cycle_keeps_the_last_states(tmp_path: Path) -> None:
    # The cycle that would begin at 4 ms does not begin: the one before it is extended until the change.
    later = "{at: 1 ms, base-time: 4300 us, entries: [{open: [0, 7], for: 500 us}, {open: [7], for: 500 us}]}"
    first = "extension: 400 us, entries: [{open: [0, 7], for: 500 us}, {open: [7], for: 500 us}]"
    found = all_parts(with_gates(f"{first}, changes: [{later}]"), tmp_path)
    assert "gate closed" not in reasons(found["slow", 3])
    (gate,) = [part for part in found["slow", 4] if part.reason is Reason.GATE]
    assert gate.end_ns == 4_300_000
    assert not {part.reason for own in found.values() for part in own} & {Reason.UNKNOWN}


def test_a_list_without_a_state_before_it_repeats_from_the_beginning(tmp_path: Path) -> None:
    gates = f"base-time: 4 ms, {LATE}"
    found = all_parts(with_gates(gates), tmp_path)
    for seq in range(7):
        (gate,) = [part for part in found["slow", seq] if part.reason is Reason.GATE]
        assert gate.end_ns == seq * 1_000_000 + 500_000


@pytest.mark.parametrize("before", ["open", "closed"])
def test_before_the_first_list_the_gates_keep_their_states(before: str, tmp_path: Path) -> None:
    gates = f"before: {before}, base-time: 3 ms, {LATE}"
    found = all_parts(with_gates(gates), tmp_path)
    waits = [part for part in found["slow", 0] if part.reason is Reason.GATE]
    if before == "open":
        assert waits == []
    else:
        assert waits[0].end_ns == 3_000_000 + (500_000 if before == "closed" else 0)
    assert not {part.reason for own in found.values() for part in own} & {Reason.UNKNOWN}


def test_a_wrong_list_explains_the_waits_while_it_lasts(tmp_path: Path) -> None:
    gates = "entries: [{open: [0, 7], for: 500 us}, {open: [7], for: 500 us}]"
    text = with_gates(gates) + "faults: [{schedule: {shift: 500 us}, on: sw -> sink, at: 2 ms, for: 3 ms}]\n"
    found = all_parts(text, tmp_path)
    for seq in (0, 1, 5, 6):
        assert "gate closed" not in reasons(found["slow", seq])
    for seq in (2, 3, 4):
        assert "gate closed" in reasons(found["slow", seq])
    assert not {part.reason for own in found.values() for part in own} & {Reason.UNKNOWN}


@pytest.mark.parametrize("seed", range(12))
def test_in_random_networks_with_changes_no_wait_is_unknown_and_no_frame_leaves_a_shut_gate(
    seed: int, tmp_path: Path
) -> None:
    text = _random(Random(seed))
    run, history, _ = replayed(text, tmp_path)
    document = run.plan.document
    seen = 0
    for one in history.table.iter_rows(named=True):
        number = document["streams"][one["stream"]]["listeners"][0]["node"]
        for passage in history.journey(one["stream"], one["seq"], number):
            gates = history.ports[passage.port].gates
            own = history.parts(passage)
            assert sum(part.length_ns for part in own) == (passage.arrived_ns or 0) - passage.came_ns
            unknown = [part for part in own if part.reason is Reason.UNKNOWN]
            assert not unknown, (unknown, json.dumps(document["ports"][passage.port]["gates"]))
            if gates is not None:
                lists = gates.known(passage.start_ns)
                assert lists is not None
                shuts = lists.shuts(passage.traffic_class, passage.start_ns)
                # The preamble begins before the stamp by its own length, which is a whole number of ns here.
                assert shuts is None or shuts >= passage.end_ns - 2, (passage, shuts)
                seen += 1
    assert seen > 20


def _random(draw: Random) -> str:
    """A bridge whose gates change up to three times, with requests that come late or replace each other."""

    def entries() -> str:
        listed = [
            f"{{open: [{', '.join(map(str, sorted(draw.sample([0, 7], draw.choice([0, 1, 1, 2, 2])))))}],"
            f" for: {draw.choice([150, 200, 350])} us}}"
            for _ in range(draw.choice([2, 3, 4]))
        ]
        return f"entries: [{{open: [0, 7], for: 250 us}}, {', '.join(listed)}]"

    words = [entries()]
    if draw.random() < 0.5:
        words.append(f"before: {draw.choice(['open', 'closed'])}")
    words.append(f"base-time: {draw.choice([0, 130, 1700])} us")
    if draw.random() < 0.5:
        words.append(f"extension: {draw.choice([50, 400])} us")
    at = 0
    changes = []
    for _ in range(draw.choice([1, 2, 3])):
        at += draw.choice([300, 900, 1900])
        base = max(0, at + draw.choice([-700, 0, 450, 2100]))
        changes.append(f"{{at: {at} us, base-time: {base} us, {entries()}}}")
    return with_gates(f"{', '.join(words)}, changes: [{', '.join(changes)}]")


def test_the_page_gets_every_list_with_its_time(tmp_path: Path) -> None:
    later = "{at: 2 ms, base-time: 4 ms, " + LATE.replace("[0, 7], for: 500", "[0, 7], for: 1500") + "}"
    first = "before: open, base-time: 1 ms, entries: [{open: [0, 7], for: 500 us}, {open: [7], for: 500 us}]"
    _, history, journeys = replayed(with_gates(f"{first}, changes: [{later}]"), tmp_path)
    data = window(history, history.table, *around(journeys[0]), journeys)
    (drawn,) = [port["gates"] for port in data["ports"] if port["gates"] is not None]
    assert [(one["from"], one["until"], one["cycle"]) for one in drawn] == [
        (None, 1_000_000, 1_000_000),
        (1_000_000, 4_000_000, 1_000_000),
        (4_000_000, None, 2_000_000),
    ]
    assert [one["spans"][0] for one in drawn] == [[(0, 1_000_000)], [(0, 500_000)], [(500_000, 2_000_000)]]
