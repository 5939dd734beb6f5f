"""What one sees first: lists with signs, names that can be read, and what an empty view is for."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from ui.browser import findings, loaded
from ui.conftest import Server

APART = """() => {
  const boxes = (all) => [...document.querySelectorAll(all)].map((one) => one.getBoundingClientRect());
  const apart = (one, node) => one.right < node.left || one.left > node.right
    || one.bottom < node.top + 2 || one.top > node.bottom - 2;
  const nodes = boxes(".node");
  return boxes("svg text[data-node]").every((one) => nodes.every((node) => apart(one, node)));
}"""
"""Whether no name lies on a node."""


@pytest.mark.parametrize(
    ("view", "button", "leads_to"),
    [("Run", "Open the newest run", "#run="), ("Compare", "Compare the two newest runs", "#compare=")],
)
def test_an_empty_view_has_one_button_that_fills_it(
    listed: Page, view: str, button: str, leads_to: str
) -> None:
    listed.get_by_role("navigation", name="Views").get_by_role("button", name=view).click()
    only = listed.locator(".empty:visible button")
    expect(only).to_have_count(1)
    expect(only).to_have_text(button)
    assert findings(listed) == []
    only.click()
    listed.wait_for_url(f"**{leads_to}runs**")
    expect(listed.locator(".empty:visible")).to_have_count(0)
    if view == "Run":
        loaded(listed)


def test_without_a_scenario_the_page_offers_a_template(home: Page) -> None:
    expect(home.locator("#panes")).to_be_hidden()
    home.get_by_role("button", name="Begin with a template").click()
    expect(home.get_by_role("dialog", name="New scenario")).to_be_visible()


def test_a_run_is_a_row_with_a_sign_a_name_and_an_age(listed: Page, server: Server, runs: list[str]) -> None:
    for folder in runs:
        row = listed.locator(f"[data-run='{folder}']")
        expect(row.locator(".sign")).to_have_text("✓")
        expect(row.locator(".run-name")).to_have_text(folder.removeprefix("runs/"))
        expect(row.locator(".age")).to_have_text("now")
        assert (row.get_attribute("title") or "").startswith(f"{folder}: ALL MET (PROVED): 1 requirement")
    (server.folder / runs[0] / "manifest.json").rename(server.folder / "kept.json")
    (server.folder / runs[0] / "manifest.json").write_text("{}")
    listed.reload()
    expect(listed.locator(f"[data-run='{runs[0]}'] .sign")).to_have_text("✕")
    (server.folder / "kept.json").rename(server.folder / runs[0] / "manifest.json")


def test_names_keep_their_size_at_each_zoom_and_lie_on_no_node(page: Page) -> None:
    name = "svg text[data-node]"
    for button in (None, "Zoom in", "Zoom in", "Zoom out", "Zoom out", "Zoom out"):
        if button:
            page.get_by_role("button", name=button).click()
        heights = page.eval_on_selector_all(
            name, "all => all.map((one) => one.getBoundingClientRect().height)"
        )
        # A node that is not in view has no name.
        assert len(heights) == 3 if button != "Zoom in" else heights
        assert all(12 < height < 22 for height in heights), (button, heights)
        apart = page.evaluate(APART)
        assert apart, button
