"""The page of ``tsnbench ui`` in Chromium (needs Playwright): from a key to new bars, frames while a node is
dragged, and memory after many edits."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

KEYS = 40
GRID = Path(__file__).parents[1] / "scenarios/bench/grid.yaml"
FEW = 26
"""Streams of the small scenario, one on each line."""
SIZES = (FEW, 1_000)
"""Streams of both scenarios."""
BARS = """() => new Promise((done) => {
  const [list, field] = ["legend", "text"].map((id) => document.getElementById(id));
  let began = 0;
  field.addEventListener("input", () => { began = performance.now(); }, { once: true });
  new MutationObserver((_, own) => {
    own.disconnect();
    requestAnimationFrame(() => done(performance.now() - began));
  }).observe(list, { attributeFilter: ["data-live"] });
})"""
"""The time from the next key until the bars of its text are drawn, in ms."""

DRAGGED = """(frames) => new Promise((done) => {
  const svg = document.querySelector("#network svg");
  const { left, top } = svg.getBoundingClientRect();
  const times = [];
  let worked = 0;
  const step = (now) => {
    times.push(now);
    const began = performance.now();
    const turn = times.length / 10;
    svg.dispatchEvent(new PointerEvent("pointermove", {
      clientX: left + 300 + 120 * Math.cos(turn), clientY: top + 150 + 90 * Math.sin(turn), bubbles: true,
    }));
    worked += performance.now() - began;
    if (times.length <= frames) requestAnimationFrame(step);
    else done({ ms: times.slice(1).map((one, n) => one - times[n]), worked: worked / times.length });
  };
  requestAnimationFrame(step);
})"""
"""The times between frames while a node is dragged, and what the page's own code needs for each, in ms."""
FRAMES = 240
EDITS = (200, 2_000)
"""The memory after as many edits is compared."""
EDITED = """(edits) => new Promise((done) => {
  const [list, field] = ["legend", "text"].map((id) => document.getElementById(id));
  let left = edits;
  const edit = () => {
    for (let n = 0; n < 10; n += 1) {
      if (left-- === 0) { watch.disconnect(); done(); return; }
      document.execCommand(left % 2 ? "insertText" : "delete", false, left % 2 ? "1" : undefined);
    }
  };
  const watch = new MutationObserver(edit);
  watch.observe(list, { attributeFilter: ["data-live"] });
  field.focus();
  edit();
})"""
"""Edits, ten of them as soon as the bars of the last ten are drawn."""


@contextmanager
def _opened(folder: Path) -> Iterator[Any]:
    """The page of a server whose folder has the scenarios; None without a browser."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None or find_spec("playwright") is None:
        yield None
        return
    from playwright.sync_api import sync_playwright

    texts = dict(zip(SIZES, (_scenario(FEW), GRID.read_text(encoding="utf-8")), strict=True))
    for streams, text in texts.items():
        (folder / f"typed-{streams}.yaml").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "tsnbench", "ui", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server, sync_playwright() as play:
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        browser = play.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(address)
        yield page
        browser.close()
        server.send_signal(signal.SIGINT)


def typing(folder: Path) -> list[dict[str, Any]]:
    """For each size, the times of single keys in ms; nothing without a browser."""
    with _opened(folder) as page:
        return [{"streams": size, "ms": _keys(page, f"typed-{size}.yaml")} for size in SIZES] if page else []


def dragging(folder: Path) -> dict[str, Any]:
    """The frames while one of 200 nodes is dragged: times between them, and of the page's own code, in ms."""
    with _opened(folder) as page:
        if page is None:
            return {}
        page.get_by_role("button", name="typed-1000.yaml", exact=True).click()
        page.wait_for_selector("#node-199")
        box = page.locator("#node-0").bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.mouse.down()
        found: dict[str, Any] = page.evaluate(DRAGGED, FRAMES)
        page.mouse.up()
        return found


def editing(folder: Path) -> list[dict[str, int]]:
    """The heap in octets and the nodes of the document after many edits."""
    found: list[dict[str, int]] = []
    with _opened(folder) as page:
        if page is None:
            return found
        page.get_by_role("button", name=f"typed-{FEW}.yaml", exact=True).click()
        page.wait_for_selector("#legend .tag")
        _cursor(page)
        inspector = page.context.new_cdp_session(page)
        done = 0
        for edits in EDITS:
            page.evaluate(EDITED, edits - done)
            done = edits
            inspector.send("HeapProfiler.collectGarbage")
            heap = inspector.send("Runtime.getHeapUsage")["usedSize"]
            found.append(
                {"edits": edits, "heap": heap, "nodes": inspector.send("Memory.getDOMCounters")["nodes"]}
            )
    return found


def _scenario(streams: int) -> str:
    """Streams of 100 B every 4 ms between random stations of ten bridges in a row, of ten stations each."""
    draws = random.Random(streams)
    stations = [f"station1.{bridge}.{number}" for bridge in range(1, 11) for number in range(1, 11)]
    lines = [
        f"name: typed-{streams}",
        "duration: 4 ms",
        "network: {grid: {rows: 1, columns: 10, stations: 10, rate: 1 Gbit/s}}",
        "streams:",
    ]
    for number in range(1, streams + 1):
        talker, listener = draws.sample(stations, 2)
        ends = f"from: {talker}, to: {listener}, pcp: {draws.randrange(8)}"
        lines.append(f"  s{number}: {{{ends}, period: 4 ms, frame: 100 B, requires: {{delay: 4 ms}}}}")
    return "\n".join(lines) + "\n"


def _keys(page: Any, name: str) -> list[float]:
    page.get_by_role("button", name=name, exact=True).click()
    page.wait_for_selector("#legend .tag")
    _cursor(page)
    times = []
    for number in range(KEYS):
        page.wait_for_timeout(400)
        page.evaluate(f"() => {{ window.bars = ({BARS})(); }}")
        page.keyboard.press("Backspace" if number % 2 else "1")
        times.append(float(page.evaluate("() => window.bars")))
    return times


def _cursor(page: Any) -> None:
    """The cursor is behind the first number of octets."""
    place = page.locator("#text").input_value().index(" B,")
    page.locator("#text").focus()
    page.evaluate("(place) => document.getElementById('text').setSelectionRange(place, place)", place)


def percentile(times: list[float], share: float) -> float:
    """The smallest time that this share of all times does not exceed."""
    return sorted(times)[max(0, -(-int(share * 100) * len(times) // 100) - 1)]


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as scratch:
        for row in typing(Path(scratch)):
            own = [percentile(row["ms"], share) for share in (0.5, 0.95)]
            print(f"{row['streams']:>6,} streams: median {own[0]:.0f} ms, 95th percentile {own[1]:.0f} ms")
        if drag := dragging(Path(scratch)):
            frames = 1e3 * len(drag["ms"]) / sum(drag["ms"])
            print(
                f"one of 200 nodes dragged: {frames:.0f} frames/s, own code {drag['worked']:.2f} ms a frame"
            )
        for row in editing(Path(scratch)):
            print(f"after {row['edits']:>5,} edits: heap {row['heap'] / 1e6:.2f} MB, {row['nodes']:,} nodes")
