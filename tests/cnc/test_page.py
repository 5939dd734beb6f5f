"""The page of the service in a browser: streams, load, decisions with reasons; all of it as text."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="needs uvicorn (pip install 'tsnbench[ui]')")

from playwright.sync_api import expect

from cnc.cell import SCHEDULED, TIGHT, serving
from support.browser import browsing, needs_chromium

TOKENS = '[viewer]\ntoken = "may look and not touch"\nscope = "all"\n'
LOOKING = "Bearer may look and not touch"


@needs_chromium
def test_the_page_shows_streams_and_why_one_was_refused(tmp_path: Path) -> None:
    (tmp_path / "tokens.toml").write_text(TOKENS)
    with serving(tmp_path, "--tokens", tmp_path / "tokens.toml") as served, browsing() as browser:
        assert served.ask("PUT", "/api/streams/video", SCHEDULED, authorization=LOOKING)[0] == 201
        assert served.ask("PUT", "/api/streams/tight", TIGHT, authorization=LOOKING)[0] == 409
        evil = {**SCHEDULED, "from": "<img src=x onerror=alert(1)>"}
        assert served.ask("PUT", "/api/streams/evil", evil, authorization=LOOKING)[0] == 400
        page = browser.new_page()
        wrong: list[str] = []
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto(served.address)
        expect(page.locator("#status")).to_have_text("A token is needed.")
        page.fill("#token", "may look and not touch")
        page.click("#access button")
        expect(page.locator("#name")).to_have_text("cell")
        row = page.locator("#streams tr", has_text="video")
        expect(row).to_contain_text("scheduled")
        expect(row).to_contain_text("338.56 us")
        expect(row).to_contain_text("kept")
        # The drawing: all nodes, the load of each link, and the path of the stream that is chosen.
        drawing = page.locator("#network")
        expect(drawing.get_by_role("button")).to_have_count(6)
        expect(drawing).to_contain_text("9.92 %")
        row.get_by_role("button").click()
        expect(row).to_have_class("chosen")
        expect(drawing.locator(".stream.chosen")).to_have_count(1)
        expect(page.locator("#links tr").first).to_contain_text("100 Mbit/s")
        decisions = page.locator("#decisions")
        expect(decisions).to_contain_text("there is a schedule with streams.tight.requires.delay: 338560 ns")
        expect(decisions).to_contain_text("<img src=x onerror=alert(1)>")
        assert page.locator("img").count() == 0
        # What changes is shown without a click.
        assert served.ask("DELETE", "/api/streams/video", authorization=LOOKING)[0] == 200
        expect(page.locator("#streams tr", has_text="video")).to_have_count(0)
        expect(drawing).not_to_contain_text("9.92 %")
        expect(drawing.locator(".stream")).to_have_count(2)
        assert wrong == []
