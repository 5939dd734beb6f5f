"""Find and replace in the text of a scenario, in a real browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from ui.browser import becomes, tab_to, text
from ui.conftest import SCENARIO, Server


def selected(page: Page) -> tuple[int, str]:
    """Where the selection of the text begins, and its words."""
    start, words = page.locator("#text").evaluate(
        "(field) => [field.selectionStart, field.value.slice(field.selectionStart, field.selectionEnd)]"
    )
    return int(start), str(words)


def begin(page: Page, words: str) -> None:
    """Search from the beginning of the text."""
    page.locator("#text").evaluate("(field) => { field.focus(); field.setSelectionRange(0, 0); }")
    page.keyboard.press("Control+f")
    expect(page.locator("#search-for")).to_be_focused()
    page.keyboard.type(words)


def counted(page: Page, words: str) -> None:
    expect(page.get_by_role("search").get_by_role("status")).to_have_text(words)


PLACES = [n for n in range(len(SCENARIO)) if SCENARIO.startswith("two", n)]


def test_places_are_found_and_counted_by_keyboard_alone(page: Page) -> None:
    begin(page, "two")
    counted(page, "1 of 5")
    expect(page.locator(".below .found")).to_have_count(5)
    expect(page.locator(".below .current")).to_have_count(1)
    steps = [
        ("Enter", 1, ""),
        ("F3", 2, ""),
        ("Shift+Enter", 1, ""),
        ("Shift+F3", 0, ""),
        ("Shift+Enter", 4, ", from the end"),
        ("Enter", 0, ", from the top"),
    ]
    for key, number, where in steps:
        page.keyboard.press(key)
        counted(page, f"{number + 1} of 5{where}")
        assert selected(page) == (PLACES[number], "two")
        # One can type on: the text does not take the focus.
        expect(page.locator("#search-for")).to_be_focused()
    for button, number in (("#search-next", 1), ("#search-previous", 0)):
        tab_to(page, button)
        page.keyboard.press("Enter")
        assert selected(page) == (PLACES[number], "two")
    page.keyboard.press("Escape")
    expect(page.get_by_role("search")).to_have_count(0)
    expect(page.locator("#text")).to_be_focused()
    expect(page.locator(".below .found")).to_have_count(0)
    assert selected(page) == (PLACES[0], "two")
    # In the text, F3 opens the search again, with the selected words.
    page.keyboard.press("F3")
    expect(page.locator("#search-for")).to_have_value("two")
    counted(page, "1 of 5")
    page.keyboard.type("missing")
    counted(page, "not found")
    before = selected(page)
    page.keyboard.press("Enter")
    assert selected(page) == before


def test_lines_that_are_not_drawn_are_found_and_shown(page: Page) -> None:
    lines = SCENARIO + "# rest\n" * 600 + f"# {'a long line ' * 40}needle\n"
    page.locator("#text").fill(lines)
    page.locator("#text").evaluate("(field) => { field.scrollTop = 0; }")
    expect(page.locator(".below").get_by_text("needle")).to_have_count(0)
    begin(page, "needle")
    counted(page, "1 of 1")
    current = page.locator(".below .found.current")
    expect(current).to_have_text("needle")
    assert selected(page) == (lines.index("needle"), "needle")
    pane, box = page.locator("#editor").bounding_box(), current.bounding_box()
    assert pane is not None
    assert box is not None
    assert pane["x"] < box["x"] < pane["x"] + pane["width"] - 40
    assert pane["y"] < box["y"] < pane["y"] + pane["height"] - 20
    # What is typed while the bar is open counts at once.
    page.locator("#text").focus()
    page.keyboard.type("needle, needle")
    counted(page, "2 found")


TEXT = "# a.b A.B axb\n# {x: [1]} ${p} \\d+ $& (a|b)\n# İi 😀 É é\n" + SCENARIO


@pytest.mark.parametrize(
    ("words", "count"),
    [
        ("a.b", 2),
        ("[1]", 1),
        ("${p}", 1),
        ("\\d+", 1),
        ("$&", 1),
        ("(a|b)", 1),
        ("😀 É", 1),
        ("é", 2),
        ("^", 0),
    ],
)
def test_words_are_taken_as_they_are(page: Page, words: str, count: int) -> None:
    page.locator("#text").fill(TEXT)
    begin(page, words)
    counted(page, f"1 of {count}" if count else "not found")
    if count:
        assert selected(page)[1].lower() == words.lower()


def test_the_case_of_letters_counts_if_one_wants(page: Page) -> None:
    page.locator("#text").fill(TEXT)
    begin(page, "A.B")
    counted(page, "1 of 2")
    exact = page.get_by_role("button", name="Match case")
    exact.click()
    expect(exact).to_have_attribute("aria-pressed", "true")
    counted(page, "1 of 1")
    assert selected(page)[1] == "A.B"


def test_one_is_replaced_then_all_and_each_is_one_undo(page: Page) -> None:
    begin(page, "two")
    page.keyboard.press("Enter")
    # Words of the replacement have no other meaning.
    page.locator("#search-with").fill("$&")
    page.keyboard.press("Enter")
    at = PLACES[1]
    step1 = SCENARIO[:at] + "$&" + SCENARIO[at + 3 :]
    becomes(page, step1)
    counted(page, "2 of 4")
    expect(page.locator("#search-with")).to_be_focused()
    page.locator("#search-with").fill("x")
    page.get_by_role("button", name="Replace this one").click()
    step2 = step1[: PLACES[2] - 1] + "x" + step1[PLACES[2] + 2 :]
    becomes(page, step2)
    counted(page, "2 of 3")
    page.get_by_role("button", name="Replace all").click()
    step3 = step2.replace("two", "x")
    becomes(page, step3)
    counted(page, "3 replaced")
    expect(page.locator("#status")).to_have_text("Replaced 3. Ctrl-Z in the text reverts all of them.")
    expect(page.locator("#text")).to_be_focused()
    for wanted in (step2, step1, SCENARIO):
        page.keyboard.press("Control+z")
        becomes(page, wanted)
    # Nothing in place of all of them.
    begin(page, "two")
    page.locator("#search-with").fill("")
    page.get_by_role("button", name="Replace all").click()
    becomes(page, SCENARIO.replace("two", ""))
    page.keyboard.press("Control+z")
    becomes(page, SCENARIO)
    # A single letter in place of a key is no begin of one: nothing is completed.
    begin(page, "duration")
    page.locator("#search-with").fill("d")
    page.get_by_role("button", name="Replace all").click()
    becomes(page, SCENARIO.replace("duration", "d"))
    page.wait_for_timeout(1000)
    expect(page.locator("#candidates").get_by_role("option")).to_have_count(0)


def test_thousands_of_lines_are_replaced_at_once_and_exactly(page: Page) -> None:
    many = SCENARIO + "".join(f"  # one < two &amp; '{n}'  \"b\"  \n\n" for n in range(2000)) + "# one"
    page.locator("#text").evaluate("(field, text) => { field.focus(); field.value = text; }", many)
    page.keyboard.press("Control+End")
    page.keyboard.type(" ")
    begin(page, "one")
    counted(page, "1 of 2004")
    page.locator("#search-with").fill("<b>")
    before = page.evaluate("() => performance.now()")
    page.get_by_role("button", name="Replace all").click()
    counted(page, "2004 replaced")
    # Line by line it would be half a minute.
    assert page.evaluate("() => performance.now()") - before < 8000
    assert text(page) == many.replace("one", "<b>") + " "
    page.keyboard.press("Control+z")
    assert text(page) == many + " "


@pytest.mark.parametrize("field", ["#search-for", "#find", "#new-name"])
def test_undo_in_the_text_reverts_the_text_and_not_what_was_typed_elsewhere(page: Page, field: str) -> None:
    page.locator("#text").focus()
    page.keyboard.press("Control+End")
    page.keyboard.type("#")
    becomes(page, SCENARIO + "#")
    page.keyboard.press("Control+f")
    page.locator(field).focus()
    page.keyboard.type("abc")
    page.locator("#text").focus()
    page.keyboard.press("Control+z")
    becomes(page, SCENARIO)
    expect(page.locator(field)).to_have_value("abc")


def test_a_text_that_cannot_be_edited_is_searched_and_not_changed(page: Page, server: Server) -> None:
    (server.folder / "deep/more.yaml").write_bytes(SCENARIO.replace("\n", "\r\n").encode())
    page.get_by_role("button", name="deep/more.yaml").click()
    expect(page.locator("#status")).to_contain_text("it can be read here, not edited")
    begin(page, "two")
    counted(page, "1 of 5")
    for one in ("#search-with", "#search-one", "#search-all"):
        expect(page.locator(one)).to_be_disabled()
    (server.folder / "deep/more.yaml").write_text(SCENARIO)
