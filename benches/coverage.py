"""How often 95 % intervals contain the true value: Poisson frames of one size through one port (M/D/1).

    python benches/coverage.py [STUDIES [REPLICATIONS [FRAMES]]]
    python benches/coverage.py stopping [STUDIES [FRAMES]]

The second command adds replications until the intervals of mean and p99 are narrow enough, as
``repeat: {until: …}`` of a study does.

The port under test is the bridge's; the talker's link is a hundred times as fast. The true mean is that of
Pollaczek and Khinchine, the true 99th percentile that of Erlang's distribution of the wait in M/D/1.
``docs/concepts/statistics.md`` has the results.
"""

from __future__ import annotations

import math
import statistics
import sys
import tempfile
from fractions import Fraction
from pathlib import Path

from tsnbench.backends.simulation import Simulation
from tsnbench.scenario import read_scenario
from tsnbench.scenario.selection import shortened
from tsnbench.studies.statistics import State, StoppingRule, Target, mean, quantile, warm_up

LOAD = Fraction(4, 5)
SERVICE_NS = 8192
"""1004 octets, preamble and inter-frame gap at 1 Gbit/s."""
P99 = Fraction(99, 100)
SCENARIO = """
name: md1
duration: {duration} ns
network:
  stations: [a, b]
  bridges: [sw]
  links:
    - {{rate: 100 Gbit/s, between: [a -- sw]}}
    - {{rate: 1 Gbit/s, between: [sw -- b]}}
streams:
  s: {{from: a, to: b, pcp: 0, frame: 1004 B, poisson: {{mean-interval: {gap} ns}}}}
"""


def true_mean() -> float:
    """The mean wait: Pollaczek and Khinchine."""
    load = float(LOAD)
    return load * SERVICE_NS / (2 * (1 - load))


def not_longer(wait: float) -> float:
    """The probability that a wait is at most this long, in units of the service time (Erlang 1909)."""
    load = float(LOAD)
    terms = [
        (-load * (wait - k)) ** k / math.factorial(k) * math.exp(load * (wait - k))
        for k in range(int(wait) + 1)
    ]
    return (1 - load) * math.fsum(terms)


def true_p99() -> float:
    low, high = 0.0, 30.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if not_longer(middle) < P99 else (low, middle)
    return low * SERVICE_NS


def naive(samples: list[int]) -> tuple[int, int]:
    """The interval of p99 between two order statistics of one run, as if its frames were independent."""
    count, p = len(samples), float(P99)
    half = 1.96 * math.sqrt(count * p * (1 - p))
    ranked = sorted(samples)
    return ranked[max(0, math.floor(count * p - half))], ranked[min(count - 1, math.ceil(count * p + half))]


def main(studies: int = 300, replications: int = 10, frames: int = 10_000) -> None:
    gap = round(SERVICE_NS / LOAD)
    (base,) = read_scenario(SCENARIO.format(duration=frames * gap, gap=gap))
    real = {"mean": true_mean(), "p99": true_p99()}
    covered: dict[str, list[bool]] = {}
    for study in range(studies):
        runs: list[list[tuple[int, int]]] = []
        for replication in range(replications):
            plan = shortened(base, None, study * replications + replication + 1).plan()
            with tempfile.TemporaryDirectory() as folder:
                table = Simulation().execute(plan, Path(folder) / "run").delay("s").frames
            begin = table["t_tx_ns"][0]
            runs.append([(t - begin, d) for t, d in zip(table["t_tx_ns"], table["delay_ns"], strict=True)])
        # The shortest delay, to an idle port, is known; what is above it is the wait.
        idle = min(delay for run in runs for _, delay in run)
        for name, kept in (("whole runs", runs), ("MSER-5", [after_warm_up(run) for run in runs])):
            waits = [[delay - idle for _, delay in run] for run in kept]
            means = [(statistics.fmean(wait), len(wait)) for wait in waits]
            p99 = quantile(waits, P99, frames * gap)
            found = {"mean": mean(means), "p99": p99}
            for quantity, interval in found.items():
                inside = interval.low <= real[quantity] <= interval.high
                covered.setdefault(f"{quantity}, t, {name}", []).append(inside)
            low, high = naive(waits[0])
            covered.setdefault(f"p99 of one run, naive, {name}", []).append(low <= real["p99"] <= high)
    print(f"load {float(LOAD)}, mean {real['mean']:.1f} ns, p99 {real['p99']:.1f} ns")
    print(f"{studies} studies of {replications} replications of {frames} frames")
    for name, inside in covered.items():
        print(f"{name:<36}{sum(inside) / len(inside):7.1%}")


WIDTHS = {"mean": 0.02, "p99": 0.05}
"""Greatest half widths, relative to the estimates; the delays contain the time of the port itself."""
MOST = 200


def stopping(studies: int = 200, frames: int = 10_000) -> None:
    gap = round(SERVICE_NS / LOAD)
    (base,) = read_scenario(SCENARIO.format(duration=frames * gap, gap=gap))
    covered: dict[str, list[bool]] = {"mean": [], "p99": [], "both together": []}
    counts: list[int] = []
    not_reached = 0
    for study in range(studies):
        series: dict[str, list[tuple[float, int] | None]] = {"mean": [], "p99": []}
        idle = 1 << 60
        while True:
            seed = study * MOST + len(series["mean"]) + 1
            with tempfile.TemporaryDirectory() as folder:
                run = Simulation().execute(shortened(base, None, seed).plan(), Path(folder) / "run")
                delay = run.delay("s").frames["delay_ns"].drop_nulls().sort()
            idle = min(idle, int(delay[0]))
            series["mean"].append((float(delay.mean()), len(delay)))
            # The smallest delay that is not exceeded by a share of 99 % (nearest rank), as in measures.
            series["p99"].append((float(delay[math.ceil(len(delay) * P99) - 1]), 1))
            targets = [Target(WIDTHS[name], series[name]) for name in series]
            decided = StoppingRule(MOST).decide(targets)
            if decided.state is not State.CONTINUE:
                break
        counts.append(decided.replications)
        not_reached += decided.state is State.NOT_REACHED
        real = {"mean": true_mean() + idle, "p99": true_p99() + idle}
        inside = [
            interval is not None and interval.low <= real[name] <= interval.high
            for name, interval in zip(series, decided.intervals, strict=True)
        ]
        for name, one in zip(covered, (*inside, all(inside)), strict=True):
            covered[name].append(one)
    print(f"{studies} studies until half widths of {WIDTHS}, {frames} frames in each replication")
    print(f"replications: {min(counts)} to {max(counts)}, mean {statistics.fmean(counts):.1f}")
    print(f"not reached: {not_reached} studies")
    for name, told in covered.items():
        print(f"{name:<36}{sum(told) / len(told):7.1%}")


def after_warm_up(run: list[tuple[int, int]]) -> list[tuple[int, int]]:
    begin = warm_up({"s": run}, run[-1][0]).duration_ns
    return [frame for frame in run if frame[0] >= begin]


if __name__ == "__main__":
    if sys.argv[1:2] == ["stopping"]:
        stopping(*map(int, sys.argv[2:]))
    else:
        main(*map(int, sys.argv[1:]))
