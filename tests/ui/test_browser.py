"""The page of ``tsnbench ui`` in a real browser."""

from __future__ import annotations

import json
from pathlib import Path

from playwright.sync_api import Page, expect

from ui.conftest import LONG, SCENARIO, Server


def test_a_mistake_is_shown_as_it_is_typed_and_found_by_a_click(page: Page) -> None:
    page.locator("#text").fill(SCENARIO.replace("to: two", "to: tow"))
    problem = page.locator("#problems button").first
    expect(problem).to_contain_text("9:")
    expect(problem).to_contain_text("tow")
    problem.click()
    expect(page.locator("#text")).to_be_focused()
    # The undo of the text field reverts the edit.
    page.keyboard.press("Control+z")
    expect(page.locator("#heading")).to_have_text("No problems")


def test_a_run_is_started_and_its_verdict_links_to_report_and_replay(page: Page, server: Server) -> None:
    required = SCENARIO.replace("500 us}", "500 us, requires: {delay: 1 ms}}").replace("two\n", "page\n", 1)
    page.locator("#text").fill(required)
    button = page.locator("#run")
    expect(button).to_have_text("Save and run (Ctrl-Enter)")
    button.click()
    item = page.locator("#jobs li").first
    expect(item).to_have_attribute("data-state", "ended")
    assert (server.folder / "two.yaml").read_text() == required
    expect(button).to_have_text("Run (Ctrl-Enter)")
    expect(item.locator("p").nth(1)).to_have_class("good")
    expect(item).to_contain_text("ALL MET (PROVED): 1 requirement")
    expect(item).to_contain_text("tsnbench run --keep-runs two.yaml")
    run = page.locator("#runs [data-run='runs/page']")
    expect(run).to_contain_text("ALL MET (PROVED)")
    assert run.get_by_role("link", name="replay").get_attribute("href") == "/api/replay/runs/page"
    # A second start is a run of its own. Entries that read as before stay: a press that began is not lost.
    tick = run.get_by_role("checkbox")
    tick.focus()
    page.keyboard.down("Space")
    page.locator("#run").evaluate("one => one.click()")
    expect(page.locator("#runs [data-run='runs/page-2']")).to_be_visible()
    page.keyboard.up("Space")
    expect(tick).to_be_checked()


def test_a_broken_requirement_is_not_green(page: Page) -> None:
    text = SCENARIO.replace("one, two]", "one, two, three]").replace("two-b]", "two-b, three-b]")
    text = text.replace("500 us}", "500 us, requires: {delay: 3 us}}")
    rest = "  rest: {from: three, to: two, saturating: true, frame: 1522 B}\n"
    page.locator("#text").fill(text + rest)
    page.keyboard.press("Control+Enter")
    item = page.locator("#jobs li").first
    expect(item).to_contain_text("NOT ALL MET")
    expect(item.locator("p").nth(1)).to_have_class("bad")


def test_a_long_run_shows_how_far_it_is_and_is_stopped(page: Page, server: Server) -> None:
    long = LONG.replace("two\n", "stopped\n", 1)
    page.locator("#text").fill(long)
    page.keyboard.press("Control+Enter")
    item = page.locator("#jobs li").first
    expect(item).to_contain_text("% simulated")
    value = item.get_by_role("progressbar").evaluate("one => one.value")
    assert 0 < value < 1
    # A reload of the page keeps the progress.
    page.reload()
    expect(item).to_contain_text("% simulated")
    item.get_by_role("button", name="Stop").click()
    expect(item).to_contain_text("Stopped.")
    expect(page.locator("#runs [data-run='runs/stopped']")).to_contain_text("interrupted")
    manifest = Path(server.folder / "runs/stopped/manifest.json")
    assert json.loads(manifest.read_text())["state"] == "interrupted"
