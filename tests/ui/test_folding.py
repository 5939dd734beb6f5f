"""Blocks of a scenario's text are folded in a real browser; the text never changes."""

from __future__ import annotations

import json

from playwright.sync_api import Page, expect

from ui.browser import findings
from ui.conftest import SCENARIO, Server

NETWORK = SCENARIO.index("network:")
FOLDED = "network:… 3 lines"
WHOLE = "() => document.querySelector('#text').value"


def caret(page: Page, at: int, until: int | None = None) -> None:
    """The place of the field, which shows the text without folded lines."""
    page.locator("#text").evaluate(
        "(one, [a, b]) => { one.focus(); one.setSelectionRange(a, b); }", [at, until or at]
    )


def rows(page: Page) -> list[str]:
    return page.locator(".below .words").all_text_contents()


def saved(page: Page, server: Server) -> str:
    """The text as the page knows it: it is saved."""
    page.keyboard.press("Control+s")
    expect(page.locator("#save")).to_be_disabled()
    return (server.folder / "two.yaml").read_text()


def test_a_block_is_folded_and_opened_by_keyboard_and_the_text_stays(page: Page, server: Server) -> None:
    # In the middle of the block: its head is found.
    caret(page, SCENARIO.index("stations"))
    page.keyboard.press("F9")
    shown = rows(page)
    assert shown[3:5] == [FOLDED, "streams:"]
    expect(page.locator("#status")).to_contain_text("Folded: 3 lines below line 4")
    numbers = page.locator(".below .number").all_text_contents()
    assert numbers[3:6] == ["4", "8", "9"]
    expect(page.locator("#save")).to_be_disabled()
    expect(page.locator("#heading")).to_have_text("No problems")
    assert findings(page) == []
    # Another line is edited: what is saved has every line.
    page.keyboard.press("Control+End")
    page.keyboard.type("#")
    assert rows(page)[3] == FOLDED
    assert saved(page, server) == SCENARIO + "#"
    caret(page, NETWORK)
    page.keyboard.press("F9")
    assert rows(page)[4] == "  bridge b: {}"
    # The steps that fold and open are none of the undo's.
    for key, wanted in (("Control+z", SCENARIO), ("Control+y", SCENARIO + "#")):
        page.keyboard.press(key)
        expect(page.locator("#save")).to_be_enabled()
        assert saved(page, server) == wanted
    page.keyboard.press("Shift+F9")
    assert page.evaluate(WHOLE) == SCENARIO + "#"
    page.keyboard.press("Shift+F9")
    assert [one for one in rows(page) if "line" in one] == [FOLDED, "streams:… 1 line"]


def test_the_sign_beside_a_line_folds_its_block(page: Page) -> None:
    signs = page.locator(".below .fold")
    assert [n for n, one in enumerate(signs.all_text_contents()) if one] == [3, 7]
    box = page.locator(".below .row").nth(3).bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 42, box["y"] + 10)
    assert rows(page)[3] == FOLDED
    expect(signs.nth(3)).to_have_text("▸")
    page.mouse.click(box["x"] + 42, box["y"] + 10)
    assert "".join(f"{one}\n" for one in rows(page)).startswith(SCENARIO)


def test_folded_lines_are_found_and_their_problems_are_at_the_head(page: Page) -> None:
    page.locator("#text").fill(SCENARIO.replace("1 Gbit/s", "1 Gbit/x"))
    expect(page.locator("#heading")).to_have_text("Problems: 1")
    caret(page, NETWORK)
    page.keyboard.press("F9")
    expect(page.locator(".below .folded.bad")).to_have_text("✕ 3 lines, 1 problem")
    page.keyboard.press("Control+f")
    page.locator("#search-for").fill("duration")
    expect(page.locator(".below .found.current")).to_have_text("duration")
    expect(page.locator(".below .folded")).to_have_count(1)
    page.locator("#search-for").fill("between")
    expect(page.locator(".below .found.current")).to_have_text("between")
    expect(page.locator(".below .folded")).to_have_count(0)
    page.keyboard.press("Escape")
    caret(page, NETWORK)
    page.keyboard.press("F9")
    page.keyboard.press("F8")
    expect(page.locator(".below .mark.bad").first).to_be_visible()
    expect(page.locator(".below .folded")).to_have_count(0)


def test_an_edit_at_a_folded_line_opens_it_and_no_line_vanishes(page: Page, server: Server) -> None:
    head = NETWORK + len("network:")
    for key, place, wanted in [
        ("Delete", head, SCENARIO[:head] + SCENARIO[head + 1 :]),
        ("Backspace", head + 2, SCENARIO.replace("one-b, two-b]}\n", "one-b, two-b]}")),
        ("Control+Delete", NETWORK, SCENARIO.replace("network", "")),
        ("x", head + 1, SCENARIO.replace("two-b]}", "two-b]}x")),
    ]:
        page.locator("#text").fill(SCENARIO)
        caret(page, NETWORK)
        page.keyboard.press("F9")
        expect(page.locator(".below .folded")).to_have_count(1)
        caret(page, place)
        page.keyboard.press(key)
        expect(page.locator(".below .folded")).to_have_count(0)
        assert page.evaluate(WHOLE) == wanted, key
    # What is copied has the folded lines; what is cut with its head goes, and comes back.
    page.locator("#text").fill(SCENARIO)
    caret(page, NETWORK)
    page.keyboard.press("F9")
    caret(page, NETWORK, head + 2)
    page.evaluate(
        "() => addEventListener('cut', (one) => { window.cut = one.clipboardData.getData('text/plain'); })"
    )
    page.keyboard.press("Control+x")
    block = SCENARIO[NETWORK : SCENARIO.index("streams:")]
    assert page.evaluate("() => window.cut") == block, json.dumps(block)
    assert saved(page, server) == SCENARIO.replace(block, "")
    page.keyboard.press("Control+z")
    assert saved(page, server) == SCENARIO
