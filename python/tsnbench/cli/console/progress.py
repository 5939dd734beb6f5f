"""Progress on stderr: a bar on a terminal, lines of JSON for programs, otherwise nothing."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Annotated

from tsnbench.campaign.together import Watcher
from tsnbench.cli.console.options import setting
from tsnbench.cli.console.output import Exit, fail, progress_console
from tsnbench.cli.console.signals import heed_interrupts
from tsnbench.libraries import rich

if TYPE_CHECKING:
    from rich.progress import Progress

How = Annotated[
    str, setting("HOW", "Progress on stderr: bar (on a terminal) or json (a line for each step).")
]


def known(how: str) -> None:
    """Ends the command if there is no such kind of progress."""
    if how not in ("bar", "json"):
        fail(Exit.INPUT_WRONG, f"--progress: expected bar or json, found {how}")


@contextmanager
def progress(label: str, number: int, count: int, total_ns: int, how: str = "bar") -> Iterator[Watcher]:
    """Run ``number`` of ``count``: its simulated time, then the steps after it."""
    if how == "json":
        about: dict[str, str | int] = {"run": label, "number": number, "count": count}

        def far(now_ns: int, frame_hops: int) -> None:
            line({**about, "ns": min(now_ns, total_ns), "of_ns": total_ns, "frame_hops": frame_hops})

        yield Watcher(far, lambda what: line({**about, "step": what}))
        return
    if not sys.stderr.isatty():
        yield Watcher()
        return
    shown = rich.progress
    columns = (
        shown.TextColumn("{task.description}"),
        shown.BarColumn(),
        shown.TextColumn("{task.fields[what]}"),
        shown.TimeRemainingColumn(),
    )
    with shown.Progress(*columns, console=progress_console(), transient=True) as bar:
        task = bar.add_task(label if count == 1 else f"{label} ({number}/{count})", total=total_ns, what="")

        def simulated(now_ns: int, frame_hops: int) -> None:
            done = min(now_ns, total_ns)
            share = 100 * done // max(total_ns, 1)
            bar.update(task, completed=done, what=f"{share:>3} %  {frame_hops:,} frame-hops")

        def stage(what: str) -> None:
            # The duration of the step is unknown.
            bar.update(task, total=None, what=what)

        yield Watcher(simulated, stage)


@contextmanager
def progress_together(
    labels: Sequence[str], totals_ns: Sequence[int], how: str = "bar"
) -> Iterator[list[Watcher]]:
    """Runs that are made at the same time: a bar that counts the runs; lines of JSON for each of them, with
    ``done``, the number of runs that have ended."""
    if how == "json":
        ended = 0

        def lines(number: int, label: str, total_ns: int) -> Watcher:
            about: dict[str, str | int] = {"run": label, "number": number, "count": len(labels)}

            def far(now_ns: int, frame_hops: int) -> None:
                now = {"ns": min(now_ns, total_ns), "of_ns": total_ns, "frame_hops": frame_hops}
                line({**about, "done": ended, **now})

            def done() -> None:
                nonlocal ended
                ended += 1
                line({**about, "done": ended, "step": "done"})

            return Watcher(far, lambda what: line({**about, "done": ended, "step": what}), done)

        yield [
            lines(number, label, total)
            for number, (label, total) in enumerate(zip(labels, totals_ns, strict=True), 1)
        ]
        return
    if not sys.stderr.isatty():
        yield [Watcher()] * len(labels)
        return
    with counting() as bar:
        task = bar.add_task("runs", total=len(labels))
        yield [Watcher(done=lambda: bar.advance(task))] * len(labels)


def counting() -> Progress:
    """A bar that counts runs."""
    shown = rich.progress
    columns = (
        shown.TextColumn("runs"),
        shown.BarColumn(),
        shown.MofNCompleteColumn(),
        shown.TimeRemainingColumn(),
    )
    return shown.Progress(*columns, console=progress_console(), transient=True)


@contextmanager
def busy(what: str, how: str = "bar") -> Iterator[None]:
    """A sign of activity during a step of unknown duration."""
    if how == "json":
        line({"step": what})
    if how == "json" or not sys.stderr.isatty():
        yield
        return
    with progress_console().status(what):
        yield


def line(content: dict[str, str | int]) -> None:
    """Writes one line of JSON to stderr at once."""
    sys.stderr.write(json.dumps(content) + "\n")
    sys.stderr.flush()


def end_with_input() -> None:
    """Ends this process, as SIGTERM does, with the process that started it and holds its standard input.

    That process may interrupt it, also where SIGINT is ignored: shells start jobs in the background so.
    """
    heed_interrupts()

    def wait() -> None:
        with suppress(OSError, ValueError):
            while os.read(0, 4096):
                pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, daemon=True).start()
