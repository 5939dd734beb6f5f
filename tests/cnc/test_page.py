"""The page of the service in a browser: streams, load, decisions with reasons; all of it as text."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="needs uvicorn (pip install 'tsnbench[ui]')")

from playwright.sync_api import expect

from cnc.cell import SCHEDULED, TIGHT, serving
from support.browser import browsing, needs_chromium

TOKENS = """
[viewer]
token = "may look and not touch"
scope = "all"
[reader]
token = "may only look at all"
scope = "read"
"""
LOOKING, READING = "Bearer may look and not touch", "Bearer may only look at all"


@needs_chromium
def test_the_page_shows_streams_and_why_one_was_refused(tmp_path: Path) -> None:
    (tmp_path / "tokens.toml").write_text(TOKENS)
    with serving(tmp_path, "--tokens", tmp_path / "tokens.toml") as served, browsing() as browser:
        assert served.ask("PUT", "/api/streams/video", SCHEDULED, authorization=LOOKING)[0] == 201
        assert served.ask("PUT", "/api/streams/tight", TIGHT, authorization=LOOKING)[0] == 409
        evil = {**SCHEDULED, "from": "<img src=x onerror=alert(1)>"}
        assert served.ask("PUT", "/api/streams/evil", evil, authorization=LOOKING)[0] == 400
        for _ in range(3):
            path = "/api/streams/%3Cimg%20src=x%20onerror=alert(2)%3E"
            assert served.ask("PUT", path, evil, authorization=READING)[0] == 403
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
        denied = page.locator("#denied tr", has_text="reader at 127.0.0.1").first
        expect(denied).to_contain_text("PUT /api/streams/<img src=x onerror=alert(2)>")
        expect(denied).to_contain_text("403The scope of reader is read")
        # Of one client within a minute they are one row.
        counts = page.locator("#denied tr", has_text="reader").locator("td:nth-child(4)").all_inner_texts()
        assert sum(map(int, counts)) == 3
        assert page.locator("img").count() == 0
        # What changes is shown without a click.
        assert served.ask("DELETE", "/api/streams/video", authorization=LOOKING)[0] == 200
        expect(page.locator("#streams tr", has_text="video")).to_have_count(0)
        expect(drawing).not_to_contain_text("9.92 %")
        expect(drawing.locator(".stream")).to_have_count(2)
        # Who may only read does not ask for it, and so is not in it.
        page.reload()
        page.fill("#token", READING.partition(" ")[2])
        page.click("#access button")
        expect(page.locator("#streams tr")).to_have_count(2)
        expect(page.locator("#of-denied")).to_be_hidden()
        told = served.ask("GET", "/api/denied", authorization=LOOKING)[1]["denied"]
        assert not [one for one in told if one["asked"].startswith("GET") and one["client"]]
        assert wrong == []
