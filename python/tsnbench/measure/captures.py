"""Captures that anybody made, at both ends of a path, to measures."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from tsnbench import _native, foreign
from tsnbench.measure.errors import MeasureError

if TYPE_CHECKING:
    from tsnbench.measure.types import Measures

AUTO = "auto"
"""Take off the whole-second offset that is found between the clocks."""

_SECONDS = re.compile(r"([+-]?\d{1,9})\s*s?")


def measure_captures(
    tx: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    rx: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    offset: str | int | None = None,
    frames: str | os.PathLike[str] | None = None,
) -> Measures:
    """Measures delay, jitter and loss between captures at the sender and captures at the receiver.

    Args:
        tx: pcap or pcapng file at the sender, or several of one side.
        rx: the same at the receiver.
        offset: the receiver's clock minus the sender's, taken off every delay: whole seconds (``37``,
            ``"37 s"``), ``"auto"`` for the one that is found, or nothing.
        frames: where to write one row per frame (Parquet).

    Returns:
        A dictionary of the format ``tsnbench-measures/1``. ``["paths"]`` has one entry per stream, with
        counts and with statistics of delay and jitter in ns. ``["offset"]`` has an offset in whole seconds
        that was found and not taken off.

    Raises:
        MeasureError: a file is no readable capture, or no frame was sent.
    """
    if offset == AUTO:
        found = _measure(tx, rx, None, None)["offset"]
        return _measure(tx, rx, found["seconds"] if found else None, frames)
    return _measure(tx, rx, _seconds(offset), frames)


def _seconds(offset: str | int | None) -> int | None:
    if offset is None or isinstance(offset, int):
        return offset
    found = _SECONDS.fullmatch(offset.strip())
    if not found:
        raise MeasureError(f"offset: expected whole seconds like 37s, or auto, found {offset!r}")
    return int(found[1])


def _measure(
    tx: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    rx: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    offset_s: int | None,
    frames: str | os.PathLike[str] | None,
) -> Measures:
    sent, arrived = _paths(tx), _paths(rx)
    try:
        for path in (*sent, *arrived):
            # What is missing, the engine says itself.
            with suppress(FileNotFoundError):
                foreign.regular(path)
        text = _native.measure_captures(
            sent,
            arrived,
            json.dumps({"offset_s": offset_s}),
            None if frames is None else os.fspath(frames),
        )
    except (OSError, ValueError) as error:
        raise MeasureError(str(error)) from error
    measures: Measures = json.loads(text)
    return measures


def _paths(files: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> list[str]:
    if isinstance(files, str | os.PathLike):
        return [os.fspath(files)]
    return [os.fspath(file) for file in files]
