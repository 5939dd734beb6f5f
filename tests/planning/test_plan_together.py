"""What is not modelled together is refused, not simulated wrongly."""

from __future__ import annotations

import pytest

from tsnbench.planning import PlanningErrors, plan
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
    ("more", "refused"),
    [
        ("faults: [{loss: 1 %, on: s -> b}]", "a fault beside clocks of nodes"),
        ("shapers: {all: {preemption: {express: [7]}}}", "frame pre-emption beside clocks of nodes"),
    ],
)
def test_what_clocks_do_not_go_with(more: str, refused: str) -> None:
    text = TEXT.replace(CUT_THROUGH, "[s]")
    clocks = "clocks: {default: {drift: 10 ppm}}\n"
    plan(read_scenario(text + clocks)[0])
    plan(read_scenario(f"{text}{more}\n")[0])
    with pytest.raises(PlanningErrors, match=f"{refused} is not modelled yet"):
        plan(read_scenario(f"{text}{clocks}{more}\n")[0])
