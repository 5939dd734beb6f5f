"""``tsnbench study`` as processes that can be killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path


def start(folder: Path, *words: str) -> subprocess.Popen[str]:
    """Start ``tsnbench study`` in a process group of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "tsnbench", "study", *words],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def study(folder: Path, *words: str, code: int | None = 0) -> tuple[str, str]:
    """The output of ``tsnbench study`` on stdout and on stderr."""
    done = start(folder, *words)
    out, err = done.communicate(timeout=300)
    assert code is None or done.returncode == code, err
    return out, err


def kill_group(process: subprocess.Popen[str]) -> None:
    """Kill a process and all its children at once, without any clean-up."""
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
