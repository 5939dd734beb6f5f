"""The program as users call it: in this process, or in a process of its own."""

from __future__ import annotations

import io
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from support.hints import strangers
from tsnbench.cli.console.net import ended
from tsnbench.cli.main import run

SCENARIO = """\
name: small
duration: 20 ms
network:
  stations: [a, b, c]
  bridges: [s]
  links: {rate: 1 Gbit/s, between: [a-s, c-s, s-b]}
streams:
  x: {from: a, to: b, payload: 1000 B, period: 1 ms, pcp: 3, requires: {delay: 17 us}}
  y: {from: c, to: b, frame: 1500 B, saturating: true, pcp: 0}
"""


MAIN = "from tsnbench.cli.main import main; main()"

Done = subprocess.CompletedProcess[str]
"""The exit code and the text of both outputs."""


def tsnbench(*words: object, cwd: Path | None = None, columns: int | None = None) -> Done:
    """One call in this process, with both outputs as a pipe has them.

    Args:
        words: the command with its options.
        cwd: the folder in which it is called.
        columns: the width of the terminal (``COLUMNS``), if there is one.
    """
    given = [str(word) for word in words]
    out, err = (
        io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors=errors, newline="")
        for errors in ("strict", "backslashreplace")
    )
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.chdir(cwd or Path.cwd())
        patch.delenv("COLUMNS", raising=False)
        if columns is not None:
            patch.setenv("COLUMNS", str(columns))
        code = ended(lambda: run(given))
        said = []
        for stream in (out, err):
            stream.flush()
            stream.seek(0)
            said.append(stream.read())
    assert not strangers(given, said[1]), f"hints name options that the command lacks: {said[1]}"
    return subprocess.CompletedProcess(given, code, *said)


def uncoded(text: str) -> str:
    """A message of stderr without the last line, which names its code."""
    return text.partition("more about ")[0]


def command(*words: object) -> list[str]:
    """The command line of a process of its own."""
    return [sys.executable, "-c", MAIN, *map(str, words)]


def started(*words: object, cwd: Path | None = None, **other) -> Done:
    """One call in a process of its own: for signals, pipes, full disks, and what a start loads."""
    keys = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "timeout": 120} | other
    return subprocess.run(command(*words), cwd=cwd, check=False, **keys)


def limited(octets: int) -> Callable[[], None]:
    """For a child before it starts: its files have at most so many octets.

    Python would cut the compiled modules that it keeps, which all later processes would read.
    """

    def before() -> None:
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
        resource.setrlimit(resource.RLIMIT_FSIZE, (octets, octets))

    return before
