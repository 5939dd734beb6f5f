"""What one undo reverts, and letters that the page itself uses, by keyboard in a real browser."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from ui.browser import becomes, text, undone
from ui.conftest import SCENARIO, Server
from ui.test_folding import FOLDED, NETWORK, caret, rows, saved


def redone(page: Page, *steps: str) -> None:
    for wanted in steps:
        page.keyboard.press("Control+y")
        becomes(page, wanted)


def test_an_undo_reverts_a_word(page: Page) -> None:
    caret(page, 0)
    page.keyboard.type("# one two,three")
    steps = [f"{words}{SCENARIO}" for words in ("# one ", "# ", "")]
    undone(page, *steps)
    redone(page, *steps[1::-1], f"# one two,three{SCENARIO}")
    # What was erased letter by letter comes back at once; a letter at another place is a step of its own.
    for _ in range(5):
        page.keyboard.press("Backspace")
    page.keyboard.press("ArrowLeft")
    page.keyboard.type("x")
    becomes(page, f"# one twox,{SCENARIO}")
    undone(page, f"# one two,{SCENARIO}", f"# one two,three{SCENARIO}", *steps)


def test_a_line_and_an_edit_of_the_page_are_steps_of_their_own(page: Page) -> None:
    page.locator("#text").focus()
    page.keyboard.press("Control+End")
    page.keyboard.type("# ab")
    page.keyboard.press("Enter")
    page.keyboard.type("cd")
    undone(page, f"{SCENARIO}# ab\n", f"{SCENARIO}# ab", f"{SCENARIO}# ", SCENARIO)


def test_a_word_that_was_typed_around_a_fold_is_one_step(page: Page, server: Server) -> None:
    page.locator("#text").focus()
    page.keyboard.press("Control+End")
    page.keyboard.type("#ab")
    caret(page, NETWORK)
    page.keyboard.press("F9")
    page.keyboard.press("Control+End")
    page.keyboard.type("cd")
    assert rows(page)[3] == FOLDED
    for last in ("#ab", ""):
        page.keyboard.press("Control+z")
        expect(page.locator(".below .words").last).to_have_text(last)
        assert saved(page, server) == SCENARIO + last


def test_letters_that_stand_for_folded_lines_stay_letters_where_they_are_pasted(
    page: Page, server: Server
) -> None:
    caret(page, NETWORK)
    page.keyboard.press("F9")
    letter = next(one for one in text(page) if one >= "\ue000")
    page.keyboard.press("Control+End")
    page.keyboard.type("# ")
    page.locator("#find").fill(letter)
    page.locator("#find").press("Control+a")
    page.keyboard.press("Control+c")
    page.locator("#text").focus()
    page.keyboard.press("Control+v")
    assert saved(page, server) == f"{SCENARIO}# {letter}"
    # All blocks are opened and folded again: the letter stays one.
    page.keyboard.press("Shift+F9")
    page.keyboard.press("Shift+F9")
    assert saved(page, server) == f"{SCENARIO}# {letter}"
    page.keyboard.press("Control+z")
    expect(page.locator("#save")).to_be_enabled()
    assert saved(page, server) == f"{SCENARIO}# "
