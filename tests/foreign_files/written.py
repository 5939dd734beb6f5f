"""Files of other tools that tests write, and the figures that are found in them."""

from __future__ import annotations

from pathlib import Path

from tsnbench.foreign_files import Figure, ForeignMeasures, measure_foreign


def written(content: bytes | str, folder: Path, name: str = "file") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def measured(content: bytes | str, folder: Path, name: str = "file") -> ForeignMeasures:
    """The figures in a file with this content."""
    return measure_foreign(written(content, folder, name))


def named(measures: ForeignMeasures, name: str, stream: int = 0) -> Figure:
    """One figure of a stream."""
    return next(one for one in measures["streams"][stream]["figures"] if one["name"] == name)
