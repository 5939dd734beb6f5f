"""For all tests: which were left out and why, and that a whole machine leaves out none."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

import pytest
from hypothesis import settings

# Children of nohup ignore it; what is tested here are programs of which nobody said so.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
settings.register_profile("shared-machine", deadline=None)
settings.load_profile("shared-machine")
"""How long one example takes says what else the machine does, not whether the code is right."""

WALL_CLOCK = ("live", "backends/netns", "backends/vm", "hosts", "twin")
"""Tests whose frames really travel: on a machine that stops for half a second, talkers are late."""

TRIES_AGAIN = 3
PAUSE_S = 10
"""Whoever kept the machine busy may have finished by then. A defect fails each time."""

NOT_OURS = re.compile(r"\bTSNBENCH_[A-Z]+\b|^this kernel\b")
"""Reasons that hold everywhere: a variable names what is somebody else's and cannot come with the project;
and no package changes this machine's kernel."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What depends on the wall clock is tried again; the summary lists what was (``-rR``)."""
    for item in items:
        room = item.path.relative_to(Path(__file__).parent).as_posix()
        if room.startswith(tuple(f"{each}/" for each in WALL_CLOCK)):
            item.add_marker(pytest.mark.flaky(reruns=TRIES_AGAIN, reruns_delay=PAUSE_S))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """A test that is tried again makes anew what its module keeps, such as the results of a guest."""
    if getattr(item, "execution_count", 1) > 1 and isinstance(item, pytest.Function):
        for kept in vars(item.module).values():
            if callable(clear := getattr(kept, "cache_clear", None)):
                clear()


def reason_of(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Why a test was skipped, in its own words."""
    place = report.longrepr
    words = place[2] if isinstance(place, tuple) else str(place)
    return words.removeprefix("Skipped: ")


def unexcused(reasons: list[str]) -> list[str]:
    """The reasons that do not hold on a machine where everything may be installed."""
    return sorted({reason for reason in reasons if not NOT_OURS.search(reason)})


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """With ``TSNBENCH_ALL_TESTS`` set, a skipped test is a failure."""
    if not os.environ.get("TSNBENCH_ALL_TESTS"):
        return
    terminal = session.config.pluginmanager.get_plugin("terminalreporter")
    skipped = terminal.stats.get("skipped", []) if terminal is not None else []
    left = unexcused([reason_of(report) for report in skipped])
    if left:
        terminal.write_line("")
        terminal.write_line("TSNBENCH_ALL_TESTS is set, and tests were skipped because:")
        for reason in left:
            terminal.write_line(f"  {reason}")
        session.exitstatus = max(int(session.exitstatus), int(pytest.ExitCode.TESTS_FAILED))
