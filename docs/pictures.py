"""Pictures of the page of ``tsnbench ui`` and of a replay, as the documentation shows them.

``python docs/pictures.py`` (needs Chromium and Playwright) writes them to ``docs/images``. ``--into DIR``
with ``--size 2560x1440`` and ``--dark`` shows the same views elsewhere, for a look at a change of the page.
"""

from __future__ import annotations

import argparse
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Literal
from urllib.parse import urlencode

from playwright.sync_api import Page, sync_playwright

from tsnbench.templates import text

ROOT = Path(__file__).parents[1]
TUTORIAL = ROOT / "scenarios/tutorial"
FOLDER = "/home/you/car"
"""The folder that the pictures name."""
CAR = "zonal.yaml"


def folder(place: Path) -> None:
    """A folder with scenarios and runs; the car was edited after its run."""
    for name in ("2-gates", "3-cbs-line"):
        shutil.copy(TUTORIAL / f"{name}.yaml", place)
    # A run this short is simulated after each edit also on a busy machine.
    car = text("zonal").replace("duration: 1 s ", "duration: 100 ms")
    (place / CAR).write_text(car)
    for name in (CAR, "3-cbs-line.yaml", "2-gates.yaml"):
        command = [sys.executable, "-m", "tsnbench", "run", name, "--quiet"]
        subprocess.run(command, cwd=place, check=False, stdout=subprocess.DEVNULL)
    edited = car.replace("rate: 1 Gbit/s", "rate: 2.5 Gbit/s", 1)
    (place / CAR).write_text(edited.replace("streams:\n", "streams:\n  # Cameras are next.\n", 1))


def _cursor(page: Page, pattern: str) -> None:
    """The cursor is behind what the pattern finds."""
    found = re.search(pattern, page.locator("#text").input_value())
    assert found, pattern
    page.evaluate(
        "(at) => { const field = document.getElementById('text');"
        " field.focus(); field.setSelectionRange(at, at); }",
        found.end(),
    )


def _scenario(page: Page) -> None:
    """A mistake with its hint, a folded block, and the last picture in grey."""
    _cursor(page, "network:")
    page.keyboard.press("F9")
    _cursor(page, "brake: {from: computer, to: brakes, pc")
    page.keyboard.type("b")
    page.locator("#problems button").first.wait_for()
    page.locator("#hint").wait_for()
    page.locator(".stale").wait_for()
    page.locator("#text").evaluate("(one) => { one.scrollLeft = 0; }")


def _live(page: Page) -> None:
    """A smaller payload is tried, with the verdict of a simulation."""
    page.get_by_label("Simulate after each edit").check()
    page.wait_for_function("() => document.getElementById('simulated').textContent !== ''")
    _payload(page)
    page.locator("#slide input").focus()
    for _ in range(12):
        page.keyboard.press("ArrowLeft")
    page.locator("#legend").get_by_text("was ").first.wait_for()


def _payload(page: Page) -> None:
    _cursor(page, r"video-left: \{[^}]*?payload: \d+")
    page.locator("#text").evaluate("(one) => { one.scrollTop = 20 * 34; }")
    page.locator("#slide").wait_for()


def _sweep(page: Page) -> None:
    """A payload is swept: its worst case, and where a limit breaks."""
    _payload(page)
    page.get_by_role("button", name="Sweep").click()
    page.get_by_role("button", name=re.compile("^Write ")).last.wait_for()
    page.wait_for_timeout(3000)


def _charts(page: Page) -> None:
    page.locator("#view-run[data-loading=no]").wait_for()
    choice = page.locator("#stream")
    if "video-left\tcomputer" in choice.evaluate("(one) => [...one.options].map((each) => each.value)"):
        choice.select_option("video-left\tcomputer")
    page.wait_for_function("() => document.getElementById('view-run').dataset.loading === 'no'")


def _boxes(page: Page) -> None:
    _charts(page)
    page.get_by_role("region", name="Delays of all streams").scroll_into_view_if_needed()
    page.evaluate("() => document.getElementById('chart-boxes').closest('section').scrollIntoView()")


def _nothing(page: Page) -> None:
    page.wait_for_load_state("networkidle")


VIEWS: dict[str, tuple[dict[str, str], Callable[[Page], None]]] = {
    "page-scenario": ({"scenario": CAR}, _scenario),
    "page-live": ({"scenario": CAR}, _live),
    "page-sweep": ({"scenario": CAR}, _sweep),
    "page-merge": ({"scenario": CAR, "with": "runs/zonal/scenario.yaml"}, _nothing),
    "page-run": ({"run": "runs/zonal"}, _charts),
    "page-boxes": ({"run": "runs/zonal"}, _boxes),
}
"""The views by the names of their pictures: the address, and what is done there."""


def take(into: Path, size: tuple[int, int], dark: bool, only: list[str]) -> None:
    """Writes the pictures."""
    place = Path(tempfile.mkdtemp())
    folder(place)
    command = [sys.executable, "-m", "tsnbench", "ui", str(place)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            _take(server.stdout.readline().strip(), into, size, dark, only)
        finally:
            server.send_signal(signal.SIGINT)
    shutil.rmtree(place)


def _take(address: str, into: Path, size: tuple[int, int], dark: bool, only: list[str]) -> None:
    chromium = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        scheme: Literal["dark", "light"] = "dark" if dark else "light"
        page = browser.new_page(viewport={"width": size[0], "height": size[1]}, color_scheme=scheme)
        page.goto(address)
        home = address.split("?")[0]
        for name, (parts, act) in VIEWS.items():
            if not only or name in only:
                _view(page, f"{home}#{urlencode(parts)}", act)
                page.screenshot(path=into / f"{name}.png")
        if not only or "replay" in only:
            _replay(page, f"{home}api/replay/runs/gates/port=priority", into)
        browser.close()


def _view(page: Page, address: str, act: Callable[[Page], None]) -> None:
    page.goto("about:blank")
    page.goto(address)
    page.locator("body[data-ready=yes]").wait_for()
    if "#scenario" in address:
        page.locator("#legend .tag").first.wait_for(state="attached")
    act(page)
    page.wait_for_load_state("networkidle")
    page.evaluate("(words) => { document.getElementById('folder').textContent = words; }", FOLDER)
    page.wait_for_timeout(400)


def _replay(page: Page, address: str, into: Path) -> None:
    page.set_viewport_size({"width": 1200, "height": 1190})
    page.goto(address)
    page.locator("#journeys").select_option(index=1)
    page.wait_for_timeout(400)
    page.screenshot(path=into / "replay.png")


if __name__ == "__main__":
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--into", type=Path, default=ROOT / "docs/images")
    words.add_argument("--size", default="1280x800")
    words.add_argument("--dark", action="store_true")
    words.add_argument("only", nargs="*", help="names of pictures")
    asked = words.parse_args()
    width, height = map(int, asked.size.split("x"))
    asked.into.mkdir(parents=True, exist_ok=True)
    take(asked.into, (width, height), asked.dark, asked.only)
