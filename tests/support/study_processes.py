"""``tsnbench study``: in this process, or as processes that can be killed."""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from support.commands import tsnbench
from tsnbench.cli.study import crew
from tsnbench.studies.worker import work


class _Here:
    """A worker of ``tsnbench study run`` in this process, in place of a process of its own."""

    stdin, returncode = None, 0

    def __init__(self, command: list[str], **_: Any) -> None:
        work(Path(command[command.index("work") + 1]), one_list=True)

    def poll(self) -> int:
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        return self.returncode


def study(folder: Path, *words: object, code: int | None = 0) -> tuple[str, str]:
    """The output of ``tsnbench study`` on stdout and on stderr; this process makes all runs."""
    with patch.object(crew, "subprocess", SimpleNamespace(**vars(subprocess) | {"Popen": _Here})):
        done = tsnbench("study", *words, cwd=folder)
    assert code is None or done.returncode == code, done.stderr
    return done.stdout, done.stderr


def made(folder: Path, text: str, *words: object, code: int | None = 0) -> tuple[str, str]:
    """Runs the study with this text into the folder ``made``; its output on stdout and on stderr."""
    (folder / "study.yaml").write_text(text, encoding="utf-8")
    return study(folder, "run", "study.yaml", "--into", "made", *words, code=code)


def start(folder: Path, *words: object) -> subprocess.Popen[str]:
    """Start ``tsnbench study`` in a process group of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "tsnbench", "study", *map(str, words)],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def ended(process: subprocess.Popen[str], code: int = 0) -> str:
    """What a process that ends has said on stderr."""
    _, said = process.communicate(timeout=120)
    assert process.returncode == code, said
    return said


def kill_group(process: subprocess.Popen[str]) -> None:
    """Kill a process and all its children at once, without any clean-up."""
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def wait_for(
    happened: Callable[[], Any], process: subprocess.Popen[str] | None = None, limit_s: float = 90
) -> Any:
    """What is true after a while, and while a process goes on."""
    until = time.monotonic() + limit_s
    while not (found := happened()):
        assert process is None or process.poll() is None
        assert time.monotonic() < until
        time.sleep(0.005)
    return found


def runs_of(folder: Path) -> dict[str, str]:
    """The records of the finished runs of a study, by the names of their files."""
    return {path.name: path.read_text(encoding="utf-8") for path in folder.glob("runs/*.json")}


def rows_of(file: Path) -> list[dict[str, str]]:
    """A table that a study has written."""
    with file.open(encoding="utf-8", newline="") as text:
        return list(csv.DictReader(text))
