"""The labs of the papers: each can be read, and has a place for scenarios of its paper."""

from __future__ import annotations

from pathlib import Path

import pytest

from tsnbench.hosts import Mapped, MappingErrors, load_inventory, map_plan
from tsnbench.planning import plan
from tsnbench.scenario import load_variants

PAPERS = Path(__file__).parents[2] / "scenarios/papers"
FAST = {"n2 -> n3": "n2.fast"}


def on_the_lab(scenario: str, run: int = 0, given: dict[str, str] | None = None) -> Mapped:
    """A run of a paper's scenario, mapped to the paper's machines."""
    path = PAPERS / f"{scenario}.yaml"
    document = plan(load_variants(path)[run]).document
    lab = load_inventory(PAPERS / Path(scenario).parts[0] / "lab.yaml")
    return map_plan(lab, document, given or {})


@pytest.mark.parametrize("paper", ["cots", "engine", "farzaneh", "flextest", "ocora"])
def test_every_paper_has_a_lab(paper: str) -> None:
    lab = load_inventory(PAPERS / paper / "lab.yaml")
    assert lab.wires
    # Statements about machines name a table, figure or section of the paper.
    text = (PAPERS / paper / "lab.yaml").read_text(encoding="utf-8")
    assert "not print" in text
    assert "Fig." in text


@pytest.mark.parametrize(
    ("scenario", "run", "given", "expected"),
    [
        ("engine/ex-ucc", 0, {}, {"zgw1 -> zgw2": "if1", "zgw3 -> vcc1": "if4"}),
        ("engine/ex-uct", 0, {}, {"zgw6 -> zgw5": "if1", "zgw5 -> zgw4": "if3"}),
        ("engine/ex-cs1", 2, {}, {"zgw1 -> zgw2": "if1", "zgw2 -> zgw3": "if4"}),
        ("engine/ex-etf", 0, {}, {"zgw1 -> zgw2": "if1"}),
        (
            "flextest/tas",
            0,
            {},
            {"node4 -> dut #1": "x520-1", "node4 -> dut #2": "x520-2", "node0 -> dut": "i211"},
        ),
        ("flextest/frame-sizes", 0, {}, {"dut -> node1": "node1"}),
        ("farzaneh/experiment-1", 0, {}, {"rsp3 -> motor2": "motor2", "camera -> rsp1": "eth0"}),
        ("farzaneh/experiment-2", 0, {}, {"rsp1 -> rsp2": "next"}),
        ("farzaneh/experiment-3", 0, {}, {"rsp1 -> rsp2": "next"}),
        ("cots/ex-c1", 0, {}, {"n1 -> n2": "i210-1", "n2 -> n3": "i210-3"}),
        ("cots/ex-c2", 0, FAST, {"n2 -> n3": "x552-1", "n3 -> n2": "x552-1"}),
        ("cots/l1/solution-1", 0, {}, {"n1 -> n2 #1": "i210-1", "n1 -> n2 #2": "i210-2"}),
        ("cots/l1/solution-2", 0, {}, {"n3 -> n4 #2": "i210-4"}),
        (
            "ocora/frer",
            0,
            {},
            {"kbox1 -> kbox2 #1": "np4", "kbox2 -> kbox1 #2": "np5", "pc2 -> kbox2": "to-card"},
        ),
    ],
)
def test_scenarios_of_a_paper_have_a_place_on_its_lab(
    scenario: str, run: int, given: dict[str, str], expected: dict[str, str]
) -> None:
    interfaces = on_the_lab(scenario, run, given).interfaces
    assert {port: interfaces[port] for port in expected} == expected


def test_machines_that_a_paper_does_not_describe_are_an_error() -> None:
    # Seven hops need eight machines; the text names the wires of seven machines.
    with pytest.raises(MappingErrors, match="expected"):
        on_the_lab("engine/ex-cs1", 6)
    machines = ("zgw6", "zgw1", "zgw2", "zgw3", "zgw5", "zgw4", "vcc1")
    six = {f"zgw{number}": machine for number, machine in enumerate(machines, start=1)}
    assert on_the_lab("engine/ex-cs1", 5, six).machines == six
    assert on_the_lab("engine/ex-cs1", 4).machines["zgw6"] == "zgw6"
    # A PC and its card are one node in this scenario, and two machines in this lab.
    with pytest.raises(MappingErrors, match="is a device"):
        on_the_lab("ocora/planned-windows")
