"""A real server in a process of its own, requests to it, and its page in a browser."""

from __future__ import annotations

import http.client
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from support.browser import browsing
from support.commands import tsnbench
from ui.browser import Tab

SCENARIO = """\
# A comment that stays.
name: two
duration: 5 ms
network:
  bridge b: {}
  stations: [one, two]
  links: {rate: 1 Gbit/s, between: [one-b, two-b]}
streams:
  cam: {from: one, to: two, pcp: 5, payload: 100 B, period: 500 us}
"""
LONG = SCENARIO.replace("duration: 5 ms", "duration: 20000 s").replace("500 us", "500 us, jitter: 1 us")
"""A run that takes longer than any test. What is random does not repeat, so each frame is simulated."""
SWEEP = SCENARIO.replace("name: two", "name: swept").replace(
    "period: 500 us}", "period: [500 us, 250 us], requires: {delay: 4 us}}"
)


@dataclass
class Server:
    """A running ``tsnbench ui``."""

    folder: Path
    address: str
    port: int
    token: str

    def ask(
        self, method: str, path: str, body: bytes | None = None, known: bool = True, **headers: str
    ) -> tuple[int, dict[str, str], bytes]:
        """Send one request; paths are sent unchanged. ``if_match`` is the header ``if-match``."""
        sent = {"host": f"127.0.0.1:{self.port}"}
        if method not in ("GET", "HEAD"):
            sent["origin"] = f"http://127.0.0.1:{self.port}"
        if known:
            sent["cookie"] = f"tsnbench-{self.port}={self.token}"
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            line.request(method, path, body, {name: value for name, value in sent.items() if value})
            answer = line.getresponse()
            content = answer.read()
            return answer.status, {name.lower(): value for name, value in answer.getheaders()}, content
        finally:
            line.close()


@pytest.fixture(scope="session")
def serving_all(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The server of this process: to start one takes 0.8 s of the processor."""
    (folder := tmp_path_factory.mktemp("ui") / "work").mkdir()
    with serving(folder) as server:
        yield server


@pytest.fixture(scope="module")
def running(serving_all: Server) -> Server:
    """The server with the folder as each module finds it."""
    folder = serving_all.folder
    for path in folder.iterdir():
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    (folder / "deep").mkdir()
    (folder / "two.yaml").write_text(SCENARIO)
    (folder / "deep/more.yaml").write_text(SCENARIO)
    (folder / "notes.txt").write_text("no scenario")
    (folder.parent / "secret.yaml").write_text("secret: 1\n")
    (folder / "link.yaml").symlink_to(folder.parent / "secret.yaml")
    (folder / "away").symlink_to(folder.parent)
    return serving_all


@contextmanager
def serving(folder: Path, preexec_fn: Callable[[], None] | None = None) -> Iterator[Server]:
    """A server of a folder; ``preexec_fn`` is called in its process before it starts."""
    command = [sys.executable, "-m", "tsnbench", "ui", str(folder)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=preexec_fn
    ) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().strip()
            found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\?token=([\w-]{43})", address)
            assert found, process.stderr.read() if process.stderr else ""
            yield Server(folder, address, int(found[1]), found[2])
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                raise


@pytest.fixture
def server(running: Server) -> Server:
    """The server of this module, with its original scenario."""
    (running.folder / "two.yaml").write_text(SCENARIO)
    return running


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser; no longer than a module, as other tests run event loops of their own."""
    with browsing() as found:
        yield found


@pytest.fixture(scope="module")
def tab(browser: Browser, running: Server) -> Iterator[Tab]:
    """A tab with the page of this module's server."""
    found = Tab(browser.new_page())
    found.page.goto(running.address)
    yield found
    found.page.close()


@pytest.fixture
def home(tab: Tab, server: Server) -> Iterator[Page]:
    """The page before a scenario is opened; at the end no error was told and no other server asked."""
    tab.page.goto(f"http://127.0.0.1:{server.port}/")
    yield tab.page
    assert tab.said == []
    assert tab.hosts() == {f"127.0.0.1:{server.port}"}


@pytest.fixture
def page(home: Page) -> Page:
    """The scenario ``two.yaml`` is open, and its network is drawn."""
    home.get_by_role("button", name="two.yaml", exact=True).click()
    expect(home.locator("#heading")).to_have_text("No problems")
    expect(home.locator(".node")).to_have_count(3)
    return home


@pytest.fixture(scope="module")
def runs(running: Server) -> list[str]:
    """The folders of the two runs of a sweep."""
    (running.folder / "swept.yaml").write_text(SWEEP)
    tsnbench("run", "swept.yaml", cwd=running.folder)
    found = [
        path.parent.relative_to(running.folder).as_posix() for path in running.folder.rglob("manifest.json")
    ]
    assert len(found) == 2
    return sorted(found)


@pytest.fixture
def listed(home: Page, runs: list[str]) -> Page:
    """The page lists the runs."""
    expect(home.locator("#runs li").first).to_be_visible()
    return home
