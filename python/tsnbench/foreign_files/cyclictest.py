"""cyclictest: its histogram (``-h``, ``--histfile``) and the lines of its threads, in us."""

from __future__ import annotations

import re

from tsnbench.errors import InputError
from tsnbench.foreign_files.figures import FORMAT, ForeignMeasures, ForeignStream, figure, known
from tsnbench.scenario.recorded.cyclictest import CyclictestError, parse

TOOL = "cyclictest"
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


def measure(file: str, content: bytes) -> ForeignMeasures:
    """The wake-up latency of every thread, from the histogram if there is one, otherwise from the thread's
    line.

    Raises:
        InputError: the file has neither, or its histogram misses samples.
    """
    text = content.decode("utf-8", errors="replace")
    first = _BIN.search(text)
    # The program may print a thread's line repeatedly; the last one counts.
    threads = {int(found[1]): found for found in _THREAD.finditer(text)}
    streams: list[ForeignStream] = []
    warnings: list[str] = []
    if first is not None:
        try:
            for thread in range(len(first[1].split())):
                bins = parse(text, thread)
                if sum(bins.values()) > MOST_SAMPLES:
                    raise InputError(f"{file}: expected at most {MOST_SAMPLES} samples, found more")
                made = figure("wake-up latency", list(bins), times=list(bins.values()))
                streams.append({"stream": f"thread {thread}", "counts": {}, "figures": [made]})
        except CyclictestError as error:
            hint = f"\nhint: {error.hint}" if error.hint else ""
            raise InputError(f"{file}: {error}{hint}") from None
        warnings.append("a bin is 1 us wide: times are its lower edge")
    else:
        for thread, found in sorted(threads.items()):
            cycles, least, mean, most = (int(found[place]) for place in (5, 6, 7, 8))
            made = known("wake-up latency", least * 1_000, most * 1_000, mean * 1_000.0, cycles)
            if not cycles:
                made = known("wake-up latency", samples=0)
            streams.append({"stream": f"thread {thread}", "counts": {}, "figures": [made]})
    if not streams:
        raise InputError(f"{file}: expected threads or a histogram of cyclictest, found neither")
    return {"format": FORMAT, "file": file, "tool": TOOL, "streams": streams, "warnings": warnings}
