"""The run folder: plan, manifest, raw files, tables."""

from tsnbench.runs.delay import DelaySeries
from tsnbench.runs.errors import FolderError
from tsnbench.runs.manifest import State
from tsnbench.runs.run import Run

__all__ = ["DelaySeries", "FolderError", "Run", "State"]
