"""Measures of captures from any source, made at both ends of a path."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tsnbench import _native
from tsnbench.measure.captures.interfaces import Capture, native, refuse_irregular
from tsnbench.measure.errors import MeasureError
from tsnbench.quantities import exact
from tsnbench.runs.errors import DISK, FolderError, writing

if TYPE_CHECKING:
    from tsnbench.runs.measures import Measures, PathReport, Source

AUTO = "auto"
"""Take off the whole-second offset that is found between the clocks."""

SHARED_AT_LEAST = 20
"""Two captures hardly share a frame where less than one in so many sent frames is received."""

NAMED = 3
"""Streams that a warning names."""


class NoSharedFrameError(MeasureError):
    """Both captures have enough frames, and none of the sender's is one of the receiver's."""


_BY_CONTENT = "hash of the invariant bytes"
"""The format of frames that no number identifies."""
_PARQUET = b"PAR1"
"""The first octets of each Parquet file."""
_NUMBERED = re.compile(r" \(os error \d+\)")
"""The number of an error of the system, which stands behind its text."""
_SECONDS = re.compile(r"([+-]?\d{1,9})\s*s?")


def measure_captures(
    tx: Capture | Sequence[Capture],
    rx: Capture | Sequence[Capture],
    offset: str | int | None = None,
    frames: str | os.PathLike[str] | None = None,
) -> Measures:
    """Measures delay, jitter and loss between captures at the sender and captures at the receiver.

    Args:
        tx: pcap or pcapng file at the sender, one of its interfaces (as
            ``tsnbench.measure.captures.interfaces.interfaces`` lists them), or several of one side.
        rx: the same at the receiver.
        offset: the receiver's clock minus the sender's, subtracted from every delay: whole seconds (``37``,
            ``"37 s"``), ``"auto"`` for the offset that is found, or None.
        frames: where to write one row per frame (Parquet).

    Returns:
        A dictionary of the format ``tsnbench-measures/1``. ``["paths"]`` has one entry per stream, with
        counts and with statistics of delay and jitter in ns. ``["offset"]`` has an offset in whole seconds
        that was found and not subtracted.

    Raises:
        MeasureError: a file is no readable capture, no frame was sent, or the captures share no frame.

    Example:
        >>> from tsnbench import measure_captures
        >>> at = "runs/first/captures"
        >>> found = measure_captures(f"{at}/controller-switch-tx.pcapng", f"{at}/switch-robot-rx.pcapng")
        >>> [(path["stream"], path["count"]["received"]) for path in found["paths"]]
        [('tsnbench/0', 20)]
    """
    if offset == AUTO:
        found = _measure(tx, rx, None, None)["offset"]
        measures = _measure(tx, rx, found["seconds"] if found else None, frames)
    else:
        measures = _measure(tx, rx, _seconds(offset), frames)
    measures["source"]["warnings"] += _doubts(measures)
    return measures


def _doubts(measures: Measures) -> list[str]:
    """A warning that captures are not both ends of one path: they share few frames, or are swapped.

    Raises:
        MeasureError: the receiver's capture has enough frames, and none of them was sent.
    """
    counts = [path["count"] for path in measures["paths"]]
    sent, paired = (sum(one[name] for one in counts) for name in ("sent", "received"))
    only = measures["source"]["ignored"]["rx_only_frames"] + sum(one["unmatched_rx"] for one in counts)
    if not paired and only * 2 >= sent:
        raise NoSharedFrameError(
            f"the captures share no frame: {sent} frames at the sender, {only} others at the receiver\n"
            + "".join(map(_tried, ("tx", "rx"), ("sender", "receiver"), [measures["source"]] * 2))
            + f"hint: {_next_step(measures['source'])}"
        )
    found = []
    if paired * SHARED_AT_LEAST < sent and only > paired:
        found.append(
            f"the captures hardly share a frame: {paired} of {sent} sent frames were received, and {only} "
            "other frames: they may be of different paths or runs, and the losses no losses"
        )
    if measures["offset"] is None and (negative := _negative(measures)):
        least = exact(min(path["delay"]["min"] for path in negative if path["delay"]))
        if len(negative) == sum(path["delay"] is not None for path in measures["paths"]):
            found.append(
                f"delays are negative, down to {least}: the captures are swapped, or the receiver's "
                "clock is behind the sender's"
            )
        else:
            names = ", ".join(path["stream"] for path in negative[:NAMED])
            more = f" and {len(negative) - NAMED} more" if len(negative) > NAMED else ""
            found.append(
                f"delays of {len(negative)} of {len(measures['paths'])} streams are negative, "
                f"down to {least}: {names}{more}; captures of a port have frames of both "
                "directions, and these went from the receiver's capture to the sender's: swap the "
                "captures for their losses"
            )
    return found


def _tried(side: str, name: str, source: Source) -> str:
    """By what the frames of one side were identified, and how many frames had each: one line."""
    found = [one for one in source.get("identified", []) if one["side"] == side]
    parts = [
        f"{one['frames']} by {one['format']} ({one['streams']} stream{'' if one['streams'] == 1 else 's'})"
        for one in sorted(found, key=lambda one: -one["frames"])
    ]
    return f"{name}: {', '.join(parts) or 'no frame'}\n"


def _next_step(source: Source) -> str:
    """What to do if no frame is shared, by what identified the frames."""
    tx, rx = (
        {one["format"] for one in source.get("identified", []) if one["side"] == side}
        for side in ("tx", "rx")
    )
    if not tx & rx:
        return (
            "the sides have frames of different kinds: name captures of the same frames, both before or "
            "both behind a device that translates or tunnels them"
        )
    if tx & rx == {_BY_CONTENT}:
        return (
            "frames without numbers are the same if their content behind the link layer is: name captures "
            "of the same run, or number the frames, for example with tsnbench send"
        )
    return (
        "captures of one path hold the same frames, with their headers and numbers unchanged: "
        "tsnbench inspect FILE lists the streams and numbers of each side"
    )


def _negative(measures: Measures) -> list[PathReport]:
    """The paths of which at least half of the frames arrive before they are sent."""
    return [path for path in measures["paths"] if path["delay"] is not None and path["delay"]["median"] < 0]


def backwards(measures: Measures) -> bool:
    """Whether the frames of every stream arrive before they are sent: the captures are swapped."""
    delayed = [path for path in measures["paths"] if path["delay"] is not None]
    return bool(delayed) and measures["offset"] is None and len(_negative(measures)) == len(delayed)


def _seconds(offset: str | int | None) -> int | None:
    if offset is None or isinstance(offset, int):
        return offset
    found = _SECONDS.fullmatch(offset.strip())
    if not found:
        raise MeasureError(f"offset: expected whole seconds like 37s, or auto, found {offset!r}")
    return int(found[1])


def frames_of_captures(tx: Sequence[Capture], rx: Sequence[Capture], frames: str | os.PathLike[str]) -> None:
    """Writes the table of frames of :func:`measure_captures` alone, also if no frame is shared.

    Args:
        tx: captures at the sender.
        rx: captures at the receiver.
        frames: the file.

    Raises:
        MeasureError: a file is no readable capture, or no frame was sent.
    """
    _measured(tx, rx, None, frames)


def _measure(
    tx: Capture | Sequence[Capture],
    rx: Capture | Sequence[Capture],
    offset_s: int | None,
    frames: str | os.PathLike[str] | None,
) -> Measures:
    measures: Measures = json.loads(_measured(_several(tx), _several(rx), offset_s, frames))
    return measures


def _measured(
    sent: Sequence[Capture],
    arrived: Sequence[Capture],
    offset_s: int | None,
    frames: str | os.PathLike[str] | None,
) -> str:
    with table_of_frames(frames) as table, reading([*sent, *arrived], table):
        return _native.measure_captures(
            list(map(native, sent)),
            list(map(native, arrived)),
            json.dumps({"offset_s": offset_s}),
            table,
        )


@contextmanager
def table_of_frames(frames: str | os.PathLike[str] | None) -> Iterator[str | None]:
    """The path where the table of frames is written; it gets its name when it is complete.

    Raises:
        InputError: there is a file of that name which is no table of frames, a capture for example.
        BackendError: the disk is full, or cannot be written.
    """
    if frames is None:
        yield None
        return
    path = Path(frames)
    with writing(path):
        if path.exists() and not (path.is_file() and _begins_with(path, _PARQUET)):
            raise FolderError(path, "expected a new file or a table of frames, found another file")
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f"{path.name}.{os.getpid()}.part")
        try:
            yield str(part)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)


def _begins_with(path: Path, octets: bytes) -> bool:
    with path.open("rb") as file:
        return file.read(len(octets)) == octets


@contextmanager
def reading(captures: Sequence[Capture], frames: str | None) -> Iterator[None]:
    """Native code reads captures and writes a table of frames, if there is one.

    Raises:
        MeasureError: a file is no readable capture.
        OSError: the disk is full, or cannot be written.
    """
    try:
        refuse_irregular(captures)
        yield
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno in DISK and frames is not None:
            raise
        said = str(error)
        if isinstance(error, OSError) and error.strerror:
            said = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
        raise MeasureError(_NUMBERED.sub("", said)) from error


def _several(files: Capture | Sequence[Capture]) -> Sequence[Capture]:
    return [files] if isinstance(files, str | os.PathLike) else files
