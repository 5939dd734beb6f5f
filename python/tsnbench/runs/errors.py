"""Why a folder cannot be used as a run folder."""

from __future__ import annotations

from pathlib import Path

from tsnbench.errors import InputError


class FolderError(InputError):
    """A folder that is no run folder, is half-written, or must not be overwritten."""

    def __init__(self, folder: Path, problem: str, hint: str | None = None) -> None:
        self.folder = folder
        self.problem = problem
        self.hint = hint
        super().__init__(f"{folder}: {problem}" + (f"\nhint: {hint}" if hint else ""))
