"""cyclictest: its histogram (``-h``, ``--histfile``) and the lines of its threads, in us."""

from __future__ import annotations

import re

from tsnbench.errors import ContentError
from tsnbench.foreign_files.figures import ForeignFile, ForeignMeasures, figure, known
from tsnbench.scenario.recorded.cyclictest import CyclictestError, parse

MOST_SAMPLES = 10**15
_THREAD = re.compile(
    r"T: ?(\d{1,6}) \( ?(\d{1,10})\) P: ?(\d{1,3}) I: ?(\d{1,10}) C: ?(\d{1,12}) "
    r"Min: {0,9}(\d{1,10}) Act: {0,9}-?\d{1,10} Avg: {0,9}(\d{1,10}) Max: {0,9}(\d{1,10})"
)
_HISTOGRAM = re.compile(r"^# Histogram$", re.MULTILINE)
_BIN = re.compile(r"^\d{6}((?:[ \t]+\d{1,15})+)[ \t\r]*$", re.MULTILINE)


def recognised(head: bytes) -> bool:
    """Whether a file is cyclictest's output or its histogram."""
    text = head.decode("utf-8", errors="replace")
    return (
        _THREAD.search(text) is not None
        or _HISTOGRAM.search(text) is not None
        or text.startswith("# /dev/cpu_dma")
    )


def measure(file: ForeignFile) -> ForeignMeasures:
    """The wake-up latency of every thread, from the histogram if there is one, otherwise from the thread's
    line.

    Raises:
        InputError: the file has neither, or its histogram misses samples.
    """
    text = file.text
    first = _BIN.search(text)
    # The program may print a thread's line repeatedly; the last one counts.
    threads = {int(found[1]): found for found in _THREAD.finditer(text)}
    if first is not None:
        try:
            for thread in range(len(first[1].split())):
                bins = parse(text, thread)
                if sum(bins.values()) > MOST_SAMPLES:
                    raise file.wrong(f"at most {MOST_SAMPLES} samples", "more")
                made = figure("wake-up latency", list(bins), times=list(bins.values()))
                file.add(f"thread {thread}", [made])
        except CyclictestError as error:
            hint = f"\nhint: {error.hint}" if error.hint else ""
            raise ContentError(f"{file.name}: {error}{hint}") from None
        file.warnings.append("a bin is 1 us wide: times are its lower edge")
    else:
        for thread, found in sorted(threads.items()):
            cycles, least, mean, most = (int(found[place]) for place in (5, 6, 7, 8))
            made = known("wake-up latency", least * 1_000, most * 1_000, mean * 1_000.0, cycles)
            file.add(f"thread {thread}", [made if cycles else known("wake-up latency", samples=0)])
    return file.measures("cyclictest", "threads or a histogram of cyclictest", "neither")
