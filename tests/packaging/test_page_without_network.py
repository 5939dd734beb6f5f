"""The page of the wheel in a network namespace that has only the loopback interface: no request leaves it."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from playwright.sync_api import expect

from support.browser import needs_chromium, own_browser
from support.network_namespace import CLONE_NEWNET

SCENARIO = """\
name: own
duration: 10 ms
network: {stations: [a, b], links: {rate: 1 Gbit/s, between: [a-b]}}
streams: {s: {from: a, to: b, period: 1 ms, frame: 200 B, requires: {delay: 1 ms}}}
"""
CODE = "from tsnbench.cli.main import main; main()"


def loopback_alone() -> None:
    """The calling thread, and what it starts, has a network with nothing but loopback."""
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "unshare")
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True, timeout=30)


def looked_at(place: Path, folder: Path) -> tuple[list[str], list[str], str, str]:
    """Messages of the console, addresses of requests, interfaces, and the package of the server."""
    loopback_alone()
    listed = subprocess.run(["ip", "-o", "link"], capture_output=True, text=True, check=True).stdout
    where = "import tsnbench; print(tsnbench.__file__)"
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    own = {"cwd": folder, "env": kept, "text": True, "stdout": subprocess.PIPE}
    python = str(place / "bin/python")
    package = subprocess.run([python, "-c", where], check=True, **own).stdout  # type: ignore[call-overload]
    command = [python, "-c", CODE, "ui", "."]
    said: list[str] = []
    asked: list[str] = []
    with subprocess.Popen(command, **own) as server, own_browser() as browser:  # type: ignore[call-overload]
        try:
            page = browser.new_page()
            page.on("console", lambda message: said.append(message.text))
            page.on("pageerror", lambda error: said.append(str(error)))
            page.on("request", lambda request: asked.append(request.url))
            page.goto(server.stdout.readline().strip())
            page.get_by_role("button", name="own.yaml").click()
            expect(page.locator("#heading")).to_have_text("No problems")
            page.locator("#run").click()
            page.get_by_role("link", name="charts").click(timeout=60_000)
            expect(page.locator("#view-run")).to_have_attribute("data-loading", "no")
            expect(page.locator("#why")).to_contain_text("the parts add up to")
            page.close()
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(30)
    return said, asked, listed, package


@pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root")
@needs_chromium
def test_the_page_of_the_wheel_needs_no_network(environment: Path, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "own.yaml").write_text(SCENARIO, encoding="utf-8")
    # A thread of its own: its namespace ends with it.
    with ThreadPoolExecutor(1) as thread:
        said, asked, listed, package = thread.submit(looked_at, environment, folder).result()
    assert [line.split(": ")[1] for line in listed.splitlines()] == ["lo"]
    assert Path(package.strip()).is_relative_to(environment)
    assert said == []
    hosts = {url.split("/")[2].rpartition(":")[0] for url in asked if not url.startswith("data:")}
    assert hosts == {"127.0.0.1"}
    # What a browser loads of the page, compressed.
    page = Path(package.strip()).parent / "ui/page"
    packed = subprocess.run(["tar", "-cz", "-C", str(page), "."], capture_output=True, check=True).stdout
    assert len(packed) <= 300_000
