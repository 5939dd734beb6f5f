"""Frames of one capture against a gate control list: every edge of a window, computed by hand."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest

from support.commands import tsnbench
from support.planned import plan_of
from tsnbench import Simulation
from tsnbench.measure import MeasureError
from tsnbench.measure.conformance import DATE_NS, Against, Outside, conformance_table, kept
from tsnbench.measure.inspection import inspect_capture
from tsnbench.plan.document import Plan
from tsnbench.runs.manifest import note

SCENARIO = """
name: gates
duration: 5 ms
network:
  stations: [a, b]
  bridges: [s]
  links: {rate: 1 Gbit/s, cable: 20 m, between: [a -- s, s -- b]}
streams:
  loop: {from: a, to: b, pcp: 6, period: 250 us, payload: 100 B}
shapers:
  s -> b:
    queues: {classes: {6: 1, 1: 1, 0: 0}}
    gates: {cycle: 250 us, entries: [{open: [6, 1], for: 40 us}, {open: [0], for: 210 us}]}
"""
OCTETS = 100
ON_WIRE = (OCTETS + 8) * 8
"""The time in ns of a frame with preamble and start delimiter at 1 Gbit/s."""
STAMP = 64
"""The time in ns from the begin of a frame to its first bit after the start delimiter."""
CLOSES = 40_000
CYCLE = 250_000


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    return plan_of(SCENARIO)


def capture(begins: list[int], into: Path, pcp: int | None = 6) -> Path:
    """One frame of the Plan's stream per instant of ``begins``, stamped at its start; without FCS. Without
    ``pcp`` it is untagged, and as long."""
    content = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1)
    for number, begin in enumerate(begins):
        payload = b"TSN\x01" + struct.pack(">I", 0) + number.to_bytes(6, "big") + bytes(8)
        tag = b"" if pcp is None else struct.pack(">HH", 0x8100, pcp << 13 | 1)
        payload = payload.ljust(OCTETS - 4 - 14 - len(tag) - 20 - 8, b"\0")
        udp = struct.pack(">HHHH", 5000, 5001, 8 + len(payload), 0) + payload
        ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 1, 0, 64, 17, 0, bytes(4), bytes(4))
        frame = bytes.fromhex("020000000001020000000002") + tag + b"\x08\x00" + ip + udp
        assert len(frame) == OCTETS - 4
        content += struct.pack("<IIII", *divmod(begin + STAMP, 10**9), len(frame), len(frame)) + frame
    into.write_bytes(content)
    return into


def judged(path: Path, against: Against) -> tuple[int, int, list[Outside]]:
    found = inspect_capture(path, against=against)["gates"]
    assert found is not None
    (one,) = found["classes"]
    assert kept(found) == (one["began_closed"] + one["ended_closed"] == 0)
    return one["began_closed"], one["ended_closed"], one["first"]


@pytest.mark.parametrize(
    ("begin", "began", "ended", "over"),
    [
        (0, 0, 0, None),
        (CLOSES - ON_WIRE, 0, 0, None),
        (CLOSES - ON_WIRE + 2, 0, 0, None),
        (CLOSES - ON_WIRE + 3, 0, 1, 3),
        (CLOSES + 1, 0, 1, ON_WIRE + 1),
        (CLOSES + 2, 1, 0, None),
        (CYCLE - 3, 1, 0, None),
        (CYCLE - 2, 0, 0, None),
        (7 * CYCLE + 1, 0, 0, None),
    ],
)
def test_every_edge(plan: Plan, tmp_path: Path, begin: int, began: int, ended: int, over: int | None) -> None:
    path = capture([begin], tmp_path / "one.pcap")
    found = judged(path, Against(plan, stamp="start"))
    assert found[:2] == (began, ended)
    if not began + ended:
        assert found[2] == []
        return
    (one,) = found[2]
    assert (one["stream"], one["sequence"], one["t_ns"]) == ("loop", 0, begin + STAMP)
    assert (one["in_cycle_ns"], one["over_ns"]) == (begin % CYCLE, over)


def test_a_window_across_the_end_of_a_cycle(plan: Plan, tmp_path: Path) -> None:
    # With this base time class 0 is open from 60 us to 270 us, so a frame may be on the wire at 250 us.
    against = Against(plan, stamp="start", base_time_ns=20_000)
    path = capture(
        [CYCLE - 100, CYCLE + 20_000 - ON_WIRE, CYCLE + 20_000 - ON_WIRE + 3], tmp_path / "a", pcp=0
    )
    began, ended, first = judged(path, against)
    assert (began, ended) == (0, 1)
    assert [(one["sequence"], one["over_ns"]) for one in first] == [(2, 3)]


@pytest.mark.parametrize("pcp", [0, None])
@pytest.mark.parametrize(("over", "ended"), [(2, 0), (3, 1)])
def test_untagged_frames_are_of_pcp_0(
    plan: Plan, tmp_path: Path, pcp: int | None, over: int, ended: int
) -> None:
    path = capture([CYCLE - ON_WIRE + over], tmp_path / "one.pcap", pcp)
    assert judged(path, Against(plan, stamp="start", base_time_ns=CYCLE))[:2] == (0, ended)


OWN = "{open: [6], for: 40 us}, {open: [0], for: 210 us}"


@pytest.mark.parametrize(
    ("rate", "stamp", "entries", "pcp", "begin", "outside"),
    [
        # A gate that is always open has no end, also if a frame (864 ns) is longer than two cycles.
        ("1 Gbit/s", 64, "{open: [6, 0], for: 200 ns}, {open: [6], for: 200 ns}", 6, 0, (0, 0)),
        ("1 Gbit/s", 64, "{open: [6], for: 250 us}", 0, 0, (1, 0)),
        # 3.2 ns for each of 108 octets: 345.6 ns are 346, and the 25.6 ns before the stamp are 26.
        ("2500 Mbit/s", 26, OWN, 6, CLOSES - 346 + 2, (0, 0)),
        ("2500 Mbit/s", 26, OWN, 6, CLOSES - 346 + 3, (0, 1)),
    ],
)
def test_other_gates_and_rates(
    tmp_path: Path, rate: str, stamp: int, entries: str, pcp: int, begin: int, outside: tuple[int, int]
) -> None:
    head = SCENARIO.replace("cycle: 250 us, ", "").replace("1 Gbit/s", rate).partition("entries: ")[0]
    made = plan_of(f"{head}entries: [{entries}]}}\n")
    path = capture([begin + stamp - STAMP], tmp_path / "one.pcap", pcp)
    assert judged(path, Against(made, stamp="start"))[:2] == outside


def test_tolerance_and_the_first_frames(plan: Plan, tmp_path: Path) -> None:
    path = capture([100_000 + n * 1_000 for n in range(8)], tmp_path / "eight.pcap")
    began, _, first = judged(path, Against(plan, stamp="start"))
    assert (began, [one["sequence"] for one in first]) == (8, [0, 1, 2, 3, 4])
    assert judged(path, Against(plan, stamp="start", tolerance_ns=64_000))[0] == 4


@pytest.mark.parametrize(("initial", "outside"), [(0b01, [0]), (0b10, [])])
def test_initial_gates_hold_before_the_base_time(
    plan: Plan, tmp_path: Path, initial: int, outside: list[int]
) -> None:
    """At the base time the list begins, in which class 1 is open first."""
    document = json.loads(json.dumps(plan.document))
    (gates,) = [port["gates"] for port in document["ports"] if "gates" in port]
    gates["base_time_ns"], gates["initial"] = 520_000, initial
    path = capture([10_000, 520_000], tmp_path / "two.pcap")
    began, _, first = judged(path, Against(Plan(document), stamp="start"))
    assert (began, [one["sequence"] for one in first]) == (len(outside), outside)
    assert [one["in_cycle_ns"] for one in first] == [10_000 + 3 * CYCLE - 520_000] * len(outside)


@pytest.mark.parametrize(
    ("stage", "port", "point", "stamp"),
    [
        ("tx", 2, "end", "end"),
        ("tx", 0, "end", "start"),
        ("rx", 3, "end", "received"),
        ("rx", 3, "start", "start"),
        ("rx", 1, "end", "start"),
        ("qdisc", 2, "end", "start"),
        ("kernel-rx", 3, "end", "start"),
    ],
)
def test_stamps_are_those_of_the_plans_tap(
    plan: Plan, tmp_path: Path, stage: str, port: int, point: str, stamp: str
) -> None:
    """Port 2 has the gates, and port 3 is at the other end of its link."""
    tap: Any = {"stage": stage, "port": port, "point": point}
    document: Any = {**plan.document, "taps": [tap]}
    found = inspect_capture(capture([0], tmp_path / "one.pcap"), against=Against(Plan(document)))["gates"]
    assert found is not None
    assert {key: found[key] for key in ("port", "stamp", "base_time_ns", "cycle_ns", "tolerance_ns")} == {  # type: ignore[literal-required]
        "port": "s -> b",
        "stamp": stamp,
        "base_time_ns": 0,
        "cycle_ns": CYCLE,
        "tolerance_ns": 2,
    }


def test_frames_with_one_stamp_have_no_name(plan: Plan, tmp_path: Path) -> None:
    _, _, first = judged(capture([100_000] * 2, tmp_path / "two.pcap"), Against(plan, stamp="start"))
    assert [(one["stream"], one["sequence"]) for one in first] == [(None, None)] * 2


def test_stamps_at_the_other_end_of_the_link(plan: Plan, tmp_path: Path) -> None:
    # The frame's last bit arrives 100 ns after it left, over a cable of 20 m.
    path = capture([CLOSES - STAMP + 100], tmp_path / "one.pcap")
    assert judged(path, Against(plan, stamp="received"))[:2] == (0, 0)
    assert judged(path, Against(plan, stamp="end"))[:2] == (0, 1)
    assert judged(path, Against(plan, stamp="start"))[:2] == (1, 0)


def test_a_simulated_run_keeps_its_gates(plan: Plan, tmp_path: Path) -> None:
    scenario = tmp_path / "gates.yaml"
    scenario.write_text(SCENARIO)
    run = tmp_path / "run"
    assert tsnbench("run", scenario, "--pcap", "--into", run).returncode == 0
    arrived = str(run / "captures/s-b-rx.pcapng")
    given = tsnbench("inspect", arrived, "--plan", run, "--json")
    assert given.returncode == 0, given.stderr
    gates = json.loads(given.stdout)["gates"]
    assert (gates["port"], gates["stamp"]) == ("s -> b", "received")
    assert gates["classes"] == [
        {"traffic_class": 1, "frames": 20, "began_closed": 0, "ended_closed": 0, "first": []}
    ]
    late = ["inspect", arrived, "--plan", str(run / "plan.json"), "--base-time", "100us"]
    given = tsnbench(*late)
    assert given.returncode == 1
    assert "OUTSIDE" in given.stdout
    page = tmp_path / "page.html"
    assert tsnbench(*late, "--into", page).returncode == 1
    assert "loop frame 0 began" in page.read_text()


@pytest.mark.parametrize(("over", "outside"), [(2, (0, 0)), (3, (0, 1))])
def test_a_slower_capture_is_compared_in_its_own_time(
    plan: Plan, tmp_path: Path, over: int, outside: tuple[int, int]
) -> None:
    """Ten times slower, 108 octets take 8,640 ns, the cycle 2.5 ms, and the window ends at 400 us."""
    begin = 10 * (CYCLE + CLOSES - ON_WIRE) + over
    path = capture([begin + 9 * STAMP], tmp_path / "one.pcap")
    began, ended, first = judged(path, Against(plan, stamp="start", dilate=10))
    assert (began, ended) == outside
    assert [(one["in_cycle_ns"], one["over_ns"]) for one in first] == [
        (10 * (CLOSES - ON_WIRE) + over, over)
    ] * outside[1]


def test_the_manifest_beside_a_capture_says_how_much_slower_it_is(plan: Plan, tmp_path: Path) -> None:
    """A run with ``--dilate 10`` has captures in the guest's time. Elsewhere, only the user knows."""
    run = plan.run(on=Simulation(), into=tmp_path / "run").folder
    (run / "captures").mkdir()
    own = capture([10 * (CYCLE + 30_000) + 9 * STAMP], run / "captures/s-b.pcap")
    note(run, {"dilate": 10, "files": ["captures/s-b.pcap"]})
    words = ("--stamp", "start", "--json", "--plan")
    told = tsnbench("inspect", own, *words, run)
    assert (told.returncode, json.loads(told.stdout)["gates"]["dilate"]) == (0, 10)
    assert tsnbench("inspect", own, *words, run / "plan.json", "--dilate", "1").returncode == 1
    moved = own.rename(tmp_path / "moved.pcap")
    told = tsnbench("inspect", moved, *words, run)
    assert told.returncode == 2
    assert "was made with --dilate 10, and this capture is outside of its folder" in told.stderr
    assert tsnbench("inspect", moved, *words, run, "--dilate", "10").returncode == 0


def test_the_table_of_gates_by_hand() -> None:
    outside: list[Any] = [
        {"stream": "loop", "sequence": 7, "t_ns": 41_064, "in_cycle_ns": 41_000, "over_ns": None},
        {"stream": None, "sequence": None, "t_ns": 39_064, "in_cycle_ns": 39_000, "over_ns": 1_003},
    ]
    classes = [(0, 3, 0, 0, []), (1, 1_200, 1, 1, outside)]
    names = ("traffic_class", "frames", "began_closed", "ended_closed", "first")
    found: Any = {
        "port": "s -> b", "dilate": 1, "base_time_ns": 20_000, "cycle_ns": CYCLE, "stamp": "start",
        "tolerance_ns": 2,
        "classes": [dict(zip(names, own, strict=True)) for own in classes],
    }  # fmt: skip
    table = conformance_table(found)
    heads = ["class", "frames", "began while closed", "ended while closed", ""]
    assert (table.title, [column.header for column in table.columns]) == ("gates", heads)
    assert [column.left for column in table.columns] == [False] * 4 + [True]
    assert table.rows == [["0", "3", "0", "0", "kept"], ["1", "1,200", "1", "1", "OUTSIDE"]]
    assert table.captions == [
        "s -> b: cycle 250 us, base time 20 us; stamps: start of the frame where it leaves; tolerance 2 ns",
        "class 1: loop frame 7 began 41.000 us after the begin of the cycle, while its gate was closed "
        "(stamp 41064)",
        "class 1: a frame began 39.000 us after the begin of the cycle and ended 1.003 us after its gate "
        "closed (stamp 39064)",
    ]
    slower: Any = {**found, "dilate": 10}
    assert conformance_table(slower).captions[1] == (
        "times are those of the capture, 10 times as long as in the Plan"
    )


def test_dates_and_a_base_time_of_the_run_do_not_fit(plan: Plan, tmp_path: Path) -> None:
    begin = 1_795_234_296 * 10**9
    path = capture([begin], tmp_path / "dated.pcap")
    assert "--base-time" in inspect_capture(path, against=Against(plan))["warnings"][0]
    for base in (begin, 0):
        assert inspect_capture(path, against=Against(plan, base_time_ns=base))["warnings"] == []
    for stamp, warnings in ((DATE_NS, 1), (DATE_NS - 1, 0)):
        path = capture([stamp - STAMP], tmp_path / "edge.pcap")
        assert len(inspect_capture(path, against=Against(plan))["warnings"]) == warnings


def test_ports_that_do_not_fit(plan: Plan, tmp_path: Path) -> None:
    path = capture([0], tmp_path / "one.pcap")
    with pytest.raises(MeasureError, match="expected a port with gates, found a -> s\nhint: s -> b"):
        inspect_capture(path, against=Against(plan, port="a -> s"))
    (gated,) = [port for port in plan.document["ports"] if "gates" in port]
    changes: Any = [{"at_ns": 1, **gated["gates"]}]
    for count, more in ((2, ""), (8, ""), (9, ", …")):
        ports: Any = [{**gated, "name": f"p{number}"} for number in range(count)]
        named = ", ".join(f"p{number}" for number in range(min(count, 8))) + more
        several = Plan({**plan.document, "ports": ports})
        with pytest.raises(MeasureError, match=f"expected one of the ports with gates: {named}$"):
            inspect_capture(path, against=Against(several))
        assert inspect_capture(path, against=Against(several, port="p1"))["gates"]["port"] == "p1"  # type: ignore[index]
        ports[1]["gates"] = {**gated["gates"], "changes": changes}
        with pytest.raises(
            MeasureError, match=r"^p1: expected one gate control list, found a port whose list"
        ):
            inspect_capture(path, against=Against(several, port="p1"))
    with pytest.raises(MeasureError, match="the Plan has no gates"):
        inspect_capture(path, against=Against(Plan({**plan.document, "ports": []})))
    given = tsnbench("inspect", path, "--port", "s -> b")
    assert given.returncode == 2
    assert "expected --plan" in given.stderr
