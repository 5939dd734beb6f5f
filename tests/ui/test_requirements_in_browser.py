"""The form for the requirements of a stream, in a real browser."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Page, expect

from tsnbench.editing.requiring import offered
from ui.browser import becomes, tab_to, undone
from ui.conftest import SCENARIO, Server


@pytest.fixture
def page(page: Page) -> Page:
    """The stream ``cam`` is selected."""
    page.locator("[data-legend]").first.click()
    expect(page.locator("#chosen strong")).to_have_text("stream cam: one to two")
    return page


def with_limits(limits: str) -> str:
    return SCENARIO.replace("500 us}", f"500 us, requires: {{{limits}}}}}")


def test_requirements_are_added_changed_and_removed_by_keyboard_and_undone(page: Page) -> None:
    tab_to(page, "#require-key")
    expect(page.locator("#require-about")).to_contain_text("delay: highest delay. For example 500 us.")
    page.keyboard.press("Tab")
    page.keyboard.type("300 us")
    page.keyboard.press("Enter")
    steps = [SCENARIO, with_limits("delay: 300 us")]
    becomes(page, steps[-1])
    # The focus is where the new requirement is.
    delay = page.get_by_label("delay of cam")
    expect(delay).to_be_focused()
    expect(delay).to_have_value("300 us")
    tab_to(page, "#require-key")
    page.locator("#require-key").select_option("jitter spread")
    expect(page.locator("#require-about")).to_contain_text("standard deviation of the delay")
    # Without a value of one's own, the example is written.
    tab_to(page, "[aria-label='Add the requirement']")
    page.keyboard.press("Enter")
    steps.append(with_limits("delay: 300 us, jitter spread: 100 us"))
    becomes(page, steps[-1])
    spread = page.get_by_label("jitter spread of cam")
    expect(spread).to_be_focused()
    page.keyboard.press("Control+a")
    page.keyboard.type("2 us")
    page.keyboard.press("Enter")
    steps.append(with_limits("delay: 300 us, jitter spread: 2 us"))
    becomes(page, steps[-1])
    expect(spread).to_be_focused()
    tab_to(page, "[aria-label='Remove jitter spread']")
    page.keyboard.press("Enter")
    steps.append(with_limits("delay: 300 us"))
    becomes(page, steps[-1])
    expect(page.locator("#require-key")).to_be_focused()
    expect(spread).to_have_count(0)
    page.get_by_role("button", name="Remove delay").click()
    steps.append(SCENARIO)
    becomes(page, steps[-1])
    expect(page.locator("#chosen")).to_contain_text("The stream has no requirements.")
    expect(page.locator("#heading")).to_have_text("No problems")
    undone(page, *reversed(steps[:-1]))


def test_a_wrong_value_is_refused_with_its_reason_and_stays_in_the_form(page: Page) -> None:
    page.locator("#require-value").fill("300")
    page.get_by_role("button", name="Add the requirement").click()
    status = page.locator("#status")
    expect(status).to_contain_text("delay: expected a duration with a unit, found 300; write 300us")
    expect(page.locator("#require-value")).to_have_value("300")
    page.locator("#require-value").fill("1 ms}, x: {}")
    page.keyboard.press("Enter")
    expect(status).to_contain_text("expected a value such as 500 us")
    becomes(page, SCENARIO)


def test_a_swept_limit_and_a_class_are_shown_as_they_are_written(page: Page) -> None:
    page.locator("#text").fill(with_limits("delay: [1 ms, 2 ms], loss: 0"))
    delay = page.get_by_label("delay of cam")
    expect(delay).to_have_value("[1 ms, 2 ms]")
    expect(delay).not_to_be_editable()
    expect(page.locator("#chosen")).to_contain_text("Set by a sweep: change it in the text.")
    expect(page.get_by_role("button", name="Change delay")).to_have_count(0)
    page.locator("#text").fill(SCENARIO.replace("500 us}", "500 us, requires: sr/A}"))
    named = page.get_by_label("class of cam")
    expect(named).to_have_value("sr/A")
    named.fill("sr/B")
    page.get_by_role("button", name="Change class").click()
    becomes(page, with_limits("class: sr/B"))


def test_the_form_offers_what_the_grammar_has(server: Server) -> None:
    assert json.loads(server.ask("GET", "/api/requirements")[2]) == offered()
