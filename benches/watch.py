"""What ``tsnbench watch`` costs beside 1,000 streams, as a share of one core.

Streams of 100 B, one frame a second each or ten, between two stations over a bridge; captures at both ends
grow by as many records as these streams send in each round. Processor time of a round, and of a scrape.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from prometheus_client import CollectorRegistry, generate_latest

from tsnbench.backends.simulation import Simulation
from tsnbench.planning import plan
from tsnbench.scenario import read_scenario
from tsnbench.watch.growing import GrowingCapture
from tsnbench.watch.metrics import Network
from tsnbench.watch.streams import CapturedStreams

ROUNDS = 6


def scenario(streams: int, period: str, round_s: int) -> str:
    """The text of the network with its streams."""
    lines = [
        f"name: watched-{streams}",
        f"duration: {round_s * ROUNDS} s",
        "network: {stations: [a, b], bridges: [s], links: {rate: 10 Gbit/s, between: [a - s, s - b]}}",
        "streams:",
    ]
    keys = f"from: a, to: b, payload: 100 B, period: {period}, pcp: 3, requires: {{delay: 1 ms}}"
    lines += [f"  s{number}: {{{keys}, offset: {number * 9} us}}" for number in range(streams)]
    return "\n".join(lines) + "\n"


def cpu_s(work: Callable[[], object]) -> float:
    """Seconds of the processor, of all threads."""
    began = time.process_time()
    work()
    return time.process_time() - began


def measured(streams: int, period: str, round_s: int, folder: Path) -> None:
    """Prints the costs for so many streams."""
    (made,) = read_scenario(scenario(streams, period, round_s))
    one = plan(made)
    Simulation().execute(one, folder / "run", pcap=True)
    whole = [folder / "run/captures" / name for name in ("a-s-tx.pcapng", "s-b-rx.pcapng")]
    grown = [folder / path.name for path in whole]
    watched = CapturedStreams(one.document, grown[:1], grown[1:])
    registry = CollectorRegistry()
    registry.register(Network(one.document, one.hash, None, watched, 20))
    rounds, scrapes = [], []
    for number in range(1, ROUNDS + 1):
        for source, target in zip(whole, grown, strict=True):
            octets = source.read_bytes()
            target.write_bytes(octets[: len(octets) * number // ROUNDS])
        rounds.append(cpu_s(watched.round))
        scrapes.append(cpu_s(lambda: generate_latest(registry)))
    page = generate_latest(registry)
    walked = GrowingCapture(whole[1])
    walk_s = cpu_s(walked.take)
    frames = watched.whole.sent / (ROUNDS - 1)
    # The first round reads, and measures nothing; the second one loads libraries.
    spent_s = statistics.median(rounds[2:])
    print(
        f"{streams:6,} streams, {frames / round_s:6,.0f} frames/s, rounds of {round_s:2} s: "
        f"{spent_s * 1e3:6.1f} ms = {spent_s / round_s:.2%} of a core, "
        f"lengths of records {walk_s / ROUNDS * 1e3:.1f} ms; next round after {watched.pause_s(2):.1f} s; "
        f"scrape {statistics.median(scrapes) * 1e3:.1f} ms, page {len(page):,} octets"
    )


def main() -> None:
    """Prints one line for each load."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, nargs="*", default=[1_000, 10_000])
    parser.add_argument("--periods", nargs="*", default=["1 s", "100 ms"])
    parser.add_argument("--rounds", type=int, nargs="*", default=[2, 12])
    asked = parser.parse_args()
    for streams in asked.streams:
        for period in asked.periods:
            for round_s in asked.rounds:
                with tempfile.TemporaryDirectory() as folder:
                    measured(streams, period, round_s, Path(folder))


if __name__ == "__main__":
    main()
