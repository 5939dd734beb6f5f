"""Tables of a run that repeats: some of their rows stand for many more.

In a run whose whole state comes again, one period is simulated for all others. The metadata of its tables say
which rows repeat, how often, and by how much times and sequence numbers grow with each repetition.
"""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, cast

from tsnbench import foreign
from tsnbench.libraries import polars as pl
from tsnbench.quantities import exact
from tsnbench.runs import documents, file_names
from tsnbench.runs.errors import FolderError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

KEY = "tsnbench.repeats"
MOST_ROWS = 50_000_000
"""Rows of a table in memory: 3 GB."""
MOST_DRAWN = 1_000_000
"""Rows of the part of a table that reports draw."""
_TIMES = ("t_ns", "t_tx_ns", "t_rx_ns")


class Steady(TypedDict, total=False):
    """``steady.json``."""

    steady_from_ns: int
    period_ns: int
    repeated: int
    """Periods that were not simulated."""
    simulated_ns: int
    reason: str
    """Why each frame was simulated."""


def steady(folder: Path) -> Steady | None:
    """From when on a run repeats, or why it does not; None if it was not searched."""
    path = folder / file_names.STEADY
    if not path.is_file():
        return None
    return cast("Steady", documents.read(path))


def told(found: Steady) -> str:
    """One sentence for people about a search for a repetition."""
    if "reason" in found:
        return f"no repetition was found, so every frame was simulated: {found['reason']}"
    begin, period = exact(found["steady_from_ns"]), exact(found["period_ns"])
    left_out = f"{found['repeated']:,} of these periods were not simulated (--exact simulates them)"
    return f"steady from {begin} on: each {period} is like the one before; {left_out}"


def read(path: Path) -> pl.DataFrame:
    """A run's observations, or its table of frames: every row, in the order of the run.

    Raises:
        FolderError: the table has more rows than memory may hold.
        UnusableFileError: it is no such table.
        OSError: it cannot be opened.
    """
    with _note(path) as note:
        table = foreign.read_parquet(path)
        return table if note is None else _unrolled(path, table, note)


def first_part(path: Path, into: Callable[[], Path]) -> Path:
    """The table itself; if rows of it repeat, one of the first part of the run, in the folder of ``into``.

    Raises:
        FolderError: the note about rows that repeat is damaged.
        UnusableFileError: it is no such table.
        OSError: it cannot be opened.
    """
    with _note(path) as note:
        if note is None:
            return path
        parts = _parts(foreign.read_parquet(path), note)
        times = min(int(note["times"]), MOST_DRAWN // max(1, len(parts.period)))
        (folder := into()).mkdir(parents=True, exist_ok=True)
        pl.concat([parts.before, parts.again(range(times + 1))]).write_parquet(folder / path.name)
        return folder / path.name


@contextmanager
def _note(path: Path) -> Iterator[foreign.Json | None]:
    """What the metadata of a table say about its rows."""
    foreign.regular(path)
    with foreign.table_errors(path), path.open("rb") as file:
        text = pl.read_parquet_metadata(os.fspath(path) if foreign.nameable(path) else file).get(KEY)
        try:
            yield None if text is None else json.loads(text)
        except (KeyError, TypeError, AttributeError) as error:
            what = f"the note {KEY} of {path.name} is damaged: {error!r}"
            raise FolderError(path.parent, what, "run it again") from error


@dataclass(frozen=True)
class _Parts:
    """The rows before those that repeat, those rows, and the rows behind them."""

    before: pl.DataFrame
    period: pl.DataFrame
    behind: pl.DataFrame
    frames: pl.Expr
    """By how much the number of a row's frame grows with each repetition."""
    period_ns: int

    def again(self, numbers: range) -> pl.DataFrame:
        """The rows that repeat, once for each number of periods."""
        if not len(self.period):
            return self.period
        every = pl.DataFrame({"_number": numbers}, schema={"_number": pl.Int64})
        number = pl.col("_number")
        later = [(pl.col("seq") + self.frames.cast(pl.UInt64) * number.cast(pl.UInt64)).alias("seq")]
        times = [name for name in _TIMES if name in self.period.columns]
        later += [pl.col(name) + number * self.period_ns for name in times]
        return every.join(self.period, how="cross").with_columns(later).select(self.period.columns)


def _parts(table: pl.DataFrame, note: foreign.Json) -> _Parts:
    if "paths" not in note:
        begin, end = int(note["first_row"]), int(note["first_row"]) + int(note["rows"])
        frames = _by("stream", note["frames"])
        return _Parts(table[:begin], table[begin:end], table[end:], frames, int(note["period_ns"]))
    first = _by("path", [int(one) for one, _ in note["paths"]])
    frames = _by("path", [int(one) for _, one in note["paths"]])
    seq = pl.col("seq").cast(pl.Int64)
    part = pl.when(seq < first).then(0).when(seq < first + frames).then(1).otherwise(2)
    before, period, behind = (table.filter(part == number) for number in range(3))
    return _Parts(before, period, behind, frames, int(note["period_ns"]))


def _unrolled(path: Path, table: pl.DataFrame, note: foreign.Json) -> pl.DataFrame:
    parts, times = _parts(table, note), int(note["times"])
    rows = len(table) + times * len(parts.period)
    if rows > MOST_ROWS:
        what = f"{path.name} stands for {rows:,} rows, more than {MOST_ROWS:,} are not held in memory"
        raise FolderError(path.parent, what, "its measures are of all frames; a shorter --duration has fewer")
    whole = pl.concat([parts.before, parts.again(range(times + 1)), parts.behind])
    # The table of frames has the frames of each path in order; between paths the order has no meaning.
    return whole.sort("path", "seq", maintain_order=True) if "paths" in note else whole


def _by(column: str, values: Sequence[int]) -> pl.Expr:
    """The value at a row's number in ``column``."""
    return pl.lit(pl.Series(values, dtype=pl.Int64)).gather(pl.col(column))
