"""The path of a report, and writing it in one step, so that a reader never sees an incomplete one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tsnbench.errors import InputError
from tsnbench.report.figures.style import COLUMN, Drawing, bytes_in
from tsnbench.runs import file_names
from tsnbench.runs.clearing import claim, is_page
from tsnbench.runs.errors import FolderError, writing

if TYPE_CHECKING:
    from tsnbench.report.data import HasFolder


def destination(
    runs: Sequence[HasFolder | Path | str], into: Path | None, name: str = file_names.REPORT
) -> Path:
    """The HTML file; its folder is made when it is written."""
    if into is not None:
        return into if into.suffix.lower() in (".html", ".htm") else into / name
    folders = [Path(run) if isinstance(run, str | Path) else run.folder for run in runs]
    if len(folders) == 1:
        return folders[0] / name
    return Path(os.path.commonpath([folder.resolve().parent for folder in folders])) / name


def write_text(path: Path, text: str) -> None:
    """A page as UTF-8, replaced in one step.

    Raises:
        FolderError: a file of that name is not one of our pages.
        BackendError: the disk is full, or the file cannot be written.
    """
    if path.exists() and not is_page(path):
        raise FolderError(
            path.parent, f"holds a file {path.name} that tsnbench has not written", "name another folder"
        )
    write_bytes(path, text.encode("utf-8"))


def write_page(page: Path, text: str, drawn: Sequence[Drawing], kinds: Sequence[str]) -> Path:
    """A page, and its figures in ``figures`` beside it; returns the page.

    Raises:
        FolderError: a file of that name is not one of our pages.
        BackendError: the disk is full, or a file cannot be written.
    """
    write_text(page, text)
    write_figures(page.parent / "figures", drawn, kinds)
    return page


def chosen(drawings: Sequence[Drawing], names: Sequence[str]) -> list[Drawing]:
    """The figures with these names, in the order of the names.

    Raises:
        InputError: there is no figure of a name; the message lists all.
    """
    known = {one.name: one for one in drawings}
    if unknown := [name for name in names if name not in known]:
        there = f"one of {', '.join(known)}" if known else "a figure, and there is none"
        raise InputError(f"--figure: expected {there}; found {', '.join(unknown)}")
    return [known[name] for name in names]


def write_chosen(
    drawings: Sequence[Drawing], names: Sequence[str], page: Path, kinds: Sequence[str]
) -> list[Path]:
    """Writes single figures by name into ``figures`` beside where their page would be; returns the files.

    Raises:
        InputError: there is no figure of a name; the message lists all.
        BackendError: the disk is full, or a file cannot be written.
    """
    return write_figures(page.parent / "figures", chosen(drawings, names), kinds)


def write_figures(folder: Path, drawings: Sequence[Drawing], kinds: Sequence[str]) -> list[Path]:
    """Every figure in every kind, one column wide."""
    claim(folder.parent, [f"{folder.name}/{drawing.name}.{kind}" for drawing in drawings for kind in kinds])
    written = []
    for drawing in drawings:
        for kind, content in bytes_in(drawing, COLUMN, kinds).items():
            path = folder / f"{drawing.name}.{kind}"
            write_bytes(path, content)
            written.append(path)
    return written


def write_bytes(path: Path, content: bytes) -> None:
    """A file, replaced in one step.

    Raises:
        BackendError: the disk is full, or the file cannot be written.
    """
    part = path.with_name(path.name + ".part")
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            part.write_bytes(content)
            part.replace(path)
        except BaseException:
            with suppress(OSError):
                part.unlink()
            raise
