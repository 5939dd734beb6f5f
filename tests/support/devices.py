"""A device with a defect, tested on the simulator by its neighbours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from tsnbench import Simulation
from tsnbench.conform import budget
from tsnbench.conform.bench import Bench
from tsnbench.conform.catalogue import chosen
from tsnbench.conform.judge import Error, Result
from tsnbench.conform.run import in_order, judged, prepare
from tsnbench.conform.seen import Seen
from tsnbench.scenario import read_scenario

LAB = """\
name: lab
duration: 10 ms
seed: {seed}
network:
  stations: [talker, robot]
  bridges: [switch]
  links: {{rate: {rate}, cable: {cable} m, between: [talker -- switch, switch -- robot]}}
streams:
  loop: {{from: talker, to: robot, pcp: 6, payload: 100 B, period: 1 ms}}
"""
GATES = """\
shapers:
  switch -> robot:
    gates: {{base-time: {base} us, entries: [{{open: [6], for: {high} us}}, {{open: [0], for: {low} us}}]}}
"""


def lab(rest: str = GATES, **values: object) -> str:
    """The text of a lab with a switch between two stations."""
    usual: dict[str, object] = {
        "seed": 1,
        "rate": "100 Mbit/s",
        "cable": 5,
        "base": 30,
        "high": 200,
        "low": 800,
    }
    return (LAB + rest).format(**usual | values)


def bench(expected: str, device: str | None = None, only: Sequence[str] = ()) -> Bench:
    (scenario,) = read_scenario(expected)
    return Bench.of(scenario, "switch", None if device is None else read_scenario(device)[0], only)


def results(own: Bench, folder: Path, suites: Sequence[str] = (), error: Error | None = None) -> list[Result]:
    """The results of all tests of these suites."""
    found: list[Result] = []
    prepared = prepare(own, chosen(suites))
    for suite, one in prepared.stimuli:
        run = Simulation().execute(one.plan, folder / one.name, pcap=suite.startswith("ptp"))
        known = error or budget.before(one.plan, "simulation", 0)
        found += judged(suite, own, one, Seen.of(run), known)
    return in_order([*found, *prepared.missing()])


def verdicts(found: Sequence[Result]) -> Mapping[str, str]:
    return {one.test: one.verdict for one in found}
