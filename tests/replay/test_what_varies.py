"""Replays of runs whose times vary from frame to frame or from node to node: parts by hand of each kind."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from replay.test_why_frames_waited import BRIDGE, of_stream, parts, replayed
from support.commands import tsnbench
from support.journeys import disagreements
from tsnbench.replay.clocks import NodeClock
from tsnbench.replay.waiting import COLUMNS, OPTIONAL, History, Reason, Rows
from tsnbench.replay.window import Journey, around, as_document, window
from tsnbench.runs import Run
from tsnbench.ui.replays import Replay

# As in BRIDGE: 100 Mbit/s, 80 ns an octet, a cable of 100 ns; 117 octets and their preamble take 10 us.
ALONE = BRIDGE.replace("  slow: {from: low, to: sink, pcp: 0, period: 1 ms, frame: 1242 B}\n", "").replace(
    "offset: 100 us, ", ""
)


def only(text: str, folder: Path, name: str = "fast") -> tuple[Run, History, Journey]:
    run, history, journeys = replayed(text, folder)
    assert list(disagreements(run, history)) == []
    return run, history, of_stream(run, journeys, name)


def test_processing_that_varies_is_what_the_frame_took(tmp_path: Path) -> None:
    text = ALONE.replace("processing: 3 us", "processing: {least: 1 us, most: 3 us}").replace("2 ms", "20 ms")
    run, history, slowest = only(text, tmp_path)
    took = []
    for seq in range(20):
        sink = slowest.listener
        found = [part for _, own in history.hops(history.journey(slowest.stream, seq, sink)) for part in own]
        # The wire and the cable twice; what remains of the measured delay is the processing.
        assert [part.length_ns for part in found if part.reason is not Reason.PROCESSING] == [10_000, 100] * 2
        took += [part.length_ns for part in found if part.reason is Reason.PROCESSING]
    frames = run.frames()
    # The delay begins behind the preamble: 640 ns later than the hand-over.
    assert took == [delay - 20_200 + 640 for delay in frames.sort("seq")["delay_ns"]]
    assert all(1_000 <= one <= 3_000 for one in took)
    assert len(set(took)) > 10


def test_a_bridge_that_cuts_through_ends_the_hop_before_it_with_the_head_of_the_frame(tmp_path: Path) -> None:
    text = ALONE.replace("processing: 3 us", "processing: 3 us, forwarding: {mode: cut-through, after: 64 B}")
    # The head is 64 octets and the preamble: 72 * 80 ns = 5.76 us.
    assert parts(*only(text, tmp_path)[1:]) == [
        ("wire, until the next bridge forwards", 5_760),
        ("cable", 100),
        ("processing", 3_000),
        ("wire", 10_000),
        ("cable", 100),
    ]


def test_a_frame_in_a_cyclic_queue_waits_for_its_turn(tmp_path: Path) -> None:
    text = ALONE.replace(
        "{queues: {classes: {7: 1, 0: 0}}}", "{cqf: {cycle: 125 us, pcp: [5], classes: [6, 5]}}"
    ).replace("pcp: 7", "pcp: 5, offset: 20 us")
    # Queued at 33.1 us: the queue of the first cycle sends in the second one, from 125 us on.
    assert parts(*only(text, tmp_path)[1:])[2:5] == [
        ("processing", 3_000),
        ("not the turn of its cyclic queue", 91_900),
        ("wire", 10_000),
    ]


def test_the_fragments_of_an_interrupted_frame_by_hand(tmp_path: Path) -> None:
    preempts = "{queues: {classes: {7: 1, 0: 0}}, preemption: {express: [7]}}"
    text = BRIDGE.replace("{queues: {classes: {7: 1, 0: 0}}}", preempts)
    run, history, slow = only(text, tmp_path, "slow")
    # slow begins at 103.1 us at the switch. fast is queued at 113.1 us: 125 octets have left, and the check
    # sequence of the fragment follows, which ends at 113.42 us. With gaps of 0.96 us fast leaves from 114.38
    # to 124.38 us, and the rest from 125.34 us on: 1,242 - 117 octets and a preamble, 90.64 us.
    found = history.hops(slow.passages)[1][1]
    assert [(part.reason.value, part.begin_ns, part.length_ns) for part in found] == [
        ("processing", 100_100, 3_000),
        ("wire", 103_100, 10_320),
        ("pre-empted", 113_420, 11_920),
        ("wire", 125_340, 90_640),
        ("cable", 215_980, 100),
    ]
    names = [stream["name"] for stream in run.plan.document["streams"]]
    assert [names[part.stream] for part in found if part.stream is not None] == ["fast"]


HOST = (
    ALONE.replace("stations: [low, high, sink]", "stations: [low, sink]\n  hosts: [high]")
    + "hosts: {high: {wakeup: 5 us, send: 2 us, qdisc: 3 us, driver: 1 us, tx: 2 us}}\n"
)


def test_the_parts_of_software_by_hand(tmp_path: Path) -> None:
    # The program calls the kernel 5 + 2 us behind its timer; 3 us to the queueing discipline, which holds
    # nothing, and 1 + 2 us to the hardware.
    _, history, journey = only(HOST, tmp_path)
    assert journey.handed_ns % 1_000_000 == 7_000
    assert parts(history, journey) == [
        ("software of the host", 3_000),
        ("software of the host", 3_000),
        ("wire", 10_000),
        ("cable", 100),
        ("processing", 3_000),
        ("wire", 10_000),
        ("cable", 100),
    ]


@pytest.mark.parametrize(
    ("offload", "held"),
    [
        # The timer of the stream is 500 us before 600 us, the frame in the discipline at 110 us; that hands
        # it over 175 us before its launch time, at 425 us, and its own timer is 5 us late: 320 us.
        ("", [("queueing discipline", 320_000), ("software of the host", 3_000)]),
        # The hardware has it at 433 us and waits until 600 us.
        (
            ", offload: true",
            [("queueing discipline", 320_000), ("software of the host", 3_000), ("launch time", 167_000)],
        ),
    ],
)
def test_launch_times_hold_frames_in_the_discipline_or_in_the_hardware(
    offload: str, held: list[tuple[str, int]], tmp_path: Path
) -> None:
    text = HOST.replace("pcp: 7,", "pcp: 7, offset: 600 us, send: {advance: 500 us, txtime: true},").replace(
        "shapers:\n", f"shapers:\n  high -> sw: {{qdisc: {{etf: {{7: {{delta: 175 us{offload}}}}}}}}}\n"
    )
    _, history, journey = only(text, tmp_path)
    assert parts(history, journey)[: 1 + len(held)] == [("software of the host", 3_000), *held]


# The switch's clock gains 100 us a second: what it calls 500 us is 499.950005 us after the begin.
CLOCK = (
    BRIDGE.replace(
        "0: 0}}}",
        "0: 0}}, gates: {cycle: 1 ms, entries: [{open: [0], for: 500 us}, {open: [7], for: 500 us}]}}",
    )
    + "clocks: {sw: {drift: 100 ppm}, sink: {drift: -50 ppm}}\n"
)


def test_gates_are_shut_by_the_clock_of_their_node(tmp_path: Path) -> None:
    run, history, journeys = replayed(CLOCK.replace("pcp: 0", "pcp: 0, start: 1 ms"), tmp_path)
    journey = of_stream(run, journeys, "fast")
    first = Journey(journey.stream, 0, journey.listener, history.journey(journey.stream, 0, journey.listener))
    # fast is queued at 113.1 us, and its gate opens at 500 us / (1 + 1e-4) = 499.950005 us.
    assert parts(history, first)[2:4] == [("processing", 3_000), ("gate closed", 386_850)]
    _, gate, wire, *_ = as_document(history, first)["hops"][1]["parts"]
    # The clock showed 113.1 us * 1.0001 = 113.11131 us then, and 500 us when the frame left.
    assert (gate["begin_ns"], gate["begin_clock_ns"]) == (113_100, 113_111)
    assert (wire["begin_ns"], wire["begin_clock_ns"]) == (499_950, 500_000)
    # Measured: from 100.64 us on a right clock to the arrival at 510.050005 us on a clock that loses 50 ppm.
    assert first.delay_ns == int(510_050.005 * (1 - 50e-6)) - 100_640
    assert list(disagreements(run, history)) == []


def test_the_page_draws_gates_by_the_clock_of_their_node(tmp_path: Path) -> None:
    _, history, journeys = replayed(CLOCK, tmp_path)
    data = window(history, history.table, *around(journeys[0]), journeys)
    (drawn,) = [port["gates"] for port in data["ports"] if port["gates"]]
    (own,) = drawn
    for true_ns, shown in [(499_950, 500_000), (999_900, 1_000_000)]:
        clock = true_ns + own["ahead"] + (true_ns - own["from"]) * own["rate"]
        assert clock == pytest.approx(shown, abs=2)
    hops = [hop for one in data["journeys"] for hop in one["hops"]]
    assert [len(hop["clock"]) for hop in hops] == [len(hop["parts"]) // 4 for hop in hops]
    # A frame that leaves when its gate opens leaves at a whole half of a millisecond of that clock.
    gated = [
        shown
        for hop in hops
        for shown, reason in zip(hop["clock"][1:], hop["parts"][0::4], strict=False)
        if data["reasons"][reason] == "gate closed"
    ]
    assert gated
    assert all(shown % 500_000 in (0, 1, 499_999) for shown in gated)


def test_both_times_are_told_in_the_terminal_and_in_the_browser(tmp_path: Path) -> None:
    run, _, _ = replayed(CLOCK, tmp_path)
    shown = tsnbench("replay", run.folder, "--frame", "fast/0").stdout
    (row,) = [line.split() for line in shown.splitlines() if "gate closed" in line]
    # Queued at 113.1 us; the gate opens at 500 us of its clock.
    assert row == ["113.1", "us", "113.111", "us", "386.85", "us", "gate", "closed"]
    assert "Gates open" in shown
    (path,) = Replay.of(run).window(None, None, "fast/0", 100)["path"]
    assert path["clocks"].startswith("Each node has a clock of its own.")
    assert path["delay_ns"] == 409_384


def test_ptp_messages_are_other_frames(tmp_path: Path) -> None:
    text = BRIDGE.replace("duration: 2 ms", "duration: 1 s").replace("period: 1 ms", "period: 100 us") + (
        "clocks: {default: {drift-within: 20 ppm}, gptp: {grandmaster: low, sync-interval: 1/32 s, pcp: 7}}\n"
    )
    run, history, _ = replayed(text.replace("frame: 1242 B", "frame: 117 B"), tmp_path)
    assert list(disagreements(run, history)) == []
    waits = [part for one in history.all() for part in history.parts(one) if part.reason is Reason.OTHERS]
    assert len(run.plan.document["streams"]) in {part.stream for part in waits}


def test_a_clock_may_show_a_time_before_the_begin() -> None:
    """-1 stands for no value in columns of numbers, and is a time on a clock."""
    row = dict.fromkeys(COLUMNS, 0)
    arrived, lost = row | {"arrived_clock_ns": -1}, row | dict.fromkeys(OPTIONAL)
    found = Rows(pl.DataFrame([arrived, lost])).passages(np.arange(2))
    assert [one.arrived_clock_ns for one in found] == [-1, None]
    assert (found[1].arrived_ns, found[1].before, found[1].qdisc_ns) == (None, None, None)


def test_a_clock_is_lines_of_true_time() -> None:
    # It gains 2^-10 of the time, is set back by 5 us at 1 ms, and is right from 2 ms on.
    faster = 1 << 50
    clock = NodeClock(
        [(0, 0, faster), (1_000_000_000, 995_976_562, faster), (2_000_000_000, 2_000_000_000, 0)]
    )
    for true_ns, shown in [(0, 0), (510, 510), (1_024, 1_025), (1_000_000, 995_977), (2_500_000, 2_500_000)]:
        assert clock.shows(true_ns) == shown
    assert clock.at(500_000).when(500_488) == 500_000
    assert [piece[:2] for piece in clock.pieces(900_000, 2_000_500)] == [
        (900_000, 1_000_000),
        (1_000_000, 2_000_000),
        (2_000_000, 2_000_500),
    ]
