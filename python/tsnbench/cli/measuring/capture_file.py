"""One capture: that it is one, and its page."""

from __future__ import annotations

from pathlib import Path

from tsnbench.cli.parts import captured_page, report_files
from tsnbench.foreign_files import recognise
from tsnbench.foreign_files.formats import unsuitable
from tsnbench.measure.inspection import Inspection
from tsnbench.measure.protocols.trdp import TrdpMeasures


def refuse_other(file: Path, unknown: bool = False) -> None:
    """Ends with a message if a file is of another format: its format, and the command for it.

    Args:
        file: the file.
        unknown: whether a file of an unknown format is refused here, too.
    """
    found = recognise(file)
    if unknown if found is None else not found.capture:
        raise unsuitable(str(file), found, "a capture (pcap or pcapng)")


def write_inspected(
    found: Inspection,
    frames: Path,
    into: Path,
    kinds: tuple[str, ...],
    figure: list[str] | None,
    telegrams: TrdpMeasures | None,
) -> list[Path]:
    """Writes the page of one capture, or single figures."""
    if figure:
        drawings = captured_page.inspection_drawings(found, frames)
        return report_files.write_chosen(drawings, figure, report_files.destination([], into), kinds)
    return [captured_page.write_inspection(found, frames, into, kinds, telegrams)]
