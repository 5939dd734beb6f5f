"""Figures of a report in a real browser: zoomed where scripts may run, whole where not and in print."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, expect

from support.browser import browsing
from tsnbench import report


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with browsing() as found:
        yield found


def box(figure: Locator) -> list[float]:
    return [float(one) for one in (figure.get_attribute("viewBox") or "").split()]


def test_a_figure_is_zoomed_by_keys_wheel_and_mouse_and_printed_whole(
    browser: Browser, star: Path, tmp_path: Path
) -> None:
    page = browser.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(report.write(star, into=tmp_path / "report.html").as_uri())
    figure = page.locator("figure .chart").last
    pane = page.locator("figure .pan").last
    whole = box(figure)
    pane.focus()
    page.keyboard.press("+")
    closer = box(figure)
    assert closer[2] == pytest.approx(whole[2] / 1.5)
    page.keyboard.press("ArrowRight")
    assert box(figure)[0] == pytest.approx(closer[0] + closer[2] / 8)
    page.keyboard.press("Home")
    assert box(figure) == whole
    figure.hover(position={"x": 30, "y": 30})
    # The wheel alone scrolls the page.
    page.mouse.wheel(0, 5)
    assert box(figure) == whole
    page.keyboard.down("Control")
    page.mouse.wheel(0, -100)
    page.keyboard.up("Control")
    expect(figure).to_have_attribute("data-zoomed", "yes")
    zoomed = box(figure)
    # The place under the pointer stays.
    assert zoomed[0] < whole[2] / 10
    place = figure.bounding_box()
    assert place is not None
    page.mouse.move(place["x"] + 200, place["y"] + 40)
    page.mouse.down()
    page.mouse.move(place["x"] + 100, place["y"] + 40)
    page.mouse.up()
    assert box(figure)[0] > zoomed[0]
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert box(figure) == whole
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert box(figure)[0] > zoomed[0]
    figure.dblclick()
    assert box(figure) == whole
    page.emulate_media(media="print")
    expect(page.locator(".zooms")).to_have_count(1)
    expect(page.locator(".zooms")).to_be_hidden()
    assert said == []
    page.close()


def test_without_scripts_every_figure_is_there_and_promises_no_zoom(
    browser: Browser, star: Path, tmp_path: Path
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(report.write(star, into=tmp_path / "report.html").as_uri())
    expect(page.locator("figure .chart").last).to_be_visible()
    expect(page.locator(".zooms")).to_have_count(0)
    context.close()


def test_no_other_program_runs_in_a_report(browser: Browser, star: Path, tmp_path: Path) -> None:
    written = report.write(star, into=tmp_path / "report.html")
    written.write_text(written.read_text() + "<script>document.title = 'taken'</script>")
    page = browser.new_page()
    page.goto(written.as_uri())
    expect(page.locator("figure .chart").last).to_have_attribute("data-zoomed", "no")
    assert page.title() != "taken"
    page.close()
