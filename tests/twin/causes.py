"""Why a kernel differs from the simulator: one cause after the other is put into the simulated network.

``python -m twin.causes RUN SCENARIO`` compares a run of a guest with the simulator, then with simulators
that have the guest's causes, each with those before it. It prints the counts of ``tsnbench compare``, and
three streams hop by hop. With taps at every port on the way (``taps: {ports: …}``) it also follows frames.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import polars as pl

from tsnbench.backends.simulation import Simulation
from tsnbench.compare import Comparison, compare, opened
from tsnbench.planning import plan as make_plan
from tsnbench.runs import Run
from tsnbench.scenario import Scenario, load
from tsnbench.scenario.model import Constant, Host, Latency, Qdisc, Shaper, Uniform
from tsnbench.scenario.selection import shortened

QUANTITIES = ("delay min", "delay median", "delay p99", "interval median", "lost")
SEEDS = 39
"""Of 40 figures, 38 are between the least and the greatest of 39 (decision 0069)."""
WHOLE_OCTETS = 24
"""Preamble, delimiter, check sequence and gap: what ``--on vm`` tells cbs of bridges to count."""
STAGES_NS = {"send": 3_800, "qdisc": 4_000, "kernel-rx": 3_000}
"""In the guest's time: a talker sends one frame each 7.8 us, and a hop without waiting takes 7 us."""
TIMER_NS = (400, 1_600)
"""How late the timer of cbs is, in the guest's time."""


@dataclass(frozen=True)
class Cause:
    """One cause, with those of the causes before it."""

    name: str
    qdisc: Qdisc | None = None
    latencies: tuple[str, ...] = ()
    processor: str | None = None


SOFTWARE = Qdisc(cbs="software", overhead=WHOLE_OCTETS)
CAUSES = (
    Cause("the simulator"),
    Cause("cbs of the kernel", SOFTWARE),
    Cause("one processor for all talkers", SOFTWARE, ("send", "qdisc"), "guest"),
    Cause("time of a hop", SOFTWARE, ("send", "qdisc", "kernel-rx"), "guest"),
    Cause("timers are late", SOFTWARE, ("send", "qdisc", "kernel-rx", "timer"), "guest"),
)


def twin(scenario: Scenario, dilate: int, cause: Cause = CAUSES[-1]) -> Scenario:
    """The scenario with the causes of a guest that runs slower by ``dilate``."""
    if cause.qdisc is None:
        return scenario
    took: dict[str, Latency] = {
        stage: Constant(kind="constant", ns=ns // dilate)
        for stage, ns in STAGES_NS.items()
        if stage in cause.latencies
    }
    if "timer" in cause.latencies:
        took["timer"] = Uniform(kind="uniform", low=TIMER_NS[0] // dilate, high=TIMER_NS[1] // dilate)
    # A bridge of the guest has the qdiscs of a host, and its time in place of the scenario's.
    alike = {"kind": "host", "processing": 0, "processing_jitter": None, "cut_through": None}
    nodes = {
        name: node.model_copy(update=alike) if node.kind == "bridge" else node
        for name, node in scenario.network.nodes.items()
    }
    hosts = dict.fromkeys(nodes, Host(latencies=took, processor=cause.processor))
    place = {name: number for number, name in enumerate(nodes)}
    streams = dict(scenario.streams)
    if cause.processor is not None:
        # A node's talkers are one program, and the programs begin in the order of the nodes.
        streams = dict(sorted(streams.items(), key=lambda one: place[one[1].talker]))
    every = scenario.shapers.get("*", Shaper()).model_copy(update={"qdisc": cause.qdisc})
    return scenario.model_copy(
        update={
            "network": scenario.network.model_copy(update={"nodes": nodes}),
            "hosts": hosts,
            "streams": streams,
            "shapers": {**scenario.shapers, "*": every},
        }
    )


def counts(found: Comparison) -> Counter[str]:
    """How many streams agree with the kernel, by quantity."""
    return Counter(one.quantity for one in found.agreements if one.agrees)


def hops(run: Run, stream: str) -> list[tuple[str, list[int]]]:
    """For each hop behind the first, the port and how long each frame was in the node before it, in ns.

    Empty if the run has no taps on the way.
    """
    document = run.plan.document
    names = [one["name"] for one in document["streams"]]
    number = names.index(stream)
    taps = {one["name"]: place for place, one in enumerate(document["taps"])}
    ports = [document["ports"][hop["port"]]["name"] for hop in document["streams"][number]["route"]]
    seen = pl.read_parquet(run.folder / "observations.parquet").filter(pl.col("stream") == number)
    found = []
    for before, port in pairwise(ports):
        if f"{before} rx" not in taps or f"{port} tx" not in taps:
            return []
        came, left = (
            dict(seen.filter(pl.col("tap") == taps[tap]).select("seq", "t_ns").iter_rows())
            for tap in (f"{before} rx", f"{port} tx")
        )
        found.append((port, [left[frame] - came[frame] for frame in sorted(came.keys() & left.keys())]))
    return found


def simulated(scenario: Scenario, into: Path) -> Run:
    """A run of the scenario in the simulator."""
    return make_plan(scenario).run(on=Simulation(), into=into)


def cumulative(kernel: Run, scenario: Scenario, streams: Sequence[str], into: Path) -> Iterator[str]:
    """Lines of two tables: what agrees with the causes so far, and the time of ``streams`` in each node."""
    dilate = kernel.manifest["dilate"]
    yield f"| with the causes so far | agree | {' | '.join(QUANTITIES)} |"
    yield "|---" * (2 + len(QUANTITIES)) + "|"
    runs = []
    for number, cause in enumerate(CAUSES):
        run = simulated(twin(scenario, dilate, cause), into / str(number))
        runs.append((cause.name, run))
        found = compare([opened(run.folder), opened(kernel.folder)])
        agree, of = counts(found), Counter(one.quantity for one in found.agreements)
        cells = [f"{agree[name]} of {of[name]}" for name in QUANTITIES]
        yield f"| {cause.name} | {agree.total()} of {of.total()} | {' | '.join(cells)} |"
    yield ""
    yield "| stream | in front of | " + " | ".join(name for name, _ in [*runs, ("kernel", kernel)]) + " |"
    yield "|---" * (3 + len(runs)) + "|"
    for stream in streams:
        each = [hops(run, stream) for _, run in [*runs, ("kernel", kernel)]]
        for place, (port, _) in enumerate(each[-1]):
            cells = [f"{median(one[place][1]) / 1e3:,.2f}, {max(one[place][1]) / 1e3:,.2f}" for one in each]
            yield f"| {stream} | {port} | {' | '.join(cells)} |"


def foretold(kernel: Run, scenario: Scenario, into: Path) -> tuple[Counter[str], Counter[str], list[str]]:
    """How many figures of the kernel are in the range of 39 twins with other random values: by quantity those
    inside, and all; and a line for each that is outside.
    """
    own = twin(scenario, kernel.manifest["dilate"])
    ranges: dict[tuple[str, str], list[float]] = {}
    measured: dict[tuple[str, str], float] = {}
    for seed in range(SEEDS):
        run = simulated(own.model_copy(update={"seed": scenario.seed + seed}), into / f"seed-{seed}")
        for one in compare([opened(run.folder), opened(kernel.folder)]).agreements:
            ranges.setdefault((one.stream, one.quantity), []).append(one.found_first)
            measured[one.stream, one.quantity] = one.found_second
    inside, of, outside = Counter[str](), Counter[str](), []
    for (stream, quantity), values in ranges.items():
        is_in = min(values) <= measured[stream, quantity] <= max(values)
        of[quantity] += 1
        inside[quantity] += is_in
        if not is_in:
            span = f"{min(values) / 1e3:,.3f} to {max(values) / 1e3:,.3f}"
            outside.append(f"{stream}, {quantity}: {span}, kernel {measured[stream, quantity] / 1e3:,.3f}")
    return inside, of, outside


def main(folder: str, scenario: str, *streams: str) -> None:
    """Prints the tables of one run of a guest."""
    kernel = Run.open(folder)
    named = shortened(load(scenario), kernel.plan.document["duration_ns"], None)
    with TemporaryDirectory(prefix="tsnbench-causes-") as into:
        for line in cumulative(kernel, named, streams, Path(into)):
            print(line, flush=True)
        inside, of, outside = foretold(kernel, named, Path(into))
        print(f"\n{inside.total()} of {of.total()} in the range of {SEEDS} twins:", dict(inside))
        print("\n".join(outside))


if __name__ == "__main__":
    main(*sys.argv[1:])
