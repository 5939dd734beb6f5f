"""The simulator as a backend: it computes in integer picoseconds, and one Plan always gives the same
bytes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tsnbench import _native
from tsnbench.backends.protocol import Backend, Progress
from tsnbench.errors import BackendError
from tsnbench.runs import file_names
from tsnbench.runs.clearing import claim
from tsnbench.runs.errors import unwritable
from tsnbench.runs.folder import begin, end, under_way
from tsnbench.runs.manifest import State

if TYPE_CHECKING:
    from tsnbench.plan.document import Plan


class Simulation(Backend):
    """The simulator. It leaves only the run folder behind.

    Example:
        >>> from pathlib import Path
        >>> from tsnbench import Run, Simulation, load
        >>> simulation, folder = Simulation(), Path("runs/captured")
        >>> plan = load("first.yaml").plan()
        >>> simulation.prepare(plan, folder)
        >>> simulation.run(plan, folder, pcap=True)
        >>> simulation.restore()
        >>> Run.open(folder).state
        <State.COMPLETE: 'complete'>
    """

    name = "simulation"

    def __init__(self, whole_below: int | None = None) -> None:
        """``whole_below``: frames over links from which on a run is searched for a repetition, of which one
        period is then simulated for all. By default each frame is simulated."""
        self.whole_below = whole_below

    def prepare(self, plan: Plan, folder: Path) -> None:
        """Make the run folder, in state ``running``.

        Raises:
            FolderError: the folder has other content.
        """
        begin(plan, folder, backend=self.name)

    def run(self, plan: Plan, folder: Path, *, pcap: bool = False, progress: Progress | None = None) -> None:
        """Simulate; the folder's state is then ``complete``, ``interrupted`` or ``failed``."""
        with under_way(folder):
            try:
                # The folder has the Plan of this run as text.
                text = (folder / file_names.PLAN).read_text(encoding="utf-8")
                if pcap:
                    claim(folder, [f"captures/{name}" for name in _native.capture_names(text)])
                _native.simulate(text, str(folder), pcap, progress, self.whole_below)
            except OSError as error:
                raise (unwritable(folder, error) if error.errno else BackendError(str(error))) from error
            except ValueError as error:
                raise BackendError(f"the simulator failed: {error}") from error
        end(folder, State.COMPLETE)

    def restore(self) -> None:
        """There is nothing to restore: the simulator changes nothing outside the run folder."""
