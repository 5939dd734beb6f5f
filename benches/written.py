"""Scenarios of many scheduled streams, one line each: what people write, or write by a program.

A grid of 8 x 8 bridges with 8 stations each, and streams of 100 B every 4 ms between random stations.
"""

from __future__ import annotations

import random
from pathlib import Path

SIDE = 8
STATIONS = 8


def written(streams: int, folder: Path, table: bool = False) -> Path:
    """A scenario with so many streams, each on a line of its own; ``table``: of a CSV file beside it."""
    draws = random.Random(streams)
    lines = [
        f"name: written-{streams}",
        "duration: 4 ms",
        f"network: {{grid: {{rows: {SIDE}, columns: {SIDE}, stations: {STATIONS}, rate: 1 Gbit/s}}}}",
        "streams:",
    ]
    stations = [
        f"station{row}.{column}.{number}"
        for row in range(1, SIDE + 1)
        for column in range(1, SIDE + 1)
        for number in range(1, STATIONS + 1)
    ]
    rows = ["name,from,to,period (ms),frame (B),scheduled,requires.delay (ms)"]
    if table:
        lines[-1] += f" {{table: written-{streams}.csv}}"
    for number in range(1, streams + 1):
        talker, listener = draws.sample(stations, 2)
        if table:
            rows.append(f"s{number},{talker},{listener},4,100,true,4")
            continue
        lines.append(
            f"  s{number}: {{from: {talker}, to: {listener}, period: 4 ms, frame: 100 B, "
            "scheduled: true, requires: {delay: 4 ms}}"
        )
    if table:
        (folder / f"written-{streams}.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    file = folder / f"written-{streams}{'-table' * table}.yaml"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file
