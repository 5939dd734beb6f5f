"""The run folder: plan, manifest, raw files, tables."""

from tsnbench.runs.errors import FolderError
from tsnbench.runs.manifest import State
from tsnbench.runs.run import Run
from tsnbench.runs.tables.delay import DelaySeries

__all__ = ["DelaySeries", "FolderError", "Run", "State"]
