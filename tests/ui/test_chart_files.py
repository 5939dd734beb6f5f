"""Charts of a run: files of them, values where one points, and streams that are hidden."""

from __future__ import annotations

import csv
import io
import re
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from playwright.sync_api import Page, expect

from tsnbench.runs import Run
from tsnbench.ui.charts import boxes
from ui.browser import findings, loaded
from ui.conftest import Server


@pytest.fixture
def charts(listed: Page, runs: list[str]) -> Page:
    """The charts of a run."""
    listed.locator(f"a[data-charts='{runs[0]}']").click()
    loaded(listed)
    expect(listed.locator("#chart-boxes")).to_have_attribute("aria-label", re.compile("median"))
    return listed


def saved(page: Page, chart: str, kind: str) -> bytes:
    """The file that a button of a chart offers."""
    section = page.locator(f"section:has(> #{chart})")
    buttons = section.locator(".files").nth(-1 if chart == "chart-runs" else 0)
    with page.expect_download() as offered:
        buttons.get_by_text(kind, exact=True).click()
    assert offered.value.suggested_filename.endswith(f".{kind.lower()}")
    return Path(offered.value.path()).read_bytes()


@pytest.mark.parametrize("chart", ["chart-delay", "chart-gantt", "chart-ccdf", "chart-boxes"])
def test_a_chart_is_saved_as_svg_png_and_numbers(charts: Page, chart: str) -> None:
    kinds = Counter(one.tag.rpartition("}")[2] for one in ET.fromstring(saved(charts, chart, "SVG")).iter())
    assert kinds["text"] > 2
    assert kinds["rect"] + kinds["path"] > 3
    assert saved(charts, chart, "PNG").startswith(b"\x89PNG\r\n")
    rows = list(csv.DictReader(io.StringIO(saved(charts, chart, "CSV").decode())))
    assert rows
    assert all(None not in row.values() for row in rows)


def test_the_numbers_of_a_chart_are_those_of_the_run(charts: Page, server: Server, runs: list[str]) -> None:
    run = Run.open(server.folder / runs[0])
    delays = run.frames().sort("t_tx_ns")["delay_ns"].to_list()
    rows = list(csv.DictReader(io.StringIO(saved(charts, "chart-delay", "CSV").decode())))
    assert [int(row["greatest_ns"]) for row in rows] == delays
    (box,) = boxes(run)
    ordered = sorted(delays)
    assert (box["least"], box["greatest"]) == (ordered[0], ordered[-1])
    assert box["median"] in ordered
    (row,) = csv.DictReader(io.StringIO(saved(charts, "chart-boxes", "CSV").decode()))
    assert {key: int(row[f"{key}_ns"]) for key in ("least", "median", "greatest")} == {
        key: box[key]
        for key in ("least", "median", "greatest")  # type: ignore[literal-required]
    }
    assert int(row["limit_ns"]) == 4000


def test_quartiles_are_delays_of_frames() -> None:
    class Given:
        """A run with these delays."""

        def frames(self) -> pl.DataFrame:
            return pl.DataFrame({"path": [0] * 5 + [1], "delay_ns": [50, 10, 40, 20, None, None]})

        def measures(self) -> dict[str, object]:
            return {"paths": [{"stream": "a", "listener": "b"}, {"stream": "c", "listener": "d"}]}

    (box,) = boxes(Given())  # type: ignore[arg-type]
    assert list(box.values()) == ["a", "b", 10, 10, 20, 40, 50]


def test_values_are_shown_where_one_points_and_a_stream_is_hidden(charts: Page) -> None:
    delay = charts.locator("#chart-delay").bounding_box()
    assert delay is not None
    charts.mouse.move(delay["x"] + delay["width"] / 2, delay["y"] + 60)
    expect(charts.locator(".tip:visible")).to_contain_text("frame")
    charts.locator("#chart-ccdf").scroll_into_view_if_needed()
    charts.locator("#chart-ccdf").hover()
    expect(charts.locator(".tip:visible")).to_contain_text("of the frames take longer")
    toggle = charts.locator("#lanes-of button")
    expect(toggle).to_have_attribute("aria-pressed", "true")
    pixels = "() => document.getElementById('chart-gantt').toDataURL()"
    before = charts.evaluate(pixels)
    toggle.focus()
    charts.keyboard.press("Enter")
    expect(toggle).to_have_attribute("aria-pressed", "false")
    assert charts.evaluate(pixels) != before
    charts.keyboard.press("Enter")
    assert charts.evaluate(pixels) == before
    assert findings(charts) == []


def test_runs_have_one_axis_and_a_hidden_run_leaves_it(listed: Page, runs: list[str]) -> None:
    listed.goto(f"{listed.url.split('#')[0]}#compare={'|'.join(runs)}")
    expect(listed.locator("#chart-runs")).to_have_attribute("data-ready", "yes")
    rows = list(csv.DictReader(io.StringIO(saved(listed, "chart-runs-delay", "CSV").decode())))
    assert len({row["run"] for row in rows}) == 2
    listed.locator(".toggles button").first.click()
    rows = list(csv.DictReader(io.StringIO(saved(listed, "chart-runs-delay", "CSV").decode())))
    assert len({row["run"] for row in rows}) == 1
    assert findings(listed) == []
