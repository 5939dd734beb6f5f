"""Runs the live program of the package, and lets it end regularly at Ctrl-C."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from tsnbench.backends.kernel import traffic
from tsnbench.errors import BackendError

_PATIENCE_S = 5


def run(
    words: Sequence[str], ready: Callable[[], None] | None = None, **options: str | int | Path | None
) -> None:
    """Runs one task to its end.

    Args:
        words: the task and its arguments.
        ready: called once a listener or an end device says that its ports are open.
        options: values of its options by their names; True for an option without a value, None or False for
            one that is not given.

    Raises:
        BackendError: the task failed.
    """
    command = [str(traffic.program()), *words]
    for name, value in options.items():
        if value is not None and value is not False:
            command += [f"--{name}"] if value is True else [f"--{name}", str(value)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8"
    ) as process:
        try:
            if ready is not None and process.stdout is not None and process.stdout.readline():
                ready()
            _, said = process.communicate()
        except KeyboardInterrupt:
            # The terminal has sent the signal to the live program, too, which then writes its results.
            process.terminate()
            try:
                _, said = process.communicate(timeout=_PATIENCE_S)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
    if process.returncode:
        hint = (
            "\nhint: live traffic needs root (CAP_NET_RAW, CAP_SYS_NICE)"
            if "Operation not permitted" in said
            else ""
        )
        raise BackendError(said.strip() + hint)
