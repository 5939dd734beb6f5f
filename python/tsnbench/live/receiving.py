"""``tsnbench receive``: counts the frames of talkers that arrive at an interface, and those that are lost."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NotRequired, TypedDict

from tsnbench.live import device, folder, program

OTHER_ZERO = "the frames say no time of sending, or one of another clock"


@dataclass(frozen=True)
class Receiving:
    """The options of a listener."""

    on: str
    """The interface."""
    duration_ns: int | None = None
    """Until Ctrl-C by default."""
    frames: int | None = None
    ring_octets: int = 1 << 26
    wake: bool = False
    """Wake up for each frame, as an ordinary program does, without a packet ring."""
    hardware: bool = False
    cpu: int | None = None
    priority: int | None = None
    into: Path | None = None


class Delay(TypedDict):
    """Delays in ns."""

    least: int
    mean: float
    most: int


class ReceivedStream(TypedDict):
    """The counts of one stream; ``restarts``: how often its talker began again with earlier numbers;
    ``delay_missing``: why there is no delay.
    """

    stream: int | str
    frames: int
    restarts: int
    lost: int
    duplicates: int
    reordered: int
    delay_ns: Delay | None
    delay_missing: NotRequired[str]


class ListenedInterface(TypedDict):
    """The counts of an interface; ``dropped_by_listener``: frames that arrived while the program's buffer was
    full.
    """

    name: str
    dropped_by_listener: int


class Received(TypedDict):
    """The results of the live program; ``foreign``: frames that are not of tsnbench's talkers."""

    interfaces: list[ListenedInterface]
    streams: list[ReceivedStream]
    foreign: int


def receive(asked: Receiving, ready: Callable[[], None] | None = None) -> Received:
    """Listens, and returns frames, loss, duplicates, reordering and delay per stream, and the listener's own
    loss. ``ready`` is called once it listens.

    Raises:
        InputError: there is no such interface.
        BackendError: the rights to listen are missing.
    """
    device.mac(asked.on)
    with tempfile.TemporaryDirectory(prefix="tsnbench-receive-") as place:
        log = Path(place) / "log.json"
        now_ns = time.clock_gettime_ns(time.CLOCK_TAI)
        if asked.into is not None:
            folder.make(asked.into)
        program.run(
            ["listen"],
            ready,
            port=f"0={asked.on}",
            log=log,
            ring=max(4, asked.ring_octets >> 10),
            until=None if asked.duration_ns is None else now_ns + asked.duration_ns,
            count=asked.frames,
            wake=asked.wake,
            hardware=asked.hardware,
            cpu=asked.cpu,
            priority=asked.priority,
            sights=None if asked.into is None else folder.log_of(asked.into, "receive"),
        )
        found = heard(log.read_text(encoding="utf-8"))
    if asked.into is not None:
        folder.merge(asked.into)
    return found


def heard(log: str) -> Received:
    """The results in the live program's log."""
    found: Received = json.loads(log)
    for stream in found["streams"]:
        if stream["delay_ns"] is None:
            stream["delay_missing"] = OTHER_ZERO
    return found
