"""A difference between the texts of two runs is taken over into the editor of one of them."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from support.commands import tsnbench
from ui.browser import Tab, becomes, findings, undone
from ui.conftest import SWEEP, Server

OTHER = SWEEP.replace("name: swept", "name: other").replace("[500 us, 250 us]", "250 us")


@pytest.fixture
def page(listed: Page) -> Page:
    return listed


@pytest.fixture
def other(server: Server, runs: list[str]) -> str:
    """The address of the comparison of a run of ``swept.yaml`` with one of ``other.yaml``."""
    (server.folder / "swept.yaml").write_text(SWEEP)
    (server.folder / "other.yaml").write_text(OTHER)
    if not (server.folder / "other").exists():
        tsnbench("run", "other.yaml", "--into", "other", cwd=server.folder)
    return f"http://127.0.0.1:{server.port}/#" + urlencode({"compare": f"{runs[0]}|other"})


def test_differences_are_taken_over_one_by_one_and_undone(page: Page, server: Server, other: str) -> None:
    page.goto(other)
    first = page.get_by_role("group", name="Difference 1 of 2")
    expect(first.locator("span")).to_have_text(["- name: swept\n", "+ name: other\n"])
    assert findings(page) == []
    button = first.get_by_role("button", name="Copy difference 1 into other.yaml")
    expect(button).to_have_text("Copy into other.yaml")
    button.focus()
    with page.expect_request("**/api/take-over/other.yaml") as sent:
        page.keyboard.press("Enter")
    assert sent.value.post_data_json["first"] is False
    expect(page.locator("#name")).to_have_text("other.yaml")
    step1 = OTHER.replace("name: other", "name: swept")
    becomes(page, step1)
    expect(page.locator("#status")).to_contain_text("Copied from swept.yaml, not saved.")
    expect(page.locator("#text")).to_be_focused()
    words = page.locator("#text").evaluate(
        "(field) => field.value.slice(field.selectionStart, field.selectionEnd)"
    )
    assert words == "name: swept\n"
    assert (server.folder / "other.yaml").read_text() == OTHER
    # The second one goes into the text that is not saved yet.
    page.go_back()
    page.get_by_role("button", name="Copy difference 2 into other.yaml").click()
    becomes(page, SWEEP)
    # The first one again: its lines are not those that were compared.
    page.go_back()
    page.get_by_role("button", name="Copy difference 1 into other.yaml").click()
    expect(page.locator("#status")).to_contain_text("these lines have been edited meanwhile")
    becomes(page, SWEEP)
    undone(page, step1, OTHER)
    expect(page.locator("#save")).to_be_disabled()
    # The other direction: the first text gets the lines of the second one.
    page.go_back()
    with page.expect_request("**/api/take-over/swept.yaml") as sent:
        page.get_by_role("button", name="Copy difference 2 into swept.yaml").click()
    assert sent.value.post_data_json["first"] is True
    expect(page.locator("#name")).to_have_text("swept.yaml")
    becomes(page, SWEEP.replace("[500 us, 250 us]", "250 us"))
    undone(page, SWEEP)


def test_a_file_that_has_changed_meanwhile_is_not_taken_over(
    page: Page, tab: Tab, server: Server, other: str
) -> None:
    page.goto(other)
    button = page.get_by_role("button", name="Copy difference 1 into other.yaml")
    expect(button).to_be_visible()
    (server.folder / "swept.yaml").write_text(SWEEP.replace("A comment", "Another comment"))
    button.click()
    expect(page.locator("#status")).to_contain_text("Another program has changed the file")
    becomes(page, OTHER)
    assert tab.refusals() == [412]


def asked(server: Server, name: str = "other.yaml", **changes: Any) -> tuple[int | str, Any]:
    tags = [server.ask("GET", f"/api/scenario/{one}")[1].get("etag") for one in ("other.yaml", "swept.yaml")]
    body = {"text": OTHER, "other": "swept.yaml", "tags": tags, "number": 0, "first": False} | changes
    status, _, words = server.ask("POST", f"/api/take-over/{name}", json.dumps(body).encode())
    if status != 200:
        return status, words
    found = json.loads(words)
    return ("refused" if "refused" in found else status), found


def test_wrong_questions_are_refused(server: Server, other: str) -> None:
    status, edit = asked(server)
    assert (status, edit["insert"]) == (200, "name: swept\n")
    assert OTHER[edit["start"] : edit["end"]] == "name: other\n"
    # Places count in the units of the page: a letter beyond 16 bits has two of them.
    assert asked(server, text=f"# \N{GRINNING FACE}\n{OTHER}")[1]["start"] == edit["start"] + 5
    for changes, wanted in [
        ({"number": 9}, "refused"),
        ({"number": -1}, "refused"),
        ({"number": "0"}, 400),
        ({"number": True}, 400),
        ({"tags": None}, 400),
        ({"tags": ["x", "y"]}, 412),
        ({"other": "../secret.yaml"}, 404),
        ({"other": "link.yaml"}, 404),
        ({"other": None}, 400),
        ({"text": 1}, "refused"),
        ({"text": "all: new\n"}, "refused"),
        ({"name": "../secret.yaml"}, 404),
        ({"name": "none.yaml"}, 404),
    ]:
        assert asked(server, **changes)[0] == wanted, changes
    assert server.ask("POST", "/api/take-over/other.yaml", b"{}", known=False)[0] == 403


def test_differences_are_numbered_as_they_are_shown_whichever_text_is_the_target(server: Server) -> None:
    """These two texts have three differences in one order, and two in the other one."""
    texts = {"x.yaml": "a\na\na\nb\n", "y.yaml": "b\na\nc\na\n"}
    for name, text in texts.items():
        (server.folder / name).write_text(text)
    tags = [server.ask("GET", f"/api/scenario/{name}")[1]["etag"] for name in texts]
    for number, wanted in enumerate(("a\nc\na\n", "b\na\na\n", "b\na\nc\na\na\nb\n")):
        same = {"text": texts["y.yaml"], "other": "x.yaml", "tags": tags[::-1], "number": number}
        status, edit = asked(server, "y.yaml", **same, first=False)
        assert status == 200
        after = texts["y.yaml"][: edit["start"]] + edit["insert"] + texts["y.yaml"][edit["end"] :]
        assert after == wanted
    same["number"] = 2
    # In the other order there is no third one.
    assert asked(server, "y.yaml", **same, first=True)[0] == "refused"
    for name in texts:
        (server.folder / name).unlink()
