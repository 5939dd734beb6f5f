"""What a decision of ``tsnbench cnc`` costs, part by part, with 50 to 10,000 streams in place.

A grid of 8 x 8 bridges with 8 stations each; scheduled streams of 100 B every 4 ms between stations that a
seed draws. Processor time until a decision is made, by the thread that decides, and of the whole service
until it is answered, with the store on this disk: other programs of the machine are not in it, nor is the
wait for the disk. Everything is checked after each kind of change; the memory is the most that the process
of one size has used before the first check, and in all. ``clients.py`` measures what a client waits for.
"""

from __future__ import annotations

import argparse
import gc
import multiprocessing
import random
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tsnbench.cnc.admission import Parts
from tsnbench.cnc.changes import Change, Decision
from tsnbench.cnc.network import Base
from tsnbench.cnc.service import Service
from tsnbench.cnc.store import Store

SIDE, STATIONS = 8, 8
SIZES = (50, 1_000, 10_000)
"""Streams in place."""
TIMES = 90
"""Changes of each kind, too few for the check of everything between them."""
DECIDED = ("read", "plan and prove", "bounds", "judge", "transition")
"""The parts after which a decision is made; all others are for its answer."""
SCHEDULED = {"period": "4 ms", "payload": "100 B", "pcp": 7, "scheduled": True, "requires": {"delay": "2 ms"}}
BOUNDED = {"period": "4 ms", "payload": "100 B", "pcp": 3, "requires": {"delay": "10 ms"}}
TIGHT = {**SCHEDULED, "requires": {"delay": "100 ns"}}
"""No frame makes a way that fast."""


@dataclass(frozen=True)
class Measured:
    """What one network showed."""

    decisions: dict[str, list[tuple[float, Decision]]]
    """Of each kind of change."""
    checks_s: list[float]
    peaks_mb: list[float]
    """The first one after the start, the second one before any check."""


def pairs(count: int) -> list[tuple[str, str]]:
    """Talkers and listeners, drawn by a seed."""
    drawn = random.Random(count)
    names = [
        f"station{r}.{c}.{n}" for r in range(1, SIDE + 1) for c in range(1, SIDE + 1) for n in range(1, 9)
    ]
    return [tuple(drawn.sample(names, 2)) for _ in range(count)]  # type: ignore[misc]


def scenario(count: int) -> str:
    """The text of the network with its streams."""
    lines = [
        f"name: grid-{count}",
        "duration: 20 ms",
        f"network: {{grid: {{rows: {SIDE}, columns: {SIDE}, stations: {STATIONS}, rate: 10 Gbit/s}}}}",
        "streams:",
    ]
    rest = "period: 4 ms, payload: 100 B, pcp: 7, scheduled: true, requires: {delay: 2 ms}"
    lines += [f"  s{n}: {{from: {a}, to: {b}, {rest}}}" for n, (a, b) in enumerate(pairs(count))]
    return "\n".join(lines) + "\n"


def timed(service: Service, change: Change) -> tuple[float, Decision]:
    """The milliseconds of the processor for the decision about a change."""
    began = time.process_time()
    decision = service.ask(change).result()
    return (time.process_time() - began) * 1e3, decision


def peak_mb() -> float:
    """The most memory that this process has used."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def checked(service: Service) -> float:
    """The seconds of the processor for the check of everything behind the answers."""
    began = time.process_time()
    service.soon(service.check).result()
    assert not service.halted, service.halted
    return time.process_time() - began


def measure(count: int, times: int) -> Measured:
    """The decisions of each kind."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "grid.yaml"
        file.write_text(scenario(count), encoding="utf-8")
        base = Base(file)
        service = Service(base, Store(Path(folder) / "store", base.digest))
        found = Measured({}, [], [peak_mb()])
        # The first change of each kind is none of those that are measured.
        ends = pairs(count + 4 * (times + 1))[count:]
        kinds: list[tuple[str, dict[str, Any]]] = [
            ("scheduled", SCHEDULED),
            ("bounded", BOUNDED),
            # Beside streams that are not scheduled.
            ("mixed", SCHEDULED),
            ("refused", TIGHT),
        ]
        for kind, stream in kinds:
            if kind == "bounded":
                # Before there are streams that are not scheduled.
                _leave(service, "scheduled", times, found)
            rows = []
            for number in range(times + 1):
                talker, listener = ends.pop()
                added = {f"{kind}{number}": {"from": talker, "to": listener, **stream}}
                rows.append(timed(service, Change("bench", added)))
            found.decisions[kind] = rows[1:]
            found.peaks_mb.append(peak_mb())
            found.checks_s.append(checked(service))
            found.peaks_mb.append(peak_mb())
        _leave(service, "bounded", times, found)
        service.close()
        return found


def _leave(service: Service, kind: str, times: int, found: Measured) -> None:
    names = [f"{kind}{number}" for number in range(times)]
    found.decisions[f"{kind} leaves"] = [timed(service, Change("bench", {}, (name,))) for name in names]
    found.checks_s.append(checked(service))


def _spread(ms: list[float]) -> str:
    """Median, 99th percentile and greatest value."""
    return f"{statistics.median(ms):.2f} | {sorted(ms)[-(-99 * len(ms) // 100) - 1]:.1f} | {max(ms):.1f}"


def tell(count: int, times: int) -> None:
    """Prints one line for each kind of change beside so many streams."""
    # As the program does.
    gc.set_threshold(100_000)
    Parts.clock = time.thread_time
    found = measure(count, times)
    for kind, decisions in found.decisions.items():
        took = [ms for ms, _ in decisions]
        decided = [sum(one.parts_ms.get(part, 0) for part in DECIDED) for _, one in decisions]
        accepted = sum(one.accepted for _, one in decisions)
        parts: dict[str, list[float]] = {}
        for _, one in decisions:
            for part, ms in one.parts_ms.items():
                parts.setdefault(part, []).append(ms)
        words = ", ".join(f"{part} {statistics.median(ms):.2f}" for part, ms in parts.items())
        line = f"| {count:,} | {kind} | {accepted} of {len(took)} "
        print(f"{line}| {_spread(decided)} | {_spread(took)} | {words} |", flush=True)
    start, first, *_ = found.peaks_mb
    check = statistics.median(found.checks_s)
    print(
        f"{count:,} streams: {start:.0f} MB at the start, {first:.0f} MB before the first check, "
        f"{max(found.peaks_mb):.0f} MB at most; a check takes {check:.2f} s",
        file=sys.stderr,
        flush=True,
    )


def main() -> None:
    """Prints a table; each number of streams has a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="*", default=[*SIZES])
    parser.add_argument("--times", type=int, default=TIMES)
    asked = parser.parse_args()
    three = "p50, ms | p99 | worst"
    print(
        f"| streams in place | change | accepted | decided: {three} | answered: {three} | parts, median ms |"
    )
    print("|---:|---|---|---:|---:|---:|---:|---:|---:|---|", flush=True)
    for count in asked.sizes:
        process = multiprocessing.get_context("spawn").Process(target=tell, args=(count, asked.times))
        process.start()
        process.join()


if __name__ == "__main__":
    main()
