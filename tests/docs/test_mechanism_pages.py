"""docs/mechanisms has a page for each mechanism; its scenario runs, and its picture is a figure of that run.

``TSNBENCH_UPDATE=1`` writes pages and pictures anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import players
import pytest
from playwright.sync_api import Browser, expect

from support.browser import browsing
from support.golden import matches
from support.mechanism_pages import FOLDER, Page, index, pages, text_of
from tsnbench import report


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with browsing() as found:
        yield found


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.row.name)
def test_a_page(page: Page, tmp_path: Path) -> None:
    name = page.row.name
    matches(FOLDER / f"{name}.md", text_of(page))
    run = players.run_of(FOLDER / f"{name}.md", tmp_path)
    assert sum(path["count"]["sent"] for path in run.measures()["paths"]) >= 3
    assert {row["proof"] for row in run.verdict()["rows"]} <= {"proved"}
    if page.picture:
        (figure,) = report.write_figure(run, [page.picture], ("svg",), tmp_path)
        matches(FOLDER / f"{name}.svg", figure.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.row.name)
def test_its_player(page: Page, tmp_path: Path, browser: Browser) -> None:
    """The replay of a page works from a file, in an origin of its own, without a network."""
    name = page.row.name
    player = tmp_path / f"{name}{players.ENDING}"
    players.write(FOLDER / f"{name}.md", player)
    assert player.stat().st_size <= players.LARGEST
    (tmp_path / "page.html").write_text(f"<!doctype html><title>x</title>{players.frame(name)}")
    tab = browser.new_page()
    said: list[str] = []
    tab.on("console", lambda message: said.append(message.text))
    tab.on("pageerror", lambda error: said.append(str(error)))
    asked: list[str] = []
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto((tmp_path / "page.html").as_uri())
    inner = tab.frame_locator("iframe.player")
    expect(inner.locator("body")).to_have_attribute("data-ready", "yes")
    before = inner.locator("body").get_attribute("data-now")
    inner.get_by_role("button", name="Next event").click()
    expect(inner.locator("body")).not_to_have_attribute("data-now", before or "")
    tab.close()
    assert said == []
    assert asked == [(tmp_path / "page.html").as_uri(), player.as_uri()]


def test_a_player_without_scripts_leaves_the_picture_of_its_page(tmp_path: Path, browser: Browser) -> None:
    players.write(FOLDER / "gates.md", tmp_path / "gates.replay.html")
    tab = browser.new_page(java_script_enabled=False)
    tab.goto((tmp_path / "gates.replay.html").as_uri())
    expect(tab.get_by_text("This replay needs scripts")).to_be_visible()
    expect(tab.locator("main")).to_be_hidden()
    tab.close()


def test_the_list_of_pages() -> None:
    matches(FOLDER / "README.md", index())
    files = {path.stem for path in FOLDER.glob("*.md")} - {"README"}
    assert files == {page.row.name for page in pages()}
    assert all(page.picture and page.caption for page in pages())
