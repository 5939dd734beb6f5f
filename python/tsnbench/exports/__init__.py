"""A Plan in other tools' words: one folder of files per format, and notes of what a format cannot say."""

from tsnbench.exports.export import FORMATS, Exported, export, write
from tsnbench.plan.notes import Note

__all__ = ["FORMATS", "Exported", "Note", "export", "write"]
