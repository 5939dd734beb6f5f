"""``tsnbench measure`` of one capture with several interfaces: which of them are the ends of the path."""

from __future__ import annotations

from dataclasses import replace

from tsnbench.cli.console.output import Exit, fail
from tsnbench.cli.measuring.asked import Asked
from tsnbench.cli.measuring.capture_file import refuse_other
from tsnbench.foreign_files import recognise
from tsnbench.measure.captures.interfaces import interface_of, interfaces


def at_interfaces(asked: Asked) -> Asked:
    """The interfaces that are asked for as both ends, or as the one capture.

    Without names, they are those of a capture with frames of exactly two.

    Raises:
        MeasureError: the capture cannot be read, or has no such interface.
        typer.Exit: there is not one capture; a message has said so.
    """
    names, file = asked.interface, asked.file
    is_file = file is not None and file.is_file()
    if not names:
        other = asked.ends or asked.sync or asked.stages or asked.answers or asked.timeout is not None
        return asked if other or not is_file else _only_two(asked)
    if len(names) > 2:
        fail(Exit.INPUT_WRONG, f"--interface: expected one name or two, found {len(names)}")
    if file is None or not is_file:
        fail(Exit.INPUT_WRONG, "--interface: expected one capture")
    refuse_other(file)
    found = interfaces(file)
    ends = [interface_of(found, name, file) for name in names]
    if len(ends) == 1:
        return replace(asked, only=ends[0])
    return replace(asked, file=None, tx=ends[:1], rx=ends[1:])


def _only_two(asked: Asked) -> Asked:
    """Both interfaces of a capture as both ends, if it has frames of exactly two."""
    file = asked.folder
    kind = recognise(file)
    if kind is None or not kind.capture:
        return asked
    found = interfaces(file)
    if len(found) != 2:
        return asked
    return replace(asked, file=None, tx=found[:1], rx=found[1:], whole=file)
