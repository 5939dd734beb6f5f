"""Two guests share a core only if no other core is free."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tsnbench.backends.vm.cores import core

ONE_MORE = "from tsnbench.backends.vm.cores import core\nwith core() as number: print(number)"


@pytest.fixture
def two_cores_of_our_own(monkeypatch):
    """Numbers that no machine has, so that other guests of this machine do not matter."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {70_001, 70_002})


def test_guests_take_different_cores_and_the_third_is_not_pinned(two_cores_of_our_own):
    with core() as first, core() as second, core() as third:
        assert (first, second, third) == (70_002, 70_001, None)
    with core() as again:
        assert again == 70_002


def test_a_core_is_free_again_when_its_holder_is_killed():
    with core() as mine:
        said = subprocess.run(
            [sys.executable, "-c", ONE_MORE], capture_output=True, text=True, check=True
        ).stdout.strip()
        assert said != str(mine) or mine is None
    holder = subprocess.Popen(
        [sys.executable, "-c", ONE_MORE.replace("print(number)", "print(number, flush=True); input()")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout is not None
    held = holder.stdout.readline().strip()
    if held == "None":
        holder.kill()
        pytest.skip("every core of this machine has a guest now")
    holder.kill()
    holder.communicate()
    from tsnbench.backends.vm import cores

    free = cores._hold(int(held))
    assert free is not None
    free.close()
