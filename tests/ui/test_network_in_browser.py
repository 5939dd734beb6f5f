"""The drawing of a network: words apart from lines, and more of them where one is closer."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tsnbench.templates import text as template_text
from tsnbench.ui.scenario_routes import look
from ui.browser import findings
from ui.conftest import Server

CROSSED = """(wanted) => {
  // Points of a line that are within the box of a word, less its margin.
  const words = [...document.querySelectorAll(wanted)].map((one) => [one.textContent,
    one.getBoundingClientRect()]);
  const lines = [...document.querySelectorAll("#network .link, #network .stream")];
  return words.filter(([, box]) => lines.some((line) => {
    const matrix = line.getScreenCTM();
    const length = line.getTotalLength();
    for (let at = 0; at <= length; at += 1) {
      const { x, y } = line.getPointAtLength(at).matrixTransform(matrix);
      if (x > box.left + 2 && x < box.right - 2 && y > box.top + 3 && y < box.bottom - 3) return true;
    }
    return false;
  })).map(([text]) => text);
}"""
"""The words in the drawing that a line crosses."""
TOGETHER = """() => {
  const boxes = [...document.querySelectorAll("#network text")].map((one) => [one.textContent,
    one.getBoundingClientRect()]);
  const share = (a0, a1, b0, b1, least) => a0 < b1 - least && b0 < a1 - least;
  return boxes.flatMap(([text, a], n) => boxes.slice(n + 1)
    .filter(([, b]) => share(a.left, a.right, b.left, b.right, 2))
    .filter(([, b]) => share(a.top, a.bottom, b.top, b.bottom, 3))
    .map(([other]) => [text, other]));
}"""
"""Pairs of words that lie on each other."""


PLACES = """() => [...document.querySelectorAll("#network text")].map((one) =>
  [one.textContent, one.getAttribute("x"), one.getAttribute("y")])"""
"""The words of the drawing, each with its place."""


def opened(page: Page, server: Server, name: str, text: str) -> None:
    (server.folder / name).write_text(text)
    page.reload()
    page.get_by_role("button", name=name, exact=True).click()
    expect(page.locator("#network .node").first).to_be_visible()


@pytest.mark.parametrize("template", ["zonal", "ring", "train"])
def test_no_word_is_under_a_line_or_on_another_word(home: Page, server: Server, template: str) -> None:
    home.set_viewport_size({"width": 1920, "height": 1080})
    opened(home, server, f"{template}.yaml", template_text(template))
    nodes = home.locator("#network .node").count()
    assert home.locator("#network text[data-node]").count() == nodes
    assert home.evaluate(CROSSED, "#network text") == []
    assert home.evaluate(TOGETHER) == []
    home.set_viewport_size({"width": 1280, "height": 720})


def answered(page: Page, text: str) -> list[list[str]]:
    """Another text; the words of its drawing and of its loads, with their places."""
    legend, problems = page.locator("#legend"), page.locator("#problems")
    before = legend.get_attribute("data-live"), problems.get_attribute("data-checked")
    page.locator("#text").fill(text)
    expect(legend).not_to_have_attribute("data-live", str(before[0]))
    expect(problems).not_to_have_attribute("data-checked", str(before[1]))
    return list(page.evaluate(PLACES))


def test_words_have_the_places_of_the_text_whatever_it_was_before(home: Page, server: Server) -> None:
    text = template_text("zonal")
    home.set_viewport_size({"width": 1920, "height": 1080})
    opened(home, server, "zonal.yaml", text)
    expect(home.locator("#network .load").first).to_be_visible()
    first = answered(home, f"{text}# 1\n")
    assert any("%" in words for words, *_ in first)
    # Other loads, and the same ones again: none gives way to those that were there before.
    assert answered(home, text.replace("payload: 1206 B", "payload: 600 B")) != first
    assert answered(home, f"{text}# 2\n") == first
    renamed = [words for words, _, _ in answered(home, text.replace("brakes", "stops"))]
    assert ("stops" in renamed, "brakes" in renamed) == (True, False)
    home.set_viewport_size({"width": 1280, "height": 720})


def test_member_streams_have_paths_of_their_own() -> None:
    file = Path(__file__).parents[2] / "scenarios/tutorial/7-frer-and-faults.yaml"
    drawn = look(file.read_text(), str(file))[0]["drawing"]
    assert drawn is not None
    names = [one["name"] for one in drawn["nodes"]]
    paths = {
        one["name"]: [[names[node] for node in path] for path in one["paths"]] for one in drawn["streams"]
    }
    assert len(paths["one"]) == 1
    # The copy's frames are eliminated where both paths meet.
    first, second = paths["both"]
    assert (first[0], first[-1]) == ("station1", "station4")
    assert second == ["station1", "bridge1", "bridge6", "bridge5", "bridge4"]
    assert not set(second[2:-1]) & set(first)


def test_closer_one_sees_ports_queues_and_rates(page: Page) -> None:
    page.locator("#text").fill(
        page.locator("#text").input_value() + "shapers: {all: {queues: {classes: {5: 1, 0: 0}}}}\n"
    )
    expect(page.locator("svg .load").first).to_be_visible()
    expect(page.locator("#network .port")).to_have_count(0)
    width = "() => document.querySelector('#node-0 .shape > *').getBoundingClientRect().width"
    before = page.evaluate(width)
    for _ in range(5):
        page.get_by_role("button", name="Zoom in").click()
    expect(page.locator("#network .port").first).to_be_visible()
    expect(page.locator("#network")).to_contain_text("1 Gbit/s")
    expect(page.locator("#network")).to_contain_text("2 queues")
    assert page.evaluate(width) < 1.6 * before
    assert findings(page) == []
    page.get_by_role("button", name="Fit").click()
    expect(page.locator("#network .port")).to_have_count(0)


def test_a_stream_that_one_points_at_is_seen_along_its_path(home: Page, server: Server) -> None:
    opened(home, server, "zonal.yaml", template_text("zonal"))
    home.locator("#legend li", has_text="video-left").hover()
    assert home.locator("#network .node.on").count() == 4
    expect(home.locator("#network .stream.chosen")).to_have_count(1)
    faint = home.locator("#network .node:not(.on)").first
    assert float(faint.evaluate("one => getComputedStyle(one).opacity")) < 1
    home.locator("#heading").hover()
    expect(home.locator("#network svg.pointing")).to_have_count(0)


def test_a_dragged_node_takes_its_links_and_streams_with_it(page: Page) -> None:
    node, link = page.locator("#node-1"), page.locator("#network .link").first
    ways = [link.get_attribute("d"), page.locator("#network .stream").get_attribute("d")]
    box = node.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + 40, box["y"] + 60, steps=4)
    x, y = (float(one) for one in (node.get_attribute("transform") or "")[10:-1].split(" "))
    assert f"M{x:g} {y:g}"[:6] == (link.get_attribute("d") or "")[:6]
    assert page.locator("#network .layer-names").get_attribute("visibility") == "hidden"
    page.mouse.up()
    now = [link.get_attribute("d"), page.locator("#network .stream").get_attribute("d")]
    assert all(old != new for old, new in zip(ways, now, strict=True))
    expect(page.locator("#network text[data-node]")).to_have_count(3)
    assert page.locator("#network .layer-names").get_attribute("visibility") is None


def test_a_thousand_nodes_have_names_where_one_looks_closer(home: Page, server: Server) -> None:
    stations = ", ".join(f"s{number}" for number in range(1, 981))
    links = "\n".join(f"      - s{number} -- b{(number - 1) // 49 + 1}" for number in range(1, 981))
    spine = "\n".join(f"      - b{number} -- b{number + 1}" for number in range(1, 20))
    opened(
        home,
        server,
        "many.yaml",
        f"name: many\nduration: 1 ms\nnetwork:\n  stations: [{stations}]\n"
        f"  bridges: [{', '.join(f'b{number}' for number in range(1, 21))}]\n"
        f"  links:\n    rate: 1 Gbit/s\n    between:\n{links}\n{spine}\n"
        "streams:\n  far: {from: s1, to: s980, period: 1 ms, payload: 100 B}\n",
    )
    expect(home.locator("#network .node")).to_have_count(1000)
    expect(home.locator("#network text[data-node]")).to_have_count(0)
    home.locator("#find").fill("s500")
    home.keyboard.press("Enter")
    expect(home.locator("#network text[data-node]", has_text="s500")).to_be_visible()
    assert home.evaluate(TOGETHER) == []
    home.locator("#fit").click()
    expect(home.locator("#network text[data-node]")).to_have_count(0)
