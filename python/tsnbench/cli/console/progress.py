"""Progress on stderr; none if stderr is not a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tsnbench.cli.console.output import progress_console


@dataclass(frozen=True)
class Shown:
    """A bar on the terminal."""

    simulated: Callable[[int, int], None]
    """Called with (simulated ns, frame-hops so far)."""
    stage: Callable[[str], None]
    """Called with the name of a step after the run."""


@contextmanager
def progress(label: str, total_ns: int) -> Iterator[Shown | None]:
    """A bar of simulated time, then the steps after the run; None if nothing is shown."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[what]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=progress_console(), transient=True) as bar:
        task = bar.add_task(label, total=total_ns, what="")

        def simulated(now_ns: int, frame_hops: int) -> None:
            done = min(now_ns, total_ns)
            share = 100 * done // max(total_ns, 1)
            bar.update(task, completed=done, what=f"{share:>3} %  {frame_hops:,} frame-hops")

        def stage(what: str) -> None:
            # The duration of the step is unknown.
            bar.update(task, total=None, what=what)

        yield Shown(simulated, stage)


@contextmanager
def busy(what: str) -> Iterator[None]:
    """A sign of activity during a step of unknown duration."""
    if not sys.stderr.isatty():
        yield
        return
    with progress_console().status(what):
        yield
