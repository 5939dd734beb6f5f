"""For all tests: which ones a profile runs, and why tests were skipped.

The variable ``TSNBENCH_TESTS`` names the profile: ``quick`` (the fast part of every room), ``test`` (all that
gates a change) or ``nightly`` (all). On a complete machine no test may be skipped.
"""

from __future__ import annotations

import gc
import os
import re
import signal
from pathlib import Path

import pytest

from support.profile import PROFILE

# Children of nohup inherit an ignored SIGHUP; the programs under test expect the default action.
signal.signal(signal.SIGHUP, signal.SIG_DFL)

# What is collected lives as long as the process: garbage collection need not visit it again and again.
gc.disable()

TESTS = Path(__file__).parent
WALL_CLOCK = ("live", "backends/netns", "backends/vm", "hosts", "twin")
"""Tests with frames on real kernels, marked ``kernel``: one after the other, beside all others."""

KERNEL_FILES = ("cnc/test_transition_on_guest.py", "tuning/test_question.py", "ui/test_runs_on_kernels.py")
"""Files in other rooms that have tests marked ``kernel``: no other file is read for these tests."""

NOT_QUICK = ("docs", "packaging", "ui", *WALL_CLOCK)
"""Rooms whose tests start programs, browsers or kernels."""
SLOW = TESTS / "slow.txt"
"""Further test functions that ``make quick`` leaves out; ``make slow`` measures them and writes the list."""

TRIES_AGAIN = 3
PAUSE_S = 10
"""After the pause, the load of other programs may be gone. A defect fails in each attempt."""

NOT_OURS = re.compile(r"\bTSNBENCH_[A-Z_]+\b|^this kernel\b")
"""Reasons that are valid on every machine.

A variable names programs or files of another project that cannot be distributed with this one. And no package
changes the kernel of a machine.
"""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Rooms of which the profile, or the lane, runs nothing are not read."""
    if not collection_path.is_relative_to(TESTS) or collection_path == TESTS:
        return None
    path = collection_path.relative_to(TESTS).as_posix()
    if PROFILE == "quick" and path in NOT_QUICK:
        return True
    match config.getoption("markexpr"):
        case "not kernel":
            return True if path in WALL_CLOCK else None
        case "kernel":
            read = (*WALL_CLOCK, *KERNEL_FILES)
            near = any(f"{path}/".startswith(f"{one}/") or one.startswith(f"{path}/") for one in read)
            return None if near else True
    return None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the tests of kernels, and leave out what the profile does not run.

    Talkers in real time are late where other programs take the processors: tests of kernels are repeated
    after a failure, and ``-rR`` lists the repeated ones.
    """
    slow = set(SLOW.read_text(encoding="utf-8").splitlines()) if PROFILE == "quick" else set()
    left_out = []
    for item in items:
        room = item.path.relative_to(TESTS).as_posix()
        if room.startswith(tuple(f"{each}/" for each in WALL_CLOCK)):
            item.add_marker(pytest.mark.kernel)
        elif item.get_closest_marker("kernel") is not None:
            path = item.path.relative_to(TESTS).as_posix()
            assert path in KERNEL_FILES, f"{path} has a test marked kernel: name it in KERNEL_FILES"
        if item.get_closest_marker("kernel") is not None:
            item.add_marker(pytest.mark.flaky(reruns=TRIES_AGAIN, reruns_delay=PAUSE_S))
        name = f"{room}::{getattr(item, 'originalname', item.name)}"
        nightly = PROFILE != "nightly" and item.get_closest_marker("nightly") is not None
        if nightly or name in slow:
            left_out.append(item)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        gone = set(left_out)
        items[:] = [item for item in items if item not in gone]
    if "PYTEST_XDIST_WORKER" in os.environ and not config.getoption("loadgroup", False):
        items[:] = rooms_take_turns(items)


def rooms_take_turns(items: list[pytest.Item]) -> list[pytest.Item]:
    """The same tests, file by file, with the files of each room spread over the whole run.

    Tests of pages and of devices wait most of their time. If they are all at the end of the list, all workers
    wait at the same time, and processors are idle.
    """
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    rooms: dict[str, list[Path]] = {}
    for path in files:
        rooms.setdefault(path.relative_to(TESTS).parts[0], []).append(path)
    turns: list[tuple[float, Path]] = []
    for paths in rooms.values():
        whole = sum(len(files[path]) for path in paths)
        before = 0
        for path in paths:
            turns.append(((before + len(files[path]) / 2) / whole, path))
            before += len(files[path])
    return [item for _, path in sorted(turns) for item in files[path]]


def pytest_collection_finish(session: pytest.Session) -> None:
    if session.config.getoption("loadgroup", False):
        late = [
            item.nodeid
            for item in session.items
            if item.get_closest_marker("xdist_group") and "@" not in item.nodeid
        ]
        assert not late, f"marked after pytest-xdist looked at marks: {late}"
    gc.freeze()
    # Seldom, as in the program: what tests make has few cycles.
    gc.set_threshold(500_000)
    gc.enable()


def pytest_unconfigure(config: pytest.Config) -> None:
    # pytest searches for cycles five times at the end, each time among everything that the tests keep.
    gc.collect()
    gc.freeze()


def reason_of(report: pytest.TestReport | pytest.CollectReport) -> str:
    """The reason why a test was skipped, without the prefix."""
    place = report.longrepr
    words = place[2] if isinstance(place, tuple) else str(place)
    return words.removeprefix("Skipped: ")


def unexcused(reasons: list[str]) -> list[str]:
    """The reasons that are not valid on a machine where everything can be installed."""
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
