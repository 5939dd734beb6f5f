"""The interfaces of one capture file: each is measured like a file of its own."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from tsnbench import _native, foreign
from tsnbench.measure.errors import MeasureError
from tsnbench.quantities import count

Identity = tuple[str | None, int, int | None]
"""Name, number of earlier interfaces with that name in a section of the file, index in the frames."""
NAMED = 8
"""Interfaces that a message names."""


@dataclass(frozen=True)
class Interface(os.PathLike[str]):
    """One interface of a capture file, to be given in place of the file."""

    path: str
    name: str
    """``if_name`` or ``if_description``; ``index 3`` if the frames of the file contain the index alone."""
    frames: int
    identity: Identity

    def __fspath__(self) -> str:
        """The path of the file."""
        return self.path

    def __str__(self) -> str:
        """The path and the interface's name."""
        return f"{self.path} ({self.name})"


Capture = str | os.PathLike[str]
"""A capture file, or an :class:`Interface` of one."""


def interfaces(path: str | os.PathLike[str]) -> list[Interface]:
    """The interfaces of a capture file that have frames.

    Args:
        path: pcapng file, or pcap file of Linux's ``any`` interface with its second header (SLL2). Other
        pcap files name no interface.

    Returns:
        In the order in which the file describes them.

    Raises:
        MeasureError: the file is no readable capture, or has more than 1024 interfaces.
    """
    text = os.fspath(path)
    try:
        refuse_irregular([text])
        found = _native.capture_interfaces(text)
    except (OSError, ValueError) as error:
        raise MeasureError(str(error)) from error
    return of_native(text, found)


def of_native(path: str, found: Iterable[tuple[str, Identity, int]]) -> list[Interface]:
    """The interfaces of a file, as the native functions list them."""
    return [Interface(path, name, frames, identity) for name, identity, frames in found]


def interface_of(found: Sequence[Interface], name: str, path: str | os.PathLike[str]) -> Interface:
    """The interface with this name.

    Raises:
        MeasureError: the file has no such interface with frames.
    """
    for one in found:
        if one.name == name:
            return one
    listed = names_of(found) if found else "none, as the file does not name its interface"
    raise MeasureError(f"{os.fspath(path)}: expected an interface of this capture: {listed}; found {name}")


def names_of(found: Sequence[Interface]) -> str:
    """The names of interfaces with their frames, for messages."""
    listed = [f"{one.name} ({count(one.frames)} frames)" for one in found[:NAMED]]
    more = [f"{len(found) - NAMED} more"] if len(found) > NAMED else []
    return ", ".join([*listed, *more])


def several_interfaces(path: Capture, found: Sequence[Interface]) -> list[str]:
    """A warning if a file has frames of several interfaces: a frame at two of them counts twice.

    Args:
        path: the file, or the only interface of it that was read.
        found: the interfaces that have frames.
    """
    if isinstance(path, Interface) or len(found) < 2:
        return []
    return [
        f"{os.fspath(path)} has frames of {len(found)} interfaces: {names_of(found)}; a frame at two of them "
        "counts as a duplicate: --interface NAME reads one"
    ]


def refuse_irregular(paths: Iterable[Capture]) -> None:
    """Refuses what is no regular file. A missing file passes: the native code reports it.

    Raises:
        UnusableFileError: it is a device or a FIFO, for example.
        IsADirectoryError: it is a folder.
    """
    for path in paths:
        with suppress(FileNotFoundError):
            foreign.regular(os.fspath(path))


def native(capture: Capture) -> tuple[str, Identity | None]:
    """A capture as the native functions take it: the path, and the only interface."""
    return os.fspath(capture), capture.identity if isinstance(capture, Interface) else None
