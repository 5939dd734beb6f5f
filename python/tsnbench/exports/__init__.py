"""A Plan in the formats of other tools: one folder of files per format, and notes of the losses."""

from tsnbench.exports.export import FORMATS, Exported, export, write
from tsnbench.plan.notes import Note

__all__ = ["FORMATS", "Exported", "Note", "export", "write"]
