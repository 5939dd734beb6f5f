"""The page in a real browser: no errors, no requests to a network, no overflow on a phone."""

from __future__ import annotations

import http.server
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support.browser import needs_chromium, started
from support.commands import tsnbench
from tsnbench import report

SHOWN = ("--window-size=1200,2000", "--dump-dom")


@contextmanager
def served(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """A server that records the requested paths."""
    asked: list[str] = []

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args: object, **kwargs: object) -> None:
            super().__init__(*args, directory=str(folder), **kwargs)  # type: ignore[arg-type]

        def log_message(self, format: str, *args: object) -> None:
            asked.append(self.path)

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@needs_chromium
def test_no_console_message_and_no_request_but_the_page(
    in_vehicle: Path, star: Path, hops: list[Path], ends: tuple[Path, Path], tmp_path: Path
) -> None:
    site = tmp_path / "site"
    report.write(in_vehicle, into=site / "run.html")
    report.write(star, into=site / "star.html")
    report.write(hops, into=site / "sweep.html")
    tx, rx = map(str, ends)
    for words in (["measure", tx, rx, "--into"], ["inspect", tx, "--into"]):
        assert tsnbench(*words, site / f"{words[0]}.html").returncode == 0
    with served(site) as (url, asked):
        for name in ("run", "star", "sweep", "measure", "inspect"):
            shown = started(f"{url}/{name}.html", tmp_path / "profile", *SHOWN)
            assert "CONSOLE" not in shown.stderr
            assert "<footer>" in shown.stdout
    assert asked == ["/run.html", "/star.html", "/sweep.html", "/measure.html", "/inspect.html"]


@needs_chromium
def test_nothing_overflows_on_a_phone(in_vehicle: Path, hops: list[Path], tmp_path: Path) -> None:
    site = tmp_path / "site"
    report.write(in_vehicle, into=site / "run.html")
    report.write(hops, into=site / "sweep.html")
    for name in ("run", "sweep"):
        # A frame with the width of a phone, as the window of the browser cannot be so narrow.
        (site / f"{name}-phone.html").write_text(
            f'<iframe src="{name}.html" style="width:390px;height:900px;border:0"></iframe><p id="found"></p>'
            "<script>onload = () => { const d = frames[0].document.documentElement;"
            "found.textContent = `wide=${d.scrollWidth} of ${d.clientWidth}`; }</script>"
        )
    with served(site) as (url, _):
        for name in ("run", "sweep"):
            shown = started(f"{url}/{name}-phone.html", tmp_path / "profile", *SHOWN)
            wide = re.search(r"wide=(\d+) of (\d+)", shown.stdout)
            assert wide is not None
            assert wide[1] == wide[2]
            assert int(wide[2]) <= 390
