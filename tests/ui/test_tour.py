"""The first start: a sample car with three things to try, by keyboard, and put away for good."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser, expect

from ui.browser import Tab, findings, tab_to
from ui.conftest import serving


def test_the_first_start_leads_through_three_things(browser: Browser, tmp_path: Path) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    with serving(tmp_path) as server:
        page = context.new_page()
        tab = Tab(page)
        page.goto(server.address)
        expect(page.locator("#try-sample")).to_be_visible()
        assert findings(page) == []
        tab_to(page, "#try-sample")
        page.keyboard.press("Enter")
        expect(page.locator("#tour li")).to_have_count(3)
        expect(page.locator("#legend .tag").first).to_be_visible()
        step = {key: page.locator(f"#tour [data-step={key}]") for key in ("drag", "sweep", "run")}
        step["drag"].get_by_role("button").click()
        expect(page.locator("#slide")).to_be_visible()
        page.locator("#slide input").press("ArrowRight")
        expect(step["drag"].get_by_role("img")).to_have_attribute("aria-label", "done")
        page.keyboard.press("Escape")
        step["sweep"].get_by_role("button").click()
        expect(step["sweep"].get_by_role("img")).to_have_attribute("aria-label", "done")
        expect(page.locator("#sweep")).to_contain_text("keeps every limit")
        assert findings(page) == []
        expect(step["run"].get_by_role("img")).to_have_attribute("aria-label", "not done yet")
        page.get_by_role("button", name="Put away").click()
        expect(page.locator("#tour")).to_be_hidden()
        assert tab.said == []
        assert tab.hosts() == {f"127.0.0.1:{server.port}"}
        page.close()
    with serving(tmp_path) as server:
        page = context.new_page()
        page.goto(server.address)
        expect(page.locator("#begin")).to_be_visible()
        expect(page.locator("#try-sample")).to_be_hidden()
        page.get_by_role("button", name="sample-car.yaml").click()
        expect(page.locator("#name")).to_have_text("sample-car.yaml")
        expect(page.locator("#tour")).to_be_hidden()
        page.close()
    context.close()
