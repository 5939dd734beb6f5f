"""Chromium for tests of pages: driven by Playwright, or started for one page."""

from __future__ import annotations

import atexit
import shutil
import subprocess
from asyncio import AbstractEventLoop, events
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Playwright, expect, sync_playwright

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""The first one has no windows: it starts in a third of the time and takes less of the processor."""
CHROMIUM = next((path for name in NAMES if (path := shutil.which(name))), None)
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
ARGUMENTS = ["--no-sandbox", "--disable-gpu"]
WAIT_MS = 60_000


@contextmanager
def own_browser() -> Iterator[Browser]:
    """A browser of this thread alone, in the network that the thread is in."""
    with sync_playwright() as playwright:
        found = _launched(playwright)
        yield found
        found.close()


def _launched(playwright: Playwright) -> Browser:
    return playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)


@cache
def _shared() -> tuple[Browser, AbstractEventLoop]:
    """The browser of this process, which ends with it, and the event loop that drives it."""
    playwright = sync_playwright().start()
    atexit.register(playwright.stop)
    return _launched(playwright), events.get_running_loop()


@contextmanager
def browsing() -> Iterator[Browser]:
    """A browser without pages; without one, the test is skipped.

    To start Playwright and Chromium takes 0.8 s of the processor, so each process has one. Playwright's
    loop counts as running in its thread from then on: afterwards it does not, so that other tests can
    run loops of their own.
    """
    if CHROMIUM is None:
        pytest.skip("chromium is not installed")
    expect.set_options(timeout=WAIT_MS)
    before = events._get_running_loop()
    found, loop = _shared()
    events._set_running_loop(loop)
    open_before = {*found.contexts}
    try:
        yield found
    finally:
        for context in {*found.contexts} - open_before:
            context.close()
        events._set_running_loop(before)


def started(url: str, profile: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A browser that ends by itself; its console is on stderr.

    Args:
        url: the page.
        profile: a folder for its files.
        words: what it does, such as ``--dump-dom``.
    """
    assert CHROMIUM is not None
    return subprocess.run(
        [
            CHROMIUM, *ARGUMENTS, "--headless", "--disable-background-networking", "--no-first-run",
            "--enable-logging=stderr", "--v=0", f"--user-data-dir={profile}", *words, url,
        ],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
