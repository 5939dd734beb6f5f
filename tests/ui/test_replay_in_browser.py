"""The player of a run: steps by frame, links to an instant, and a GIF of what is shown."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, expect

from ui.conftest import Server

NOW = "() => Number(document.body.dataset.now)"


@pytest.fixture
def player(browser: Browser, running: Server, runs: list[str]) -> Iterator[Page]:
    """The replay of a run, as the server sends it: in a sandbox."""
    page = browser.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(running.address)
    page.goto(f"http://127.0.0.1:{running.port}/api/replay/{runs[0]}")
    expect(page.locator("body")).to_have_attribute("data-ready", "yes")
    yield page
    assert said == []
    page.close()


def test_frames_are_stepped_through_and_the_address_leads_to_an_instant(player: Page) -> None:
    starts = player.evaluate("() => [...new Set(frames.start)].filter((at) => at >= 0).sort((a, b) => a - b)")
    first, second = starts[:2]
    player.locator("#time").fill(str(first))
    player.locator("#frame-next").click()
    assert player.evaluate(NOW) == second
    player.locator("#frame-back").click()
    assert player.evaluate(NOW) == first
    player.locator("#frame-next").press("Enter")
    assert player.evaluate(NOW) == second
    address = player.url
    assert "#t=" in address
    player.locator("#frame-back").click()
    player.goto("about:blank")
    player.goto(address)
    expect(player.locator("body")).to_have_attribute("data-now", str(second))


def test_what_is_shown_is_saved_as_a_gif(player: Page, tmp_path: Path) -> None:
    before = player.evaluate(NOW)
    with player.expect_download() as offered:
        player.get_by_role("button", name="Save as GIF").click()
    content = Path(offered.value.path()).read_bytes()
    assert offered.value.suggested_filename.endswith(".gif")
    with Image.open(io.BytesIO(content)) as film:
        assert film.n_frames == 60
        pictures = []
        for number in (0, 30, 59):
            film.seek(number)
            pictures.append(film.convert("RGB"))
    # The cursor moves, and the colours are those of the page.
    assert len({one.tobytes() for one in pictures}) == 3
    wanted = player.evaluate(
        "() => getComputedStyle(document.documentElement).getPropertyValue('--paper').trim()"
    )
    paper = {"#fff": (255, 255, 255), "#ffffff": (255, 255, 255)}.get(wanted)
    assert paper is None or max(pictures[0].getcolors(1 << 20) or [])[1] == paper
    expect(player.locator("#gif-said")).to_have_text("saved")
    assert player.evaluate(NOW) == before


def test_the_name_of_a_node_stands_where_none_of_its_links_is(player: Page) -> None:
    side = """(ways) => {
        const [own, ...others] = data.nodes.map((_, number) => number);
        const links = data.links;
        data.links = ways.map((_, number) => [own, others[number]]);
        const places = [[0, 0], ...ways.map((way) => [100 * Math.cos(way), 100 * Math.sin(way)])];
        const [found] = nameSide(own, places);
        data.links = links;
        return found;
    }"""
    down, up = math.pi / 2, -math.pi / 2
    for ways, wanted in [([], down), ([0.0], down), ([down], up), ([up], down), ([down, up], 0.0)]:
        assert player.evaluate(side, ways) == wanted, ways
