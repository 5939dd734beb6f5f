"""The views of runs, comparisons and studies in a real browser: charts, keys, addresses, accessibility."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Literal
from urllib.parse import parse_qs, urlencode

import pytest
from playwright.sync_api import Page, expect

from support.commands import tsnbench
from ui.browser import findings, loaded
from ui.conftest import SCENARIO, SWEEP, Server


@pytest.fixture
def page(listed: Page) -> Page:
    return listed


def address(page: Page) -> dict[str, str]:
    return {key: values[0] for key, values in parse_qs(page.url.partition("#")[2]).items()}


def test_the_address_leads_to_the_window_and_the_frame(page: Page, server: Server, runs: list[str]) -> None:
    page.get_by_role("link", name=f"charts of {runs[0]}").click()
    loaded(page)
    verdict = json.loads((server.folder / runs[0] / "verdict.json").read_text())["rows"][0]
    bar = page.get_by_role("img", name="met (proved)")
    expect(bar).to_have_attribute(
        "aria-label",
        f"met (proved): found {verdict['found'] / 1000} us, worst case "
        f"{verdict['worst_case'] / 1000} us, limit 4 us",
    )
    page.get_by_role("button", name="Slowest frame of the run").click()
    expect(page.locator("#why caption")).to_contain_text("from hand-over to arrival")
    expect(page.locator("#run-command")).to_contain_text("--from")
    loaded(page)
    there = address(page)
    assert there["frame"].startswith("cam/")
    told = tsnbench("replay", runs[0], "--json", "--frame", there["frame"], cwd=server.folder)
    total = json.loads(told.stdout)["frames"][0]["total_ns"]
    expect(page.locator("#why caption")).to_contain_text(f"{total / 1000:g} us from hand-over")
    # The same address in a new page shows the same.
    url, title = page.url, page.locator("#why caption").inner_text()
    page.goto("about:blank")
    page.goto(url)
    loaded(page)
    expect(page.locator("#why caption")).to_have_text(title)
    assert address(page) == there


def test_charts_are_zoomed_by_keys_wheel_and_mouse(page: Page, runs: list[str]) -> None:
    page.get_by_role("link", name=f"charts of {runs[0]}").click()
    loaded(page)
    chart = page.locator("#chart-gantt")
    chart.focus()
    page.keyboard.press("+")
    expect(page.locator("#run-command")).to_contain_text("--from")
    page.wait_for_url("**from=**")
    first = address(page)
    page.keyboard.press("ArrowRight")
    page.wait_for_url(lambda url: f"from={first['from']}&" not in url)
    page.keyboard.press("Home")
    page.wait_for_url(lambda url: "from=" not in url)
    loaded(page)
    delay = page.locator("#chart-delay")
    delay.scroll_into_view_if_needed()
    box = delay.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] * 0.4, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + 60, steps=3)
    page.mouse.up()
    page.wait_for_url("**from=**")
    dragged = address(page)
    assert 0.5e6 < int(dragged["until"]) - int(dragged["from"]) < 3e6
    loaded(page)
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 60)
    page.mouse.wheel(0, -100)
    page.wait_for_url(lambda url: f"from={dragged['from']}&" not in url)
    loaded(page)
    # A click chooses the nearest frame.
    delay.click(position={"x": box["width"] * 0.5, "y": 60})
    page.wait_for_url("**frame=cam**")


def drawn(page: Page, canvas: str) -> int:
    """How many of the first two colours of runs are in a canvas."""
    return int(
        page.locator(canvas).evaluate(
            """canvas => {
              const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
              const inks = new Set();
              for (let n = 0; n < data.length; n += 4) inks.add(`${data[n]},${data[n + 1]},${data[n + 2]}`);
              return ["0,114,178", "213,94,0"].filter((ink) => inks.has(ink)).length;
            }"""
        )
    )


def test_compared_runs_have_the_numbers_of_the_command(page: Page, server: Server, runs: list[str]) -> None:
    for run in runs:
        page.get_by_label(f"Compare {run}", exact=True).check()
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page.locator("#view-compare table").first).to_be_visible()
    expect(page.locator("#chart-runs")).to_have_attribute("data-ready", "yes")
    told = json.loads(tsnbench("compare", *runs, "--json", cwd=server.folder).stdout)
    query = "&".join(f"run={run}" for run in runs)
    answer = json.loads(server.ask("GET", f"/api/compare?{query}")[2])
    for one in (told, answer):
        for run in one["runs"]:
            run.pop("folder")
    assert answer == told
    agree = sum(one["agrees"] for one in told["agreements"])
    expect(page.locator("#view-compare")).to_contain_text(
        f"{agree} of {len(told['agreements'])} quantities agree"
    )
    expect(page.locator("#view-compare code")).to_have_text(f"tsnbench compare {' '.join(runs)}")
    # One requirement, and a bar of each run with the numbers of its verdict.
    bars = page.get_by_label("Requirements").locator(".requirement")
    expect(bars).to_have_count(2)
    for n, run in enumerate(runs):
        (row,) = json.loads((server.folder / run / "verdict.json").read_text())["rows"]
        expect(bars.nth(n)).to_have_attribute(
            "aria-label", re.compile(f"found {row['found'] / 1000:.3f}".rstrip("0") + " us")
        )
    # Both runs over one time: frames and greatest delays are those of the comparison.
    delay = page.locator("#chart-runs-delay")
    expect(delay).to_have_attribute("data-ready", "1")
    label = delay.get_attribute("aria-label") or ""
    for row in told["streams"]:
        greatest = f"{row['delay']['max'] / 1000:.3f}".rstrip("0").rstrip(".")
        named = told["runs"][row["side"]]["label"]
        assert f"{named}: {row['received']} frames, greatest {greatest} us" in label
    assert drawn(page, "#chart-runs-delay") == drawn(page, "#chart-runs") == 2
    delay.focus()
    page.keyboard.press("+")
    expect(delay).to_have_attribute("data-ready", "2")
    closer = delay.get_attribute("aria-label") or ""
    assert closer != label
    counts = [[int(n) for n in re.findall(r"(\d+) frames", one)] for one in (label, closer)]
    assert all(0 < near < far for far, near in zip(*counts, strict=True))
    page.keyboard.press("Home")
    expect(delay).to_have_attribute("data-ready", "3")
    assert delay.get_attribute("aria-label") == label


def test_runs_of_two_files_show_how_their_texts_differ(page: Page, server: Server, runs: list[str]) -> None:
    (server.folder / "other.yaml").write_text(
        SWEEP.replace("name: swept", "name: other").replace("[500 us, 250 us]", "250 us")
    )
    tsnbench("run", "other.yaml", "--into", "other", cwd=server.folder)
    page.goto(page.url.partition("#")[0] + "#" + urlencode({"compare": f"{runs[0]}|other"}))
    found = page.locator(".side-by-side")
    expect(found.locator(".removed")).to_have_text([re.compile("^name: swept"), re.compile("500 us, 250 us")])
    expect(found.locator(".added")).to_have_text([re.compile("^name: other"), re.compile("period: 250 us")])
    for canvas, ready in (("#chart-runs-delay", "1"), ("#chart-runs", "yes")):
        expect(page.locator(canvas)).to_have_attribute("data-ready", ready)
    assert drawn(page, "#chart-runs-delay") == drawn(page, "#chart-runs") == 2
    # Runs of one file have one text.
    page.goto(page.url.partition("#")[0] + "#" + urlencode({"compare": "|".join(runs)}))
    expect(page.locator("#view-compare code")).to_have_text(f"tsnbench compare {' '.join(runs)}")
    expect(page.get_by_label("Texts")).to_have_count(0)


def test_a_stream_that_only_one_of_the_compared_runs_has_is_drawn(
    page: Page, server: Server, runs: list[str]
) -> None:
    (server.folder / "more.yaml").write_text(
        SCENARIO.replace("name: two", "name: more")
        + "  radar: {from: two, to: one, pcp: 5, payload: 100 B, period: 500 us}\n"
    )
    tsnbench("run", "more.yaml", "--into", "more", cwd=server.folder)
    page.goto(page.url.partition("#")[0] + "#" + urlencode({"compare": f"{runs[0]}|more"}))
    curves = page.get_by_label("Delays of one stream")
    curves.get_by_label("Stream").select_option(label="radar to one")
    expect(page.locator("#chart-runs")).to_have_attribute("data-stream", "radar")
    assert drawn(page, "#chart-runs-delay") == drawn(page, "#chart-runs") == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_view_has_a_serious_finding_of_axe(
    page: Page, runs: list[str], scheme: Literal["light", "dark"]
) -> None:
    page.emulate_media(color_scheme=scheme)
    page.get_by_role("button", name="two.yaml", exact=True).click()
    expect(page.locator(".node").first).to_be_visible()
    page.get_by_role("button", name="station one").click()
    page.get_by_role("button", name="+ Link").click()
    page.locator("#where summary").click()
    expect(page.locator("#places li")).to_have_count(4)
    assert findings(page) == []
    page.get_by_role("button", name="+ Link").click()
    page.locator("[data-legend]").first.click()
    page.get_by_role("button", name="Add the requirement").click()
    expect(page.get_by_label("delay of cam")).to_be_focused()
    assert findings(page) == []
    page.get_by_role("button", name="New scenario").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    assert findings(page) == []
    page.keyboard.press("Escape")
    page.locator("#text").fill(SCENARIO.replace("to: two", "to: tow"))
    expect(page.locator("#problems .fix")).to_be_visible()
    page.locator("#text").press("Control+f")
    page.keyboard.type("o")
    expect(page.locator("#search-count")).to_contain_text("of")
    assert findings(page) == []
    page.keyboard.press("Escape")
    page.locator("#text").press("F8")
    page.locator("#text").press("Control+Space")
    expect(page.locator("#candidates").get_by_role("option").first).to_be_visible()
    assert findings(page) == []
    page.locator("#text").fill(SCENARIO)
    page.get_by_role("link", name=f"charts of {runs[0]}").click()
    loaded(page)
    assert findings(page) == []
    page.goto(page.url.partition("#")[0] + "#" + urlencode({"compare": "|".join(runs)}))
    expect(page.locator("#chart-runs")).to_have_attribute("data-ready", "yes")
    assert findings(page) == []
    page.get_by_role("button", name="Studies").click()
    expect(page.locator("#view-studies")).to_have_attribute("data-ready", "yes")
    assert findings(page) == []
    page.emulate_media(color_scheme="light")


def test_a_thousand_nodes_are_drawn_found_and_chosen(page: Page, server: Server) -> None:
    (server.folder / "large.yaml").write_text(
        "name: large\nduration: 1 ms\n"
        "network:\n  grid: {rows: 25, columns: 20, stations: 1, rate: 1 Gbit/s}\n"
        "streams:\n  far: {from: station1.1, to: station25.20, period: 1 ms, payload: 100 B}\n"
    )
    page.reload()
    page.get_by_role("button", name="large.yaml").click()
    expect(page.locator(".node")).to_have_count(1000)
    page.locator("#find").fill("station25.20")
    page.locator("#find").press("Enter")
    expect(page.locator("#chosen strong")).to_have_text("station station25.20")
    # A generator makes the node: it can be renamed only in the text.
    expect(page.locator("#chosen")).to_contain_text("Made by a generator or a table")
    expect(page.locator("#rename-to")).to_have_count(0)
    # The keyboard goes from node to node.
    page.locator("#node-0").focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("() => document.activeElement.id") not in ("node-0", "")
    page.keyboard.press("Enter")
    expect(page.locator("#chosen strong")).not_to_have_text("station station25.20")
    (server.folder / "large.yaml").unlink()


def test_lessons_of_the_folder_are_links_of_a_run(page: Page, server: Server) -> None:
    (server.folder / "lesson.md").write_text("# A lesson\n\nAt [half a millisecond](#t=0.5ms) it waits.\n")
    try:
        page.reload()
        page.get_by_role("link", name="charts of runs/").first.click()
        link = page.get_by_role("link", name="replay with lesson.md")
        expect(link).to_be_visible()
        address = link.get_attribute("href")
        assert address is not None
        assert address.endswith("?lesson=lesson.md")
        page.goto(f"http://127.0.0.1:{server.port}{address}")
        expect(page.locator("#lesson")).to_contain_text("At half a millisecond it waits.")
        page.get_by_role("link", name="half a millisecond").click()
    finally:
        (server.folder / "lesson.md").unlink()


def test_sweeps_are_listed_with_their_runs(page: Page) -> None:
    page.get_by_role("button", name="Studies").click()
    expect(page.locator("#view-studies")).to_contain_text("2 of 2 runs made")
    expect(page.locator("#view-studies")).to_contain_text("ALL MET (PROVED)")


@pytest.mark.parametrize(
    "path",
    [
        "facts/../two",
        "facts/nothing",
        "delays/nothing?stream=a&listener=b",
        "gantt/away",
        "compare?run=x&run=y",
    ],
)
def test_other_folders_are_not_shown(server: Server, path: str) -> None:
    assert server.ask("GET", f"/api/{path}")[0] in (400, 404)


def test_wrong_questions_have_answers(server: Server, runs: list[str]) -> None:
    assert server.ask("GET", f"/api/delays/{runs[0]}?stream=x&listener=y")[0] == 404
    assert "refused" in json.loads(server.ask("GET", f"/api/gantt/{runs[0]}?frame=x/1")[2])
    assert server.ask("GET", f"/api/gantt/{runs[0]}?from=9&until=1")[0] == 200
    assert server.ask("GET", f"/api/compare?run={runs[0]}")[0] == 400
    assert (
        server.ask("GET", f"/api/delays/{runs[0]}?stream=cam&listener=two&from={'9' * 30}&columns=-5")[0]
        == 200
    )
    assert server.ask("GET", f"/api/facts/{runs[0]}", known=False)[0] == 403


def test_a_run_without_a_plan_says_so(server: Server, tmp_path: Path) -> None:
    folder = server.folder / "broken"
    folder.mkdir()
    (folder / "manifest.json").write_text("{}")
    status, _, content = server.ask("GET", "/api/facts/broken")
    # No error of the page, so that the browser's console shows none.
    assert (status, "manifest.json" in json.loads(content)["refused"]) == (200, True)
    (folder / "manifest.json").unlink()
    folder.rmdir()


TURNS = """\
name: turn
duration: 8 ms
network:
  stations: [low, sink]
  bridges: {sw: {processing: 3 us}}
  links: {rate: 100 Mbit/s, between: [low -- sw, sw -- sink]}
streams:
  slow: {from: low, to: sink, pcp: 0, period: 1 ms, frame: 1242 B}
shapers:
  sw -> sink:
    queues: {classes: {7: 1, 0: 0}}
    gates:
      before: open
      base-time: 1250 us
      entries: [{open: [0, 7], for: 500 us}, {open: [7], for: 500 us}]
      changes:
        - at: 2 ms
          base-time: 4 ms
          cycle: 2 ms
          entries: [{open: [7], for: 500 us}, {open: [0, 7], for: 1500 us}]
"""
SHUT_US = [(1_750, 2_250), (2_750, 3_250), (3_750, 4_500), (6_000, 6_500), (8_000, 8_500)]
"""When the gate of class 0 is shut: by the first list, and from 4 ms on by the second one."""


def grey(
    page: Page, canvas: str, sides: tuple[int, int], from_us: float, until_us: float, earlier: int = 0
) -> list[bool]:
    """Whether a gate is drawn as shut, every 100 us; ``earlier``: the lead of the clock that it follows."""
    left, right = sides
    steps = [30 + 100 * n for n in range(80)]
    inside = [one for one in steps if from_us < one < until_us]
    shares = [(one - from_us) / (until_us - from_us) for one in inside]
    found: list[bool] = page.locator(canvas).evaluate(
        """(canvas, [shares, left, right]) => {
          const ratio = canvas.width / canvas.clientWidth;
          const {data, width} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          return shares.map((share) => {
            const x = Math.round((left + share * (canvas.clientWidth - left - right)) * ratio);
            for (let n = 4 * x; n < data.length; n += 4 * width) {
              if (`${data[n]},${data[n + 1]},${data[n + 2]}` === "227,230,234") return true;
            }
            return false;
          });
        }""",
        [shares, left, right],
    )
    shut = [(begin - earlier, end - earlier) for begin, end in SHUT_US]
    assert found == [any(begin < one < end for begin, end in shut) for one in inside], list(
        zip(inside, found, strict=True)
    )
    return found


def test_gates_are_drawn_with_the_list_that_is_in_force(page: Page, server: Server, runs: list[str]) -> None:
    (server.folder / "turn.yaml").write_text(TURNS)
    assert tsnbench("run", "turn.yaml", "-q", "--into", "turn", cwd=server.folder).returncode == 0
    home = f"http://127.0.0.1:{server.port}/"
    page.goto(f"{home}#" + urlencode({"run": "turn", "from": 0, "until": 8_000_000}))
    expect(page.locator("#view-run h2")).to_contain_text("turn")
    loaded(page)
    assert any(grey(page, "#chart-gantt", (170, 12), 0, 8_000))
    page.goto(f"{home}api/replay/turn")
    # The window is thrice the delay of the slowest frame, around it.
    expect(page.locator("#window")).to_contain_text("from 3\u202f400\u202f000 ns")
    page.locator("#chart").focus()
    page.keyboard.press("Home")
    assert any(grey(page, "#chart", (190, 8), 3_400, 5_200))
    # The same gates on a clock that is 200 us ahead.
    (server.folder / "ahead.yaml").write_text(TURNS + "clocks: {sw: {offset: 200 us}}\n")
    assert tsnbench("run", "ahead.yaml", "-q", "--into", "ahead", cwd=server.folder).returncode == 0
    page.goto(f"{home}#" + urlencode({"run": "ahead", "from": 0, "until": 8_000_000, "frame": "slow/1"}))
    expect(page.locator("#why caption")).to_contain_text("Each node has a clock of its own.")
    expect(page.locator("#why th")).to_have_text(["port", "because", "for", "begins on its clock", "when"])
    # Handed over by a clock that is right, and begun by the switch 200 us later on its own clock.
    expect(page.locator("#why tbody tr").nth(1)).to_contain_text("1\u202f300\u202f000 ns")
    loaded(page)
    assert any(grey(page, "#chart-gantt", (170, 12), 0, 8_000, 200))
    page.goto(home)


def test_another_run_that_is_opened_before_the_first_one_is_drawn_is_shown(
    page: Page, runs: list[str]
) -> None:
    page.evaluate(
        """() => {
          const real = window.fetch;
          window.fetch = async (...words) => {
            const answer = await real(...words);
            const late = {delays: 500, facts: 1000}[String(words[0]).split("/")[2]] ?? 0;
            await new Promise((done) => setTimeout(done, late));
            return answer;
          };
        }"""
    )
    page.get_by_role("link", name=f"charts of {runs[0]}").click()
    expect(page.locator("#stream")).to_be_visible()
    # A zoom of the first one's charts is still due then.
    page.get_by_role("link", name=f"charts of {runs[1]}").evaluate(
        """link => {
          const press = new KeyboardEvent("keydown", {key: "+", bubbles: true});
          document.getElementById("chart-delay").dispatchEvent(press);
          link.click();
        }"""
    )
    expect(page.locator("#view-run h2")).to_contain_text(runs[1], timeout=15_000)
    loaded(page)
