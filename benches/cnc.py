"""What a decision of ``tsnbench cnc`` costs, part by part, with 50 to 10,000 streams in place.

A grid of 8 x 8 bridges with 8 stations each; scheduled streams of 100 B every 4 ms between stations that a
seed draws. Processor time of the whole service for each change, with the store on this disk: other
programs of the machine are not in it, nor is the wait for the disk.
"""

from __future__ import annotations

import argparse
import gc
import random
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tsnbench.cnc.admission import Parts
from tsnbench.cnc.changes import Change, Decision
from tsnbench.cnc.network import Base
from tsnbench.cnc.service import Service
from tsnbench.cnc.store import Store

SIDE, STATIONS = 8, 8
SIZES = {50: 20, 100: 20, 1_000: 20, 10_000: 20}
"""Streams in place, and how many changes of each kind are measured: too few in all for the check of
everything."""
DECIDED = ("read", "plan and prove", "bounds", "judge", "transition")
"""The parts after which a decision is made; all others are for its answer."""
SCHEDULED = {"period": "4 ms", "payload": "100 B", "pcp": 7, "scheduled": True, "requires": {"delay": "2 ms"}}
BOUNDED = {"period": "4 ms", "payload": "100 B", "pcp": 3, "requires": {"delay": "10 ms"}}
TIGHT = {**SCHEDULED, "requires": {"delay": "100 ns"}}
"""No frame makes a way that fast."""


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


def measure(count: int, times: int) -> dict[str, list[tuple[float, Decision]]]:
    """The decisions of each kind."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "grid.yaml"
        file.write_text(scenario(count), encoding="utf-8")
        base = Base(file)
        service = Service(base, Store(Path(folder) / "store", base.digest))
        ends = pairs(count + 4 * times)[count:]
        found: dict[str, list[tuple[float, Decision]]] = {}
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
                names = [f"scheduled{number}" for number in range(times)]
                found["left"] = [timed(service, Change("bench", {}, (name,))) for name in names]
            for number in range(times):
                talker, listener = ends.pop()
                added = {f"{kind}{number}": {"from": talker, "to": listener, **stream}}
                found.setdefault(kind, []).append(timed(service, Change("bench", added)))
        names = [f"bounded{number}" for number in range(times)]
        found["bounded left"] = [timed(service, Change("bench", {}, (name,))) for name in names]
        service.close()
        return found


def _spread(ms: list[float]) -> str:
    """Median and greatest value."""
    return f"{statistics.median(ms):.1f}, {max(ms):.1f}"


def main() -> None:
    """Prints one line for each number of streams and each kind of change."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="*", default=[*SIZES])
    # As the program does.
    gc.set_threshold(100_000)
    Parts.clock = time.thread_time
    sizes = parser.parse_args().sizes
    print("| streams in place | change | accepted | decided: p50, worst ms | answered | parts, median ms |")
    print("|---|---|---|---|---|---|")
    for count in sizes:
        for kind, decisions in measure(count, SIZES.get(count, 5)).items():
            took = [ms for ms, _ in decisions]
            decided = [sum(one.parts_ms.get(part, 0) for part in DECIDED) for _, one in decisions]
            accepted = sum(one.accepted for _, one in decisions)
            parts: dict[str, list[float]] = {}
            for _, one in decisions:
                for part, ms in one.parts_ms.items():
                    parts.setdefault(part, []).append(ms)
            words = ", ".join(f"{part} {statistics.median(ms):.1f}" for part, ms in parts.items())
            line = f"| {count:,} | {kind} | {accepted} of {len(took)} "
            print(f"{line}| {_spread(decided)} | {_spread(took)} | {words} |", flush=True)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"peak of the process up to {count:,} streams: {peak:.0f} MB", file=sys.stderr)


if __name__ == "__main__":
    main()
