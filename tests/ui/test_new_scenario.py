"""New scenarios: which names they may have, that no file is overwritten, and the dialog in a real browser."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, expect

from support.commands import tsnbench
from tsnbench.studies.store import LIST
from tsnbench.templates import ABOUT, text
from ui.browser import Tab
from ui.conftest import SCENARIO, Server

HOSTILE = {
    "../new.yaml": 400,
    "..%2fnew.yaml": 400,
    "deep/../../new.yaml": 400,
    "deep/../new.yaml": 400,
    "./new.yaml": 400,
    "%2ftmp%2fnew.yaml": 400,
    "/tmp/new.yaml": 400,
    "deep//new.yaml": 400,
    "away/new.yaml": 404,
    "away%2fnew.yaml": 404,
    "none/new.yaml": 404,
    "two.yaml/new.yaml": 404,
    "link.yaml": 412,
    "dangling.yaml": 412,
    "two.yaml": 412,
    "folder.yaml": 412,
    ".hidden.yaml": 400,
    ".git/new.yaml": 400,
    "node_modules/new.yaml": 400,
    "study/new.yaml": 400,
    "new.yml": 400,
    "new.sh": 400,
    "new.yaml/": 400,
    "new.yaml%00": 400,
    "new%00.yaml": 400,
    "new%0a.yaml": 404,
    "new%ff.yaml": 400,
    "new%e2%80%ae.yaml": 400,
    "%20new.yaml": 400,
    ".yaml": 400,
    f"{'x' * 300}.yaml": 400,
    f"{'deep/' * 900}new.yaml": 404,
}
"""Names with the status of their answer: no file is made for any of them."""


def everything(folder: Path) -> dict[str, bytes | None]:
    """All files, links and folders below a folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() and not path.is_symlink() else None
        for path in folder.rglob("*")
    }


@pytest.fixture
def hostile(server: Server) -> Iterator[Server]:
    """A folder with links out of it, a folder whose name ends with .yaml, and the folder of a study."""
    made = [server.folder / name for name in ("folder.yaml", "study", ".git", "node_modules")]
    for one in made:
        one.mkdir()
    (server.folder / "study" / LIST).write_text("{}")
    (server.folder / "dangling.yaml").symlink_to(server.folder.parent / "outside.yaml")
    yield server
    (server.folder / "study" / LIST).unlink()
    (server.folder / "dangling.yaml").unlink()
    for one in made:
        one.rmdir()


def create(server: Server, name: str, content: bytes = b"name: new\n", **headers: str) -> tuple[int, bytes]:
    status, _, words = server.ask(
        "PUT", f"/api/scenario/{name}", content, **{"if_none_match": "*", **headers}
    )
    return status, words


@pytest.mark.parametrize("name", HOSTILE, ids=lambda name: name[:40])
def test_a_hostile_name_makes_and_changes_no_file(hostile: Server, name: str) -> None:
    outside = hostile.folder.parent
    before = everything(outside)
    assert create(hostile, name)[0] == HOSTILE[name]
    assert everything(outside) == before
    assert not Path("/tmp/new.yaml").exists()


def test_only_the_page_itself_makes_a_file(server: Server) -> None:
    before = everything(server.folder)
    name = "new.yaml"
    for headers in ({"origin": "http://evil.example"}, {"origin": ""}, {"host": "evil"}):
        assert create(server, name, **headers)[0] in (403, 421)
    assert server.ask("PUT", f"/api/scenario/{name}", b"", known=False, if_none_match="*")[0] == 403
    # Neither without a tag, nor with two, nor with the tag of another text.
    assert server.ask("PUT", f"/api/scenario/{name}", b"")[0] == 428
    assert create(server, name, if_match='"x"')[0] == 428
    assert create(server, name, if_none_match='"x"')[0] == 428
    assert server.ask("PUT", f"/api/scenario/{name}", b"", if_match='"x"', if_none_match='"x"')[0] == 404
    assert create(server, name, content=b"\xff")[0] == 422
    assert everything(server.folder) == before


def test_of_many_that_make_one_file_one_succeeds(server: Server) -> None:
    with ThreadPoolExecutor(8) as together:
        texts = [f"name: tab{n}\n".encode() for n in range(24)]
        found = list(together.map(lambda content: create(server, "deep/race.yaml", content)[0], texts))
    file = server.folder / "deep/race.yaml"
    assert sorted(found) == [201] + 23 * [412]
    assert file.read_bytes() == texts[found.index(201)]
    file.unlink()


@pytest.mark.parametrize("name", ["-rf.yaml", "zwölf Knoten.yaml", "deep/a'b.yaml", "a;b$(c).yaml"])
def test_a_name_of_other_letters_is_written_listed_and_opened(server: Server, name: str) -> None:
    status, words = create(server, quote(name), text("small").encode())
    assert (status, json.loads(words)) == (201, {"name": name})
    file = server.folder / name
    assert file.read_text(encoding="utf-8") == text("small")
    # As with every new file of the user: the mode follows the umask.
    mask = os.umask(0)
    os.umask(mask)
    assert file.stat().st_mode & 0o777 == 0o666 & ~mask
    assert name in json.loads(server.ask("GET", "/api/folder")[2])["scenarios"]
    status, headers, content = server.ask("GET", f"/api/scenario/{quote(name)}")
    assert (status, content.decode()) == (200, text("small"))
    # Its tag is that of the answer: it can be saved at once.
    assert server.ask("PUT", f"/api/scenario/{quote(name)}", b"x: 1\n", if_match=headers["etag"])[0] == 204
    file.unlink()


def test_the_page_offers_what_the_command_init_writes(server: Server, tmp_path: Path) -> None:
    offered = json.loads(server.ask("GET", "/api/templates")[2])
    assert [one["name"] for one in offered] == list(ABOUT)
    for one in offered:
        assert tsnbench("init", one["name"], "-").stdout == one["text"]


def remove(page: Page, file: Path) -> None:
    """Removes a file after the page has left it."""
    page.get_by_role("button", name="two.yaml").click()
    expect(page.locator("#name")).to_have_text("two.yaml")
    file.unlink()


def test_a_scenario_is_made_drawn_and_saved_by_keyboard(page: Page, server: Server) -> None:
    page.get_by_role("button", name="New scenario").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name="New scenario")).to_be_visible()
    expect(page.locator("#new-file")).to_be_focused()
    page.keyboard.type("deep/my net")
    expect(page.locator("#new-command")).to_have_text("tsnbench init small 'deep/my net.yaml'")
    page.keyboard.press("Enter")
    expect(page.locator("#name")).to_have_text("deep/my net.yaml")
    expect(page.locator("#status")).to_contain_text("Created deep/my net.yaml.")
    expect(page.locator("#heading")).to_have_text("No problems")
    expect(page.locator(".node")).to_have_count(3)
    expect(page.locator("[data-scenario='deep/my net.yaml']")).to_have_attribute("aria-current", "true")
    file = server.folder / "deep/my net.yaml"
    assert file.read_text() == text("small")
    # The network is drawn further, and saved with the tag of the new file.
    page.locator("#new-name").fill("drive")
    page.get_by_role("button", name="+ Station").click()
    expect(page.locator(".node")).to_have_count(4)
    page.keyboard.press("Control+s")
    expect(page.locator("#status")).to_have_text("Saved")
    assert file.read_text() == text("small").replace("controller]", "controller, drive]", 1)
    remove(page, file)


def test_another_template_is_chosen_and_a_refused_name_is_told(page: Page, server: Server, tab: Tab) -> None:
    page.get_by_role("button", name="New scenario").click()
    page.locator("#new-from").select_option("ring")
    refused = page.get_by_role("alert")
    for name, words in [
        ("", "Write the name of a file."),
        ("two", "There is a file two.yaml already"),
        ("../two", "the file is below the opened folder"),
        ("/tmp/two", "hidden or unnamed"),
        ("away/two", "No such scenario or folder"),
        ("new.yml", "ends with .yaml"),
    ]:
        page.locator("#new-file").fill(name)
        page.get_by_role("button", name="Create").click()
        expect(refused).to_contain_text(words)
        expect(page.locator("#new-file")).to_be_focused()
    assert tab.refusals() == [412, 400, 404, 400]
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("button", name="New scenario")).to_be_focused()
    page.keyboard.press("Enter")
    page.locator("#new-from").select_option("ring")
    page.locator("#new-file").fill("rounds.yaml")
    expect(page.locator("#new-command")).to_have_text("tsnbench init ring rounds.yaml")
    page.keyboard.press("Enter")
    expect(page.locator(".node")).to_have_count(12)
    assert (server.folder / "rounds.yaml").read_text() == text("ring")
    remove(page, server.folder / "rounds.yaml")
    assert (server.folder / "two.yaml").read_text() == SCENARIO


def test_of_two_tabs_that_make_one_file_the_second_is_refused(
    page: Page, server: Server, browser: Browser
) -> None:
    second = Tab(browser.new_page())
    other = second.page
    other.goto(server.address)
    for one in (page, other):
        one.get_by_role("button", name="New scenario").click()
        one.locator("#new-file").fill("both")
    page.locator("#new-file").press("Enter")
    expect(page.locator("#name")).to_have_text("both.yaml")
    other.locator("#new-from").select_option("star")
    other.locator("#new-file").press("Enter")
    expect(other.get_by_role("alert")).to_have_text("Not created: There is a file both.yaml already")
    assert (server.folder / "both.yaml").read_text() == text("small")
    other.close()
    assert (second.refusals(), second.said) == ([412], [])
    remove(page, server.folder / "both.yaml")
