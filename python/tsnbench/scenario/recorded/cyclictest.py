"""Histograms that cyclictest has measured: the output of ``cyclictest -h`` or its ``--histfile``.

One line per bin: microseconds, then one count per thread.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from tsnbench import foreign

LARGEST_FILE = 16 << 20
_BIN = re.compile(r"\s*(\d{1,9})((?:\s+\d{1,15})+)\s*")
_OVERFLOWS = re.compile(r"#\s*Histogram Overflows:((?:\s+\d{1,15})+)\s*")


class CyclictestError(ValueError):
    """A file that is no histogram; ``hint`` has a remedy."""

    def __init__(self, text: str, hint: str = "") -> None:
        super().__init__(text)
        self.hint = hint


def histogram(path: str | os.PathLike[str], thread: int | None = None) -> dict[int, int]:
    """The begin of each bin in ns (it is 1 us wide), and its number of values, of one thread or all.

    Raises:
        CyclictestError: the file cannot be read, is no histogram, or lacks samples beyond its last bin.
    """
    path = Path(path)
    try:
        text = foreign.read_bytes(path, LARGEST_FILE).decode("utf-8", errors="replace")
    except OSError as error:
        raise CyclictestError(error.strerror or "it cannot be read") from error
    return parse(text, thread)


def parse(text: str, thread: int | None = None) -> dict[int, int]:
    """The histogram in the text of such a file: microseconds to counts."""
    bins: dict[int, int] = {}
    for line in text.splitlines():
        if found := _OVERFLOWS.fullmatch(line):
            beyond = _of(found[1], thread)
            if beyond:
                hint = "measure with more bins: cyclictest -h 1000"
                raise CyclictestError(f"{beyond} samples are beyond its last bin", hint)
        elif found := _BIN.fullmatch(line):
            count = _of(found[2], thread)
            if count:
                start = int(found[1]) * 1_000
                bins[start] = bins.get(start, 0) + count
    if not bins:
        raise CyclictestError("it holds no samples")
    return dict(sorted(bins.items()))


def _of(text: str, thread: int | None) -> int:
    counts = [int(count) for count in text.split()]
    if thread is None:
        return sum(counts)
    if thread >= len(counts):
        raise CyclictestError(f"it has {len(counts)} threads", "threads count from 0")
    return counts[thread]
