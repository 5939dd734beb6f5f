"""What the worst case of the chosen stream adds up from: the parts of ``tsnbench plan --why``."""

from __future__ import annotations

import json
from pathlib import Path

from playwright.sync_api import Page, expect

from support.commands import tsnbench
from tsnbench.templates import text as template_text
from tsnbench.ui.live.explained import explained
from tsnbench.ui.live.numbers import live
from ui.browser import findings
from ui.conftest import SCENARIO

RELEASED = SCENARIO.replace("period: 500 us}", "period: 500 us, requires: {delay from release: 100 us}}") + (
    "  rest: {from: one, to: two, pcp: 5, payload: 1000 B, period: 500 us}\n"
)
CROWDED = SCENARIO + "  rest: {from: one, to: two, pcp: 0, saturating: true, frame: 1522 B}\n"


def test_the_parts_are_those_of_the_command(tmp_path: Path) -> None:
    text = template_text("zonal")
    (tmp_path / "zonal.yaml").write_text(text)
    told = json.loads(tsnbench("plan", "zonal.yaml", "--why", "video-left", "--json", cwd=tmp_path).stdout)
    (flow,) = told["flows"]
    assert explained(text, "zonal.yaml", "video-left") == {"parts": flow, "reason": ""}
    assert explained(text, "zonal.yaml", "x")["reason"].startswith("expected a stream of the scenario")
    assert explained("name: [", "x.yaml")["parts"] is None


def test_the_sum_is_the_worst_case_of_the_bar() -> None:
    """The requirement that the bar shows decides where the delay begins, and at which listener."""
    for limits in ("delay from release: 100 us", "delay from release: 100 us, delay: 1 s"):
        text = RELEASED.replace("delay from release: 100 us", limits)
        row = live(text, "x.yaml")["streams"][0]["requirements"][0]
        assert row["requirement"] == "delay from release"
        parts = explained(text, "x.yaml", "cam")["parts"]
        assert parts is not None
        assert parts["start"] == "release"
        assert -(-(parts["total_ps"] or 0) // 1000) == row["worst_case"]


def test_a_chosen_stream_says_why_and_follows_the_text(page: Page) -> None:
    field, why = page.locator("#text"), page.locator("#adds-up")
    field.fill(CROWDED)
    expect(page.locator("#legend li")).to_have_count(2)
    expect(why).to_be_hidden()
    page.locator("#legend li button").first.click()
    expect(why.locator("tr").filter(has_text="lower class")).to_contain_text("less with shorter frames there")
    expect(why.locator("strong")).to_contain_text("at most")
    before = str(why.locator("strong").text_content())
    asked: list[str] = []
    page.on("request", lambda one: asked.append(one.url) if "/api/why/" in one.url else None)
    checked = int(page.locator("#problems").get_attribute("data-checked") or 0)
    field.fill(CROWDED.replace("frame: 1522 B", "frame: 600 B"))
    expect(page.locator("#problems")).to_have_attribute("data-checked", str(checked + 1))
    expect(why.locator("strong")).not_to_have_text(before)
    # Once for one text.
    assert len(asked) == 1
    expect(why.locator(".sum span")).not_to_have_count(0)
    assert findings(page) == []
    page.locator("#legend li button").last.click()
    expect(why.locator("strong")).to_contain_text("rest")
