"""The drawing and the editor of ``tsnbench ui`` in a real browser, under the page's own content policy."""

from __future__ import annotations

import json
import re
from pathlib import Path
from random import Random

from playwright.sync_api import Page, expect

from ui.browser import becomes, tab_to, text, undone
from ui.conftest import SCENARIO, Server


def test_a_station_a_link_and_a_stream_by_mouse_and_undo_restores_the_text(page: Page) -> None:
    page.locator("#new-name").fill("three")
    page.get_by_role("button", name="+ Station").click()
    step1 = SCENARIO.replace("[one, two]", "[one, two, three]")
    becomes(page, step1)
    expect(page.locator(".node")).to_have_count(4)
    for mode, end in (("+ Link", "bridge b"), ("+ Stream", "station two")):
        page.get_by_role("button", name=mode).click()
        page.get_by_role("button", name="station three").click()
        page.get_by_role("button", name=end, exact=True).click()
        if mode == "+ Link":
            step2 = step1.replace("two-b]", "two-b, three -- b]")
            becomes(page, step2)
            expect(page.locator(".link")).to_have_count(3)
    step3 = step2 + "  stream-1: {from: three, to: two, period: 1 ms, payload: 100 B}\n"
    becomes(page, step3)
    expect(page.locator("#heading")).to_have_text("No problems")
    expect(page.locator("[data-legend]")).to_have_count(2)
    undone(page, step2, step1, SCENARIO)


def arrow_to(page: Page, node: str) -> None:
    """Press arrows until a node has the focus."""
    label = "() => document.activeElement.getAttribute('aria-label') ?? ''"
    for key in Random(1).choices(("ArrowRight", "ArrowLeft", "ArrowDown", "ArrowUp"), k=100):
        if page.evaluate(label).endswith(f" {node}"):
            return
        page.keyboard.press(key)
    raise AssertionError(f"no arrow leads to {node}")


def test_a_station_a_link_a_stream_and_another_name_by_keyboard_alone(page: Page, server: Server) -> None:
    tab_to(page, "#new-name")
    page.keyboard.type("three")
    tab_to(page, "[data-add=station]")
    page.keyboard.press("Enter")
    step1 = SCENARIO.replace("[one, two]", "[one, two, three]")
    becomes(page, step1)
    expect(page.locator(".node")).to_have_count(4)
    for mode, end in (("link", "b"), ("stream", "two")):
        tab_to(page, f"[data-mode={mode}]")
        page.keyboard.press("Enter")
        tab_to(page, ".node")
        arrow_to(page, "three")
        page.keyboard.press("Enter")
        arrow_to(page, end)
        page.keyboard.press("Enter")
        if mode == "link":
            step2 = step1.replace("two-b]", "two-b, three -- b]")
            becomes(page, step2)
            expect(page.locator(".link")).to_have_count(3)
    step3 = step2 + "  stream-1: {from: three, to: two, period: 1 ms, payload: 100 B}\n"
    becomes(page, step3)
    expect(page.locator("[data-legend]")).to_have_count(2)
    tab_to(page, ".node")
    arrow_to(page, "three")
    page.keyboard.press("Enter")
    tab_to(page, "#rename-to")
    page.keyboard.press("Control+a")
    page.keyboard.type("drive")
    page.keyboard.press("Enter")
    step4 = step3.replace("three", "drive")
    becomes(page, step4)
    # A node is moved by Shift and an arrow; the text stays.
    expect(page.get_by_role("button", name="station drive")).to_be_visible()
    tab_to(page, ".node")
    arrow_to(page, "drive")
    with page.expect_response(lambda answer: "/api/layout/" in answer.url and answer.request.method == "PUT"):
        page.keyboard.press("Shift+ArrowRight")
    assert text(page) == step4
    (server.folder / "two.layout.json").unlink()
    tab_to(page, "#text")
    for wanted in (step3, step2, step1, SCENARIO):
        page.keyboard.press("Control+z")
        becomes(page, wanted)


def last_answer(page: Page) -> str:
    """The number of the last answer to the text, when it has one."""
    legend = page.locator("#legend")
    expect(legend).to_have_attribute("data-live", re.compile(r"\d+"))
    return str(legend.get_attribute("data-live"))


def test_a_node_is_chosen_renamed_and_dragged(page: Page, server: Server) -> None:
    page.get_by_role("button", name="station two").click()
    expect(page.locator("#chosen strong")).to_have_text("station two")
    expect(page.locator(".below .chosen")).to_have_text("two")
    page.locator("#rename-to").fill("drive")
    page.locator("#rename-to").press("Enter")
    renamed = (
        SCENARIO.replace("[one, two]", "[one, drive]")
        .replace("two-b", "drive-b")
        .replace("to: two", "to: drive")
    )
    becomes(page, renamed)
    expect(page.get_by_role("button", name="station drive")).to_be_visible()
    answered = last_answer(page)
    undone(page, SCENARIO)
    node = page.get_by_role("button", name="station one")
    expect(page.get_by_role("button", name="station two")).to_be_visible()
    # Loads are drawn, too: nothing of the drawing moves any more.
    expect(page.locator("#legend")).not_to_have_attribute("data-live", answered)
    # Pointing waits until the drawing has its size.
    node.hover(position={"x": 12, "y": 12})
    box = node.bounding_box()
    assert box is not None
    with page.expect_response(lambda answer: "/api/layout/" in answer.url and answer.request.method == "PUT"):
        page.mouse.down()
        page.mouse.move(box["x"] + 60, box["y"] + 40, steps=4)
        page.mouse.up()
    # Positions are in a file of their own: the text, and so the Plan, is the same.
    assert (server.folder / "two.yaml").read_text() == SCENARIO
    layout = server.folder / "two.layout.json"
    assert list(json.loads(layout.read_text())["nodes"]) == ["one"]
    assert text(page) == SCENARIO
    layout.unlink()


def test_a_node_that_is_dragged_stays_under_the_pointer_when_the_text_changes(
    page: Page, server: Server
) -> None:
    node = page.get_by_role("button", name="station one")
    node.hover(position={"x": 12, "y": 12})
    box = node.bounding_box()
    assert box is not None
    page.mouse.down()
    page.mouse.move(box["x"] + 60, box["y"] + 40, steps=4)
    # A node before it: all have other numbers now.
    page.locator("#text").fill(SCENARIO.replace("bridge b: {}", "bridge a: {}\n  bridge b: {}"))
    expect(page.locator(".node")).to_have_count(4)
    page.mouse.move(box["x"] + 70, box["y"] + 50, steps=4)
    with page.expect_response(lambda answer: "/api/layout/" in answer.url and answer.request.method == "PUT"):
        page.mouse.up()
    layout = server.folder / "two.layout.json"
    assert list(json.loads(layout.read_text())["nodes"]) == ["one"]
    layout.unlink()


def test_a_mistake_is_underlined_and_its_hint_is_one_key(page: Page) -> None:
    page.locator("#text").fill(SCENARIO.replace("500 us", "500"))
    mark = page.locator(".below .mark.bad")
    expect(mark).to_have_text("500")
    # The network that was drawn stays, with the problem at the stream's talker.
    expect(page.get_by_role("button", name="station one, 1 problem")).to_be_visible()
    page.locator("#text").focus()
    page.keyboard.press("F8")
    expect(page.locator("#hint")).to_contain_text("expected a duration with a unit, found 500")
    page.keyboard.press("Alt+Enter")
    becomes(page, SCENARIO.replace("500 us", "500us"))
    expect(page.locator("#heading")).to_have_text("No problems")
    page.locator("#text").fill(SCENARIO.replace("to: two", "to: tow"))
    page.get_by_role("button", name="Write two", exact=True).last.click()
    becomes(page, SCENARIO)


def test_names_of_nodes_are_completed(page: Page) -> None:
    at = SCENARIO.index("two, pcp")
    page.locator("#text").fill(SCENARIO.replace("two, pcp", ", pcp"))
    page.locator("#text").evaluate("(field, at) => field.setSelectionRange(at, at)", at)
    page.keyboard.press("Control+Space")
    options = page.locator("#candidates").get_by_role("option")
    expect(options.filter(has_text="two")).to_be_visible()
    assert {"one", "two"} <= {one.split()[0] for one in page.locator("#candidates b").all_inner_texts()}
    page.keyboard.type("tw")
    expect(options).to_have_count(1)
    page.keyboard.press("Enter")
    becomes(page, SCENARIO)


NAMED = """name: named
duration: 5 ms
network: {ring: {nodes: 3, prefix: sw, stations: 1, rate: 1 Gbit/s}}
streams:
  high: {from: station1, to: station2, pattern: flextest/theta-high}
shapers:
  sw1 -> sw2: {gates: flextest/gcl-2}
"""


def test_generator_pattern_and_gate_list_are_marked_and_written_out(page: Page) -> None:
    page.locator("#text").fill(NAMED)
    expect(page.locator(".node")).to_have_count(6)
    expect(page.locator("#gates")).to_contain_text("flextest/gcl-2 of the catalogue.")
    page.locator("[data-legend]").first.click()
    expect(page.locator("#chosen")).to_contain_text("Its pattern is flextest/theta-high of the catalogue.")
    page.get_by_role("button", name="Expand the pattern").click()
    step1 = NAMED.replace("pattern: flextest/theta-high", "pcp: 6, period: 0.2 ms, payload: 1472 B")
    becomes(page, step1)
    expect(page.locator("#heading")).to_have_text("No problems")
    page.get_by_role("button", name="Expand the list").click()
    expect(page.get_by_role("slider", name="Edge")).to_have_count(3)
    assert "{entries: [{open: [6], for: 15 us}, {open: [6, 5], for: 15 us}," in text(page)
    page.get_by_role("button", name="bridge sw1").click()
    page.get_by_role("button", name="Expand the generator").click()
    expect(page.locator("#rename-to")).to_have_count(0)
    expect(page.locator("#text")).to_have_value(re.compile("bridges: .sw1, sw2, sw3"))
    expect(page.locator("#heading")).to_have_text("No problems")
    assert "ring" not in text(page)
    # What was generated is text now, so the node that is selected can be renamed, whatever its new number.
    expect(page.locator("#rename-to")).to_have_value("sw1")
    page.locator("#text").focus()
    for _ in range(3):
        page.keyboard.press("Control+z")
    becomes(page, NAMED)


GATES = f"""{SCENARIO}shapers:
  b -> two: {{gates: {{cycle: 250 us, entries: [{{open: [5], for: 40 us}}, {{open: [0], for: 210 us}}]}}}}
"""


def test_the_edge_of_a_window_is_dragged_and_moved_by_keys(page: Page) -> None:
    page.locator("#text").fill(GATES)
    edge = page.get_by_role("slider", name="Edge")
    expect(edge).to_have_attribute("aria-valuenow", "40000")
    edge.focus()
    page.keyboard.press("ArrowRight")
    becomes(page, GATES.replace("40 us", "41 us").replace("210 us", "209 us"))
    expect(edge).to_have_attribute("aria-valuenow", "41000")
    expect(edge).to_be_focused()
    box = edge.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 4, box["y"] + 10)
    page.mouse.down()
    page.mouse.move(box["x"] + 64, box["y"] + 10, steps=3)
    page.mouse.up()
    expect(edge).not_to_have_attribute("aria-valuenow", "41000")
    expect(page.locator("#heading")).to_have_text("No problems")
    page.locator("#text").focus()
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")
    becomes(page, GATES)


def test_a_layout_is_only_written_beside_a_scenario_of_the_folder(server: Server, tmp_path: Path) -> None:
    content = json.dumps({"one": [1.5, 2]}).encode()
    for name in ("../secret.yaml", "%2e%2e/secret.yaml", "link.yaml", "away/secret.yaml", "none.yaml"):
        assert server.ask("PUT", f"/api/layout/{name}", content)[0] == 404
    assert not list(server.folder.parent.glob("*.layout.json"))
    for wrong in (b"[]", b"{", b'{"one": 1}', b'{"one": [1, "x"]}', b'{"one": [1, 2, 3]}'):
        assert server.ask("PUT", "/api/layout/two.yaml", wrong)[0] == 400
    target = tmp_path / "target.json"
    beside = server.folder / "two.layout.json"
    beside.symlink_to(target)
    assert server.ask("PUT", "/api/layout/two.yaml", content)[0] == 404
    assert not target.exists()
    beside.unlink()
    assert server.ask("PUT", "/api/layout/two.yaml", content)[0] == 204
    assert json.loads(server.ask("GET", "/api/layout/two.yaml")[2]) == {"one": [1.5, 2.0]}
    beside.unlink()
