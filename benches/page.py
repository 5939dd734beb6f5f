"""How long the page of ``tsnbench ui`` takes from a key to new bars, in Chromium (needs Playwright)."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

KEYS = 40
GRID = Path(__file__).parents[1] / "scenarios/bench/grid.yaml"
FEW = 26
"""Streams of the small scenario, one on each line."""
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


def typing(folder: Path) -> list[dict[str, Any]]:
    """For each size, the times of single keys in ms; nothing without a browser."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return []
    if program is None:
        return []
    texts = {FEW: _scenario(FEW), 1_000: GRID.read_text(encoding="utf-8")}
    for streams, text in texts.items():
        (folder / f"typed-{streams}.yaml").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "tsnbench", "ui", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server, sync_playwright() as play:
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        browser = play.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(address)
        found = [{"streams": streams, "ms": _keys(page, f"typed-{streams}.yaml")} for streams in texts]
        browser.close()
        server.send_signal(signal.SIGINT)
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
    place = page.locator("#text").input_value().index(" B,")
    page.locator("#text").focus()
    page.evaluate("(place) => document.getElementById('text').setSelectionRange(place, place)", place)
    times = []
    for number in range(KEYS):
        page.wait_for_timeout(400)
        page.evaluate(f"() => {{ window.bars = ({BARS})(); }}")
        page.keyboard.press("Backspace" if number % 2 else "1")
        times.append(float(page.evaluate("() => window.bars")))
    return times


def percentile(times: list[float], share: float) -> float:
    """The smallest time that this share of all times does not exceed."""
    return sorted(times)[max(0, -(-int(share * 100) * len(times) // 100) - 1)]


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as scratch:
        for row in typing(Path(scratch)):
            own = [percentile(row["ms"], share) for share in (0.5, 0.95)]
            print(f"{row['streams']:>6,} streams: median {own[0]:.0f} ms, 95th percentile {own[1]:.0f} ms")
