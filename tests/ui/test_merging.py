"""Two texts side by side: their differences are taken over into the editor one by one, and undone."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from support.commands import tsnbench
from ui.browser import becomes, findings, undone
from ui.conftest import SWEEP, Server

OTHER = SWEEP.replace("name: swept", "name: other").replace("[500 us, 250 us]", "250 us")
RENAMED = OTHER.replace("name: other", "name: swept")


@pytest.fixture
def page(listed: Page, server: Server) -> Page:
    (server.folder / "swept.yaml").write_text(SWEEP)
    (server.folder / "other.yaml").write_text(OTHER)
    return listed


def at(server: Server, **parts: str) -> str:
    return f"http://127.0.0.1:{server.port}/#{urlencode(parts)}"


def test_differences_are_taken_over_by_keyboard_and_undone(page: Page, server: Server) -> None:
    page.goto(at(server, scenario="other.yaml"))
    expect(page.locator("#name")).to_have_text("other.yaml")
    page.reload()
    expect(page.locator("#merge-with option", has_text="swept.yaml")).to_have_count(1)
    # A text is not merged with itself.
    expect(page.locator("#merge-with option", has_text="other.yaml")).to_have_attribute("hidden", "")
    page.locator("#merge-with").select_option("swept.yaml")
    merge = page.get_by_role("region", name="Merge")
    expect(merge.get_by_role("status")).to_have_text("2 differences")
    first = merge.get_by_label("Difference 1 of 2")
    expect(first.locator(".removed")).to_have_text("name: other")
    expect(first.locator(".added")).to_have_text("name: swept")
    # Equal lines stand beside each other.
    equal = merge.locator("tr", has_text="# A comment that stays.").locator("td")
    assert equal.all_text_contents()[:3] == ["1", "", "# A comment that stays."]
    assert equal.all_text_contents()[4:] == ["1", "", "# A comment that stays."]
    assert findings(page) == []
    expect(merge.get_by_role("button", name="Take difference 1 over into other.yaml")).to_be_focused()
    page.keyboard.press("F8")
    expect(merge.get_by_role("button", name="Take difference 2")).to_be_focused()
    page.keyboard.press("F8")
    page.keyboard.press("Enter")
    becomes(page, RENAMED)
    expect(page.locator("#status")).to_contain_text("Taken over from swept.yaml, not saved.")
    expect(merge.get_by_role("status")).to_have_text("1 difference")
    expect(merge.get_by_role("button", name="Take difference 1")).to_be_focused()
    page.keyboard.press("Enter")
    becomes(page, SWEEP)
    expect(merge.get_by_role("status")).to_have_text("The texts are equal.")
    page.keyboard.press("Control+z")
    becomes(page, RENAMED)
    expect(merge.get_by_role("status")).to_have_text("1 difference")
    page.keyboard.press("Escape")
    expect(merge).to_be_hidden()
    expect(page.locator("#drawing")).to_be_visible()
    undone(page, OTHER)
    expect(page.locator("#save")).to_be_disabled()
    assert (server.folder / "other.yaml").read_text() == OTHER


def test_a_comparison_of_runs_leads_to_the_merge_of_their_texts(
    page: Page, server: Server, runs: list[str]
) -> None:
    if not (server.folder / "other").exists():
        tsnbench("run", "other.yaml", "--into", "other", cwd=server.folder)
    page.goto(at(server, compare=f"{runs[0]}|other"))
    texts = page.get_by_role("region", name="Texts")
    expect(texts.get_by_label("Difference 1 of 2").locator(".added")).to_have_text("name: other")
    expect(texts.get_by_role("button")).to_have_count(0)
    assert findings(page) == []
    texts.get_by_role("link", name="Merge other/scenario.yaml into swept.yaml").click()
    page.get_by_role("button", name="Take difference 2 over into swept.yaml").click()
    becomes(page, SWEEP.replace("[500 us, 250 us]", "250 us"))
    page.get_by_role("button", name="Undo").click()
    becomes(page, SWEEP)
    page.get_by_role("button", name="Close").click()
    expect(page.locator("#save")).to_be_disabled()


def test_the_text_of_a_run_stands_beside_todays_text(page: Page, server: Server) -> None:
    tsnbench("run", "other.yaml", "--into", "then", cwd=server.folder)
    (server.folder / "other.yaml").write_text(RENAMED)
    page.goto(at(server, run="then"))
    page.reload()
    # The copy is no scenario of the folder.
    expect(page.get_by_role("button", name="other.yaml", exact=True)).to_have_count(1)
    expect(page.get_by_role("button", name="then/scenario.yaml")).to_have_count(0)
    page.get_by_role("link", name="compare with today's text").click()
    merge = page.get_by_role("region", name="Merge")
    expect(merge.get_by_role("status")).to_have_text("1 difference")
    expect(merge.locator(".removed")).to_have_text("name: swept")
    expect(merge.locator(".added")).to_have_text("name: other")
    expect(page.locator("#name")).to_have_text("other.yaml")
    expect(page.locator("#merge-with option", has_text="as it was run: then")).not_to_have_attribute(
        "hidden", ""
    )
    page.keyboard.press("Enter")
    becomes(page, OTHER)
    expect(page.locator("#status")).to_contain_text("Taken over from then/scenario.yaml, not saved.")
    page.keyboard.press("Escape")
    undone(page, RENAMED)
    # What was said before is not said of another view.
    page.locator("#merge-with").select_option("two.yaml")
    expect(merge).to_be_visible()
    expect(page.locator("#status")).to_be_empty()
    page.keyboard.press("Escape")
    page.locator("#merge-with").select_option("then/scenario.yaml")
    expect(merge.get_by_role("status")).to_have_text("1 difference")
    assert findings(page) == []


def test_texts_of_two_runs_of_one_file_are_those_that_were_run(page: Page, server: Server) -> None:
    for folder, text in (("before", OTHER), ("after", RENAMED)):
        (server.folder / "other.yaml").write_text(text)
        tsnbench("run", "other.yaml", "--into", folder, cwd=server.folder)
    page.goto(at(server, compare="before|after"))
    texts = page.get_by_role("region", name="Texts")
    expect(texts.get_by_role("heading")).to_have_text("Texts as they were run")
    expect(texts.locator(".removed")).to_have_text("name: other")
    texts.get_by_role("link", name="Merge before/scenario.yaml into other.yaml").click()
    expect(page.get_by_role("region", name="Merge").get_by_role("status")).to_have_text("1 difference")


def test_runs_without_a_common_listener_are_not_said_to_agree(
    page: Page, server: Server, runs: list[str]
) -> None:
    (server.folder / "other.yaml").write_text(OTHER.replace("from: one, to: two", "from: two, to: one"))
    tsnbench("run", "other.yaml", "--into", "apart", cwd=server.folder)
    page.goto(at(server, compare=f"{runs[0]}|apart"))
    expect(page.locator("#view-compare")).to_contain_text("The runs have no quantity in common")
    expect(page.locator("#view-compare")).not_to_contain_text("quantities agree")


def test_a_run_folder_without_a_text_says_so(page: Page, server: Server) -> None:
    tsnbench("run", "other.yaml", "--into", "old", cwd=server.folder)
    (server.folder / "old/scenario.yaml").unlink()
    manifest = server.folder / "old/manifest.json"
    about = json.loads(manifest.read_text())
    del about["scenario"]
    manifest.write_text(json.dumps(about))
    page.goto(at(server, run="old"))
    page.reload()
    expect(page.locator("#view-run")).to_contain_text("this run folder keeps no text of its scenario")
    expect(page.get_by_role("link", name="compare with today's text")).to_have_count(0)


def asked(server: Server, name: str = "other.yaml", **changes: Any) -> tuple[int | str, Any]:
    body = {"text": OTHER, "other": "swept.yaml"} | changes
    status, _, words = server.ask("POST", f"/api/merge/{name}", json.dumps(body).encode())
    if status != 200:
        return status, words
    found = json.loads(words)
    return ("refused" if "refused" in found else status), found


def test_the_edits_are_in_the_units_of_the_page_and_wrong_questions_are_refused(
    page: Page, server: Server
) -> None:
    status, found = asked(server)
    edit = found["edits"][0]
    assert (status, edit["insert"]) == (200, "name: swept\n")
    assert OTHER[edit["start"] : edit["end"]] == "name: other\n"
    # A letter beyond 16 bits has two units.
    face = f"{OTHER}".replace("A comment", "\N{GRINNING FACE} A comment")
    (server.folder / "swept.yaml").write_text(SWEEP.replace("A comment", "\N{GRINNING FACE} A comment"))
    assert asked(server, text=face)[1]["edits"][0]["start"] == edit["start"] + 3
    for changes, wanted in [
        ({"other": "../secret.yaml"}, 404),
        ({"other": "link.yaml"}, 404),
        ({"other": None}, 400),
        ({"text": 1}, "refused"),
        ({"name": "../secret.yaml"}, 404),
        ({"name": "none.yaml"}, 404),
    ]:
        assert asked(server, **changes)[0] == wanted, changes
    assert server.ask("POST", "/api/merge/other.yaml", b"{}", known=False)[0] == 403
