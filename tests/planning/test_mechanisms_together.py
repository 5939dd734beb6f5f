"""What is not modelled together is refused, not simulated wrongly."""

from __future__ import annotations

import pytest

from tsnbench.planning import plan
from tsnbench.scenario import read_scenario

CUT_THROUGH = "{s: {forwarding: {mode: cut-through, after: 337 B}}}"
TEXT = """\
name: together
duration: 10 ms
network:
  stations: [a, b]
  bridges: {s: {forwarding: {mode: cut-through, after: 337 B}}}
  links: {rate: 1 Gbit/s, between: [a-s, s-b]}
streams:
  x: {from: a, to: b, payload: 1000 B, period: 1 ms}
"""


@pytest.mark.parametrize(
    "more",
    [
        "faults: [{loss: 1 %, on: s -> b}]",
        "faults: [{down: s -> b, at: 2 ms, for: 1 ms}]",
        "faults: [{babble: x, every: 100 us}]",
        "faults: [{clock-step: b, by: 1 us, at: 2 ms}, {grandmaster-lost: s, at: 3 ms}]",
        "shapers: {all: {preemption: {express: [7]}}}",
    ],
)
def test_what_clocks_go_with(more: str) -> None:
    text = TEXT.replace(CUT_THROUGH, "[s]")
    plan(read_scenario(f"{text}clocks: {{gptp: {{grandmaster: s}}}}\n{more}\n")[0])
