"""Figures of streams from captures that grow: what ``tsnbench measure`` finds, added up round by round.

The records that arrived in a round at the talker are a window. They are measured one round later, against the
records of the rounds before, at and after it at the listener: files of different hosts are written at
different times, and frames are on their way. So each sent frame counts in one window, as in the whole files.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from tsnbench import foreign
from tsnbench.errors import BackendError, InputError
from tsnbench.exports.scenario_text import one_line
from tsnbench.libraries import numpy as np
from tsnbench.libraries import polars as pl
from tsnbench.measure.captures.both_ends import frames_of_captures
from tsnbench.watch.growing import GrowingCapture, Piece

if TYPE_CHECKING:
    from tsnbench.plan.types import PlanDocument

BOUNDS_NS = (*(step * 10**power for power in range(3, 9) for step in (1, 2, 5)), 10**9)
"""Upper bounds of the buckets of delays: 1 us to 1 s."""
SHARE, LONGEST_S = 0.01, 30.0
"""The share of one processor that rounds may take, and the longest pause for that."""
_PATHS = "tsnbench.paths"
_PAYLOAD = "tsnbench/"
"""Begin of the name of a stream whose frames have tsnbench's test payload; the rest is its number."""


@dataclass
class StreamFigures:
    """What was seen of one stream since the begin. Times in ns."""

    name: str
    limit_ns: int | None = None
    """The delay that the scenario requires."""
    sent: int = 0
    received: int = 0
    lost: int = 0
    late: int = 0
    """Frames with a delay above the limit."""
    buckets: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS_NS) + 1))
    """Number of delays up to each of :data:`BOUNDS_NS`, and above the last one; not cumulative."""
    delays: int = 0
    sum_ns: int = 0
    most_ns: int | None = None
    last_ns: int | None = None
    """The last arrival, on the listener's clock."""

    @property
    def margin(self) -> float | None:
        """The least margin so far, relative to the required delay; None without a requirement or a delay."""
        if self.limit_ns is None or self.most_ns is None:
            return None
        return 1 - self.most_ns / self.limit_ns if self.limit_ns else -1.0

    def add(self, other: StreamFigures) -> None:
        """Adds the frames of another stream."""
        self.sent += other.sent
        self.received += other.received
        self.lost += other.lost
        self.late += other.late
        self.delays += other.delays
        self.sum_ns += other.sum_ns
        self.buckets = [a + b for a, b in zip(self.buckets, other.buckets, strict=True)]


def worst_first(streams: Sequence[StreamFigures]) -> list[StreamFigures]:
    """Streams with the smallest margin first; then those that lost most frames, and those with most delay."""
    return sorted(
        streams,
        key=lambda one: (
            1.0 if one.margin is None else one.margin,
            -one.lost,
            -(one.most_ns or 0),
            one.name,
        ),
    )


class _File:
    """One capture with the pieces of the last rounds."""

    def __init__(self, path: Path) -> None:
        self.capture = GrowingCapture(path)
        self.pieces: list[Piece] = []
        self._generation = 0
        self.begun_anew = False
        """Whether the file was begun anew since the last round."""
        self._waiting: Piece | None = None
        """What was read and belongs to no round yet."""

    def take(self) -> None:
        """Reads what was added to the file."""
        piece = self.capture.take()
        if self.capture.generation != self._generation:
            self._generation = self.capture.generation
            self.pieces.clear()
            self._waiting = None
            self.begun_anew = True
        before = self._waiting
        self._waiting = piece if before is None or not before.head else replace(before, end=piece.end)

    def end_round(self) -> None:
        """What was read is a round."""
        self.pieces = [*self.pieces[-3:], self._waiting or Piece(b"", 0, 0)]
        self._waiting = None
        self.begun_anew = False

    def forget(self) -> None:
        """No record of this round and of those before counts."""
        self.pieces = [Piece(b"", 0, 0)]

    def undo_round(self) -> None:
        """The last round was not measured: what was read belongs to the next one."""
        self._waiting = self.pieces.pop()

    def write(self, first: int, last: int, into: Path, empty: bool) -> bool:
        """Writes the records of the rounds from ``first`` to ``last``; False if there are none.

        Args:
            first: a round; 0 is the last one, 1 the one before.
            last: the last round, not after the first.
            into: the file.
            empty: whether a file without a record is written.
        """
        chosen = [self.pieces[-1 - back] for back in range(first, last - 1, -1) if back < len(self.pieces)]
        begun = [one for one in chosen if one.head]
        if not begun or (begun[0].begin == begun[-1].end and not empty):
            return False
        self.capture.write(begun[0].head, begun[0].begin, begun[-1].end, into)
        return True


class CapturedStreams:
    """The streams of a Plan in captures at talkers and at listeners, which may grow.

    Args:
        plan: the Plan.
        tx: captures at talkers; without one, there are no delays, and missing numbers are lost frames.
        rx: captures at listeners.
        clock: seconds of a clock that never goes back.
    """

    def __init__(
        self,
        plan: PlanDocument,
        tx: Sequence[Path],
        rx: Sequence[Path],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.lock = threading.Lock()
        """Held while figures change: who reads them takes it."""
        self.has_delays = bool(tx)
        self.streams: dict[str, StreamFigures] = {}
        self.whole = StreamFigures("")
        """All streams together."""
        self.failures: dict[Path, str] = {}
        """Why a file was not read in the last round."""
        self.files = tuple(dict.fromkeys((*tx, *rx)))
        self.span_ns: tuple[int, int] | None = None
        """The first and the last stamp of the frames that count."""
        self._plan = plan["streams"]
        self.planned = len(self._plan)
        """Number of streams of the Plan."""
        self._tx, self._rx = ([_File(path) for path in paths] for paths in (tx, rx))
        self._clock = clock
        self._read_at: deque[float] = deque(maxlen=4)
        self.cost_s = 0.0
        """Processor time of the last round."""
        self._newest = (0, 0.0)
        """The newest stamp of any frame, and when it was read."""
        self._expected: dict[str, int] = {}
        """By stream, the number after the highest one; without captures at talkers."""

    def pause_s(self, interval_s: float) -> float:
        """Time from the begin of the last round to that of the next one: so long that rounds take
        :data:`SHARE` of one processor, and not longer than :data:`LONGEST_S` for that."""
        return max(interval_s, min(LONGEST_S, self.cost_s / SHARE))

    def round(self) -> None:
        """Reads what was added to the files, and measures the window that is complete with it."""
        began = time.process_time()
        self._round()
        self.cost_s = time.process_time() - began

    def _round(self) -> None:
        failures: dict[Path, str] = {}
        files = (*self._tx, *self._rx)
        for one in files:
            try:
                one.take()
            except (OSError, InputError) as error:
                failures[one.capture.path] = _why(error, one.capture.path)
        # A round ends only with all files: frames are not lost because one file cannot be read.
        if not failures:
            begun_anew = any(one.begun_anew for one in files)
            for one in files:
                one.end_round()
            if begun_anew:
                self._begin_anew()
            self._read_at.append(self._clock())
            if failures := self._measured():
                for one in files:
                    one.undo_round()
                self._read_at.pop()
        with self.lock:
            self.failures = failures

    def _begin_anew(self) -> None:
        """What the old file had behind its last reading is unknown: windows that need it do not count, and no
        frame is lost because of them."""
        for one in self._tx:
            one.forget()
        self._expected.clear()

    @property
    def restarts(self) -> dict[Path, int]:
        """How often each file was begun anew."""
        return {one.capture.path: one.capture.generation for one in (*self._tx, *self._rx)}

    def _measured(self) -> dict[Path, str]:
        """Measures a window; returns why that failed."""
        try:
            with TemporaryDirectory(prefix="tsnbench-watch-") as scratch:
                self._both_ends(Path(scratch)) if self._tx else self._one_end(Path(scratch))
        except (OSError, InputError, BackendError) as error:
            return {path: _why(error, path) for path in self.files}
        return {}

    def age_s(self, one: StreamFigures) -> float | None:
        """Seconds since the last arrival of a stream; None before the first."""
        if one.last_ns is None:
            return None
        newest, read_at = self._newest
        return max(0.0, (newest - one.last_ns) / 1e9) + self._clock() - read_at

    def _both_ends(self, scratch: Path) -> None:
        sent = _written(self._tx, 1, 1, scratch / "tx")
        if sent:
            # A capture without a record that its header alone makes is one in which nothing arrived.
            self._measure(sent, _written(self._rx, 2, 0, scratch / "rx", empty=True), scratch)

    def _one_end(self, scratch: Path) -> None:
        arrived = _written(self._rx, 0, 0, scratch / "rx")
        if arrived:
            self._measure(arrived, arrived, scratch)

    def _measure(self, sent: Sequence[Path], arrived: Sequence[Path], scratch: Path) -> None:
        table = scratch / "frames.parquet"
        frames_of_captures(sent, arrived, table)
        names = [one["stream"] for one in foreign.parquet_note(table, _PATHS)]
        frames = foreign.read_parquet(table)
        with self.lock:
            self._take(frames, names)

    def _take(self, frames: pl.DataFrame, numbered: Sequence[str]) -> None:
        """Adds the frames of a window.

        Args:
            frames: one row for each frame.
            numbered: by path, the name that the frames say.
        """
        names = [self._named(one) for one in numbered]
        limits = [None if one is None else one.limit_ns for one in names]
        frames = frames.with_columns(
            limit=pl.Series(limits, dtype=pl.Int64).gather(frames["path"]),
            expected=pl.Series(
                [None if one is None else self._expected.get(one.name) for one in names], dtype=pl.UInt64
            ).gather(frames["path"]),
            mine=pl.Series([one is not None for one in names], dtype=pl.Boolean).gather(frames["path"]),
        ).filter(pl.col("mine"))
        if not len(frames):
            return
        stamps = pl.concat([frames["t_tx_ns"], frames["t_rx_ns"]]).drop_nulls()
        if len(stamps):
            first, last = int(stamps.min()), int(stamps.max())  # type: ignore[arg-type]
            self.span_ns = (
                min(first, (self.span_ns or (first,))[0]),
                max(last, (self.span_ns or (0, last))[1]),
            )
            self._newest = last, self._read_at[-1 - bool(self._tx)]
        self._add(frames, names)

    def _named(self, name: str) -> StreamFigures | None:
        """The figures of the stream with this number in the frames; None if it is none of the Plan."""
        number = name.removeprefix(_PAYLOAD)
        if number == name or not number.isdecimal() or int(number) >= len(self._plan):
            return None
        planned = self._plan[int(number)]
        known = self.streams.get(planned["name"])
        if known is None:
            limit = planned.get("requirements", {}).get("delay_ns")
            known = self.streams[planned["name"]] = StreamFigures(planned["name"], limit)
        return known

    def _add(self, frames: pl.DataFrame, names: Sequence[StreamFigures | None]) -> None:
        """Adds the frames of a window: one row for each."""
        histograms = _histograms(frames, len(names)) if self._tx else None
        rows = frames.group_by("path").agg(
            sent=pl.len(),
            received=pl.col("t_rx_ns").count(),
            late=(pl.col("delay_ns") > pl.col("limit")).sum(),
            delays=pl.col("delay_ns").count(),
            sum_ns=pl.col("delay_ns").sum(),
            most_ns=pl.col("delay_ns").max(),
            last_ns=pl.col("t_rx_ns").max(),
            least=pl.col("seq").min(),
            most=pl.col("seq").max(),
            behind=(pl.col("seq") >= pl.col("expected")).sum(),
        )
        for row in rows.iter_rows(named=True):
            one = names[row["path"]]
            assert one is not None
            found = StreamFigures(one.name, received=row["received"])
            if histograms is not None:
                found.sent, found.lost = row["sent"], row["sent"] - row["received"]
                found.late, found.delays, found.sum_ns = row["late"], row["delays"], row["sum_ns"]
                found.buckets = histograms[row["path"]].tolist()
            else:
                found.lost = self._missing(one.name, row["least"], row["most"], row["sent"], row["behind"])
            for total in (one, self.whole):
                total.add(found)
            if histograms is not None and row["most_ns"] is not None:
                one.most_ns = max(row["most_ns"], one.most_ns or row["most_ns"])
            if row["last_ns"] is not None:
                one.last_ns = max(row["last_ns"], one.last_ns or row["last_ns"])

    def _missing(self, name: str, least: int, most: int, frames: int, behind: int) -> int:
        """How many numbers are missing behind those of earlier rounds. A talker that begins again with the
        number 0 has lost none.

        Args:
            name: the stream.
            least: its least number in this round.
            most: its greatest one.
            frames: the number of its frames.
            behind: how many of them have the expected number or a greater one.
        """
        expected = self._expected.get(name)
        if expected is None or least == 0:
            expected, behind = least, frames
        self._expected[name] = max(expected, most + 1)
        return max(0, most + 1 - expected - behind)


def _histograms(frames: pl.DataFrame, paths: int) -> np.ndarray:
    """Number of delays by path and bucket."""
    known = frames.filter(pl.col("delay_ns").is_not_null())
    width = len(BOUNDS_NS) + 1
    bucket = np.searchsorted(np.array(BOUNDS_NS), known["delay_ns"].to_numpy(), side="left")
    place = known["path"].to_numpy().astype(np.int64) * width + bucket
    return np.bincount(place, minlength=paths * width).reshape(paths, width)


def _written(files: Sequence[_File], first: int, last: int, into: Path, empty: bool = False) -> list[Path]:
    """Files with the records of some rounds; with ``empty`` also those without a record."""
    into.mkdir()
    paths = [into / f"{place}.pcap" for place in range(len(files))]
    return [path for one, path in zip(files, paths, strict=True) if one.write(first, last, path, empty)]


def _why(error: Exception, path: Path) -> str:
    """The reason in one line, without the name of the file that everybody knows."""
    if isinstance(error, OSError) and not isinstance(error, InputError):
        other = "" if error.filename in (None, str(path)) else f" ({error.filename})"
        return one_line(f"{error.strerror or error}{other}")
    return one_line(str(error).removeprefix(f"{path}: "))
