"""Separators of the page are dragged or moved by arrows, and stay where they were at the next start."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from ui.browser import findings, tab_to
from ui.conftest import SCENARIO, Server, serving

PARTS = {"lists": "#lists", "text": "#editor", "network": "#network"}


def size(page: Page, name: str) -> float:
    box = page.locator(PARTS[name]).bounding_box()
    assert box is not None
    return box["height"] if name == "network" else box["width"]


@pytest.mark.parametrize("name", PARTS)
def test_a_separator_is_dragged_moved_by_keys_and_restored(page: Page, name: str) -> None:
    expect(page.locator("#legend .tag")).to_have_count(1)
    split = page.locator(f"[data-split={name}]")
    before = size(page, name)
    box = split.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 60, y + 60, steps=3)
    page.mouse.up()
    assert size(page, name) == pytest.approx(before + 60, abs=10)
    dragged = size(page, name)
    split.focus()
    page.keyboard.press("ArrowLeft" if name != "network" else "ArrowUp")
    assert size(page, name) < dragged
    page.keyboard.press("End")
    assert size(page, name) > dragged
    expect(split).to_have_attribute("aria-valuenow", split.get_attribute("aria-valuemax") or "")
    page.keyboard.press("Enter")
    assert size(page, name) == pytest.approx(before, abs=1)


def test_a_place_is_remembered_by_the_next_server_and_the_lists_say_what_belongs_there(
    browser: Browser, tmp_path: Path
) -> None:
    context = browser.new_context()
    widths = []
    for start in range(2):
        with serving(tmp_path) as server:
            page = context.new_page()
            page.goto(server.address)
            expect(page.locator("body")).to_have_attribute("data-ready", "yes")
            if start == 0:
                expect(page.locator("#no-scenarios")).to_be_visible()
                expect(page.locator("#no-runs")).to_be_visible()
                tab_to(page, "[data-split=lists]")
                page.keyboard.press("Home")
                page.keyboard.press("ArrowRight")
                assert findings(page) == []
                (tmp_path / "two.yaml").write_text(SCENARIO)
            widths.append(size(page, "lists"))
            page.close()
    context.close()
    assert widths[0] == widths[1]
    assert widths[0] == pytest.approx(1280 * 0.1, abs=2)


def test_a_text_that_cannot_be_read_says_where_its_network_will_be(home: Page, server: Server) -> None:
    (server.folder / "begun.yaml").write_text(SCENARIO.split("streams:")[0])
    home.reload()
    home.get_by_role("button", name="begun.yaml", exact=True).click()
    expect(home.locator("#no-drawing")).to_be_visible()
    home.get_by_role("button", name="Go to the first problem").click()
    expect(home.locator("#text")).to_be_focused()
    assert findings(home) == []
    home.locator("#text").fill(SCENARIO)
    expect(home.locator(".node")).to_have_count(3)
    expect(home.locator("#no-drawing")).to_be_hidden()
    home.locator("#no-runs button").click()
    expect(home.locator("#runs li")).to_have_count(1)
    expect(home.locator("#no-runs")).to_be_hidden()
    (server.folder / "begun.yaml").unlink()
