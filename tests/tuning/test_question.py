"""The smallest idle slope of the tutorial, by bounds and by simulation, against every value judged."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tsnbench.errors import BackendError, InputError
from tsnbench.planning import plan
from tsnbench.scenario import load_variants, read_scenario
from tsnbench.scenario.model import Scenario
from tsnbench.scenario.selection import shortened
from tsnbench.tuning.question import JUDGES, Judge, answers

TUTORIAL = Path(__file__).parents[2] / "scenarios/tutorial/3-cbs-line.yaml"

EXACT = (Judge.BOUNDS, Judge.SIMULATION)
"""Judges that give the same answer each time; runs on kernels vary."""


def slopes(last: str, step: int = 1) -> list[Scenario]:
    """The tutorial over two hops with idle slopes from 80 Mbit/s on, for 5 ms."""
    text = TUTORIAL.read_text(encoding="utf-8")
    for old, new in (
        ("{hops: [1, 2, ... 11]}", f"{{hops: 2, slope: [80 Mbit/s, {80 + step} Mbit/s, ... {last}]}}"),
        ("cbs: [A]", 'cbs: {A: "${slope}"}'),
        ("requires: sr/A", "requires: {delay from release: 60 us}"),
        ("duration: 50 ms", "duration: 5 ms"),
    ):
        assert old in text
        text = text.replace(old, new)
    return read_scenario(text)


@pytest.mark.parametrize("judge", EXACT)
def test_the_smallest_idle_slope_is_that_of_brute_force(judge: Judge) -> None:
    grid = slopes("180 Mbit/s")
    (answer,) = answers(grid, "slope", judge, file="cbs.yaml")
    met = [JUDGES[judge](plan(scenario))[0] for scenario in grid]
    right = grid[met.index(True)].variant["slope"]
    assert 0 < met.index(True) < len(grid) - 1
    assert answer.value == right
    assert len(answer.evaluations) <= 10
    by_value = {one.value: one.met for one in answer.evaluations}
    before = grid[met.index(True) - 1].variant["slope"]
    assert (by_value[before], by_value[right]) == (False, True)


def test_the_worst_case_needs_a_slope_that_is_no_smaller_than_that_of_one_run() -> None:
    grid = slopes("180 Mbit/s", step=5)
    (bounds,) = answers(grid, "slope", Judge.BOUNDS, file="cbs.yaml")
    (run,) = answers(grid, "slope", Judge.SIMULATION, file="cbs.yaml")
    assert bounds.value is not None
    assert run.value is not None
    assert int(bounds.value.split()[0]) >= int(run.value.split()[0])


def test_a_grid_without_an_answer_says_why() -> None:
    (answer,) = answers(slopes("90 Mbit/s"), "slope", Judge.BOUNDS, file="cbs.yaml")
    assert (answer.value, answer.command) == (None, None)
    assert answer.evaluations[0].reason == (
        "limited: the queue of class 3 at zgw1 -> zgw2 grows without end: "
        "load of 100 Mbit/s, 80 Mbit/s can be sent"
    )


def test_every_other_parameter_makes_a_question_of_its_own() -> None:
    text = TUTORIAL.read_text(encoding="utf-8").replace("period: 100 us", 'period: "${period}"')
    text = text.replace("[1, 2, ... 11]}", "[1, 2, ... 11], period: [100 us, 200 us]}")
    found = answers(read_scenario(text), "hops", Judge.BOUNDS, file="cbs.yaml", greatest=True)
    assert [one.others for one in found] == [{"period": "100 us"}, {"period": "200 us"}]
    # The tutorial's table: proved over ten hops, beyond the limit over eleven.
    assert found[0].value == "10"
    command = "tsnbench plan cbs.yaml --only 'period=100 us' --only hops=10 --bounds"
    assert found[0].command == command


def test_a_parameter_that_is_not_in_the_sweep_is_refused() -> None:
    with pytest.raises(InputError, match="the sweep's parameters: slope"):
        answers(slopes("90 Mbit/s"), "cycle", Judge.BOUNDS, file="cbs.yaml")


def test_a_scenario_without_requirements_is_refused() -> None:
    text = TUTORIAL.read_text(encoding="utf-8").replace(", requires: sr/A", "")
    for judge in Judge:
        with pytest.raises(InputError, match="requirement"):
            answers(read_scenario(text)[:2], "hops", judge, file="cbs.yaml")


def test_requirements_without_a_bound_are_counted() -> None:
    text = TUTORIAL.read_text(encoding="utf-8").replace("{hops: [1, 2, ... 11]}", "{hops: [1, 2]}")
    assert "requires: sr/A" in text
    text = text.replace("requires: sr/A", "requires: {delay from release: 5 ms, jitter interval: 1 ms}")
    (answer,) = answers(read_scenario(text), "hops", Judge.BOUNDS, file="cbs.yaml", greatest=True)
    assert answer.value == "2"
    assert {one.reason for one in answer.evaluations} == {
        "1 requirement proved, 1 without a bound not judged"
    }


def test_every_seed_has_to_keep_the_requirements() -> None:
    text = """name: port
duration: 2 ms
parameters: {load: [200 Mbit/s, 300 Mbit/s, ... 700 Mbit/s]}
network:
  stations: [controller, disk, robot]
  bridges: [switch]
  links: {rate: 1 Gbit/s, cable: 5 m, between: [controller -- switch, disk -- switch, switch -- robot]}
streams:
  loop: {from: controller, to: robot, pcp: 6, period: 250 us, payload: 100 B, requires: {delay: 7400 ns}}
  files: {from: disk, to: robot, pcp: 6, poisson: "${load}", payload: 600 B}
"""
    grid = read_scenario(text)
    met = [
        [JUDGES[Judge.SIMULATION](plan(shortened(one, None, one.seed + more)))[0] for more in range(4)]
        for one in grid
    ]
    (alone,) = answers(grid, "load", Judge.SIMULATION, file="port.yaml", greatest=True, every=True)
    (four,) = answers(grid, "load", Judge.SIMULATION, file="port.yaml", greatest=True, every=True, seeds=4)
    assert alone.value == grid[max(n for n, one in enumerate(met) if one[0])].variant["load"]
    assert four.value == grid[max(n for n, one in enumerate(met) if all(one))].variant["load"]
    # Another seed breaks the requirement where the scenario's own does not.
    assert [one.variant["load"] for one in grid].index(four.value or "") < [
        one.variant["load"] for one in grid
    ].index(alone.value or "")
    reasons = {one.value: one.reason for one in four.evaluations}
    assert "with each of 4 seeds" in reasons[four.value or ""]
    assert any("(seed " in reason for reason in reasons.values())


def test_a_kernel_judges_by_its_own_frames() -> None:
    # The simulator supports pre-emption; no kernel backend does.
    made = plan(load_variants(TUTORIAL.with_name("4-preemption.yaml"))[-1])
    assert JUDGES[Judge.SIMULATION](made)[0]
    # Without root the message is another one.
    with pytest.raises((BackendError, InputError), match="--on netns"):
        JUDGES[Judge.NETNS](made)


@pytest.mark.kernel
@pytest.mark.skipif(os.geteuid() != 0, reason="namespaces need root")
def test_a_kernel_judges_values() -> None:
    """40 us are more than the link can send; with the other values every frame crosses this kernel."""
    text = """name: load
duration: 100 ms
parameters: {gap: [40 us, 200 us, 400 us]}
network:
  stations: [a, b]
  links: {rate: 100 Mbit/s, between: [a--b]}
streams:
  x: {from: a, to: b, payload: 1000 B, period: "${gap}", requires: {loss: 0}}
"""
    (found,) = answers(read_scenario(text), "gap", Judge.NETNS, file="s.yaml")
    assert found.value == "200 us"
    assert {one.value: one.met for one in found.evaluations} == {
        "40 us": False,
        "200 us": True,
        "400 us": True,
    }
    assert found.command == "tsnbench run s.yaml --only 'gap=200 us' --on netns"
