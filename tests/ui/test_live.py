"""Worst cases beside the streams while a scenario is typed: the numbers of ``tsnbench plan --bounds``."""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from support.commands import tsnbench
from tsnbench.planning import plan as make_plan
from tsnbench.scenario.loader import read_scenario
from tsnbench.templates import text as template_text
from tsnbench.ui.live.numbers import Live, live
from tsnbench.ui.live.simulated import LONG, simulated
from tsnbench.ui.live.swept import swept
from tsnbench.ui.live.worker import SLOW, Worker
from ui.browser import becomes, findings, tab_to, undone
from ui.conftest import SCENARIO, Server

SCENARIOS = Path(__file__).parents[2] / "scenarios"
LIMITED = SCENARIO.replace("500 us}", "500 us, requires: {delay: 50 us}}")
CROWDED = SCENARIO.replace("500 us}", "500 us, requires: {delay: 3 us}}") + (
    "  rest: {from: one, to: two, pcp: 0, saturating: true, frame: 1522 B}\n"
)
IMPOSSIBLE = SCENARIO.replace("500 us}", "500 us, requires: {delay: 1 us}}")


def printed(text: str, folder: Path) -> dict[str, Any]:
    """The answer of the command for the first run of a text."""
    (folder / "printed.yaml").write_text(text)
    found = json.loads(tsnbench("plan", "printed.yaml", "--bounds", "--json", cwd=folder).stdout)
    first: dict[str, Any] = found["runs"][0] if "runs" in found else found
    return first


@pytest.mark.parametrize("name", ["zonal", "ring", "train", "2-gates", "3-cbs-line", "7-frer-and-faults"])
def test_the_numbers_are_those_of_the_command(tmp_path: Path, name: str) -> None:
    file = SCENARIOS / f"tutorial/{name}.yaml"
    text = file.read_text() if file.exists() else template_text(name)
    found, told = live(text, str(tmp_path / "x.yaml")), printed(text, tmp_path)
    assert found["reason"] == ""
    flows: dict[str, list[Any]] = {}
    for flow in told["flows"]:
        flows.setdefault(flow["group"], []).append(flow["upper_ns"])
    assert {one["name"]: one["upper_ns"] for one in found["streams"]} == {
        group: None if None in upper else max(upper) for group, upper in flows.items()
    }
    rows = [row for one in found["streams"] for row in one["requirements"]]
    assert rows or not told["requirements"]
    for row in rows:
        assert {key: value for key, value in row.items() if key != "bar"} in told["requirements"]
    margins = [
        (row["group"], row["listener"], row["requirement"], row["worst_case_margin"])
        for row in told["requirements"]
    ]
    for row in rows:
        # No flow of the stream has a smaller margin than the shown one.
        own = (row["group"], row["listener"], row["requirement"])
        known = [margin for *whose, margin in margins if tuple(whose) == own]
        assert row["worst_case_margin"] == (None if None in known else min(known))


def test_loads_are_shares_of_the_rate(tmp_path: Path) -> None:
    # Octets every 500 us: 100, UDP and IPv4 28, Ethernet 14, VLAN tag 4, FCS 4, preamble and SFD 8, gap 12.
    found = live(SCENARIO, str(tmp_path / "x.yaml"))
    used = {(one["node"], one["peer"]): one["load"] for one in found["ports"]}
    share = 170 * 8 / 500e-6 / 1e9
    assert used == {(1, 0): pytest.approx(share), (0, 2): pytest.approx(share), (0, 1): 0, (2, 0): 0}
    assert {one["reserved"] for one in found["ports"]} == {None}
    text = SCENARIO.replace("pcp: 5", "class: sr/A") + "shapers: {all: {cbs: {A: 100 Mbit/s}}}\n"
    shaped = live(text, str(tmp_path / "x.yaml"))
    assert (shaped["reason"], {one["reserved"] for one in shaped["ports"]}) == ("", {0.1})


def test_a_text_without_a_plan_says_why(tmp_path: Path) -> None:
    file = str(tmp_path / "x.yaml")
    for text, reason in {
        "": "1:1: expected",
        SCENARIO.replace("to: two", "to: tow"): "9:",
        SCENARIO.replace("one-b, two-b", "one-b"): "a listener with a link",
        IMPOSSIBLE: "a limit of at least",
    }.items():
        found: Live = live(text, file)
        assert reason in found["reason"]
        assert found["streams"] == []


def test_a_plan_that_takes_too_long_ends_and_the_next_text_is_planned(tmp_path: Path) -> None:
    large = SCENARIOS / "bench/thousand.yaml"
    worker = Worker(budget_s=0.5)
    try:
        assert json.loads(worker.ask(large.read_text(), str(large)) or b"")["reason"] == SLOW
        assert json.loads(worker.ask(SCENARIO, "x.yaml") or b"")["reason"] == ""
    finally:
        worker.close()


def test_a_check_does_not_wait_for_a_plan(server: Server) -> None:
    # Planning it takes as long as planning may take, however fast this machine is.
    large = (SCENARIOS / "bench/thousand.yaml").read_text().replace("count: 500", "count: 5000")
    (server.folder / "large.yaml").write_text(large)
    planned: list[int] = []
    thread = threading.Thread(
        target=lambda: planned.append(server.ask("POST", "/api/live/large.yaml", large.encode())[0])
    )
    thread.start()
    server.ask("POST", "/api/check/two.yaml", SCENARIO.encode())
    assert planned == []
    thread.join()
    assert planned == [200]
    (server.folder / "large.yaml").unlink()


def test_an_older_text_is_dropped_and_that_of_another_file_is_not() -> None:
    worker = Worker()
    answers: dict[str, bytes | None] = {}

    def ask(name: str, file: str) -> threading.Thread:
        """A question that waits for the process when this returns."""
        waiting = dict(worker._newest)
        thread = threading.Thread(target=lambda: answers.update({name: worker.ask(SCENARIO, file)}))
        thread.start()
        while worker._newest == waiting:
            thread.join(0.001)
        return thread

    try:
        # Another text is planned for as long as the process is held.
        with worker._busy:
            threads = [ask("other", "x.yaml"), ask("older", "y.yaml"), ask("newer", "y.yaml")]
            assert answers == {}
        for thread in threads:
            thread.join()
    finally:
        worker.close()
    assert answers["older"] is None
    assert json.loads(answers["newer"] or b"")["reason"] == ""
    assert answers["other"] == answers["newer"]


def bars(page: Page) -> list[str | None]:
    return [one.get_attribute("aria-label") for one in page.locator(".worst-bar").all()]


def test_bars_follow_the_text_and_the_last_edit_is_a_ghost(page: Page, server: Server) -> None:
    page.locator("#text").fill(LIMITED)
    expect(page.locator("#live-said")).to_contain_text("WORST CASE KEEPS EVERY LIMIT: 1 requirement")
    (row,) = printed(LIMITED, server.folder)["requirements"]
    label = f"cam: delay at two, worst case {row['worst_case'] / 1000:g} us, limit 50 us"
    assert bars(page) == [label]
    expect(page.locator("#legend .tag")).to_have_text("✓ proved")
    expect(page.locator("#legend .ghost")).to_have_count(0)
    page.wait_for_timeout(2100)
    page.locator("#text").fill(LIMITED.replace("100 B", "1000 B"))
    expect(page.locator("#legend .was")).to_have_text(f"was {row['worst_case'] / 1000:g} us")
    expect(page.locator("#legend .ghost")).to_have_count(1)
    expect(page.locator(".load").first).to_have_text("1.71 %")
    page.locator("#text").fill(CROWDED)
    expect(page.locator("#legend .tag").first).to_have_text("✕ beyond")
    expect(page.locator("#legend .why").first).to_contain_text("too much at two")
    assert findings(page) == []


def test_a_text_without_a_plan_keeps_the_last_picture_greyed(page: Page) -> None:
    page.locator("#text").fill(LIMITED)
    expect(page.locator("#legend .tag")).to_have_text("✓ proved")
    before = bars(page)
    page.locator("#text").fill(LIMITED.replace("to: two", "to: tow"))
    expect(page.locator("#drawing")).to_have_class("pane stale")
    expect(page.locator("#live-said")).to_contain_text("No Plan: 9:")
    expect(page.locator("#live-said")).to_contain_text("the last Plan")
    assert bars(page) == before
    assert findings(page) == []
    page.keyboard.press("Control+z")
    expect(page.locator("#drawing")).to_have_class("pane")


def test_a_simulation_has_the_verdict_of_the_command_and_ends_within_its_budget(tmp_path: Path) -> None:
    (tmp_path / "two.yaml").write_text(LIMITED)
    found = simulated(LIMITED, str(tmp_path / "two.yaml"), budget_s=60)
    assert found["line"] == tsnbench("run", "two.yaml", cwd=tmp_path).stdout.splitlines()[-1]
    (row,) = json.loads((tmp_path / "runs/two/verdict.json").read_text())["rows"]
    assert [(one["found"], one["met"]) for one in found["rows"]] == [(row["found"], "yes")]
    long = LIMITED.replace("duration: 5 ms", "duration: 20000 s")
    assert simulated(long, str(tmp_path / "two.yaml"))["reason"] == LONG
    assert simulated("", "x.yaml")["reason"].startswith("x.yaml:1:1: expected")


def test_a_switch_simulates_after_each_edit(page: Page) -> None:
    page.locator("#text").fill(LIMITED.replace("pcp: 5", "pcp: 5, offset: 3 us"))
    page.get_by_role("switch", name="Simulate after each edit").check()
    expect(page.locator("#simulated")).to_contain_text("ALL MET (PROVED): 1 requirement")
    expect(page.locator(".worst-bar")).to_have_attribute(
        "aria-label", re.compile("limit 50 us, simulated 2.464 us")
    )
    page.locator("#text").fill(LIMITED.replace("duration: 5 ms", "duration: 20000 s"))
    expect(page.locator("#simulated")).to_have_text(LONG)
    expect(page.locator(".seen")).to_have_count(0)
    assert findings(page) == []


def test_a_slider_shows_worst_cases_while_it_is_dragged_and_writes_when_it_is_released(page: Page) -> None:
    page.locator("#text").fill(LIMITED)
    expect(page.locator("#legend .tag")).to_have_text("✓ proved")
    there = LIMITED.index("100 B") + 1
    page.locator("#text").focus()
    page.evaluate("(at) => document.getElementById('text').setSelectionRange(at, at)", there)
    slider = page.get_by_role("slider", name="Value of the number at the cursor")
    expect(slider).to_have_attribute("aria-valuetext", "100 B")
    box = slider.bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] / 2, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"], middle, steps=4)
    expect(page.locator("#slide output")).to_contain_text("400 B: 7.264 us of 50 us ✓ proved")
    expect(page.locator("#legend .was")).to_have_text("was 2.464 us")
    becomes(page, LIMITED)
    page.mouse.up()
    wanted = LIMITED.replace("100 B", "400 B")
    becomes(page, wanted)
    undone(page, LIMITED)


def test_a_slider_is_moved_by_keys_and_escape_keeps_the_value(page: Page) -> None:
    page.locator("#text").fill(LIMITED)
    expect(page.locator("#legend .tag")).to_have_text("✓ proved")
    page.locator("#text").focus()
    there = LIMITED.index("500 us")
    page.evaluate("(at) => document.getElementById('text').setSelectionRange(at, at)", there)
    slider = page.get_by_role("slider", name="Value of the number at the cursor")
    expect(slider).to_be_visible()
    page.keyboard.press("Tab")
    expect(slider).to_be_focused()
    page.keyboard.press("End")
    expect(slider).to_have_attribute("aria-valuetext", "2000 us")
    assert findings(page) == []
    page.keyboard.press("Escape")
    expect(page.locator("#text")).to_be_focused()
    becomes(page, LIMITED)
    page.keyboard.press("ArrowRight")
    expect(slider).to_be_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    becomes(page, LIMITED.replace("500 us", "2000 us"))


def test_a_row_shows_the_path_of_its_stream_and_a_shaper_its_reservation(page: Page) -> None:
    page.locator("#text").fill(
        LIMITED.replace("pcp: 5", "class: sr/A") + "shapers: {all: {cbs: {A: 100 Mbit/s}}}\n"
    )
    expect(page.locator("tspan").first).to_have_text("10 % reserved")
    expect(page.locator(".stream.chosen")).to_have_count(0)
    page.locator("#legend li").hover()
    expect(page.locator(".stream.chosen")).to_have_count(1)
    page.locator("#heading").hover()
    expect(page.locator(".stream.chosen")).to_have_count(0)
    page.locator("#legend button").click()
    expect(page.locator("#legend li")).to_have_class("current")


def test_the_strip_of_a_port_has_the_gates_and_frames_of_the_plan(tmp_path: Path) -> None:
    text = (SCENARIOS / "tutorial/11-scheduled.yaml").read_text()
    plan = make_plan(read_scenario(text, str(tmp_path / "x.yaml"))[0]).document
    port = next(one for one in plan["ports"] if one["name"] == "left -> right")
    found = live(text, str(tmp_path / "x.yaml"), "left -> right")["strip"]
    assert found is not None
    assert (found["port"], found["cycle_ns"], found["lists"]) == (
        "left -> right",
        port["gates"]["cycle_ns"],
        1,
    )
    for row in found["rows"]:
        own = row["classes"][0]
        opened = sum(one["interval_ns"] for one in port["gates"]["entries"] if one["open"] >> own & 1)
        assert row["open"] is not None
        assert sum(length for _, length in row["open"]) == opened
    # In 2 ms: four flows of 500 us, and seven frames of the camera's 9,000 B; each in an open gate.
    assert Counter(one["stream"] for one in found["frames"]) == {"loop": 16, "camera": 7}
    for one in found["frames"]:
        # A frame across the end of the cycle is within two windows.
        spans = found["rows"][one["row"]]["open"] or []
        begin, end = one["begin"], one["begin"] + one["length"]
        windows = [(at + turn, at + turn + long) for turn in (0, 2_000_000) for at, long in spans]
        assert sum(max(0, min(end, last) - max(begin, first)) for first, last in windows) == one["length"]
    unnamed = live(text, str(tmp_path / "x.yaml"))["strip"]
    assert unnamed is not None
    assert len(unnamed["frames"]) >= len(found["frames"])
    idle = live(SCENARIO, str(tmp_path / "x.yaml"), "one -> b")["strip"]
    assert idle is not None
    assert (idle["cycle_ns"], idle["rows"]) == (None, [])
    assert live(SCENARIO, str(tmp_path / "x.yaml"))["strip"] is None


def test_the_gates_of_a_chosen_port_follow_the_text(page: Page) -> None:
    gated = LIMITED + (
        "shapers:\n  b -> two:\n"
        "    gates: {cycle: 100 us, entries: [{open: [5], for: 30 us}, {open: [0], for: 70 us}]}\n"
    )
    page.locator("#text").fill(gated)
    strip = page.locator("#port-scroll svg")
    expect(strip).to_have_attribute(
        "aria-label", re.compile("Gates of b -> two, cycle 100 us.*class 5 open 0 ns to 30 us")
    )
    page.locator("#text").fill(gated.replace("for: 30 us", "for: 60 us").replace("for: 70 us", "for: 40 us"))
    expect(strip).to_have_attribute("aria-label", re.compile("class 5 open 0 ns to 60 us"))
    # Another port by its link; a port without gates says so.
    page.locator("[data-link='0']").click(force=True)
    page.locator("#port-name").select_option("one -> b")
    expect(page.locator("#port-said")).to_have_text(
        "No gates and no scheduled frames: each class may always send."
    )
    page.get_by_role("button", name="station two").click()
    page.get_by_role("button", name="bridge b").click()
    page.locator("#port-name").select_option("b -> two")
    expect(strip).to_be_visible()
    # Each answer draws the strip anew: one that is gone has no width.
    width = page.wait_for_function(
        "() => document.querySelector('#port-scroll svg')?.clientWidth"
    ).json_value()
    page.get_by_role("button", name="Show the cycle wider").click()
    page.wait_for_function(
        "width => Math.abs(document.querySelector('#port-scroll svg')?.clientWidth - 2 * width) <= 2",
        arg=width,
    )
    page.locator("#text").fill(gated.replace("to: two", "to: tow"))
    expect(page.locator("#live-said")).to_contain_text("the last Plan")
    expect(strip).to_be_visible()
    assert float(strip.evaluate("one => getComputedStyle(one).opacity")) < 1
    assert findings(page) == []


CAREFUL = CROWDED.replace("delay: 3 us", "delay: 18 us")


def test_a_swept_value_is_judged_as_tune_does(tmp_path: Path) -> None:
    text = CAREFUL.replace("payload: 100 B", "payload: ${octets}")
    text += "parameters: {octets: [100 B, 500 B, 900 B, 1400 B]}\n"
    (tmp_path / "swept.yaml").write_text(text)
    told = json.loads(
        tsnbench("tune", "swept.yaml", "--first", "octets", "--every", "--json", cwd=tmp_path).stdout
    )
    values = told["answers"][0]["evaluations"]
    assert [one["met"] for one in values] == [True, True, False, False]
    for one in values[:-1]:
        own = CAREFUL.replace("100 B", one["value"])
        found = swept(own, str(tmp_path / "x.yaml"), "cam")
        assert (found["met"], found["reason"]) == (one["met"], one["reason"])
        (row,) = printed(own, tmp_path)["requirements"]
        assert found["row"] is not None
        assert {key: value for key, value in found["row"].items() if key != "bar"} == row
    # The last value has no Plan.
    assert "expected a limit of at least 23264 ns" in values[-1]["reason"]
    assert (
        "expected a limit of at least 23264 ns"
        in swept(CAREFUL.replace("100 B", "1400 B"), "x.yaml")["reason"]
    )
    assert swept(SCENARIO, "x.yaml", "cam")["met"] is None
    assert swept("", "x.yaml")["reason"].startswith("1:1: expected")


def test_a_number_is_swept_until_the_next_edit(page: Page) -> None:
    limited = LIMITED.replace("delay: 50 us", "delay: 5 us")
    page.locator("#text").fill(limited)
    expect(page.locator("#legend .tag")).to_have_text("✓ proved")
    page.locator("#text").focus()
    there = limited.index("100 B") + 1
    page.evaluate("(at) => document.getElementById('text').setSelectionRange(at, at)", there)
    expect(page.get_by_role("slider", name="Value of the number at the cursor")).to_be_visible()
    tab_to(page, "#slide button")
    page.keyboard.press("Enter")
    sweep = page.get_by_role("region", name="Worst case over the values of the number")
    expect(sweep.get_by_role("button", name="Close")).to_be_visible()
    found = re.search(r"(\d+) B keeps every limit, (\d+) B does not", sweep.inner_text())
    assert found is not None
    kept, broken = int(found[1]), int(found[2])
    assert kept < broken <= kept + 2
    for octets, met in ((kept, True), (broken, False)):
        assert swept(limited.replace("100 B", f"{octets} B"), "x.yaml", "cam")["met"] is met
    assert sweep.locator(".dot").count() > 8
    assert sweep.locator(".cross").count() > 4
    assert findings(page) == []
    sweep.get_by_role("button", name=f"Write {kept} B").click()
    becomes(page, limited.replace("100 B", f"{kept} B"))
    expect(sweep).to_be_hidden()
    # The next edit ends a sweep, and no answer opens it again.
    page.locator("#slide button").click()
    expect(sweep).to_be_visible()
    page.locator("#text").press("1")
    expect(sweep).to_be_hidden()
