"""Schedules in reports: figures agree with the Plan, with few streams and with many."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from support.html_page import read
from support.planned import plan_of
from tsnbench.plan.document import Plan
from tsnbench.planning import plan
from tsnbench.report.axis import axis
from tsnbench.report.data import gather
from tsnbench.report.figures.schedule import FRAMES, PAGES, PORTS, WAYS, schedule
from tsnbench.report.parts.planned import Planned, planned
from tsnbench.report.plan_page import write_plan
from tsnbench.scenario import load, read_scenario

TUTORIAL = Path(__file__).parents[2] / "scenarios" / "tutorial"
FULL_QUEUE_US = 1_000 * 12
"""A queue of 1,000 full frames at 1 Gbit/s."""


@pytest.fixture(scope="module")
def few() -> Plan:
    return plan(load(TUTORIAL / "11-scheduled.yaml"))


@pytest.fixture(scope="module")
def many() -> Plan:
    """Three hundred streams around a ring, with a margin for clocks."""
    draw = random.Random(3)
    links = [f"b{n} -- b{(n + 1) % 8}" for n in range(8)] + [f"s{n} -- b{n // 2}" for n in range(16)]
    lines = ["name: many", "duration: 8 ms", "network:", "  bridges:"]
    lines += [f"    b{n}: {{processing: 2 us}}" for n in range(8)]
    lines += [f"  stations: [{', '.join(f's{n}' for n in range(16))}]"]
    lines += [f"  links: {{rate: 1 Gbit/s, cable: 20 m, between: [{', '.join(links)}]}}"]
    lines += ["schedule: {margin: 300 ns}", "streams:"]
    for n in range(300):
        talker, listener = draw.sample(range(16), 2)
        period, size = draw.choice([500, 1000, 2000, 4000]), draw.randrange(100, 501)
        lines.append(
            f"  c{n}: {{from: s{talker}, to: s{listener}, pcp: 7, frame: {size} B, period: {period} us, "
            "scheduled: true}"
        )
    lines.append("  rest: {from: s0, to: s9, saturating: true, frame: 1522 B}")
    return plan_of("\n".join(lines) + "\n")


def _us(cell: str) -> float:
    return float("".join(cell.split()))


def _found(made: Plan) -> Planned:
    found = planned(made.document)
    assert found is not None
    return found


@pytest.mark.parametrize("which", ["few", "many"])
def test_frames_are_where_gates_are_open_and_never_two_at_once(
    which: str, request: pytest.FixtureRequest
) -> None:
    for port in _found(request.getfixturevalue(which)).ports:
        lane = next(lane for lane in port.lanes if lane.scheduled)
        ends = 0.0
        for slot in port.slots:
            assert slot.begin >= ends - 1e-6, (port.name, slot)
            ends = slot.begin + slot.length
            # A slot across the end of the cycle is checked up to the end.
            last = min(ends, port.cycle)
            assert any(
                begin <= slot.begin + 1e-6 and last <= begin + length + 1e-6 for begin, length in lane.open
            ), (port.name, slot, lane.open)
        for other in port.lanes:
            if not other.scheduled:
                for begin, length in other.open:
                    end = begin + length
                    assert not any(begin < one.begin + one.length and one.begin < end for one in port.slots)


def test_every_frame_of_a_cycle_is_there(few: Plan) -> None:
    found = _found(few)
    port = next(port for port in found.ports if port.name == "left -> right")
    # In 2 ms: four flows every 500 us, and seven frames every 2 ms.
    assert [sum(slot.number == number for slot in port.slots) for number in (1, 2)] == [16, 7]
    # 1522 octets, preamble and delimiter at 1 Gbit/s.
    guards = {lane.guard for lane in port.lanes if not lane.scheduled}
    assert guards == {(1522 + 8) * 8.0}


def test_planned_delays_are_what_the_proof_says(few: Plan, many: Plan) -> None:
    from tsnbench.plan.bounds import bounds

    for made in (few, many):
        proved: dict[str, int] = {}
        for flow in bounds(made)["flows"]:
            if "source" in flow:
                most = max(proved.get(flow["stream"], 0), flow["release_upper_ps"])
                proved[flow["stream"]] = most
        for stream in _found(made).streams:
            for name in stream.names:
                assert (stream.delay + stream.margin) * 1e3 == pytest.approx(proved[name], abs=10)


def test_flows_that_take_the_same_times_share_a_diagram(few: Plan) -> None:
    loop, camera = _found(few).streams
    assert (loop.label, len(loop.releases), camera.label) == ("loop (4 flows)", 4, "camera")
    assert loop.path.split(" \N{RIGHTWARDS ARROW} ") == ["controller", "left", "right", "robot"]


def test_figures_of_many_streams_name_what_they_omit(many: Plan) -> None:
    found = _found(many)
    drawn = schedule(found)
    assert [one.name for one in drawn] == [
        *(f"schedule-{n}" for n in range(1, PAGES + 1)),
        *(f"paths-{n}" for n in range(1, PAGES + 1)),
    ]
    left = len(found.ports) - PAGES * PORTS
    assert left > 0
    assert f"{left} more ports, with fewer frames, are not drawn." in drawn[PAGES - 1].caption
    assert f"{300 - PAGES * WAYS} more streams, with more slack" in drawn[-1].caption
    busiest = found.ports[0]
    cut = f"{len(busiest.slots)} frames in 4\u202fms, of which the first {FRAMES} are drawn"
    assert cut in drawn[0].caption


def test_the_axis_is_to_scale_in_stretches_and_never_goes_back() -> None:
    spans = [(0.0, 10.0), (500.0, 520.0), (525.0, 530.0), (1_900.0, 1_910.0)]
    scale, left_out = axis(spans, 2_000.0, 8)
    assert left_out == 0
    assert [round(mark[0]) for mark in scale.marks] == [0, 500, 1_900]
    # Ten units have the same length in all stretches.
    assert scale.at(10) - scale.at(0) == pytest.approx(scale.at(510) - scale.at(500))
    assert scale.at(10) - scale.at(0) == pytest.approx(scale.at(1_910) - scale.at(1_900))
    places = [scale.at(time) for time in range(0, 2_001, 5)]
    assert places == sorted(places)
    assert (places[0], places[-1]) == (0.0, 1.0)
    assert len(scale.pauses) == 2
    assert axis(spans, 2_000.0, 2)[1] == 1


def test_the_page_of_a_plan_has_every_part(few: Plan, tmp_path: Path) -> None:
    page = read(write_plan(few, tmp_path, "Gates that are planned", figures=("svg",)))
    assert "No run has been made. The schedule is proved" in page.text
    rows = page.table("Scheduled streams by their number")
    assert [row[1] for row in rows[1:]] == ["loop (4 flows)", "camera"]
    assert rows[1][5:] == ["8.092", "0.000", "50.000", "41.908"]
    bounds = page.table("Upper and lower bounds of all delays")
    assert [
        *("loop (4 flows)", "robot", "8.028", "8.028", "50.000", "kept", "from the schedule's proof"),
    ] in bounds
    assert any(row[0] == "files" and _us(row[3]) > FULL_QUEUE_US for row in bounds)
    assert bounds[0][2:6] == ["At least", "At most", "Limit", "Worst case"]
    assert {tuple(row[4:6]) for row in bounds if row[0] == "files"} == {("not required", "")}
    assert {"schedule.svg", "paths.svg", "topology.svg"} <= {p.name for p in (tmp_path / "figures").iterdir()}
    assert not page.unlabelled
    assert not [reference for reference in page.references if not reference.startswith(("#", "data:"))]


def test_a_plan_without_a_schedule_has_a_page(tmp_path: Path) -> None:
    page = read(write_plan(plan(load(TUTORIAL / "1-first-link.yaml")), tmp_path / "gates.html"))
    assert "No stream is scheduled." in page.text


def test_values_for_a_switch_keep_every_digit(tmp_path: Path) -> None:
    """A base time and entries in whole ns, and a shaper in both systems of units."""
    text = (TUTORIAL / "3-cbs-line.yaml").read_text(encoding="utf-8").replace("[1, 2, ... 11]", "2")
    entries = "[{open: [3], for: 1000001 ns}, {open: all, for: 250 us}]"
    lists = f"gates: {{base-time: 1234567 ns, entries: {entries}}}"
    (scenario,) = read_scenario(text.replace("cbs: [A]", f"cbs: [A], {lists}"))
    made = plan(scenario)
    page = read(write_plan(made, tmp_path / "page.html"))
    rows = page.table("Gates of zgw1 -> zgw2")
    assert rows[1:] == [["0 ns", "1.000001 ms", "3"], ["1.000001 ms", "250 us", "3, 2, 1, 0"]]
    assert "cycle 1.250001 ms, base time 1.234567 ms" in page.text
    shaper = next(
        port["classes"][number]["cbs"]
        for port in made.document["ports"]
        for number in range(len(port["classes"]))
        if "cbs" in port["classes"][number]
    )
    numbers = [str(shaper[key]) for key in ("idle_slope_bps", "send_slope_bps", "hi_credit_bits")]
    assert any(row[2:5] == numbers for row in page.table("Credit-based shapers"))


def test_the_report_of_a_run_shows_its_schedule_and_its_proof(few: Plan, tmp_path: Path) -> None:
    from tsnbench import report
    from tsnbench.campaign.campaign import Options, run_one
    from tsnbench.scenario.selection import shortened

    scenario = shortened(load(TUTORIAL / "11-scheduled.yaml"), 20_000_000, None)
    run_one(scenario.plan(), tmp_path / "run", Options(report=False))
    page = read(report.write(tmp_path / "run"))
    assert page.table("Scheduled streams by their number")
    rows = {row[0]: row for row in page.table("The greatest delay that the Plan allows")}
    assert rows["loop (4 flows)"][1:] == ["kept", "8.028", "8.028", "1.000", "from the schedule's proof"]
    assert _us(rows["files"][2]) > FULL_QUEUE_US
    assert gather(tmp_path / "run").planned is not None
    assert {"schedule-title", "paths-title"} <= set(page.ids)
