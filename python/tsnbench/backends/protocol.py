"""The protocol of all backends: prepare, run, collect, restore."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from tsnbench.runs import Run, clearing, lock, room
from tsnbench.runs.errors import writing

if TYPE_CHECKING:
    from tsnbench.plan.document import Plan

Progress = Callable[[int, int], None]
"""Called with (simulated or passed ns, frame-hops so far) a few times a second."""


class Backend(Protocol):
    """A place where Plans run: the simulator, a guest's kernel, this machine's kernel.

    The four steps are separate for campaigns that share one machine; ``execute`` calls all of them in order.
    A backend inherits from this class and implements its own steps.

    Example:
        >>> from tsnbench import Simulation
        >>> from tsnbench.backends.protocol import Backend
        >>> backend: Backend = Simulation()
        >>> backend.name
        'simulation'
    """

    @property
    def name(self) -> str:
        """The name in the manifest."""
        ...

    def prepare(self, plan: Plan, folder: Path) -> None:
        """Make the folder and everything that the run needs. Other files and devices are not touched."""
        ...

    def run(self, plan: Plan, folder: Path, *, pcap: bool = False, progress: Progress | None = None) -> None:
        """Run the Plan; raw results go into the folder.

        Raises:
            BackendError: the backend could not run the Plan; the state in the manifest is then ``failed``.
            KeyboardInterrupt: the results so far can be read; the state in the manifest is then
                ``interrupted``.
        """
        ...

    def collect(self, folder: Path) -> Run:
        """The run, with its results."""
        return Run.open(folder)

    def restore(self) -> None:
        """Restore the machine's state; also after an error, and safe to repeat."""
        ...

    def close(self) -> None:
        """End a campaign: undo everything that was kept from run to run. Most backends keep nothing."""
        return None  # noqa: RET501 - not abstract

    def execute(
        self, plan: Plan, into: Path | str, *, pcap: bool = False, progress: Progress | None = None
    ) -> Run:
        """Prepares, runs, collects and, also after an error, restores.

        Args:
            plan: the Plan.
            into: the run folder; it is created.
            pcap: also write a capture per tap.
            progress: called a few times a second with (ns passed, frame-hops so far).

        Raises:
            InputError: the folder has files that tsnbench has not written.
            BackendError: the backend could not run the Plan, or the disk is full.

        Example:
            >>> from tsnbench import Simulation, load
            >>> Simulation().execute(load("first.yaml").plan(), "runs/new", pcap=True)
            Run('runs/new', 'first', complete)
        """
        folder = Path(into)
        clearing.refuse_foreign(folder)
        with writing(folder), lock.held(folder):
            room.refuse_too_large(plan.document, folder, Path(tempfile.gettempdir()), self.name, pcap)
            try:
                self.prepare(plan, folder)
                self.run(plan, folder, pcap=pcap, progress=progress)
                return self.collect(folder)
            finally:
                self.restore()
