"""Runs commands given as JSON on stdin, each in a process with limits of time and memory.

This is no test: :mod:`test_hostile_paths` starts it, so that slow modules are imported once. The output is a
list with the outcome of each command: exit code, both texts, seconds of processor time, KiB of memory.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

MOST_S = 60
"""Processor time per command; each needs less than two seconds."""
MOST_OCTETS = 6 << 30
"""Address space per command: threads reserve more than they use."""
SLOW = (
    "matplotlib.backends.backend_svg",
    "matplotlib.figure",
    "polars",
    "rich.progress",
    "ruamel.yaml",
    "tsnbench.cli.main",
    "tsnbench.compare",
    "tsnbench.deploy",
    "tsnbench.doctor",
    "tsnbench.planning",
    "tsnbench.report.page",
    "tsnbench.campaign.campaign",
    "tsnbench.runs.documents",
    "tsnbench.scenario",
)
"""Modules that are imported once."""
IDLE = {"polars-ooc-clea"}
"""A thread of polars that waits for files of its own to delete; a variable switches those of jemalloc off."""
HANGS_S = 120
"""A command that takes longer hangs."""


def _child(arguments: list[str], folder: str, out: int, err: int) -> None:
    os.dup2(out, 1)
    os.dup2(err, 2)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.chdir(folder)
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_S, MOST_S))
    resource.setrlimit(resource.RLIMIT_AS, (MOST_OCTETS, MOST_OCTETS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.alarm(HANGS_S)
    sys.argv = ["tsnbench", *arguments]
    from tsnbench.cli.main import main

    main()


def run(arguments: list[str], folder: str) -> dict[str, Any]:
    """Run one command."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        sys.stdout.flush()
        process = os.fork()
        if process == 0:
            code = 70
            try:
                _child(arguments, folder, out.fileno(), err.fileno())
                code = 0
            except SystemExit as error:
                code = error.code if isinstance(error.code, int) else 1 if error.code else 0
            except BaseException:
                import traceback

                traceback.print_exc()
            finally:
                for stream in (sys.stdout, sys.stderr):
                    try:
                        stream.flush()
                    except Exception:
                        code = 71
                os._exit(code)
        _, status, used = os.wait4(process, 0)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read(1 << 20).decode("utf-8", "replace"))
    return {
        "code": os.waitstatus_to_exitcode(status),
        "out": texts[0],
        "err": texts[1],
        "cpu_s": used.ru_utime + used.ru_stime,
        "kib": used.ru_maxrss,
    }


def main() -> None:
    from tsnbench.cli.main import COMMANDS

    for name in (*SLOW, *(f"tsnbench.cli.{module}" for module in COMMANDS.values())):
        importlib.import_module(name)
    # A process may fork only while no other thread of it works.
    threads = {
        Path(f"/proc/self/task/{one}/comm").read_text().strip() for one in os.listdir("/proc/self/task")
    }
    assert len(threads - IDLE) == 1
    started = time.monotonic()
    given = json.load(sys.stdin)
    json.dump([run(one["arguments"], one["folder"]) for one in given], sys.stdout)
    print(f"{len(given)} commands in {time.monotonic() - started:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
