"""Why a kernel differs from the simulator: one cause after the other is put into the simulated network.

``python -m twin.causes RUN SCENARIO TIMES STREAM…`` compares a run of a guest with the simulator, then with
simulators that have the guest's causes, each with those before it; TIMES is what ``calibrate --kernel`` has
written of other runs. It prints the counts of ``tsnbench compare``, streams hop by hop where the run has
taps at every port on the way (``taps: {ports: …}``), and which figures are in the range of ``run --predict``.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import polars as pl

from tsnbench.backends.simulation import Simulation
from tsnbench.calibration.prediction import DRAWS, drawn
from tsnbench.compare import Comparison, compare, opened
from tsnbench.planning import plan as make_plan
from tsnbench.runs import Run
from tsnbench.scenario import Scenario, load, read_scenario
from tsnbench.scenario.model import Host, Latency, Qdisc, Shaper
from tsnbench.scenario.selection import shortened

QUANTITIES = ("delay min", "delay median", "delay p99", "interval median", "lost")
TICK_NS = 1
WHOLE_OCTETS = 24
"""Preamble, delimiter, check sequence and gap: what ``--on vm`` tells cbs of bridges to count."""
Times = Mapping[str, Latency]
"""The keys of ``hosts`` that ``calibrate --kernel`` has written, by name."""


PLAIN = """name: times
duration: 1 ms
network: {hosts: [a, b], links: {rate: 1 Gbit/s, between: [a -- b]}}
streams: {s: {from: a, to: b, period: 1 ms, frame: 100 B}}
"""


@dataclass(frozen=True)
class Cause:
    """One cause, with those of the causes before it."""

    name: str
    qdisc: Qdisc | None = None
    latencies: tuple[str, ...] = ()
    processor: str | None = None


SOFTWARE = Qdisc(cbs="software", overhead=WHOLE_OCTETS)
TALKERS = ("send", "prepare")
HOPS = ("kernel-rx", "qdisc", "driver")
CAUSES = (
    Cause("the simulator"),
    Cause("cbs of the kernel", SOFTWARE),
    Cause("times of talkers", SOFTWARE, TALKERS),
    Cause("times of hops", SOFTWARE, (*TALKERS, *HOPS)),
    Cause("timers are late", SOFTWARE, (*TALKERS, *HOPS, "timer")),
    Cause("one processor for all", SOFTWARE, (*TALKERS, *HOPS, "timer", "finish", "turn"), "guest"),
)


def twin(scenario: Scenario, times: Times, cause: Cause = CAUSES[-1]) -> Scenario:
    """The scenario with the causes of a guest whose software takes these times."""
    if cause.qdisc is None:
        return scenario
    took = {key: latency for key, latency in times.items() if key in cause.latencies}
    # A bridge of the guest has the qdiscs of a host, and its time in place of the scenario's.
    alike = {"kind": "host", "processing": 0, "processing_jitter": None, "cut_through": None}
    nodes = {
        name: node.model_copy(update=alike) if node.kind == "bridge" else node
        for name, node in scenario.network.nodes.items()
    }
    hosts = dict.fromkeys(nodes, Host(latencies=took, processor=cause.processor))
    every = scenario.shapers.get("*", Shaper()).model_copy(update={"qdisc": cause.qdisc})
    return scenario.model_copy(
        update={
            "network": scenario.network.model_copy(update={"nodes": nodes}),
            "hosts": hosts,
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


def cumulative(
    kernel: Run, scenario: Scenario, times: Times, streams: Sequence[str], into: Path
) -> Iterator[str]:
    """Lines of two tables: what agrees with the causes so far, and the time of ``streams`` in each node."""
    yield f"| with the causes so far | agree | {' | '.join(QUANTITIES)} |"
    yield "|---" * (2 + len(QUANTITIES)) + "|"
    runs = []
    for number, cause in enumerate(CAUSES):
        run = simulated(twin(scenario, times, cause), into / str(number))
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


def foretold(
    kernel: Run, scenario: Scenario, times: Times, into: Path
) -> tuple[Counter[str], Counter[str], list[str]]:
    """How many figures of the kernel are in the range of 39 draws of the times, with a tick of the stamps to
    both sides, as ``run --predict`` has it: by quantity those inside, and all; a line for each that is
    outside, and one for the widths of the ranges.
    """
    own = make_plan(twin(scenario, times)).document
    ranges: dict[tuple[str, str], list[float]] = {}
    measured: dict[tuple[str, str], float] = {}
    for number in range(DRAWS):
        run = drawn(own, {}, number).run(on=Simulation(), into=into / f"draw-{number}")
        for one in compare([opened(run.folder), opened(kernel.folder)]).agreements:
            ranges.setdefault((one.stream, one.quantity), []).append(one.found_first)
            measured[one.stream, one.quantity] = one.found_second
    inside, of, outside = Counter[str](), Counter[str](), []
    widths: dict[str, list[float]] = {}
    for (stream, quantity), values in ranges.items():
        tick = 0 if quantity == "lost" else TICK_NS
        widths.setdefault(quantity, []).append((max(values) - min(values)) / 1e3)
        is_in = min(values) - tick <= measured[stream, quantity] <= max(values) + tick
        of[quantity] += 1
        inside[quantity] += is_in
        if not is_in:
            span = f"{min(values) / 1e3:,.3f} to {max(values) / 1e3:,.3f}"
            outside.append(f"{stream}, {quantity}: {span}, kernel {measured[stream, quantity] / 1e3:,.3f}")
    wide = (f"{quantity} {median(one):.3f}" for quantity, one in widths.items() if quantity != "lost")
    outside.append(f"width of the ranges, median, us: {', '.join(wide)}")
    return inside, of, outside


def read_times(path: Path) -> Times:
    """The keys that ``calibrate --kernel`` has written."""
    text = PLAIN + path.read_text(encoding="utf-8").partition("shapers:")[0]
    (scenario,) = read_scenario(text)
    return next(iter(scenario.hosts.values())).latencies


def main(folder: str, scenario: str, times: str, *streams: str) -> None:
    """Prints the tables of one run of a guest."""
    kernel, own = Run.open(folder), read_times(Path(times))
    named = shortened(load(scenario), kernel.plan.document["duration_ns"], None)
    with TemporaryDirectory(prefix="tsnbench-causes-") as into:
        for line in cumulative(kernel, named, own, streams, Path(into)):
            print(line, flush=True)
        inside, of, outside = foretold(kernel, named, own, Path(into))
        print(f"\n{inside.total()} of {of.total()} in the range of {DRAWS} draws:", dict(inside))
        print("\n".join(outside))


if __name__ == "__main__":
    main(*sys.argv[1:])
